//! Flash that changes behind the gate's back: while a bundle drives, and during a check, put back
//! before the gate reads it again.
//!
//! A cell is one change. Even cells change a bit, or sixteen bytes, of the bundle that drives, on
//! the board of `HAMBO_FIRMWARE_WATCHDOG`: the line must be dead within 100 periods. Odd cells give
//! the model of an image that is to be rejected a narrower set while the gate of `HAMBO_FIRMWARE`
//! checks it: no program can see that (docs/guide/device.md), so the rows say how often it opens.

use std::io;
use std::sync::Mutex;

use hambo_base::Error;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary};

use super::attacks::{self, Line, firmware};
use super::driven::{Driven, bundle};
use crate::fixture::Draw;
use crate::glitch::images::Verdict;
use crate::glitch::stand::Stand;
use crate::glitch::victim::Bench;

/// The study.
pub struct FlashChanges;

/// Changes of each kind.
const CHANGES: usize = 200;

/// Periods after which a line that is still alive was not stopped.
const IN_TIME: u32 = 100;

/// The periods at which flash changes, from the first on: two rounds of the hash.
const PERIODS: usize = 96;

/// The two kinds of cells.
pub const SCENES: [&str; 2] = ["rewritten in a drive", "put back during the check"];

static DRIVES: Mutex<Vec<Driven>> = Mutex::new(Vec::new());
static CHECKS: Mutex<Vec<Checked>> = Mutex::new(Vec::new());

/// Ends the emulators that wait.
pub fn release() {
    if let Ok(mut drives) = DRIVES.lock() {
        drives.clear();
    }
    if let Ok(mut checks) = CHECKS.lock() {
        checks.clear();
    }
}

/// One change.
struct Change {
    moment: String,
    change: String,
    periods: u32,
    other_actions: u32,
    end: String,
    wrong: bool,
}

/// A gate before the check of an image that is to be rejected.
struct Checked {
    stand: Stand,
    /// The function that is called between two slices, how often, and the one that reads again.
    pause: u32,
    pauses: usize,
    permit: u32,
    /// Where the model's offset lies.
    offset: u32,
}

fn take<T>(idle: &Mutex<Vec<T>>) -> io::Result<Option<T>> {
    let mut idle = idle
        .lock()
        .map_err(|_| io::Error::other("a thread has died"))?;
    Ok(idle.pop())
}

fn give<T>(idle: &Mutex<Vec<T>>, one: T) -> io::Result<()> {
    let mut idle = idle
        .lock()
        .map_err(|_| io::Error::other("a thread has died"))?;
    idle.push(one);
    Ok(())
}

/// Changes the bundle that drives, and drives on until the line is dead.
fn rewritten(number: usize) -> io::Result<Change> {
    let mut driven = match take(&DRIVES)? {
        Some(driven) => driven,
        None => Driven::new(PERIODS)?,
    };
    let draw = &mut Draw::new(0xF1A5_0000 + number as u64);
    let length = bundle()?.as_bytes().len();
    let period = 1 + draw.below(PERIODS);
    driven.board.load(period)?;
    let start = driven.board.label("_model_start")?;
    let place = draw.below(length);
    let change = if number.is_multiple_of(2) {
        let bit = draw.below(8) as u32;
        driven.board.flip(start + place as u32, bit)?;
        format!("{place} ^ {:02x}", 1 << bit)
    } else {
        let count = 16.min(length - place);
        let mut byte = || (256.0 * draw.between(0.0, 1.0)) as u8;
        let bytes: Vec<u8> = (0..count).map(|_| byte()).collect();
        driven.board.write(start + place as u32, &bytes)?;
        format!("{place} = {count} bytes")
    };
    let (mut periods, mut other_actions) = (0, 0);
    let end = loop {
        let answer = driven.period()?;
        other_actions += u32::from(answer.is_wrong());
        if let Some(end) = answer.end() {
            break end;
        }
        periods += 1;
        if periods > IN_TIME {
            break "goes on".to_owned();
        }
    };
    let high = driven.board.look()?.pin;
    give(&DRIVES, driven)?;
    Ok(Change {
        moment: format!("period {period}"),
        change,
        periods,
        other_actions,
        wrong: periods > IN_TIME || high,
        end,
    })
}

