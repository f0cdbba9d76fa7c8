//! Glitches: the firmware of `HAMBO_FIRMWARE` with skipped instructions, other verdict codes,
//! rewritten flash and flipped bits. Does the pin ever go high for an image that is not to be
//! deployed?
//!
//! A cell is one glitch; how many there are depends on the firmware. A file holds the rows of
//! one firmware: for another one they are deleted first.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use hambo_base::Error;

use super::glitches_summary;
use crate::glitch::attack::Moment;
use crate::glitch::campaign::{Campaign, Experiment, Names};
use crate::glitch::images::Verdict;
use crate::glitch::program::Symbol;
use crate::glitch::victim::{Seen, Victim};
use hambo_base::study::rows::{Table, yes_or_no};
use hambo_base::study::{Row, Study, Summary, field};

/// The study.
pub struct Glitches;

/// Victims that wait for the next cell: a start takes longer than a run.
static IDLE: Mutex<Vec<(Verdict, Victim)>> = Mutex::new(Vec::new());

/// The firmware's campaign, planned once.
///
/// # Errors
/// If there is no firmware, or the emulator fails.
pub fn campaign() -> Result<&'static Campaign, Error> {
    static CAMPAIGN: OnceLock<Result<Campaign, String>> = OnceLock::new();
    let planned = CAMPAIGN.get_or_init(|| {
        let firmware = std::env::var_os("HAMBO_FIRMWARE");
        let firmware = firmware.ok_or("HAMBO_FIRMWARE is to name the firmware's ELF file")?;
        let folder = std::env::temp_dir().join(format!("hambo-glitches-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let names = Names::from_environment();
        Campaign::new(&PathBuf::from(firmware), &folder, &names).map_err(|error| error.to_string())
    });
    planned
        .as_ref()
        .map_err(|error| Error::Usage(error.clone()))
}

/// Ends the emulators that wait for a next cell, and removes the images.
pub fn release() {
    if let Ok(mut idle) = IDLE.lock() {
        idle.clear();
    }
    let folder = std::env::temp_dir().join(format!("hambo-glitches-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(folder);
}

impl Study for Glitches {
    fn name(&self) -> &'static str {
        "glitches"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell", "part", "image", "moment", "address", "function", "change", "pin", "end",
            "verdict", "bound",
        ]
    }

    /// One if there is no campaign: running it tells why.
    fn cells(&self) -> usize {
        campaign().map_or(1, |campaign| campaign.experiments.len())
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let campaign = campaign()?;
        let experiment = campaign.experiments.get(cell);
        let experiment = experiment.ok_or_else(|| Error::Usage("no such cell".to_owned()))?;
        // An emulator that failed is not used again.
        let result = glitch(campaign, experiment).or_else(|_| glitch(campaign, experiment))?;
        Ok(vec![row(cell, campaign, experiment, &result)])
    }

    fn summary(&self, table: &Table) -> Summary {
        glitches_summary::summary(table)
    }
}

/// Does an experiment on a victim that waits, or on a new one.
fn glitch(campaign: &Campaign, experiment: &Experiment) -> Result<(String, Seen), Error> {
    let verdict = experiment.verdict;
    let target = campaign.target(verdict);
    let target = target.ok_or_else(|| Error::Usage("no such image".to_owned()))?;
    let poisoned = |_| Error::Usage("a thread has died".to_owned());
    let mut idle = IDLE.lock().map_err(poisoned)?;
    let place = idle.iter().position(|(image, _)| *image == verdict);
    let waiting = place.map(|place| idle.swap_remove(place).1);
    drop(idle);
    let mut victim = match waiting {
        Some(victim) => victim,
        None => campaign.bench.victim(&target.file)?,
    };
    let result = experiment.glitch.on(&mut victim, &target.timeline)?;
    IDLE.lock().map_err(poisoned)?.push((verdict, victim));
    Ok(result)
}

fn row(
    cell: usize,
    campaign: &Campaign,
    experiment: &Experiment,
    (done, seen): &(String, Seen),
) -> Row {
    let target = campaign.target(experiment.verdict);
    let (moment, address) = match experiment.glitch.moment {
        Moment::Before(number) => {
            let address = target.and_then(|target| target.timeline.addresses.get(number));
            (number.to_string(), address.copied().unwrap_or(0))
        }
        Moment::AfterStore {
            address, number, ..
        } => (format!("store {number}"), address),
    };
    let symbol = campaign.bench.program.symbol_at(address);
    let bound = match (seen.bound, target.and_then(|target| target.seen.bound)) {
        (None, _) => "none",
        (now, usual) if now == usual => "same",
        _ => "changed",
    };
    vec![
        cell.to_string(),
        experiment.part.name().to_owned(),
        experiment.verdict.name().to_owned(),
        moment,
        format!("{address:08x}"),
        field(symbol.map_or("", Symbol::short)),
        done.clone(),
        yes_or_no(seen.pin),
        seen.end.name().to_owned(),
        seen.verdict.to_owned(),
        bound.to_owned(),
    ]
}
