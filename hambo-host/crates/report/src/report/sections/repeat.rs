//! What is needed to run the check again and to get the same bits.

use super::Section;
use crate::report::html::{Cell, count, escape, readable, table, text};
use hambo_check::saved_run::SavedRun;

/// The section.
pub fn section(run: &SavedRun) -> Section {
    let (inputs, model, result) = (&run.inputs, &run.model, &run.result);
    let code = |words: &str| Cell::Markup(format!("<code>{}</code>", escape(words)));
    let mut files: Vec<Vec<Cell>> = inputs
        .files
        .iter()
        .map(|file| vec![text(&file.what), code(&file.path), code(&file.sha256)])
        .collect();
    files.push(vec![
        text("controller as compiled"),
        text(""),
        code(&inputs.policy_part),
    ]);
    files.push(vec![
        text("numbers of the model’s log"),
        text(""),
        code(&model.data_hash),
    ]);
    let allocation = match result.focused {
        true => "focused",
        false => "even",
    };
    let rows: Vec<Vec<Cell>> = [
        ("hambo", inputs.hambo_version.clone()),
        ("horizon", result.horizon.to_string()),
        ("delta", readable(result.delta.0)),
        ("discount", readable(result.discount.0)),
        ("trajectories", result.trajectories.to_string()),
        ("searched trajectories", result.searched.to_string()),
        ("sweeps of the search", result.sweeps.to_string()),
        ("allocation of its steps", allocation.to_owned()),
        ("effort", result.effort.name().to_owned()),
        ("seed", result.seed.to_string()),
        ("variants that decide", result.variants.join(", ")),
        ("bits of the bound", result.bound_bits.clone()),
        ("digest of all estimates", result.digest.clone()),
        ("model", model.description.clone()),
        (
            "model trained by",
            format!("hambo {}, seed {}", model.hambo_version, model.seed),
        ),
        (
            "rows",
            format!(
                "{}: {} to train, {} to stop, {} to calibrate",
                count(model.rows as u64),
                count(model.training_rows as u64),
                count(model.validation_rows as u64),
                count(model.withheld_rows as u64)
            ),
        ),
    ]
    .into_iter()
    .map(|(name, value)| vec![text(name), text(value)])
    .collect();
    Section {
        id: "repeat",
        title: "To repeat it",
        body: format!(
            "<p>The same files and settings give the same bits of the bound, whatever the \
             number of threads.</p>\n<pre><code>{}</code></pre>\n{}{}\
             <h3>The task file</h3>\n<pre><code>{}</code></pre>\n",
            escape(&inputs.command),
            table(
                "Files and their SHA-256",
                &["what", "file", "SHA-256"],
                &files
            ),
            table("Settings", &["setting", "value"], &rows),
            escape(&inputs.task_text)
        ),
    }
}
