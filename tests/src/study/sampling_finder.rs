//! What finds the loss in a cell of [`sampling`](super::sampling), in the words of its rows.

/// What finds the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// One start of the adversary, on every trajectory that goes wrong.
    Start,
    /// The whole search, from every start, and no start by itself.
    Search,
}

impl Finder {
    /// The word in the rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "sampled level",
            Self::Search => "search",
        }
    }
}
