//! Controllers over the wire to the emulated AST1030 of `HAMBO_FIRMWARE_WATCHDOG`, whose flash
//! memory is a file that outlives it.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hambo_core::link::update::Here;
use hambo_device::remote::{Patience, Pushed, Remote, Step, StreamLine, Wire};
use hambo_task::image::floor_of_trust;

use crate::point_robot::PointBundle;
use crate::watchdog::{Board, Contents};

/// A start and a check take a fraction of it, also on a busy computer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The point's bundle for this board, with a counter.
#[must_use]
pub fn point(counter: u32) -> PointBundle {
    let mut point = PointBundle::default();
    point.about.board = "ast1030-evb".into();
    point.about.counter = counter;
    point
}

/// A bundle's bytes.
///
/// # Errors
/// If an expression is wrong.
pub fn bytes(point: &PointBundle) -> Result<Vec<u8>, Box<dyn Error>> {
    Ok(point.bundle()?.as_bytes().to_vec())
}

/// A line whose host is gone after so many frames.
pub struct CutLine {
    line: StreamLine,
    left: usize,
}

impl Wire for CutLine {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(io::ErrorKind::BrokenPipe)?;
        self.line.send(bytes)
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        self.line.receive(limit)
    }
}

/// A board whose flash memory outlives it.
pub struct Wired {
    flash: PathBuf,
    floor: Vec<u8>,
    firmware: PathBuf,
    hosts: u32,
}

impl Wired {
    /// A blank flash memory in this folder. The floor takes the point's bundles from `least` on.
    ///
    /// # Errors
    /// If no firmware is named, or the folder cannot be written.
    pub fn new(folder: &Path, least: u32) -> Result<Self, Box<dyn Error>> {
        std::fs::create_dir_all(folder)?;
        let flash = folder.join("flash.bin");
        let _ = std::fs::remove_file(&flash);
        let floor = floor_of_trust(&bytes(&point(least))?)?;
        let firmware = std::env::var_os("HAMBO_FIRMWARE_WATCHDOG")
            .ok_or("HAMBO_FIRMWARE_WATCHDOG is to name the firmware's file")?;
        Ok(Self {
            flash,
            floor: floor.as_bytes().to_vec(),
            firmware: firmware.into(),
            hosts: 0,
        })
    }

    /// Plugs it in.
    ///
    /// # Errors
    /// If the emulator does not start.
    pub fn start(&self) -> Result<Board, Box<dyn Error>> {
        let contents = Contents {
            bundle: &[],
            floor: &self.floor,
            candidate: &[],
        };
        let mut board = Board::with_flash(&self.firmware, contents, "reset", Some(&self.flash))?;
        board.go_on()?;
        Ok(board)
    }

    /// A host at its line.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn host(&mut self, board: &Board) -> Result<Remote<StreamLine>, Box<dyn Error>> {
        Ok(Remote::new(board.line()?, self.number(), patience()))
    }

    /// What the board holds.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn hello(&mut self, board: &Board) -> Result<Here, Box<dyn Error>> {
        Ok(self.host(board)?.hello()?)
    }

    /// Sends a bundle; from where it went on, and what came of it.
    ///
    /// # Errors
    /// If it is refused before the check, or the board does not answer.
    pub fn push(
        &mut self,
        board: &Board,
        bundle: &[u8],
    ) -> Result<(Option<u32>, Pushed), Box<dyn Error>> {
        let mut resumed = None;
        let pushed = self.host(board)?.push(bundle, &mut |step| {
            if let Step::Resumed(from) = step {
                resumed = Some(from);
            }
        })?;
        Ok((resumed, pushed))
    }

    /// Sends a bundle until so many frames are sent, and pulls the plug.
    ///
    /// # Errors
    /// If the line is gone before.
    pub fn pull_the_plug(
        &mut self,
        board: Board,
        bundle: &[u8],
        frames: usize,
    ) -> Result<bool, Box<dyn Error>> {
        let line = CutLine {
            line: board.line()?,
            left: frames,
        };
        let mut host = Remote::new(line, self.number(), patience());
        let ended = host.push(bundle, &mut |_| {}).is_ok();
        drop(board);
        Ok(ended)
    }

    /// Lets the board start again, and drives.
    ///
    /// # Errors
    /// If it does not come to that.
    pub fn restart_and_drive(
        &mut self,
        board: &mut Board,
        periods: u32,
    ) -> Result<[u8; 32], Box<dyn Error>> {
        self.host(board)?.restart()?;
        drive(board, periods)
    }

    fn number(&mut self) -> u32 {
        self.hosts += 1;
        self.hosts << 16
    }
}

/// Drives from the start on; the hash of the image that drives.
///
/// # Errors
/// If the gate does not come to that, or the line does not beat.
pub fn drive(board: &mut Board, periods: u32) -> Result<[u8; 32], Box<dyn Error>> {
    board.take_line_back()?;
    board.offer_robot()?;
    let ready = board.wait_until_ready()?;
    let levels = board.drive(periods)?;
    let mut beats = levels.windows(2).map(|pair| pair[0] != pair[1]);
    if beats.all(|beats| beats) {
        Ok(ready.image_hash)
    } else {
        Err(format!("the line does not beat: {levels:?}").into())
    }
}

fn patience() -> Patience {
    Patience::of(PATIENCE)
}
