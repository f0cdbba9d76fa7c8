//! Studies: many numbered cells whose rows are kept in a file, and that can be interrupted.
//!
//! A [`Study`] has numbered cells; a cell follows from its number alone. [`run`](run::run)
//! works off the cells that the file does not hold yet; a summary counts what the file holds
//! and draws it.

mod field;
pub mod rows;
pub mod run;

pub use field::{digits, field};
pub use rows::{Row, Study, Summary};
