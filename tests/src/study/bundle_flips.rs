//! Every bit of what a gate has read into memory, flipped: of a bundle and of a floor before the
//! check, of a bundle in a drive. Does a flip ever open the gate, or move the robot otherwise?
//!
//! A cell is one word of one of the scenes, each of whose 32 bits is flipped by itself. In the drive
//! all of them are flipped at once first: a word of which that changes nothing is one that nobody
//! reads, such as an unused place of a list. `HAMBO_FIRMWARE` is for the scenes before
//! the check, `HAMBO_FIRMWARE_WATCHDOG` for the drive.

use std::io;
use std::sync::{Mutex, OnceLock};

use hambo_base::Error;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary};

use super::attacks::{self, firmware};
use super::driven::Driven;
use crate::fixture::{point, rewritten};
use crate::glitch::images::{Flash, Verdict};
use crate::glitch::stand::{Stand, is_same, place};
use crate::glitch::victim::{Bench, Victim};
use hambo_task::image::{BundleAbout, encode_bundle, floor_of_trust};

/// The study.
pub struct BundleFlips;

/// What is flipped, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// The bundle that was read, of an image that is to be rejected, before the floor looks at it.
    Bundle,
    /// The same in a firmware whose checksum of it is always the same number: how many flips open
    /// a gate that is not sealed.
    Unsealed,
    /// The floor that was read, before it refuses a bundle whose horizon differs in one bit.
    Floor,
    /// The bundle, between two periods of a drive.
    Drive,
}

/// All of them, in the order of the cells.
pub const SCENES: [Scene; 4] = [Scene::Bundle, Scene::Floor, Scene::Drive, Scene::Unsealed];

impl Scene {
    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle before the check",
            Self::Unsealed => "bundle without its seal",
            Self::Floor => "floor before the check",
            Self::Drive => "bundle in a drive",
        }
    }

    /// Where a run is disturbed, and what says where the bytes lie.
    fn moment(self) -> (&'static str, &'static str) {
        match self {
            Self::Floor => ("floor*admission*5admit17h", "FLOOR_PLACE"),
            _ => ("gate*12check_bundle17h", "BUNDLE_PLACE"),
        }
    }
}

/// What came of the flips of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flips.
    pub tried: u32,
    /// The run ended otherwise, with the line low.
    pub closed: u32,
    /// As without a flip.
    pub same: u32,
    /// The line was high, or beat with another action.
    pub wrong: u32,
}

/// `movs r0, #1; movs r1, #7; bx lr`: there is a checksum, and it is 7.
const ALWAYS_SEVEN: [u8; 6] = [0x01, 0x20, 0x07, 0x21, 0x70, 0x47];

/// What is disturbed: an emulated board, and where the bytes lie.
enum Disturbed {
    Check(Box<Stand>, u32),
    Drive(Box<Driven>, u32),
}

/// A scene's first board, and the number of words.
struct Planned {
    words: usize,
    idle: Mutex<Vec<Disturbed>>,
}

static PLANS: [OnceLock<Result<Planned, String>>; SCENES.len()] =
    [const { OnceLock::new() }; SCENES.len()];

fn plan(scene: Scene) -> Result<&'static Planned, Error> {
    let number = SCENES.iter().position(|one| *one == scene).unwrap_or(0);
    let planned = PLANS[number].get_or_init(|| {
        let (bench, length) = bench(scene).map_err(|error| format!("{}: {error}", scene.name()))?;
        Ok(Planned {
            words: length as usize / 4,
            idle: Mutex::new(vec![bench]),
        })
    });
    planned
        .as_ref()
        .map_err(|error| Error::Usage(error.clone()))
}

/// Ends the emulators that wait.
pub fn release() {
    for plan in &PLANS {
        if let Some(Ok(plan)) = plan.get()
            && let Ok(mut idle) = plan.idle.lock()
        {
            idle.clear();
        }
    }
}

/// What lies in flash of a scene before the check.
fn flash(scene: Scene) -> Result<Flash, Error> {
    if scene != Scene::Floor {
        return Verdict::Reject.flash(true);
    }
    let of_horizon = |horizon| -> Result<Vec<u8>, Error> {
        let image = point()?;
        let image = rewritten(image.as_bytes(), |_, task| {
            task.effort.iterations = 1;
            task.horizon = horizon;
        });
        let image = image.map_err(|error| Error::Usage(error.to_string()))?;
        let bundle = encode_bundle(image.as_bytes(), &BundleAbout::default(), None)?;
        Ok(bundle.as_bytes().to_vec())
    };
    Ok(Flash {
        bytes: of_horizon(4)?,
        floor: floor_of_trust(&of_horizon(5)?)?.as_bytes().to_vec(),
    })
}

/// A board of a scene, halted before the flip, and how many bytes may be flipped.
fn bench(scene: Scene) -> io::Result<(Disturbed, u32)> {
    if scene == Scene::Drive {
        let mut driven = Driven::new(1)?;
        let (address, length) = driven.board.place("BUNDLE_PLACE")?;
        return Ok((Disturbed::Drive(Box::new(driven), address), length));
    }
    let flash = flash(scene).map_err(io::Error::other)?;
    let bench = Bench::new(&firmware("HAMBO_FIRMWARE")?)?;
    let (function, name) = scene.moment();
    let mut stand = Stand::new(&bench, &flash, function)?;
    let wanted = match scene {
        Scene::Floor => Verdict::Refused,
        _ => Verdict::Reject,
    };
    if stand.usual.verdict != wanted.name() || stand.usual.pin {
        return Err(io::Error::other(format!("it ends as {:?}", stand.usual)));
    }
    stand.victim.load(0)?;
    if scene == Scene::Unsealed {
        let seal = bench.program.matching("Bundle*8checksum").next();
        let seal = seal.ok_or_else(|| io::Error::other("no function `Bundle::checksum`"))?;
        stand.victim.gdb.set_memory(seal.address, &ALWAYS_SEVEN)?;
        stand.victim.save(0)?;
    }
    let (address, length) = place(&mut stand.victim, &bench, name)?;
    Ok((Disturbed::Check(Box::new(stand), address), length))
}

