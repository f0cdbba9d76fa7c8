//! The AST1030 evaluation board under QEMU, with its flash memory in a file: a board to push
//! controllers to without one.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::wire::StreamLine;
use crate::elf::Firmware;
use crate::error::DeviceError;
use crate::intel_hex::intel_hex;

/// Bytes of the board's flash memory.
const FLASH: usize = 4 << 20;

/// Until the emulator has connected.
const START: Duration = Duration::from_secs(60);

/// Boards of this process.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// What an emulated board is made of.
#[derive(Clone, Copy, Debug)]
pub struct EmulatedFiles<'f> {
    /// The firmware's ELF file, built for this board.
    pub firmware: &'f Path,
    /// The robot's floor.
    pub floor: &'f Path,
    /// The flash memory; a file that does not exist is made, blank.
    pub flash: &'f Path,
}

/// A board that runs, until it is dropped.
pub struct EmulatedBoard {
    child: Child,
    floor: PathBuf,
}

impl EmulatedBoard {
    /// Plugs it in; it and its serial line.
    ///
    /// # Errors
    /// If a file cannot be read, or the emulator does not start.
    pub fn start(files: EmulatedFiles<'_>) -> Result<(Self, StreamLine), DeviceError> {
        let path = files.firmware.to_path_buf();
        let elf = fs::read(files.firmware).map_err(|source| DeviceError::NoFirmware {
            path: path.clone(),
            source,
        })?;
        let firmware =
            Firmware::parse(&elf).map_err(|reason| DeviceError::BadFirmware { path, reason })?;
        let unreadable = |path: &Path| {
            let path = path.to_path_buf();
            move |source| DeviceError::NoImage { path, source }
        };
        let floor = fs::read(files.floor).map_err(unreadable(files.floor))?;
        let (start, room) = firmware.floor;
        if floor.len() > room as usize {
            return Err(DeviceError::ImageTooLarge {
                path: files.floor.to_path_buf(),
                length: floor.len() as u64,
                room: room.into(),
            });
        }
        if !files.flash.exists() {
            let blank = fs::write(files.flash, vec![0xff; FLASH]);
            blank.map_err(unreadable(files.flash))?;
        }
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("hambo-board-{}-{number}.hex", std::process::id());
        let hex = std::env::temp_dir().join(name);
        fs::write(&hex, intel_hex(start, &floor)).map_err(unreadable(&hex))?;
        let line = |source| DeviceError::Line { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(line)?;
        let port = listener.local_addr().map_err(line)?.port();
        let program = "qemu-system-arm";
        let child = Command::new(program)
            .args(["-M", "ast1030-evb", "-nographic", "-monitor", "none"])
            // One instruction per nanosecond of the board's time: its watchdog does not bite
            // because this computer is busy.
            .args(["-icount", "shift=0"])
            .args(["-chardev"])
            .arg(format!(
                "socket,id=host,host=127.0.0.1,port={port},nodelay=on"
            ))
            .args(["-serial", "chardev:host"])
            .arg("-drive")
            .arg(format!("file={},if=mtd,format=raw", listed(files.flash)?))
            .args(["-device", &format!("loader,file={}", listed(&hex)?)])
            .arg("-kernel")
            .arg(files.firmware)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| match source.kind() {
                ErrorKind::NotFound => DeviceError::NoQemu {
                    program: program.to_owned(),
                },
                _ => DeviceError::Start {
                    program: program.to_owned(),
                    source,
                },
            })?;
        let mut board = Self { child, floor: hex };
        let stream = board.accept(&listener).map_err(line)?;
        Ok((board, StreamLine::new(stream).map_err(line)?))
    }

    fn accept(&mut self, listener: &TcpListener) -> io::Result<TcpStream> {
        listener.set_nonblocking(true)?;
        let begin = Instant::now();
        loop {
            match listener.accept() {
                Ok((stream, _)) => return Ok(stream),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) => {}
            }
            if let Some(status) = self.child.try_wait()? {
                let why = format!("the emulator ended with {status}; does it know ast1030-evb?");
                return Err(io::Error::other(why));
            }
            if begin.elapsed() > START {
                return Err(ErrorKind::TimedOut.into());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for EmulatedBoard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.floor);
    }
}

/// A path in an option list, in which a comma in a value is written twice.
fn listed(file: &Path) -> Result<String, DeviceError> {
    let path = file.to_str().ok_or_else(|| DeviceError::PathNotText {
        path: file.to_path_buf(),
    })?;
    Ok(path.replace(',', ",,"))
}
