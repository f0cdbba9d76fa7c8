//! Flipped bits of what a drive and its monitor remember, on the emulated board of
//! `HAMBO_FIRMWARE_WATCHDOG`. The robot drifts, so that the monitor trips after some periods.
//! Does a flip ever keep the line alive, or bring the controller back?
//!
//! A cell is one flip between two periods. Even cells have no fallback: the flip comes before the
//! trip, and the line must be dead from the period of the trip on. In odd cells a fallback drives
//! after the trip, the flip comes then, and the controller that was checked must not drive
//! again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use hambo_base::Error;
use hambo_core::drive::{Mode, Stop};
use hambo_report::figure::{GOOD, StripFigure};
use hambo_task::image::floor_of_trust;

use crate::fixture::Draw;
use crate::point_robot::PointBundle;
use crate::watchdog::{Board, Contents, Heard};
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary};

/// Flips.
const CELLS: usize = 1000;

/// What the robot moves by in every period beside its action, from the sixth on: two radii of the
/// monitor, a surprise each time, and not so far that one is enough.
const DRIFT: f32 = 0.2;
/// Periods without a drift.
const QUIET: u32 = 5;

/// More periods than the monitor needs to trip, and than a flip may matter.
const PERIODS: u32 = 24;

/// The static of the firmware that says where the drive lies.
const PLACE: &str = "DRIVE_PLACE";

/// The study.
pub struct DriveFlips;

/// How a drive went on after a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The drive noticed it and stopped.
    Noticed,
    /// A fault or a hang: the board started again, with a dead line.
    Reset,
    /// As without the flip.
    Same,
    /// The drive ended earlier than without the flip, for another reason.
    Earlier,
    /// The line is alive, or the controller drives, where it must not.
    GoesOn,
}

impl End {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Noticed,
        Self::Reset,
        Self::Same,
        Self::Earlier,
        Self::GoesOn,
    ];

    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Noticed => "noticed",
            Self::Reset => "reset",
            Self::Same => "same",
            Self::Earlier => "earlier",
            Self::GoesOn => "goes on",
        }
    }
}

/// The two kinds of cells.
const SCENES: [&str; 2] = ["before the trip", "with the fallback"];

impl Study for DriveFlips {
    fn name(&self) -> &'static str {
        "drive_flips"
    }

    fn columns(&self) -> &'static [&'static str] {
        &["cell", "scene", "period", "byte", "bit", "end", "modes"]
    }

    fn cells(&self) -> usize {
        CELLS
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        Ok(vec![flip(cell)?])
    }

    fn summary(&self, table: &Table) -> Summary {
        summary(table)
    }
}

/// The board with the point's bundle, ready to drive.
///
/// # Errors
/// If no firmware is named, or the emulator does not come that far.
pub fn board(has_fallback: bool) -> io::Result<Board> {
    let mut point = PointBundle::default();
    point.about.board = "ast1030-evb".into();
    if !has_fallback {
        point.fallback = None;
    }
    let other = |error: String| io::Error::other(error);
    let bundle = point.bundle().map_err(|error| other(error.to_string()))?;
    let floor = floor_of_trust(bundle.as_bytes()).map_err(|error| other(error.to_string()))?;
    let variable = std::env::var_os("HAMBO_FIRMWARE_WATCHDOG");
    let firmware: PathBuf = variable
        .ok_or_else(|| other("HAMBO_FIRMWARE_WATCHDOG is to name the firmware's file".into()))?
        .into();
    let contents = Contents {
        bundle: bundle.as_bytes(),
        floor: floor.as_bytes(),
        candidate: &[],
    };
    let mut board = Board::new(&firmware, contents, "reset")?;
    board.go_on()?;
    board.wait_until_ready()?;
    Ok(board)
}

/// One period of the robot that drifts.
fn step(board: &mut Board, period: u32) -> io::Result<Heard> {
    board.drift = if period < QUIET { 0.0 } else { DRIFT };
    board.period()
}

/// The period in which an undisturbed drive trips.
fn trip(has_fallback: bool) -> io::Result<u32> {
    let mut board = board(has_fallback)?;
    for period in 0..PERIODS {
        match step(&mut board, period)? {
            Heard::Acted(acted) if acted.mode == Mode::Driving => {}
            Heard::Acted(_) => return Ok(period),
            Heard::Ended(_) | Heard::Restarted => break,
        }
    }
    Err(io::Error::other("the drift does not trip the monitor"))
}

