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

impl LocalRegion {
    /// What a user is told of it: the region lies in the input `input`, `name_of` names states.
    pub(crate) fn sentence(&self, input: &str, name_of: impl Fn(usize) -> String) -> String {
        let region = &self.region;
        let stretch = match (region.low, region.high) {
            (f32::MIN, high) => format!("{input} below {high:.4}"),
            (low, f32::MAX) => format!("{input} above {low:.4}"),
            (low, high) => format!("{input} from {low:.4} to {high:.4}"),
        };
        let heights = region.heights.iter().enumerate();
        let larger: Vec<String> = heights
            .filter(|(_, height)| **height > 0.0)
            .map(|(state, height)| format!("{} by {height:.3}", name_of(state)))
            .collect();
        format!(
            "errs more where {stretch} ({:.1} % of the rows): sigma_e is larger there, {}; else \
             the set of {} would have to be {:.1} times as wide everywhere",
            100.0 * self.share,
            larger.join(", "),
            name_of(self.state),
            self.widening
        )
    }
}
