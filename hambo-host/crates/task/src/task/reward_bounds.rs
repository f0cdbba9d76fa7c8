//! `[reward]`: bounds of one step's reward and of the whole return.

use super::checker::Checker;
use super::error::TaskError;
use super::raw::RawReward;

impl Checker<'_> {
    /// Bounds of one step's reward: both or neither.
    pub(super) fn reward_bounds(&self, reward: &RawReward) -> Result<Option<[f32; 2]>, TaskError> {
        match (reward.low, reward.high) {
            (None, None) => Ok(None),
            (Some(low), Some(high)) if low.is_finite() && high.is_finite() && low <= high => {
                Ok(Some([low, high]))
            }
            (low, high) => {
                let shown =
                    |bound: Option<f32>| bound.map_or("missing".to_owned(), |x| x.to_string());
                let problem = format!(
                    "has the bounds low: {} and high: {}",
                    shown(low),
                    shown(high)
                );
                let help = "give both, finite and in order, or neither";
                let first = if low.is_some() {
                    "reward.low"
                } else {
                    "reward.high"
                };
                self.fail_at(first, "reward", problem, help)
            }
        }
    }

    /// Bounds of the whole return; the lower one may stand alone.
    pub(super) fn return_bounds(&self, reward: &RawReward) -> Result<Option<[f32; 2]>, TaskError> {
        let high = match (reward.return_low, reward.return_high) {
            (None, None) => return Ok(None),
            (None, Some(_)) => {
                let help =
                    "give `return_low` too: without it the bound on the return gains nothing";
                return self.fail("reward.return_high", "stands without a `return_low`", help);
            }
            (Some(_), high) => high.unwrap_or(f32::INFINITY),
        };
        let low = reward.return_low.unwrap_or(f32::NAN);
        if !low.is_finite() {
            let help = "give the least return that an episode can have, a finite number";
            return self.fail("reward.return_low", format!("is {low}"), help);
        }
        if !(low < high && (reward.return_high.is_none() || high.is_finite())) {
            let problem = format!("is {high}, and `return_low` is {low}");
            let help = "give a finite number above `return_low`, or leave it out";
            return self.fail("reward.return_high", problem, help);
        }
        Ok(Some([low, high]))
    }
}
