//! A region that was found, and what is told of it.

use hambo_task::image::WidthRegion;
use serde::{Deserialize, Serialize};

/// A stretch of one input in which the model errs more than it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalRegion {
    /// As the core has it.
    pub region: WidthRegion,
    /// The state whose rows asked for it, by its place among those that the model moves.
    pub state: usize,
    /// The share of the rows that chose which lies inside.
    pub share: f32,
    /// How much wider the set of that state would have to be everywhere without it.
    pub widening: f32,
}
