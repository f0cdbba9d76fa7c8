//! A client of the gdb remote protocol: registers, memory, breakpoints, run and stop.
//!
//! A packet is `$text#xx` with the sum of the text's bytes modulo 256 as two hexadecimal digits;
//! each side answers `+` to a packet that came whole.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The number of the stack pointer.
pub const SP: u8 = 13;
/// The number of the link register.
pub const LR: u8 = 14;
/// The number of the program counter.
pub const PC: u8 = 15;
/// The number of the program status register in QEMU's description of a Cortex-M.
pub const XPSR: u8 = 25;

/// The most bytes of memory in one packet; QEMU's packets hold 4096 characters.
const CHUNK: usize = 1024;

/// Why the processor does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A breakpoint, a step or an interrupt.
    Halted,
    /// The emulator said goodbye or closed the connection.
    Gone,
    /// It still runs.
    Running,
}

/// A connection to a stub.
pub struct Gdb {
    stream: UnixStream,
    read: Vec<u8>,
}

impl Gdb {
    /// Talks over this stream and asks for the description of the registers, without which
    /// QEMU gives no single register.
    ///
    /// # Errors
    /// If the other side does not answer.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        let read = Vec::new();
        let mut gdb = Self { stream, read };
        gdb.ask("qXfer:features:read:target.xml:0,ffb")?;
        Ok(gdb)
    }

    /// A register's value.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn register(&mut self, number: u8) -> io::Result<u32> {
        let bytes = bytes_of(&self.ask(&format!("p{number:x}"))?)?;
        let bytes = bytes.first_chunk().ok_or_else(|| bad("a short register"))?;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// Gives a register another value.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn set_register(&mut self, number: u8, value: u32) -> io::Result<()> {
        let text = format!("P{number:x}={}", text_of(&value.to_le_bytes()));
        self.order(&text)
    }

    /// Bytes of memory.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn memory(&mut self, address: u32, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let (at, count) = (address + bytes.len() as u32, length - bytes.len());
            let text = self.ask(&format!("m{at:x},{:x}", count.min(CHUNK)))?;
            bytes.extend(bytes_of(&text)?);
        }
        Ok(bytes)
    }

    /// Writes memory, flash as well as RAM.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn set_memory(&mut self, address: u32, bytes: &[u8]) -> io::Result<()> {
        for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
            let at = address + (number * CHUNK) as u32;
            self.order(&format!("M{at:x},{:x}:{}", chunk.len(), text_of(chunk)))?;
        }
        Ok(())
    }

    /// Stops at an address before its instruction.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn set_breakpoint(&mut self, address: u32) -> io::Result<()> {
        self.order(&format!("Z1,{address:x},2"))
    }

    /// Stops there no more.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn clear_breakpoint(&mut self, address: u32) -> io::Result<()> {
        self.order(&format!("z1,{address:x},2"))
    }

    /// Stops after a store to these bytes.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn set_watchpoint(&mut self, address: u32, length: u32) -> io::Result<()> {
        self.order(&format!("Z2,{address:x},{length:x}"))
    }

    /// Stops after a store there no more.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn clear_watchpoint(&mut self, address: u32, length: u32) -> io::Result<()> {
        self.order(&format!("z2,{address:x},{length:x}"))
    }

    /// Executes one instruction, also where a breakpoint is.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn step(&mut self, limit: Duration) -> io::Result<Stop> {
        self.send("s")?;
        self.wait(limit)
    }

    /// Runs until something stops it; for the limit at most. QEMU stops at once if there is a
    /// breakpoint at the first instruction.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn proceed(&mut self, limit: Duration) -> io::Result<Stop> {
        self.send("c")?;
        self.wait(limit)
    }

    /// Stops a processor that runs.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn interrupt(&mut self, limit: Duration) -> io::Result<Stop> {
        self.stream.write_all(&[3])?;
        self.wait(limit)
    }

    /// Gives the emulator's monitor a line and returns what it says.
    ///
    /// # Errors
    /// If the stub refuses or is gone.
    pub fn monitor(&mut self, line: &str) -> io::Result<String> {
        self.send(&format!("qRcmd,{}", text_of(line.as_bytes())))?;
        let mut said = Vec::new();
        loop {
            let text = self.receive()?.ok_or_else(gone)?;
            match text.strip_prefix('O') {
                Some("K") => return Ok(String::from_utf8_lossy(&said).into_owned()),
                Some(part) => said.extend(bytes_of(part)?),
                None => return Err(bad(&text)),
            }
        }
    }

    /// Waits until something stops a processor that runs; for the limit at most.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Stop> {
        self.stream.set_read_timeout(Some(limit))?;
        let received = self.receive();
        self.stream.set_read_timeout(None)?;
        match received {
            Ok(Some(text)) if text.starts_with(['T', 'S']) => Ok(Stop::Halted),
            Ok(_) => Ok(Stop::Gone),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(Stop::Running),
                _ => Ok(Stop::Gone),
            },
        }
    }

    /// Sends a packet that is answered by `OK`.
    fn order(&mut self, text: &str) -> io::Result<()> {
        match self.ask(text)?.as_str() {
            "OK" => Ok(()),
            other => Err(bad(&format!("{text}: {other}"))),
        }
    }

    fn ask(&mut self, text: &str) -> io::Result<String> {
        self.send(text)?;
        self.receive()?.ok_or_else(gone)
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        let sum = text.bytes().fold(0, u8::wrapping_add);
        self.stream
            .write_all(format!("${text}#{sum:02x}").as_bytes())
    }

    /// The next packet, or none if the other side closed.
    fn receive(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(text) = take_packet(&mut self.read) {
                // An emulator that has just ended no longer reads.
                let _ = self.stream.write_all(b"+");
                return Ok(Some(text));
            }
            let mut chunk = [0; 4096];
            match self.stream.read(&mut chunk)? {
                0 => return Ok(None),
                count => self.read.extend(&chunk[..count]),
            }
        }
    }
}

/// Takes the first whole packet and all before it out of the bytes.
fn take_packet(bytes: &mut Vec<u8>) -> Option<String> {
    let begin = bytes.iter().position(|byte| *byte == b'$')?;
    let length = bytes[begin..].iter().position(|byte| *byte == b'#')?;
    let end = begin + length + 3;
    if bytes.len() < end {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes[begin + 1..begin + length]).into_owned();
    bytes.drain(..end);
    Some(text)
}

fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(text: &str) -> io::Result<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<_>>().ok_or_else(|| bad(text))
}

fn bad(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the stub said: {text}"))
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the stub is gone")
}