impl Checked {
    fn new() -> io::Result<Self> {
        let flash = Verdict::Reject.flash(true).map_err(io::Error::other)?;
        let bench = Bench::new(&firmware("HAMBO_FIRMWARE")?)?;
        let address = |name: &str| {
            let found = bench.program.matching(name).next();
            let found = found.map(|symbol| symbol.address);
            found.ok_or_else(|| io::Error::other(format!("no function `{name}`")))
        };
        let offset = 0.1_f32.to_le_bytes();
        let place = flash
            .bytes
            .chunks_exact(4)
            .position(|chunk| *chunk == offset);
        let place = place.ok_or_else(|| io::Error::other("the image has no offset"))?;
        let mut checked = Self {
            pause: address("slices*Slices*5pause17h")?,
            permit: address("gate*6permit17h")?,
            pauses: 0,
            offset: bench.model_start + 4 * place as u32,
            stand: Stand::new(&bench, &flash, "gate*12check_bundle17h")?,
        };
        checked.stand.victim.load(0)?;
        while checked.stand.victim.run_to(checked.pause)? {
            checked.pauses += 1;
        }
        if checked.pauses < 4 {
            return Err(io::Error::other("the check has no slices"));
        }
        Ok(checked)
    }
}

/// Gives the model a narrower set from one slice of the check on, to another one or to the second
/// reading.
fn put_back(number: usize) -> io::Result<Change> {
    let mut checked = match take(&CHECKS)? {
        Some(checked) => checked,
        None => Checked::new()?,
    };
    let draw = &mut Draw::new(0x0BAC_0000 + number as u64);
    let first = draw.below(checked.pauses);
    // Every other change lasts to the end of the check.
    let last = if number.is_multiple_of(2) {
        checked.pauses
    } else {
        first + 1 + draw.below(checked.pauses - first)
    };
    let (pause, permit, offset) = (checked.pause, checked.permit, checked.offset);
    let to_end = last == checked.pauses;
    let seen = checked.stand.run(|victim| {
        for _ in 0..first {
            victim.run_to(pause)?;
        }
        victim.gdb.set_memory(offset, &(-0.05_f32).to_le_bytes())?;
        for _ in first..last {
            victim.run_to(pause)?;
        }
        if to_end {
            victim.run_to(permit)?;
        }
        victim.gdb.set_memory(offset, &0.1_f32.to_le_bytes())?;
        Ok(true)
    })?;
    let seen = seen.ok_or_else(|| io::Error::other("no change"))?;
    let change = Change {
        moment: format!("slices {first} to {last} of {}", checked.pauses),
        change: "0.1 = -0.05".to_owned(),
        periods: 0,
        other_actions: 0,
        end: seen.verdict.to_owned(),
        wrong: seen.pin,
    };
    give(&CHECKS, checked)?;
    Ok(change)
}

impl Study for FlashChanges {
    fn name(&self) -> &'static str {
        "flash_changes"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "scene",
            "moment",
            "change",
            "periods",
            "other_actions",
            "end",
            "wrong",
        ]
    }

    fn cells(&self) -> usize {
        2 * CHANGES
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let number = cell / 2;
        let change = match cell % 2 {
            0 => rewritten(number)?,
            _ => put_back(number)?,
        };
        Ok(vec![vec![
            cell.to_string(),
            SCENES[cell % 2].to_owned(),
            change.moment,
            change.change,
            change.periods.to_string(),
            change.other_actions.to_string(),
            change.end,
            yes_or_no(change.wrong),
        ]])
    }

    fn summary(&self, table: &Table) -> Summary {
        let lines = SCENES.map(|scene| {
            let rows = || table.rows().filter(move |row| row.text("scene") == scene);
            let most = |column| {
                rows()
                    .map(|row| row.number(column) as usize)
                    .max()
                    .unwrap_or(0)
            };
            let tried = rows().count();
            let moved = rows()
                .filter(|row| row.number("other_actions") > 0.0)
                .count();
            Line {
                scene,
                counts: vec![
                    tried.to_string(),
                    most("periods").to_string(),
                    moved.to_string(),
                ],
                tried,
                wrong: rows().filter(|row| row.yes("wrong")).count(),
            }
        });
        let columns = [
            "changes",
            "most periods to a dead line",
            "other actions until then",
            "not stopped",
        ];
        attacks::summary(
            "Flash that changes behind the gate's back",
            "Changes after which the line lives on or opens",
            &columns,
            &lines,
        )
    }
}
