//! What the task says of the dynamics, so that no model learns it and no adversary bends it.

use super::Section;
use crate::report::html::{Cell, escape, figure, table, text};
use hambo_check::saved_run::SavedRun;

/// The section, if there is anything to say.
pub fn section(run: &SavedRun) -> Option<Section> {
    let result = &run.result;
    if result.known.is_empty() && result.circles.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<p>These next states are computed, without uncertainty: the adversary has no say in \
         them. <code>hambo fit</code> held those of the log against every row of it.</p>\n",
    );
    let rows: Vec<Vec<Cell>> = result
        .known
        .iter()
        .map(|line| {
            vec![
                text(&line.state),
                Cell::Markup(format!("<code>{}</code>", escape(&line.next))),
                match line.initial {
                    Some(initial) => figure(f64::from(initial)),
                    None => text("in the log"),
                },
            ]
        })
        .collect();
    if !rows.is_empty() {
        let heads = ["state", "next value", "starts at"];
        body.push_str(&table("What is computed", &heads, &rows));
    }
    for [c, s] in &result.circles {
        body.push_str(&format!(
            "<p>The pair {}, {} is moved back to the unit circle after every step.</p>\n",
            escape(c),
            escape(s)
        ));
    }
    body.push_str(&format!(
        "<p>The model sees {} and the action.</p>\n",
        escape(&result.inputs.join(", "))
    ));
    Some(Section {
        id: "known",
        title: "What is known of the dynamics",
        body,
    })
}