/// Inverts bits of a word.
fn flip(victim: &mut Victim, address: u32, bits: u32) -> io::Result<bool> {
    let word = victim.gdb.memory(address, 4)?;
    let flipped: Vec<u8> = { word.iter().zip(bits.to_le_bytes()) }
        .map(|(a, b)| a ^ b)
        .collect();
    victim.gdb.set_memory(address, &flipped)?;
    Ok(true)
}

impl Disturbed {
    /// What comes of inverting bits of a word: closed, same or wrong.
    fn flip(&mut self, word: usize, bits: u32, counts: &mut Counts) -> io::Result<()> {
        counts.tried += 1;
        let at = 4 * word as u32;
        let (wrong, same) = match self {
            Self::Check(stand, address) => {
                let place = *address + at;
                let seen = stand.run(|victim| flip(victim, place, bits))?;
                let seen = seen.ok_or_else(|| io::Error::other("no flip"))?;
                (seen.pin, is_same(&seen, &stand.usual))
            }
            Self::Drive(driven, address) => {
                let heard = driven.flipped(*address + at, bits)?;
                (heard.is_wrong(), heard.is_same())
            }
        };
        match (wrong, same) {
            (true, _) => counts.wrong += 1,
            (_, true) => counts.same += 1,
            _ => counts.closed += 1,
        }
        Ok(())
    }

    /// All bits of a word; whether a flip changed anything. In a drive the seal is compared in every
    /// period, so that a word of which the inverse changes nothing has no bit that would. Before a
    /// check the inverse of a word may be refused as the word is.
    fn word(&mut self, word: usize) -> io::Result<(bool, Counts)> {
        let mut counts = Counts::default();
        if matches!(self, Self::Drive(..)) {
            self.flip(word, u32::MAX, &mut counts)?;
            if counts.same == 1 {
                return Ok((false, counts));
            }
        }
        for bit in 0..32 {
            self.flip(word, 1 << bit, &mut counts)?;
        }
        Ok((counts.closed + counts.wrong > 0, counts))
    }
}

/// The scene of a cell and the word in it.
fn of_cell(cell: usize) -> Result<(Scene, usize), Error> {
    let mut word = cell;
    for scene in SCENES {
        let words = plan(scene)?.words;
        if word < words {
            return Ok((scene, word));
        }
        word -= words;
    }
    Err(Error::Usage("no such cell".to_owned()))
}

impl Study for BundleFlips {
    fn name(&self) -> &'static str {
        "bundle_flips"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell", "scene", "word", "live", "tried", "closed", "same", "wrong",
        ]
    }

    /// One if there is no firmware: running it tells why.
    fn cells(&self) -> usize {
        let words = SCENES.map(|scene| plan(scene).map(|plan| plan.words));
        let words: Result<Vec<usize>, Error> = words.into_iter().collect();
        words.map_or(1, |words| words.iter().sum())
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let (scene, word) = of_cell(cell)?;
        let plan = plan(scene)?;
        let poisoned = |_| Error::Usage("a thread has died".to_owned());
        let waiting = plan.idle.lock().map_err(poisoned)?.pop();
        let mut board = match waiting {
            Some(board) => board,
            None => bench(scene)?.0,
        };
        let found = board.word(word);
        // An emulator that failed is not used again.
        let (live, counts) = match found {
            Ok(found) => {
                plan.idle.lock().map_err(poisoned)?.push(board);
                found
            }
            Err(_) => {
                drop(board);
                let mut board = bench(scene)?.0;
                let found = board.word(word)?;
                plan.idle.lock().map_err(poisoned)?.push(board);
                found
            }
        };
        Ok(vec![vec![
            cell.to_string(),
            scene.name().to_owned(),
            word.to_string(),
            yes_or_no(live),
            counts.tried.to_string(),
            counts.closed.to_string(),
            counts.same.to_string(),
            counts.wrong.to_string(),
        ]])
    }

    fn summary(&self, table: &Table) -> Summary {
        let of = |scene: Scene| {
            let rows = || {
                table
                    .rows()
                    .filter(move |row| row.text("scene") == scene.name())
            };
            let sum = |column: &str| rows().map(|row| row.number(column) as usize).sum::<usize>();
            let live = rows().filter(|row| row.yes("live")).count();
            let counts = vec![
                rows().count().to_string(),
                live.to_string(),
                sum("tried").to_string(),
                sum("closed").to_string(),
                sum("same").to_string(),
            ];
            attacks::Line {
                scene: scene.name(),
                counts,
                tried: sum("tried"),
                wrong: sum("wrong"),
            }
        };
        let columns = [
            "words",
            "read by somebody",
            "flips",
            "closed",
            "as without",
            "opened",
        ];
        attacks::summary(
            "Flipped bits of what was read",
            "Flips that open the gate, or move the robot otherwise",
            &columns,
            &SCENES.map(of),
        )
    }
}
