//! How a check looks for the worst case: its effort, its estimates, and the adversaries that it
//! is handed.

use heapless::Vec;

use super::found_choices::FoundChoices;
use super::method::{Effort, Method};
use super::network_adversary::NetworkAdversary;

/// The largest number of trained networks, and of lists of what was found: one
/// for each objective and variant that has one.
pub const MAX_ADVERSARIES: usize = 10;

/// The plan of a check, apart from what the task asks.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// How much work to spend.
    pub effort: Effort,
    /// Which estimates are made.
    pub method: Method,
    /// Whether the host's own check, with more effort, did not deploy. Such a
    /// check runs and never deploys.
    pub refused_by_host: bool,
    /// Networks that were trained elsewhere.
    pub networks: Vec<NetworkAdversary<'a>, MAX_ADVERSARIES>,
    /// What searches found elsewhere.
    pub found: Vec<FoundChoices<'a>, MAX_ADVERSARIES>,
}

impl Plan<'_> {
    /// A plan without adversaries of others.
    pub fn new(effort: Effort, method: Method) -> Self {
        Self {
            effort,
            method,
            refused_by_host: false,
            networks: Vec::new(),
            found: Vec::new(),
        }
    }
}
