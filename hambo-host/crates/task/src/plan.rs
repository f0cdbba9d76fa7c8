//! The plan of a check, which no task file states.

use hambo_core::task::{Effort, Method, Variant};

/// How a check looks for the worst case, apart from what the task asks.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckPlan {
    /// Trajectories, sweeps of the search, seed.
    pub effort: Effort,
    /// Which estimates are made; HAMBO-CA with noise unless changed.
    pub method: Method,
    /// Whether a check on the host did not deploy. The image says so, and never deploys.
    pub refused_by_host: bool,
}

impl From<Effort> for CheckPlan {
    fn from(effort: Effort) -> Self {
        Self {
            effort,
            method: Method::default(),
            refused_by_host: false,
        }
    }
}

impl CheckPlan {
    /// The same with these variants alone.
    #[must_use]
    pub fn with_variants(mut self, variants: impl IntoIterator<Item = Variant>) -> Self {
        self.method.variants = variants.into_iter().collect();
        self
    }

    /// The same without the model's noise.
    #[must_use]
    pub fn without_noise(mut self) -> Self {
        self.method.aleatoric_noise = false;
        self
    }
}
