//! Where the model errs more than it says: at a wall, the end of a rail, a contact.
//!
//! A few rows in one place would widen the set everywhere. Instead a stretch of one input is
//! found that holds them, and the model's epistemic standard deviation becomes larger there. Rows
//! that were trained on say where, the rows that choose must agree. The rows that judge have no
//! part in it.

mod need;
pub(crate) mod region;
mod search;
#[cfg(test)]
mod tests;

pub use region::LocalRegion;
pub(crate) use search::find;
