//! What carries bytes to a board and back.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serial2::SerialPort;

/// Bits a second of the firmware's line.
const BAUD: u32 = 115_200;

/// A line to a board.
pub trait Wire {
    /// Sends all bytes.
    ///
    /// # Errors
    /// If the line is gone.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// What has come in; nothing if nothing comes within `limit`.
    ///
    /// # Errors
    /// If the line is gone.
    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>>;
}

impl<W: Wire + ?Sized> Wire for Box<W> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).send(bytes)
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        (**self).receive(limit)
    }
}

/// A serial port: eight bits at 115,200 baud, no parity.
pub struct SerialLine(SerialPort);

impl SerialLine {
    /// Opens a port, such as `/dev/ttyUSB0`.
    ///
    /// # Errors
    /// If there is none of this name, or it is somebody else's.
    pub fn open(port: &Path) -> io::Result<Self> {
        let line = SerialPort::open(port, BAUD)?;
        line.discard_buffers()?;
        Ok(Self(line))
    }
}

impl Wire for SerialLine {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        self.0.set_read_timeout(limit)?;
        read(|chunk| self.0.read(chunk))
    }
}

/// A socket, at whose other end an emulator plays the board.
pub struct StreamLine(TcpStream);

impl StreamLine {
    /// Over this connection.
    ///
    /// # Errors
    /// If it is gone.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }
}

impl Wire for StreamLine {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        self.0.set_read_timeout(Some(limit))?;
        read(|chunk| match self.0.read(chunk)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        })
    }
}

/// What one look gives; nothing if the time is up.
fn read(mut look: impl FnMut(&mut [u8]) -> io::Result<usize>) -> io::Result<Vec<u8>> {
    let mut chunk = [0; 1024];
    match look(&mut chunk) {
        Ok(count) => Ok(chunk.iter().take(count).copied().collect()),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(Vec::new()),
            _ => Err(error),
        },
    }
}
