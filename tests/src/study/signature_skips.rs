//! Skipped instructions of the verifier, and of the gate's checks of what it left. Does the pin
//! ever go high for what the two keys have not signed?
//!
//! `HAMBO_VERIFIER` names the verifier with the keys of the tests, `HAMBO_FIRMWARE_VERIFIED` the
//! gate behind it. A cell is an instruction of one of their functions, at its first or its second
//! execution, and one of three pairs of files that pass every other check.

use std::io;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use hambo_base::Error;
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary};
use hambo_core::image::Role;
use hambo_task::image::AlignedBytes;
use hambo_task::signing::{SecretKey, sign};

use super::attacks::{self, Line, firmware};
use crate::glitch::images::{Flash, Verdict};
use crate::glitch::program::Program;
use crate::glitch::stand::{Stand, is_same, skip_at};
use crate::glitch::thumb;
use crate::glitch::victim::Bench;
use crate::signed::claiming;

/// The study.
pub struct SignatureSkips;

/// Who signed what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgery {
    /// Nobody signed the bundle.
    Unsigned,
    /// Somebody else did, under the right key's name.
    Wrong,
    /// Somebody else signed the floor, under the right key's name.
    Floor,
}

/// All of them.
pub const FORGERIES: [Forgery; 3] = [Forgery::Unsigned, Forgery::Wrong, Forgery::Floor];

impl Forgery {
    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "nobody signed the bundle",
            Self::Wrong => "another key signed the bundle",
            Self::Floor => "another key signed the floor",
        }
    }
}

/// The keys that the tests' verifier knows, from their files.
fn key(name: &str) -> Result<SecretKey, Error> {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/keys");
    let file = keys.join(format!("test-only-{name}.key"));
    SecretKey::read(&file).map_err(|error| Error::Usage(error.to_string()))
}

/// A bundle that deploys and its floor, both rightly signed, or with a forgery.
///
/// # Errors
/// If the keys of the tests are not there.
pub fn flash(forgery: Option<Forgery>) -> Result<Flash, Error> {
    let plain = Verdict::Deploy.flash(true)?;
    let (controllers, owner) = (key("controllers")?, key("owner")?);
    let signed = |bytes: &[u8], key: &SecretKey| {
        sign(&AlignedBytes::new(bytes), key).map_err(|error| Error::Usage(error.to_string()))
    };
    let forged = |bytes: &[u8], role: Role, right: &SecretKey| -> Result<Vec<u8>, Error> {
        let other = signed(bytes, &SecretKey::of_seed(role, [7; 32]))?;
        Ok(claiming(other.as_bytes(), right.public().as_bytes()))
    };
    let (bundle, floor) = (plain.bytes.as_slice(), plain.floor.as_slice());
    Ok(Flash {
        bytes: match forgery {
            Some(Forgery::Unsigned) => bundle.to_vec(),
            Some(Forgery::Wrong) => forged(bundle, Role::Controllers, &controllers)?,
            _ => signed(bundle, &controllers)?.as_bytes().to_vec(),
        },
        floor: match forgery {
            Some(Forgery::Floor) => forged(floor, Role::Floor, &owner)?,
            _ => signed(floor, &owner)?.as_bytes().to_vec(),
        },
    })
}

/// Functions whose instructions are skipped. The curve's code lies within the verifier's.
const VERIFIER: [&str; 5] = [
    "hambo_verifier",
    "4main",
    "Handover",
    "image*container*take17h",
    "memcmp",
];
const GATE: [&str; 5] = [
    "handover",
    "gate*5admit17h",
    "gate*3run17h",
    "gate*9permit_of17h",
    "gate*6permit17h",
];

/// An instruction that is skipped.
#[derive(Clone, Copy, Debug)]
struct Skip {
    address: u32,
    /// Its execution, from 1 on.
    number: usize,
    /// Of the verifier, or of the gate.
    in_verifier: bool,
}

struct Plan {
    bench: Bench,
    skips: Vec<Skip>,
    names: Vec<String>,
    /// The first instruction of the gate.
    gate: u32,
}

fn plan() -> Result<&'static Plan, Error> {
    static PLAN: OnceLock<Result<Plan, String>> = OnceLock::new();
    let plan = PLAN.get_or_init(|| planned().map_err(|error| error.to_string()));
    plan.as_ref().map_err(|error| Error::Usage(error.clone()))
}

/// Where instructions may begin in the functions of a program that fit one of these patterns.
fn instructions(program: &Program, patterns: &[&str]) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for pattern in patterns {
        for symbol in program.matching(pattern) {
            let code = program.code(symbol);
            let mut at = 0;
            while let Some(first) = code.get(at..at + 2).and_then(|pair| pair.first_chunk()) {
                found.push((symbol.address + at as u32, symbol.short().to_owned()));
                at += thumb::length(u16::from_le_bytes(*first)) as usize;
            }
        }
    }
    found.sort();
    found.dedup_by_key(|(address, _)| *address);
    found
}

