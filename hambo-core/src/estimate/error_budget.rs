//! How delta, the probability with which a check may be wrong, is shared out:
//! all of the arithmetic, once.
//!
//! | share | of | what it pays for |
//! |---|---|---|
//! | model | 1/2 of delta | the confidence set does not hold the truth (beta of a Gaussian process, the quantile of DAinf above 20 members) |
//! | sampling | 1/2 of delta | finitely many trajectories |
//! | objective | 1/m of sampling | each of the m objectives: the return and the constraints |
//! | level | 1/l of an objective | each of the l levels whose bounds are added: the sampled one, the correction by the search, and in a focused check what the starts take that the pilot left out |
//!
//! This is the delta of one controller. Of several that a check compares each has 1/k of it,
//! but the set of a Gaussian process, which is one event for all of them, is that of the whole
//! (`controller_share` in `hambo-learn`).
//!
//! A minimum over variants, members or adversaries costs nothing: if the
//! bound of the worst of them holds, the least of all bounds lies below it.

/// The shares of one delta.
///
/// ```
/// use hambo_core::estimate::ErrorBudget;
/// // A return and three constraints.
/// let budget = ErrorBudget { delta: 0.08, objectives: 4 };
/// assert_eq!(budget.model(), 0.04);
/// assert_eq!(budget.sampling(), 0.04);
/// assert_eq!(budget.objective(), 0.01);
/// assert_eq!(budget.level(2), 0.005);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorBudget {
    /// The whole probability.
    pub delta: f32,
    /// The return and the constraints.
    pub objectives: usize,
}

impl ErrorBudget {
    /// The model's share of every delta, also where a set is fitted for one.
    pub const MODEL_SHARE: f32 = 0.5;

    /// The model's share.
    pub fn model(&self) -> f32 {
        self.delta * Self::MODEL_SHARE
    }

    /// The sampling's share.
    pub fn sampling(&self) -> f32 {
        self.delta - self.model()
    }

    /// What one objective has for its sampling.
    pub fn objective(&self) -> f32 {
        self.sampling() / self.objectives.max(1) as f32
    }

    /// What each of an estimate's levels has.
    pub fn level(&self, levels: u8) -> f32 {
        self.objective() / f32::from(levels.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorBudget;

    #[test]
    fn the_shares_add_up() {
        let budget = ErrorBudget {
            delta: 0.08,
            objectives: 4,
        };
        assert_eq!((budget.model(), budget.sampling()), (0.04, 0.04));
        assert_eq!((budget.objective(), budget.level(2)), (0.01, 0.005));
        assert_eq!(budget.model() + 8.0 * budget.level(2), budget.delta);
        let focused = budget.model() + 12.0 * budget.level(3);
        assert!((focused - budget.delta).abs() < 1e-8);
        assert_eq!((budget.level(1), budget.level(0)), (0.01, 0.01));
    }
}
