//! What the check rests on: known dynamics, the theory's constants, what is promised, and what
//! it takes to get the same bits again.

use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use crate::page::pieces::{code, figure, number, table, text};
use crate::words::{count, percent, readable};

/// What the task says of the dynamics, so that no model learns it and no adversary bends it.
pub fn known(run: &SavedRun) -> Option<Markup> {
    let result = &run.result;
    if result.setting.known.is_empty() && result.setting.circles.is_empty() {
        return None;
    }
    let rows = result.setting.known.iter().map(|line| {
        let initial = line.initial.map(|initial| figure(f64::from(initial)));
        let initial = initial.unwrap_or_else(|| text("in the log"));
        vec![text(&line.state), code(&line.next), initial]
    });
    let heads = ["state", "next value", "starts at"];
    Some(html! {
        p {
            "These next states are computed, without uncertainty: the adversary has no say in \
             them. " code { "hambo fit" } " held those of the log against every row of it."
        }
        @if result.setting.known.iter().any(|line| line.next.contains("learned.")) {
            p {
                "A line with " code { "learned." } " is no such state: the model and the \
                 adversary move it, and the line corrects what they say."
            }
        }
        @if !result.setting.known.is_empty() { (table("What is computed", &heads, rows)) }
        @for [c, s] in &result.setting.circles {
            p { "The pair " (c) ", " (s) " is moved back to the unit circle after every step." }
        }
        p { "The model sees " (result.setting.inputs.join(", ")) " and the action." }
    })
}

/// The theory's constants, and what they assume; `None` for models without theory.
pub fn theory(run: &SavedRun) -> Option<Markup> {
    let model = &run.model;
    if model.theory.is_empty() {
        return None;
    }
    let rows = model.theory.iter();
    let rows = rows.map(|[name, value, unit]| vec![text(name), number(value), text(unit)]);
    let heads = ["constant", "value", "unit"];
    Some(html! {
        (table("Constants of the Gaussian processes", &heads, rows))
        p { "They assume that" }
        ul { @for one in &model.assumptions { li { (one) } } }
    })
}

/// What the verdict promises, and what it does not.
pub fn limits(run: &SavedRun) -> Markup {
    html! {
        ul {
            li {
                "The bound holds with " (percent(1.0 - run.result.setting.delta.0)) " confidence "
                em { "if" } " the true system lies in the model’s set at every step. Calibration \
                on withheld rows supports that near the log; nothing supports it far from the log."
            }
            li {
                "It is a bound on the mean over the task’s initial states, not on every single \
                 trajectory."
            }
            li {
                "An adversary’s search may miss the true worst case; the comparison of \
                 adversaries shows how much they differ, not how much all of them miss."
            }
            li {
                "The verdict is about this task file: its reward, its limits, its initial states. \
                 A robot, a log or a controller that has changed needs a new check."
            }
        }
    }
}

/// What is needed to run the check again and to get the same bits.
pub fn repeat(run: &SavedRun) -> Markup {
    let (inputs, model, result) = (&run.inputs, &run.model, &run.result);
    let file = |what: &str, path, hash: &str| vec![text(what), path, code(hash)];
    let files = inputs.files.iter();
    let files = files.map(|one| file(&one.what, code(&one.path), &one.sha256));
    let files = files.chain([
        file("controller as compiled", text(""), &inputs.policy_part),
        file("numbers of the model’s log", text(""), &model.data_hash),
    ]);
    let rows = [
        model.rows,
        model.training_rows,
        model.validation_rows,
        model.withheld_rows,
    ];
    let [all, train, stop, calibrate] = rows.map(|rows| count(rows as u64));
    let settings = [
        ("hambo", inputs.hambo_version.clone()),
        ("horizon", result.setting.horizon.to_string()),
        ("delta", readable(result.setting.delta.0)),
        ("discount", readable(result.setting.discount.0)),
        ("trajectories", result.setting.trajectories.to_string()),
        ("searched trajectories", result.setting.searched.to_string()),
        ("sweeps of the search", result.setting.sweeps.to_string()),
        ("allocation of its steps", result.setting.allocation.clone()),
        ("effort", result.setting.effort.name().to_owned()),
        ("seed", result.setting.seed.to_string()),
        ("variants that decide", result.setting.variants.join(", ")),
        ("bits of the bound", result.decision.bound_bits.clone()),
        ("digest of all estimates", result.evidence.digest.clone()),
        ("model", model.description.clone()),
        (
            "model trained by",
            format!("hambo {}, seed {}", model.hambo_version, model.seed),
        ),
        (
            "rows",
            format!("{all}: {train} to train, {stop} to stop, {calibrate} to calibrate"),
        ),
    ];
    let settings = settings.map(|(name, value)| vec![text(name), text(value)]);
    html! {
        p {
            "The same files and settings give the same bits of the bound, whatever the number of \
             threads."
        }
        pre { code { (inputs.command) } }
        (table("Files and their SHA-256", &["what", "file", "SHA-256"], files))
        (table("Settings", &["setting", "value"], settings))
        h3 { "The task file" }
        pre { code { (inputs.task_text) } }
    }
}
