//! The line to the robot.

use hambo_core::link::drive::{Begin, DriveMessage, RobotMessage};
use hambo_core::link::frame;
use hambo_core::link::frame::FrameReader;
use hambo_firmware::board::Uart;

/// Polls without a byte after which the robot is gone: seconds.
pub const POLLS: u32 = 20_000_000;

/// Frames over the serial line.
pub struct RobotLink {
    uart: Uart,
    reader: FrameReader,
}

impl RobotLink {
    /// Opens the line and asks whether a robot is there. Its answer waits in the line
    /// until the check has passed.
    pub fn open() -> Self {
        let mut link = Self {
            uart: Uart::new(),
            reader: FrameReader::default(),
        };
        // Where no robot is, nobody needs the question.
        let _ = link.send(&DriveMessage::Hello);
        link
    }

    /// The robot's answer. `None` if nothing has come in.
    pub fn begin(&mut self) -> Option<Begin> {
        if !self.uart.has_byte() {
            return None;
        }
        // Bytes may have been lost during the check; the robot answers again.
        self.send(&DriveMessage::Hello)?;
        loop {
            let byte = self.uart.receive(POLLS)?;
            if let Some(RobotMessage::Begin(begin)) = self.reader.push(byte) {
                return Some(begin);
            }
        }
    }

    /// From now on every byte that waits is an interrupt.
    pub fn listen(&mut self) {
        self.uart.listen();
    }

    /// Whether a byte has come in.
    pub fn has_byte(&self) -> bool {
        self.uart.has_byte()
    }

    /// Takes the byte that has come in; the message that ends with it.
    pub fn take(&mut self) -> Option<RobotMessage> {
        let byte = self.uart.receive(1)?;
        self.reader.push(byte)
    }

    /// `None` if the line is stuck, or the message too long.
    pub fn send(&mut self, message: &DriveMessage) -> Option<()> {
        self.uart.send(&frame::encode(message)?).ok()
    }
}
