//! Kinds of cells on which a bound is harder than usual.

use super::plant::Plant;
use crate::fixture::Draw;

/// What is hard about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: the cells of [`Coverage`](super::coverage::Coverage).
    Usual,
    /// The controller was improved against this very model, by its own bound.
    Improved,
    /// The check is four times as long as a logged episode, so no window is as long as a quarter.
    LongHorizon,
    /// So much process noise that errors of the model do not show in windows.
    Noisy,
    /// Of several models of the log the one that promises least for a controller that logged.
    Pessimistic,
}

/// The hard ones.
pub const HARD: [Kind; 4] = [
    Kind::Improved,
    Kind::LongHorizon,
    Kind::Noisy,
    Kind::Pessimistic,
];

impl Kind {
    /// What rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Improved => "improved",
            Self::LongHorizon => "long horizon",
            Self::Noisy => "noisy",
            Self::Pessimistic => "pessimistic",
        }
    }

    /// Changes a system; a usual one is left as it is, and nothing is drawn for it.
    pub(super) fn change(self, plant: &mut Plant, draw: &mut Draw) {
        if self == Self::Noisy {
            let level = draw.between(0.05, 0.15);
            for j in 0..plant.states {
                plant.noise[j] = level * plant.start[1][j];
            }
        }
    }

    /// Steps of a logged episode, where `usual` would be logged.
    pub(super) fn steps(self, horizon: usize, usual: usize) -> usize {
        match self {
            Self::LongHorizon => (horizon / 4).max(2),
            _ => usual,
        }
    }
}