fn planned() -> io::Result<Plan> {
    let mut bench = Bench::new(&firmware("HAMBO_FIRMWARE_VERIFIED")?)?;
    let verifier = firmware("HAMBO_VERIFIER")?;
    let own = Program::parse(&std::fs::read(&verifier)?).map_err(io::Error::other)?;
    bench.verifier = Some(verifier);
    let (mut skips, mut names) = (Vec::new(), Vec::new());
    let gate = bench
        .program
        .matching("hambo_gate*4gate3run17h")
        .next()
        .map(|one| one.address);
    for (in_verifier, all) in [
        (true, instructions(&own, &VERIFIER)),
        (false, instructions(&bench.program, &GATE)),
    ] {
        for (address, name) in all {
            for number in [1, 2] {
                skips.push(Skip {
                    address,
                    number,
                    in_verifier,
                });
                names.push(name.clone());
            }
        }
    }
    Ok(Plan {
        bench,
        skips,
        names,
        gate: gate.ok_or_else(|| io::Error::other("no function of the gate"))?,
    })
}

/// Boards that wait: of which forgery, and whether before the verifier or before the gate.
static IDLE: Mutex<Vec<(Forgery, bool, Stand)>> = Mutex::new(Vec::new());

/// Ends the emulators that wait.
pub fn release() {
    if let Ok(mut idle) = IDLE.lock() {
        idle.clear();
    }
}

/// A board with a forgery, or with none, before the first instruction that is skipped.
fn stand(plan: &Plan, forgery: Option<Forgery>, in_verifier: bool) -> Result<Stand, Error> {
    let verifier = plan.bench.verifier.as_deref().unwrap_or(Path::new(""));
    let own = Program::parse(&std::fs::read(verifier)?).map_err(Error::Usage)?;
    let address = if in_verifier {
        let main = own.matching("main").find(|symbol| symbol.name == "main");
        main.map(|symbol| symbol.address)
    } else {
        Some(plan.gate)
    };
    let address = address.ok_or_else(|| Error::Usage("the verifier has no `main`".to_owned()))?;
    let stand = Stand::at(&plan.bench, &flash(forgery)?, address)?;
    let stand = stand.ok_or_else(|| Error::Usage("the verifier never starts".to_owned()))?;
    let wanted = match forgery {
        None => ("deploy", true),
        Some(_) => ("refused", false),
    };
    if (stand.usual.verdict, stand.usual.pin) != wanted {
        return Err(Error::Usage(format!(
            "{forgery:?} ends as {:?}",
            stand.usual
        )));
    }
    Ok(stand)
}

/// What both keys have signed opens: without that the skips would show nothing.
///
/// # Errors
/// If it does not.
pub fn control() -> Result<(), Error> {
    stand(plan()?, None, true).map(|_| ())
}

impl Study for SignatureSkips {
    fn name(&self) -> &'static str {
        "signature_skips"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell",
            "files",
            "program",
            "address",
            "function",
            "execution",
            "pin",
            "end",
            "verdict",
            "same",
        ]
    }

    /// One if there is no firmware: running it tells why.
    fn cells(&self) -> usize {
        plan().map_or(1, |plan| FORGERIES.len() * plan.skips.len())
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let plan = plan()?;
        let forgery = FORGERIES[cell % FORGERIES.len()];
        let place = cell / FORGERIES.len();
        let found = plan.skips.get(place).zip(plan.names.get(place));
        let (skip, name) = found.ok_or_else(|| Error::Usage("no such cell".to_owned()))?;
        let poisoned = |_| Error::Usage("a thread has died".to_owned());
        let mut idle = IDLE.lock().map_err(poisoned)?;
        let waits = |(kind, verifier, _): &(Forgery, bool, Stand)| {
            *kind == forgery && *verifier == skip.in_verifier
        };
        let waiting = idle.iter().position(waits).map(|at| idle.swap_remove(at).2);
        drop(idle);
        let mut stand = match waiting {
            Some(stand) => stand,
            None => stand(plan, Some(forgery), skip.in_verifier)?,
        };
        let seen = stand.run(|victim| skip_at(victim, skip.address, skip.number))?;
        let usual = stand.usual.clone();
        IDLE.lock()
            .map_err(poisoned)?
            .push((forgery, skip.in_verifier, stand));
        let (pin, end, verdict, same) = match &seen {
            None => (false, "unreached", "", true),
            Some(seen) => (
                seen.pin,
                seen.end.name(),
                seen.verdict,
                is_same(seen, &usual),
            ),
        };
        Ok(vec![vec![
            cell.to_string(),
            forgery.name().to_owned(),
            if skip.in_verifier { "verifier" } else { "gate" }.to_owned(),
            format!("{:08x}", skip.address),
            hambo_base::study::field(name),
            skip.number.to_string(),
            yes_or_no(pin),
            end.to_owned(),
            verdict.to_owned(),
            yes_or_no(same),
        ]])
    }

    fn summary(&self, table: &Table) -> Summary {
        let lines = FORGERIES.map(|forgery| {
            let rows = || {
                let own = table
                    .rows()
                    .filter(move |row| row.text("files") == forgery.name());
                own.filter(|row| row.text("end") != "unreached")
            };
            let tried = rows().count();
            let of = |program: &str| rows().filter(|row| row.text("program") == program).count();
            Line {
                scene: forgery.name(),
                counts: vec![
                    of("verifier").to_string(),
                    of("gate").to_string(),
                    (tried - rows().filter(|row| row.yes("same")).count()).to_string(),
                ],
                tried,
                wrong: rows().filter(|row| row.yes("pin")).count(),
            }
        });
        let columns = [
            "skips in the verifier",
            "skips in the gate",
            "ended otherwise",
            "pin high",
        ];
        attacks::summary(
            "Skipped instructions where signatures are verified",
            "Skips that open the gate for what the keys have not signed",
            &columns,
            &lines,
        )
    }
}
