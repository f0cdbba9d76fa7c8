//! A part of the glitch campaign on today's firmware: whatever is skipped, flipped or rewritten,
//! the pin stays low for an image that is not to be deployed.
//!
//! `cargo xtask study glitches` runs all of it; what its kept rows say is held here too.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::study::Study;
use hambo_tests::glitch::attack::Change;
use hambo_tests::glitch::campaign::{PARTS, Part};
use hambo_tests::glitch::images::{VERDICTS, Verdict};
use hambo_tests::study::glitches::{Glitches, campaign, release};
use hambo_tests::study::glitches_summary::Counts as GlitchCounts;
use hambo_tests::study::kept::kept;

/// Glitches of each part; `HAMBO_GLITCHES=1000000 cargo xtask test` runs all.
fn glitches_of_a_part() -> usize {
    let wanted = std::env::var("HAMBO_GLITCHES").ok();
    wanted.map_or(20, |wanted| wanted.parse().unwrap())
}

/// Ends the emulators, also if the test fails.
struct Released;

impl Drop for Released {
    fn drop(&mut self) {
        release();
    }
}

#[test]
fn no_glitch_raises_the_pin() {
    let _released = Released;
    let campaign = campaign().unwrap();
    let columns = Glitches.columns();
    let pin = columns.iter().position(|column| *column == "pin").unwrap();
    for part in PARTS {
        let cells = campaign.experiments.iter().enumerate();
        let cells: Vec<_> = cells.filter(|(_, one)| one.part == part).collect();
        assert!(cells.len() >= 4, "{part:?}: {}", cells.len());
        let step = cells.len().div_ceil(glitches_of_a_part());
        for (cell, experiment) in cells.into_iter().step_by(step) {
            let row = Glitches.run(cell).unwrap().remove(0);
            let opens = match part {
                Part::Control => experiment.verdict == Verdict::Deploy,
                // One code opens: that of a deploy, in all places at once.
                Part::Code if whole_decision(&experiment.glitch.change) => continue,
                _ => false,
            };
            assert_eq!(row[pin] == "yes", opens, "{row:?}");
        }
    }
}

/// No glitch makes the current firmware switch its outputs on.
#[test]
fn the_claims_of_the_glitches_hold() {
    let table = kept(&Glitches).unwrap();
    for part in PARTS {
        for verdict in VERDICTS {
            let counts = GlitchCounts::of(&table, part, verdict);
            match (part, verdict) {
                (Part::Control, Verdict::Deploy) => assert_eq!(counts.high, 1),
                // The code of a deploy, in every place at once, is no other code.
                (Part::Code, _) => assert!(counts.opening.len() <= 1, "{counts:?}"),
                _ => assert_eq!(counts.high, 0, "{part:?}, {verdict:?}: {counts:?}"),
            }
        }
    }
}

/// Whether a change writes more than one word.
fn whole_decision(change: &Change) -> bool {
    matches!(change, Change::Write { bytes, .. } if bytes.len() > 4)
}
