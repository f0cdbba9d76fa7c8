//! The theory's constants, and what they assume.

use super::Section;
use crate::report::html::{Cell, escape, table, text};
use hambo_check::saved_run::SavedRun;

/// The section; none for models without theory.
pub fn section(run: &SavedRun) -> Option<Section> {
    let model = &run.model;
    if model.theory.is_empty() {
        return None;
    }
    let rows: Vec<Vec<Cell>> = model
        .theory
        .iter()
        .map(|[name, value, unit]| vec![text(name), Cell::Number(value.clone()), text(unit)])
        .collect();
    let heads = ["constant", "value", "unit"];
    let assumptions: String = model
        .assumptions
        .iter()
        .map(|one| format!("<li>{}</li>\n", escape(one)))
        .collect();
    Some(Section {
        id: "theory",
        title: "Constants of the theory",
        body: format!(
            "{}<p>They assume that</p>\n<ul>\n{assumptions}</ul>\n",
            table("Constants of the Gaussian processes", &heads, &rows)
        ),
    })
}
