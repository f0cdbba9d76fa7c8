//! The serial line between an emulated board and the host that plays its robot: frames over
//! a socket.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use hambo_core::link::drive::{DriveMessage, RobotMessage};
use hambo_core::link::frame::{FrameReader, encode};

/// How long one look at the line may take.
const PAUSE: Duration = Duration::from_millis(100);

/// The host's end of the line.
pub(super) struct RobotLine {
    stream: TcpStream,
    reader: FrameReader,
    /// Bytes that came in and were not looked at.
    waiting: Vec<u8>,
    deadline: Instant,
}

impl RobotLine {
    /// Waits until the emulator has connected. `None` if it ended before that, or the time is
    /// up.
    pub fn accept(
        listener: &TcpListener,
        child: &mut Child,
        deadline: Instant,
    ) -> io::Result<Option<Self>> {
        listener.set_nonblocking(true)?;
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if child.try_wait()?.is_some() || Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(2));
        };
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PAUSE))?;
        Ok(Some(Self {
            stream,
            reader: FrameReader::default(),
            waiting: Vec::new(),
            deadline,
        }))
    }

    /// Sends a message. A device that has gone does not read it, and is noticed by
    /// [`Self::receive`].
    pub fn send(&mut self, message: &RobotMessage) -> io::Result<()> {
        let too_long = || io::Error::other("a message does not fit a frame");
        let frame = encode(message).ok_or_else(too_long)?;
        match self.stream.write_all(&frame) {
            Err(error) if has_gone(&error) => Ok(()),
            written => written,
        }
    }

    /// The next message. `None` if the device has gone, or the time is up.
    pub fn receive(&mut self) -> io::Result<Option<DriveMessage>> {
        loop {
            let mut bytes = std::mem::take(&mut self.waiting).into_iter();
            let message = bytes.by_ref().find_map(|byte| self.reader.push(byte));
            self.waiting = bytes.collect();
            if message.is_some() {
                return Ok(message);
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(read) => self.waiting.extend(chunk.iter().take(read)),
                Err(error) if has_gone(&error) => return Ok(None),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
            if Instant::now() >= self.deadline {
                return Ok(None);
            }
        }
    }
}

fn has_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}
