//! What the rows of table 1 say.

use std::fmt::Write;

use hambo_base::study::rows::Table;

/// The table, one line for each cell.
#[must_use]
pub fn text(table: &Table) -> String {
    let mut text = String::from(
        "| log | rows | its score | without noise | variant | seed | score | paper | minutes of \
         CPU | minutes |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in table.rows() {
        let number = |column: &str| row.number(column);
        let minutes = |kind: &str| {
            let both = ["fit", "learn"].map(|part| number(&format!("{part}_{kind}")));
            both.iter().sum::<f64>() / 60.0
        };
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} | {:.1} | {} | {} | {:.1} ± {:.1} | {:.1} | {:.1} | {:.1} |",
            row.text("log"),
            row.text("rows"),
            number("log_score"),
            number("own_score"),
            row.text("variant").to_uppercase(),
            row.text("seed"),
            number("score"),
            number("score_error"),
            number("paper"),
            minutes("cpu_seconds"),
            minutes("seconds"),
        );
    }
    text
}
