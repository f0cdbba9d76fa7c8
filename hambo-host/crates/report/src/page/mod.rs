//! One page about one check: the verdict first, then what it rests on. It computes nothing but
//! its pictures, and needs no network, no script and no other file.

mod chart;
mod document;
mod heat;
mod pieces;
mod ranking;
#[cfg(test)]
mod ranking_tests;
mod sections;
mod sweep;
#[cfg(test)]
mod tests;

pub use self::heat::{HeatCell, HeatMap};
pub use self::ranking::ranking_page;
pub use self::sweep::{
    FittedModels, RankedPolicy, SweepFailure, SweepPage, SweepRanking, sweep_page,
};

use hambo_check::saved_run::SavedRun;
use hambo_core::gate::Verdict;
use maud::{Markup, html};

use self::document::Document;
use crate::words::{date, percent, readable};

/// The page about a run, as `hambo check --save` writes it. The same run gives the same bytes.
#[must_use]
pub fn page(run: &SavedRun) -> String {
    let sections = sections::all(run);
    let inputs = &run.inputs;
    let policy = inputs.files.iter().find(|file| file.what == "policy");
    let policy = policy.map_or("the controller", |file| &file.path);
    let (task, version) = (&run.result.setting.task, &inputs.hambo_version);
    Document {
        version,
        title: format!("{}: {policy} on {task}", word(run)),
        header: html! {
            h1 { "May " code { (policy) } " drive " (task) "?" }
            p class="quiet" { "Checked by hambo " (version) " on " (date(inputs.time)) "." }
        },
        main: html! {
            (verdict(run))
            nav aria-label="Contents" {
                ul { @for part in &sections { li { a href={ "#" (part.id) } { (part.title) } } } }
            }
            @for part in &sections {
                section aria-labelledby=(part.id) {
                    h2 id=(part.id) { (part.title) }
                    (part.body)
                }
            }
        },
        source: "a run file",
    }
    .text()
}

fn word(run: &SavedRun) -> &'static str {
    match run.result.decision.verdict {
        Some(Verdict::Deploy) => "Deploy",
        Some(Verdict::Reject) => "Reject",
        Some(Verdict::Abstain) => "Abstain",
        None => "No verdict",
    }
}

/// The verdict, what it means, and the numbers that it hangs on.
fn verdict(run: &SavedRun) -> Markup {
    let result = &run.result;
    let (class, meaning) = match result.decision.verdict {
        Some(Verdict::Deploy) => (
            "deploy",
            "Every lower bound reaches its threshold: inside the model’s uncertainty no \
             adversary was found under which the controller does worse than asked.",
        ),
        Some(Verdict::Reject) => (
            "reject",
            "A lower bound lies below its threshold: inside the model’s uncertainty there is a \
             system on which the controller does worse than asked.",
        ),
        Some(Verdict::Abstain) => (
            "abstain",
            "The evidence is unfit for a verdict; treat it as a refusal.",
        ),
        None => (
            "none",
            "No threshold was given, so the bound is only reported.",
        ),
    };
    let threshold = result.decision.threshold.map(|x| readable(x.0));
    let threshold = threshold.unwrap_or_else(|| "none".to_owned());
    let kept = result
        .evidence
        .constraints
        .iter()
        .filter(|one| one.ok)
        .count();
    let all = result.evidence.constraints.len();
    let logged = result.evidence.logged_return.as_ref();
    let gate = &run.model.calibration.gate;
    let facts = [
        (
            "Lower bound of the return",
            Some(readable(result.decision.bound.0)),
        ),
        ("Threshold", Some(threshold)),
        (
            "Constraints kept",
            (all > 0).then(|| format!("{kept} of {all}")),
        ),
        (
            "Neutral estimate",
            Some(readable(result.decision.neutral.0)),
        ),
        (
            "The log’s own return",
            logged.map(|logged| readable(logged.mean.0)),
        ),
        ("Confidence", Some(percent(1.0 - result.setting.delta.0))),
        ("Steps", Some(result.setting.horizon.to_string())),
        (
            "Trajectories",
            Some(result.setting.trajectories.to_string()),
        ),
        (
            "Searched trajectories",
            Some(result.setting.searched.to_string()),
        ),
        (
            "Different first states",
            result
                .setting
                .distinct_starts
                .map(|starts| starts.to_string()),
        ),
        (
            "Withheld rows that the model holds",
            Some(percent(f64::from(gate.share))),
        ),
    ];
    html! {
        section aria-label="Verdict" {
            div class={ "verdict " (class) } {
                p class="word" { (word(run)) }
                p { (meaning) }
                @for reason in &result.decision.reasons { p { "Because " (reason) "." } }
                p { (capitalised(&result.decision.assumes)) "." }
            }
            dl class="facts" {
                @for (name, value) in &facts {
                    @if let Some(value) = value { div { dt { (name) } dd { (value) } } }
                }
            }
        }
    }
}

/// With a capital letter first.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
