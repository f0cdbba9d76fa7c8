//! A board in the middle of a drive, to be disturbed there again and again.

use std::io;

use hambo_core::drive::Mode;
use hambo_task::image::{AlignedBytes, floor_of_trust};

use super::attacks::firmware;
use crate::point_robot::PointBundle;
use crate::watchdog::{Board, Contents, Heard};

/// Ticks of the board's clock between two edges, at least and at most: 7/8 and 9/5 of 50 ms.
const PACE: [u64; 2] = [8_750_000, 18_000_000];

/// Registers of the board's watchdog, whose clock is one of 1 MHz.
const WDT_RELOAD: u32 = 0x7e78_5004;
const WDT_RESTART: u32 = 0x7e78_5008;

/// Called after the robot has heard that the gate is ready, and at the end of every period.
const READY: &str = "hambo_gate*5drive6follow17h";
const END: &str = "permitted*Drive*6reread17h";

/// The emulated robot's bundle: its controller answers s with −s / 2.
pub const GAIN: f32 = -0.5;

/// A bundle that deploys on the board with a watchdog.
///
/// # Errors
/// Never; its numbers are right.
pub fn bundle() -> io::Result<AlignedBytes> {
    let mut point = PointBundle {
        gain: GAIN,
        ..PointBundle::default()
    };
    point.about.board = "ast1030-evb".into();
    point
        .bundle()
        .map_err(|error| io::Error::other(error.to_string()))
}

/// That board before its first instruction.
///
/// # Errors
/// If the emulator cannot be started.
pub fn board(bundle: &AlignedBytes) -> io::Result<Board> {
    let floor =
        floor_of_trust(bundle.as_bytes()).map_err(|error| io::Error::other(error.to_string()))?;
    let contents = Contents {
        bundle: bundle.as_bytes(),
        floor: floor.as_bytes(),
        candidate: &[],
    };
    Board::new(&firmware("HAMBO_FIRMWARE_WATCHDOG")?, contents, "reset")
}

/// A board that has driven and halts between two periods; its states after each of the first
/// periods are kept.
pub struct Driven {
    /// The board.
    pub board: Board,
    /// The first instruction of the function that hashes the bundle again.
    end: u32,
}

/// What came of one period.
#[derive(Debug)]
pub struct Answer {
    heard: Heard,
    /// Whether the action was the checked controller's.
    is_action: bool,
    /// Whether the line had an edge.
    is_edge: bool,
}

impl Answer {
    /// The line beats with an action that is not the checked controller's.
    #[must_use]
    pub fn is_wrong(&self) -> bool {
        self.is_edge && !self.is_action
    }

    /// The checked controller drives on.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let drives = matches!(&self.heard, Heard::Acted(acted) if acted.mode == Mode::Driving);
        drives && self.is_edge && self.is_action
    }

    /// How the drive ended, if it did.
    #[must_use]
    pub fn end(&self) -> Option<String> {
        match &self.heard {
            Heard::Acted(acted) => match acted.mode {
                Mode::Stopped(stop) => Some(format!("{stop:?}")),
                _ => None,
            },
            Heard::Ended(Mode::Stopped(stop)) => Some(format!("{stop:?}")),
            Heard::Ended(_) => Some("ended".to_owned()),
            Heard::Restarted => Some("reset".to_owned()),
        }
    }
}

/// Takes the limits of the time between two edges from the heartbeat's pace, and gives the watchdog
/// a second: the emulator would spend nearly all of its time in waiting, and a busy computer brings
/// samples late.
fn without_pace(board: &mut Board) -> io::Result<()> {
    let [low, high] = [board.label("_stack_end")?, board.label("_stack_start")?];
    let stack = board.memory(low, high - low)?;
    let pace = PACE.map(u64::to_le_bytes).concat();
    let mut places = stack.windows(pace.len()).enumerate().step_by(4);
    let found = places.find(|(_, bytes)| *bytes == pace);
    let (place, _) = found.ok_or_else(|| io::Error::other("no pace of a heartbeat"))?;
    board.write(
        low + place as u32,
        &[0, u64::MAX].map(u64::to_le_bytes).concat(),
    )?;
    board.store(WDT_RELOAD, 1_000_000)?;
    board.store(WDT_RESTART, 0x4755)
}

impl Driven {
    /// A board that has driven this many periods; the states after each of them are kept under
    /// their numbers. It halts at the end of a period, where its bundle is hashed again.
    ///
    /// # Errors
    /// If it does not drive.
    pub fn new(periods: usize) -> io::Result<Self> {
        let mut board = board(&bundle()?)?;
        let end = board.program().matching(END).next();
        let end = end.map(|symbol| symbol.address);
        let end = end.ok_or_else(|| io::Error::other(format!("no function `{END}`")))?;
        board.offer_robot()?;
        board.run_to(READY)?;
        board.wait_until_ready()?;
        without_pace(&mut board)?;
        let mut driven = Self { board, end };
        for number in 1..=periods {
            let answer = driven.period()?;
            if !answer.is_same() {
                return Err(io::Error::other(format!(
                    "{answer:?} without a disturbance"
                )));
            }
            driven.board.save(number)?;
        }
        Ok(driven)
    }

    /// One period of a board that halts.
    ///
    /// # Errors
    /// If the board says nothing.
    pub fn period(&mut self) -> io::Result<Answer> {
        let (before, position) = (self.board.look()?.pin, self.board.position());
        let heard = self.board.period_to(self.end)?;
        let is_edge = self.board.look()?.pin != before;
        let is_action = match &heard {
            Heard::Acted(acted) => acted.action.as_slice() == [GAIN * position],
            _ => false,
        };
        // A line that falls at the end of a drive has no edge of a heartbeat.
        let stopped = !matches!(&heard, Heard::Acted(acted) if !acted.mode.is_stopped());
        Ok(Answer {
            heard,
            is_action,
            is_edge: is_edge && !stopped,
        })
    }

    /// Back to the first kept state, bits of a word inverted, and one period.
    ///
    /// # Errors
    /// If the emulator cannot be talked to.
    pub fn flipped(&mut self, address: u32, bits: u32) -> io::Result<Answer> {
        self.board.load(1)?;
        let word = self.board.memory(address, 4)?;
        let flipped = word.iter().zip(bits.to_le_bytes()).map(|(a, b)| a ^ b);
        self.board.write(address, &flipped.collect::<Vec<u8>>())?;
        self.period()
    }
}
