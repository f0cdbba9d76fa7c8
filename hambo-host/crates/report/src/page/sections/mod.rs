//! The sections of the page, one file each.

mod adversaries;
mod backtest;
mod bound;
mod calibration;
mod log_next;
mod losses;
mod plane;
mod settings;
mod support;
mod trajectories;

use hambo_check::saved_run::SavedRun;
use maud::Markup;

/// A section: its anchor, unique on the page, its heading, and its markup.
pub(super) struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub body: Markup,
}

/// Those that this run has something for, in their order.
pub(super) fn all(run: &SavedRun) -> Vec<Section> {
    let section = |id, title, body: Option<Markup>| body.map(|body| Section { id, title, body });
    let parts = [
        section("bound", "Bound against threshold", Some(bound::body(run))),
        section(
            "trajectories",
            "Trajectories and their tubes",
            trajectories::body(run),
        ),
        section("won", "Where the adversary won", losses::body(run)),
        section("log-next", "Where to log next", log_next::body(run)),
        section(
            "adversaries",
            "Adversaries compared",
            adversaries::body(run),
        ),
        section("support", "Support of the data", support::body(run)),
        section(
            "known",
            "What is known of the dynamics",
            settings::known(run),
        ),
        section("calibration", "Calibration", Some(calibration::body(run))),
        section("backtest", "Backtest", backtest::body(run)),
        section("theory", "Constants of the theory", settings::theory(run)),
        section(
            "limits",
            "What this means, and what it does not",
            Some(settings::limits(run)),
        ),
        section("repeat", "To repeat it", Some(settings::repeat(run))),
    ];
    parts.into_iter().flatten().collect()
}
