//! A few attacks beside the decision on today's firmware, and what the kept rows of the others
//! say: nothing is verified that was not signed, nothing drives without a watchdog.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::study::Study;
use hambo_tests::study::flash_changes::{FlashChanges, SCENES};
use hambo_tests::study::kept::kept;
use hambo_tests::study::signature_skips::{self, SignatureSkips};
use hambo_tests::study::startup_skips::{End, StartupSkips};

/// Ends the emulators, also if a test fails.
struct Released(fn());

impl Drop for Released {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Every so many of the cells of a study again, and one of their columns.
fn again(study: &dyn Study, count: usize, column: &str) -> Vec<String> {
    let place = study.columns().iter().position(|name| *name == column);
    let cells = study.cells();
    assert!(cells > 20, "{cells}");
    let run = |cell| {
        let row = study.run(cell).unwrap().remove(0);
        println!("{row:?}");
        row[place.unwrap()].clone()
    };
    (0..cells).step_by(cells.div_ceil(count)).map(run).collect()
}

#[test]
fn a_store_that_the_start_up_skips_leaves_no_drive_without_a_watchdog() {
    let ends = again(&StartupSkips, 3, "end");
    assert!(
        ends.iter().all(|end| end != End::Unwatched.name()),
        "{ends:?}"
    );
}

#[test]
fn a_skipped_instruction_verifies_nothing() {
    let _released = Released(signature_skips::release);
    // What both keys have signed opens.
    signature_skips::control().unwrap();
    let pins = again(&SignatureSkips, 8, "pin");
    assert!(pins.iter().all(|pin| pin == "no"), "{pins:?}");
}

#[test]
fn the_kept_attacks_did_not_come_through() {
    let starts = kept(&StartupSkips).unwrap();
    let ends = [End::NoDrive, End::Watched].map(End::name);
    assert!(!starts.is_empty());
    assert!(starts.rows().all(|row| ends.contains(&row.text("end"))));
    let skips = kept(&SignatureSkips).unwrap();
    assert!(!skips.is_empty());
    assert!(skips.rows().all(|row| !row.yes("pin")));
    let changes = kept(&FlashChanges).unwrap();
    let mut driven = changes.rows().filter(|row| row.text("scene") == SCENES[0]);
    assert!(driven.all(|row| !row.yes("wrong") && row.number("periods") < 100.0));
}
