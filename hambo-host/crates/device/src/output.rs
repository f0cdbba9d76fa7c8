//! From the device's bytes to its log and its closing message.

use defmt_decoder::{DecodeError, Table};
use hambo_core::link::device::{DeviceMessage, FrameError};

use super::error::DeviceError;

/// All that a device said.
pub(super) struct DeviceOutput {
    /// The log, line by line, with levels.
    pub log: Vec<String>,
    /// The closing message, if the output ends with one.
    pub message: Option<DeviceMessage>,
}

impl DeviceOutput {
    /// Takes the messages out of the bytes and decodes the log in front of them.
    ///
    /// Every frame, of the log or a message, ends with a zero byte; one that
    /// was cut short at the end is left out.
    ///
    /// # Errors
    /// If the log is damaged, or the message contradicts itself, or it is not
    /// the only one and the last.
    pub fn decode(table: &Table, bytes: &[u8]) -> Result<Self, DeviceError> {
        let (log, message) = split(bytes)?;
        let mut decoder = table.new_stream_decoder();
        decoder.received(&log);
        let mut lines = Vec::new();
        loop {
            match decoder.decode() {
                Ok(frame) => lines.push(format!(
                    "{:5} {}",
                    frame.level().map_or("", |level| level.as_str()),
                    frame.display_message()
                )),
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => return Err(DeviceError::DamagedLog),
            }
        }
        let log = lines;
        Ok(Self { log, message })
    }

    /// Where the device was.
    pub fn last_line(&self) -> String {
        self.log.last().map_or("(none)", String::as_str).into()
    }
}

/// The bytes of the log, and the closing message.
fn split(bytes: &[u8]) -> Result<(Vec<u8>, Option<DeviceMessage>), DeviceError> {
    let (mut log, mut message) = (Vec::new(), None);
    for frame in bytes.split_inclusive(|byte| *byte == 0) {
        let Some((0, inside @ [_, ..])) = frame.split_last() else {
            continue;
        };
        if message.is_some() {
            return Err(DeviceError::NotClosed);
        }
        match DeviceMessage::from_frame(&mut inside.to_vec()) {
            Ok(found) => message = Some(found),
            Err(FrameError::Damaged) => log.extend(frame),
            Err(FrameError::Contradiction) => return Err(DeviceError::Contradiction),
        }
    }
    Ok((log, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_core::link::device::ModelCosts;

    fn message() -> Vec<u8> {
        let message = DeviceMessage::Costs(ModelCosts::new());
        message.to_frame().unwrap_or_default().to_vec()
    }

    #[test]
    fn a_message_is_taken_out_of_the_log() {
        let bytes = [&[7, 8, 0][..], &message()].concat();
        let (log, found) = split(&bytes).unwrap_or_default();
        assert_eq!(log, [7, 8, 0]);
        assert_eq!(found, Some(DeviceMessage::Costs(ModelCosts::new())));
    }

    #[test]
    fn a_message_that_is_cut_or_damaged_is_none() {
        let whole = message();
        let mut damaged = whole.clone();
        damaged[2] ^= 2;
        for bytes in [&[][..], &whole[..whole.len() - 1], &damaged] {
            let found = split(bytes).map(|(_, message)| message);
            assert!(matches!(found, Ok(None)), "{bytes:?}");
        }
    }

    #[test]
    fn a_message_comes_once_and_last() {
        for after in [&message()[..], &[7, 0]] {
            let found = split(&[&message(), after].concat());
            assert!(matches!(found, Err(DeviceError::NotClosed)), "{after:?}");
        }
    }
}
