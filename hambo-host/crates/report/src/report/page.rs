//! The page around the sections: verdict on top, a list of contents, and the
//! style sheet inside, so that the file is whole by itself.

use super::date::date;
use super::html::{escape, percent, readable};
use super::sections::{
    Section, adversaries, backtest, bound, calibration, known, limits, log_next, losses, repeat,
    support, theory, trajectories,
};
use hambo_check::Decision;
use hambo_check::saved_run::SavedRun;

const STYLE: &str = include_str!("style.css");

/// The page about a run. The same run gives the same bytes.
#[must_use]
pub fn page(run: &SavedRun) -> String {
    let parts = [
        Some(bound::section(run)),
        trajectories::section(run),
        losses::section(run),
        log_next::section(run),
        adversaries::section(run),
        support::section(run),
        known::section(run),
        Some(calibration::section(run)),
        backtest::section(run),
        theory::section(run),
        Some(limits::section(run)),
        Some(repeat::section(run)),
    ];
    let sections: Vec<Section> = parts.into_iter().flatten().collect();
    let contents: String = sections
        .iter()
        .map(|part| format!("<li><a href=\"#{}\">{}</a></li>\n", part.id, part.title))
        .collect();
    let body: String = sections
        .iter()
        .map(|part| {
            format!(
                "<section aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                part.id, part.title, part.body
            )
        })
        .collect();
    let inputs = &run.inputs;
    let policy = inputs.files.iter().find(|file| file.what == "policy");
    let policy = policy.map_or("the controller", |file| &file.path);
    let (task, policy) = (escape(&run.result.task), escape(policy));
    let when = date(inputs.time);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"hambo {version}\">\n\
         <title>{word}: {policy} on {task}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the results</a>\n\
         <header>\n<h1>May <code>{policy}</code> drive {task}?</h1>\n\
         <p class=\"quiet\">Checked by hambo {version} on {when}.</p>\n</header>\n\
         <main id=\"main\">\n{verdict}\
         <nav aria-label=\"Contents\"><ul>\n{contents}</ul></nav>\n{body}</main>\n\
         <footer><p>Written by hambo {version} from a run file; nothing here is loaded from \
         elsewhere.</p></footer>\n</body>\n</html>\n",
        version = escape(&inputs.hambo_version),
        word = word(run),
        verdict = verdict(run),
    )
}

fn word(run: &SavedRun) -> &'static str {
    match run.result.verdict {
        Some(Decision::Deploy) => "Deploy",
        Some(Decision::Reject) => "Reject",
        Some(Decision::Abstain) => "Abstain",
        None => "No verdict",
    }
}

/// The verdict, what it means, and the numbers that it hangs on.
fn verdict(run: &SavedRun) -> String {
    let result = &run.result;
    let (class, meaning) = match result.verdict {
        Some(Decision::Deploy) => (
            "deploy",
            "Every lower bound reaches its threshold: inside the model’s uncertainty no \
             adversary was found under which the controller does worse than asked.",
        ),
        Some(Decision::Reject) => (
            "reject",
            "A lower bound lies below its threshold: inside the model’s uncertainty there is a \
             system on which the controller does worse than asked.",
        ),
        Some(Decision::Abstain) => (
            "abstain",
            "The evidence is unfit for a verdict; treat it as a refusal.",
        ),
        None => (
            "none",
            "No threshold was given, so the bound is only reported.",
        ),
    };
    let reasons: String = result
        .reasons
        .iter()
        .map(|reason| format!("<p>Because {}.</p>\n", escape(reason)))
        .collect();
    let confidence = percent(1.0 - result.delta.0);
    let mut facts = vec![
        ("Lower bound of the return", readable(result.bound.0)),
        (
            "Threshold",
            result
                .threshold
                .map_or("none".to_owned(), |x| readable(x.0)),
        ),
        ("Neutral estimate", readable(result.neutral.0)),
        ("Confidence", confidence),
        ("Steps", result.horizon.to_string()),
        ("Trajectories", result.trajectories.to_string()),
        ("Searched trajectories", result.searched.to_string()),
    ];
    if let Some(logged) = &result.logged_return {
        facts.insert(3, ("The log\u{2019}s own return", readable(logged.mean.0)));
    }
    if let Some(starts) = result.distinct_starts {
        facts.push(("Different first states", starts.to_string()));
    }
    let held = f64::from(run.model.calibration.gate.share);
    facts.push(("Withheld rows that the model holds", percent(held)));
    if !result.constraints.is_empty() {
        let kept = result.constraints.iter().filter(|one| one.ok).count();
        let all = result.constraints.len();
        facts.insert(2, ("Constraints kept", format!("{kept} of {all}")));
    }
    let facts: String = facts
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"))
        .collect();
    format!(
        "<section aria-label=\"Verdict\">\n<div class=\"verdict {class}\">\
         <p class=\"word\">{}</p>\n<p>{meaning}</p>\n{reasons}<p>{}.</p>\n</div>\n\
         <dl class=\"facts\">\n{facts}</dl>\n</section>\n",
        word(run),
        escape(&capitalised(&result.assumes))
    )
}

/// With a capital letter first.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
