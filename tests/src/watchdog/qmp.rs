//! A client of the emulator's machine protocol: the level of a pin, the instructions so far,
//! and resets.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A connection.
pub struct Qmp {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    resets: usize,
    watchdog_resets: usize,
}

/// An answer takes a fraction of it, also on a busy computer.
const LIMIT: Duration = Duration::from_secs(30);

impl Qmp {
    /// Talks over this stream.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(LIMIT))?;
        let lines = BufReader::new(stream.try_clone()?);
        let mut qmp = Self {
            stream,
            lines,
            resets: 0,
            watchdog_resets: 0,
        };
        qmp.ask(r#"{"execute":"qmp_capabilities"}"#)?;
        Ok(qmp)
    }

    /// Whether pin A5 is high.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn pin(&mut self) -> io::Result<bool> {
        let said = self.ask(
            r#"{"execute":"qom-get","arguments":{"path":"/machine/soc/gpio","property":"gpioA5"}}"#,
        )?;
        match said.as_str() {
            r#"{"return": true}"# => Ok(true),
            r#"{"return": false}"# => Ok(false),
            said => Err(io::Error::other(said.to_owned())),
        }
    }

    /// Instructions since the start of the emulator.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn instructions(&mut self) -> io::Result<u64> {
        let said = self.ask(r#"{"execute":"query-replay"}"#)?;
        let count = said.split("\"icount\": ").nth(1);
        let digits = count.map(|rest| rest.split(|c: char| !c.is_ascii_digit()));
        let count = digits.and_then(|mut digits| digits.next()?.parse().ok());
        count.ok_or_else(|| io::Error::other(said))
    }

    /// Resets so far, and how many of them came from a watchdog.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn resets(&mut self) -> io::Result<(usize, usize)> {
        // The answer comes behind all events so far.
        self.ask(r#"{"execute":"query-status"}"#)?;
        Ok((self.resets, self.watchdog_resets))
    }

    /// The answer to a line; events before it are counted.
    fn ask(&mut self, line: &str) -> io::Result<String> {
        writeln!(self.stream, "{line}")?;
        loop {
            let mut said = String::new();
            if self.lines.read_line(&mut said)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if said.contains("\"event\": \"RESET\"") {
                self.resets += 1;
            } else if said.contains("\"event\": \"WATCHDOG\"") {
                self.watchdog_resets += 1;
            } else if said.contains("\"return\"") || said.contains("\"error\"") {
                return Ok(said.trim_end().to_owned());
            }
        }
    }
}
