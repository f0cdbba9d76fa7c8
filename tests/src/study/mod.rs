//! Studies: many cases with a known truth, whose rows are kept in `studies/`.
//!
//! A [`Study`] has numbered cells; a cell follows from its number alone. `cargo xtask study
//! NAME` works off the cells that its file does not hold yet, `--summary` counts what the
//! file holds and draws it. The tests repeat a few cells and hold them against the file.
//!
//! | file | what it does |
//! |---|---|
//! | [`plant`], [`families`] | systems whose truth can be simulated, by hand and at random |
//! | [`simulate`] | controllers, logs, true returns |
//! | [`judge`] | the model and the check, as a user would call them |
//! | [`assumption`], [`condition`] | what a log does not tell, and a model cannot know |
//! | [`robots`] | cart-pole, drone and pendulum, with what is known of them |
//! | [`coverage`], [`broken`], [`backtests`], [`known_physics`] | the studies |
//! | [`rows`], [`run`] | the file of rows; which cells are left, and working them off |
//! | [`statistics`], [`picture`] | limits of shares; what the pictures share |

pub mod assumption;
pub mod backtest_summary;
pub mod backtests;
pub mod broken;
pub mod broken_summary;
pub mod condition;
pub mod coverage;
pub mod coverage_summary;
pub mod families;
pub mod judge;
pub mod known_physics;
pub mod known_summary;
pub mod picture;
pub mod plant;
pub mod robots;
pub mod rows;
pub mod run;
pub mod simulate;
pub mod statistics;

use hambo_host::Error;

use backtests::Backtests;
use broken::Broken;
use coverage::Coverage;
use known_physics::KnownPhysics;
use rows::Table;

/// The fields of one row, in the order of the study's columns.
pub type Row = Vec<String>;

/// Cells with a known truth.
pub trait Study: Sync {
    /// As the command and the files call it.
    fn name(&self) -> &'static str;

    /// The file's header. The first column is the cell's number.
    fn columns(&self) -> &'static [&'static str];

    /// How many cells there are.
    fn cells(&self) -> usize;

    /// How many rows a cell has.
    fn rows_per_cell(&self) -> usize {
        1
    }

    /// Works off a cell, which depends on nothing but its number and the program.
    ///
    /// # Errors
    /// If the cell itself is wrong; a model that cannot be fitted is a row.
    fn run(&self, cell: usize) -> Result<Vec<Row>, Error>;

    /// What the rows say, and the rows of an older program beside them.
    fn summary(&self, now: &Table, before: Option<&Table>) -> Summary;
}

/// What a study's rows say.
#[derive(Clone, Debug)]
pub struct Summary {
    /// For the terminal, and for `docs/evidence.md`.
    pub text: String,
    /// The picture.
    pub svg: String,
}

/// The study of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Study> {
    let all: [&'static dyn Study; 4] = [&Coverage, &Broken, &Backtests, &KnownPhysics];
    all.into_iter().find(|study| study.name() == name)
}

/// A number as the files hold it: six significant digits.
#[must_use]
pub fn digits(number: f64) -> String {
    match format!("{number:.5e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => rounded.to_string(),
        _ => number.to_string(),
    }
}

/// A sentence as the files hold it: without the separator of fields.
#[must_use]
pub fn field(text: &str) -> String {
    text.replace(',', ";").replace('\n', " ")
}
