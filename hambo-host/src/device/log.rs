//! From the device's bytes to log lines.

use super::DeviceError;
use defmt_decoder::{DecodeError, Table};

/// One line of the log.
pub(super) struct LogLine {
    /// `info`, `warn`, `error`, or nothing.
    pub level: &'static str,
    pub message: String,
}

impl LogLine {
    pub(super) fn with_level(&self) -> String {
        format!("{:5} {}", self.level, self.message)
    }
}

/// Decodes all complete frames; a frame that was cut short is left out.
pub(super) fn decode(table: &Table, bytes: &[u8]) -> Result<Vec<LogLine>, DeviceError> {
    let mut decoder = table.new_stream_decoder();
    decoder.received(bytes);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => lines.push(LogLine {
                level: frame.level().map_or("", |level| level.as_str()),
                message: frame.display_message().to_string(),
            }),
            Err(DecodeError::UnexpectedEof) => return Ok(lines),
            Err(DecodeError::Malformed) => return Err(DeviceError::DamagedLog),
        }
    }
}
