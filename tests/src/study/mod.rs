//! Studies: many cases with a known truth, whose rows are kept in `studies/`.
//!
//! `cargo xtask study NAME` works off the cells that a [`Study`]'s file does not hold yet,
//! `--summary` counts what the file holds and draws it. The tests repeat a few cells and hold
//! them against the file.
//!
//! | file | what it does |
//! |---|---|
//! | [`plant`], [`families`] | systems whose truth can be simulated, by hand and at random |
//! | [`simulate`] | controllers, logs, true returns |
//! | [`judge`] | the model and the check, as a user would call them |
//! | [`assumption`], [`condition`] | what a log does not tell, and a model cannot know |
//! | [`robots`], [`faults`] | cart-pole, drone and pendulum, with what is known of them and what may become of them |
//! | [`coverage`], [`hard_coverage`], [`broken`], [`backtests`], [`known_physics`], [`monitored`], [`glitches`], [`drive_flips`], [`stop_in_reply`], [`unplugged`], [`sampling`] | the studies |
//! | [`bundle_flips`], [`flash_changes`], [`startup_skips`], [`signature_skips`] | attacks on the gate; [`attacks`] and [`driven`] are what they share |
//! | [`kept`] | the rows of a study that are kept |
//! | [`statistics`] | limits of shares |

pub mod assumption;
pub mod attacks;
pub mod backtest_summary;
pub mod backtests;
pub mod broken;
pub mod broken_summary;
pub mod bundle_flips;
pub mod condition;
pub mod coverage;
pub mod coverage_kind;
pub mod coverage_summary;
pub mod drive_flips;
pub mod driven;
pub mod families;
pub mod faults;
pub mod flash_changes;
pub mod focused_summary;
pub mod glitches;
pub mod glitches_summary;
pub mod hard_coverage;
pub mod judge;
pub mod kept;
pub mod known_physics;
pub mod known_summary;
pub mod monitored;
pub mod monitored_summary;
pub mod plant;
pub mod robots;
pub mod sampling;
pub mod sampling_finder;
pub mod sampling_summary;
pub mod signature_skips;
pub mod simulate;
pub mod startup_skips;
pub mod statistics;
pub mod stop_in_reply;
pub mod unplugged;

use hambo_base::study::Study;

use backtests::Backtests;
use broken::Broken;
use bundle_flips::BundleFlips;
use coverage::Coverage;
use drive_flips::DriveFlips;
use flash_changes::FlashChanges;
use glitches::Glitches;
use hard_coverage::HardCoverage;
use known_physics::KnownPhysics;
use monitored::Monitored;
use sampling::Sampling;
use signature_skips::SignatureSkips;
use startup_skips::StartupSkips;
use stop_in_reply::StopInReply;
use unplugged::Unplugged;

/// The study of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Study> {
    let all: [&'static dyn Study; 16] = [
        &Coverage::EVEN,
        &Coverage::FOCUSED,
        &HardCoverage,
        &Broken,
        &Backtests,
        &KnownPhysics,
        &Monitored,
        &Glitches,
        &DriveFlips,
        &StopInReply,
        &Unplugged,
        &Sampling,
        &BundleFlips,
        &FlashChanges,
        &StartupSkips,
        &SignatureSkips,
    ];
    all.into_iter().find(|study| study.name() == name)
}

/// Ends the emulators that wait for a next cell.
pub fn release() {
    glitches::release();
    bundle_flips::release();
    flash_changes::release();
    signature_skips::release();
}
