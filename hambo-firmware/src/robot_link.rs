//! The line to the robot.

use cortex_m::peripheral::NVIC;
use hambo_core::link::drive::{Begin, DriveMessage, RobotMessage};
use hambo_core::link::frame;
use hambo_core::link::frame::FrameReader;
use hambo_core::link::update::Ask;
use hambo_firmware::{board::Uart, interrupt};

/// Polls without a byte after which the robot is gone: seconds.
pub const POLLS: u32 = 20_000_000;

/// Frames over the serial line.
pub struct RobotLink {
    uart: Uart,
    reader: FrameReader,
    /// What came instead of a robot.
    pending: Option<Ask>,
}

impl RobotLink {
    /// Opens the line and asks whether a robot is there. Its answer waits in the line
    /// until the check has passed.
    pub fn open(nvic: &mut NVIC) -> Self {
        let mut link = Self {
            uart: Uart::new(),
            reader: FrameReader::default(),
            pending: None,
        };
        interrupt::receive(nvic);
        // Where no robot is, nobody needs the question.
        let _ = link.send(&DriveMessage::Hello);
        link
    }

    /// The robot's answer. `None` if nothing has come in, or a host that asks for something else.
    pub fn begin(&mut self) -> Option<Begin> {
        if !interrupt::has_byte() {
            return None;
        }
        // Bytes may have been lost during the check; the robot answers again.
        self.send(&DriveMessage::Hello)?;
        loop {
            let byte = (0..POLLS).find_map(|_| interrupt::take())?;
            match self.reader.push(byte) {
                Some(RobotMessage::Begin(begin)) => return Some(begin),
                Some(RobotMessage::Ask(ask)) => {
                    self.pending = Some(ask);
                    return None;
                }
                _ => {}
            }
        }
    }

    /// Whether a host has asked for something else than a drive.
    pub fn is_asked(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes what has come in. Whether a host has asked for something.
    #[cfg(feature = "ast1030-evb")]
    pub fn listen_for_asks(&mut self) -> bool {
        self.pending = self.asked();
        self.is_asked()
    }

    /// What a host asks, if it has. What else has come in nobody waits for any more.
    #[cfg(feature = "ast1030-evb")]
    pub fn asked(&mut self) -> Option<Ask> {
        if let Some(ask) = self.pending.take() {
            return Some(ask);
        }
        while let Some(message) = self.take() {
            if let RobotMessage::Ask(ask) = message {
                return Some(ask);
            }
        }
        None
    }

    /// The next message of those that have come in whole.
    pub fn take(&mut self) -> Option<RobotMessage> {
        while let Some(byte) = interrupt::take() {
            if let Some(message) = self.reader.push(byte) {
                return Some(message);
            }
        }
        None
    }

    /// `None` if the line is stuck, or the message too long.
    pub fn send(&mut self, message: &DriveMessage) -> Option<()> {
        self.uart.send(&frame::encode(message)?).ok()
    }
}