fn flip(cell: usize) -> io::Result<Row> {
    static TRIPS: [std::sync::OnceLock<u32>; 2] = [const { std::sync::OnceLock::new() }; 2];
    let has_fallback = cell % 2 == 1;
    let own = &TRIPS[usize::from(has_fallback)];
    let trip = match own.get() {
        Some(trip) => *trip,
        None => *own.get_or_init(|| trip(has_fallback).unwrap_or(0)),
    };
    if trip <= QUIET {
        return Err(io::Error::other(
            "the undisturbed drive does not trip as it should",
        ));
    }
    let mut draw = Draw::new(cell as u64);
    // The flip comes before the sample of this period.
    let period = if has_fallback {
        trip + 1 + draw.below(4) as u32
    } else {
        1 + draw.below(trip as usize) as u32
    };
    let mut board = board(has_fallback)?;
    let mut modes = Vec::new();
    for before in 0..period {
        match step(&mut board, before)? {
            Heard::Acted(acted) => modes.push(acted.mode),
            other => return Err(io::Error::other(format!("{other:?} without a flip"))),
        }
    }
    board.halt()?;
    let (address, bytes) = board.place(PLACE)?;
    let byte = draw.below(bytes.max(1) as usize) as u32;
    let bit = draw.below(8) as u32;
    board.flip(address + byte, bit)?;
    board.go_on()?;
    let mut reset = false;
    while modes.len() < PERIODS as usize && !modes.last().is_some_and(|mode| mode.is_stopped()) {
        match step(&mut board, modes.len() as u32)? {
            Heard::Acted(acted) => modes.push(acted.mode),
            Heard::Ended(mode) => modes.push(mode),
            Heard::Restarted => {
                reset = true;
                break;
            }
        }
    }
    // Whatever happened, a drive that is over leaves the line low.
    let over = reset || modes.last().is_some_and(|mode| mode.is_stopped());
    let alive = over && board.look()?.pin;
    let end = end(&modes, (period, trip), has_fallback, reset, alive);
    let modes: Vec<String> = modes
        .iter()
        .map(|mode| mode.name()[..1].to_owned())
        .collect();
    Ok(vec![
        cell.to_string(),
        SCENES[usize::from(has_fallback)].to_owned(),
        period.to_string(),
        byte.to_string(),
        bit.to_string(),
        end.name().to_owned(),
        modes.concat(),
    ])
}

/// What came of it.
fn end(
    modes: &[Mode],
    (period, trip): (u32, u32),
    has_fallback: bool,
    reset: bool,
    alive: bool,
) -> End {
    let after = modes.get(period as usize..).unwrap_or_default();
    let late = modes.get(trip as usize..).unwrap_or_default();
    let wrong = if has_fallback {
        after.contains(&Mode::Driving)
    } else {
        // The line is dead from the trip on.
        late.iter().any(|mode| !mode.is_stopped())
    };
    let last = modes.last().copied();
    match (last, has_fallback) {
        _ if wrong || alive => End::GoesOn,
        _ if reset => End::Reset,
        (Some(Mode::Stopped(Stop::Memory)), _) => End::Noticed,
        (Some(Mode::Stopped(_)), false) if modes.len() as u32 == trip + 1 => End::Same,
        (Some(Mode::Fallback(_)), true) => End::Same,
        _ => End::Earlier,
    }
}

fn counts(table: &Table, scene: &str) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for row in table.rows().filter(|row| row.text("scene") == scene) {
        let end = End::ALL.iter().find(|end| end.name() == row.text("end"));
        let name = end.map_or("unknown", |end| end.name());
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn summary(table: &Table) -> Summary {
    let mut text = String::new();
    describe(&mut text, table);
    let dots = SCENES.iter().enumerate().map(|(row, scene)| {
        let counts = counts(table, scene);
        let runs: usize = counts.values().sum();
        let wrong = counts.get(End::GoesOn.name()).copied().unwrap_or(0);
        (row, 100.0 * wrong as f64 / runs as f64, GOOD)
    });
    let figure = StripFigure {
        title: "Flipped bits of a drive and its monitor",
        subtitle: "Flips after which the line lives on, or the controller comes back",
        range: (0.0, 6.0),
        rows: &SCENES,
        marks: &[(0.0, "none"), (5.0, "5 %")],
        legend: &[(GOOD, "with the checksum")],
        caption: "per cent of the flips",
        dots: dots.collect(),
    };
    Summary {
        text,
        svg: figure.to_svg(),
    }
}

fn describe(text: &mut String, table: &Table) {
    *text += "| flip | runs |";
    let names = End::ALL.map(End::name);
    for name in names {
        let _ = write!(text, " {name} |");
    }
    *text += "\n|---|---|---|---|---|---|---|\n";
    for scene in SCENES {
        let counts = counts(table, scene);
        let _ = write!(text, "| {scene} | {} |", counts.values().sum::<usize>());
        for name in names {
            let _ = write!(text, " {} |", counts.get(name).copied().unwrap_or(0));
        }
        *text += "\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_core::drive::monitor::Trip;

    #[test]
    fn a_line_that_lives_on_is_found() {
        let (go, stop) = (Mode::Driving, Mode::Stopped(Stop::Trip(Trip::Surprises)));
        let back = Mode::Fallback(Trip::Surprises);
        let noticed = Mode::Stopped(Stop::Memory);
        let of = |modes: &[Mode], at, has_fallback| end(modes, at, has_fallback, false, false);
        assert_eq!(of(&[go, go, go, stop], (1, 3), false), End::Same);
        assert_eq!(of(&[go, noticed], (1, 3), false), End::Noticed);
        assert_eq!(of(&[go, go, stop], (1, 3), false), End::Earlier);
        assert_eq!(of(&[go, go, go, go, stop], (1, 3), false), End::GoesOn);
        assert_eq!(of(&[go, back, back, back], (2, 1), true), End::Same);
        assert_eq!(of(&[go, back, back, go], (2, 1), true), End::GoesOn);
        assert_eq!(end(&[go], (1, 3), false, true, false), End::Reset);
        assert_eq!(end(&[go], (1, 3), false, true, true), End::GoesOn);
    }
}
