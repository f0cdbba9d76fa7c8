//! What the task says about how far returns lie apart, and what follows for the bounds.

use hambo_core::task::DistributionFree;

use super::bounds::highest_step;
use super::task_file::TaskFile;

impl TaskFile {
    /// Bounds of the whole return that the task states. A `return_low` that stands alone has
    /// the highest return beside it that the reward's bounds, or its expression and limits,
    /// allow; if nothing limits it, the task states none. `listed` are the first states of a
    /// task that starts from its data.
    ///
    /// ```
    /// use hambo_task::task::TaskFile;
    /// let task = |line: &str| {
    ///     let text = format!(
    ///         "name = 'cart'\nhorizon = 50\n[state]\nnames = ['x']\n[action]\nnames = ['u']\n\
    ///          low = [-1]\nhigh = [1]\n[reward]\nexpr = '1 - x^2'\n{line}\n\
    ///          [initial]\nkind = 'point'\nvalue = [0]\n"
    ///     );
    ///     TaskFile::parse(&text, "cart.toml")
    /// };
    /// assert_eq!(task("")?.stated_return_bounds(&[]), None);
    /// let [low, high] = task("return_low = -90")?.stated_return_bounds(&[]).ok_or("none")?;
    /// assert!(low == -90.0 && high >= 50.0 && high < 50.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stated_return_bounds(&self, listed: &[f32]) -> Option<[f32; 2]> {
        let [low, high] = self.return_bounds?;
        let high = if high.is_finite() {
            high
        } else {
            self.highest_return(listed)
        };
        (low.is_finite() && high.is_finite() && low < high).then_some([low, high])
    }

    fn highest_return(&self, listed: &[f32]) -> f32 {
        let step = match self.reward_bounds {
            Some([_, high]) => high,
            None => highest_step(self, self.reward.slot(), listed),
        };
        let discount = f64::from(self.discount);
        let weights = std::iter::successors(Some(1.0), |weight| Some(weight * discount));
        let sum: f64 = weights.take(self.horizon as usize).sum();
        // A trajectory may end early.
        let highest = f64::from(step.max(0.0)) * sum;
        (highest as f32).next_up()
    }

    /// Of which objectives a bound decides that holds for any distribution: where the task asks
    /// for it, and if it says nothing where a share is asked for or bounds of the return are
    /// stated. Those that only follow from expressions and limits are often a hundred times as
    /// far apart as returns can be.
    #[must_use]
    pub fn strictness(&self, listed: &[f32]) -> DistributionFree {
        let stated = self.reward_bounds.is_some() || self.stated_return_bounds(listed).is_some();
        DistributionFree::of(self.distribution_free, stated)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn task(reward: &str, line: &str) -> TaskFile {
        let text = format!(
            "name = 'cart'\nhorizon = 5\n{line}\n[state]\nnames = ['x']\nlow = [-2]\nhigh = [2]\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\n{reward}\n\
             [initial]\nkind = 'point'\nvalue = [0]\n"
        );
        TaskFile::parse(&text, "cart.toml").unwrap()
    }

    #[test]
    fn what_the_task_states_decides_and_not_what_follows_from_its_limits() {
        use DistributionFree::{Everything, Nothing, Shares, SharesAndReturn};
        let interval = "expr = '-x^2'";
        for (reward, stated) in [
            (interval, Shares),
            ("expr = '-x^2'\nlow = -4\nhigh = 0", SharesAndReturn),
            ("expr = '-x^2'\nreturn_low = -9", SharesAndReturn),
            (
                "expr = '-x^2'\nreturn_low = -9\nreturn_high = 0",
                SharesAndReturn,
            ),
            ("learned = true\nlow = -1\nhigh = 0", SharesAndReturn),
            ("learned = true", Shares),
            // Nothing limits it above.
            ("learned = true\nreturn_low = -9", Shares),
        ] {
            assert_eq!(task(reward, "").strictness(&[]), stated, "{reward}");
            let asked = |word| task(reward, word).strictness(&[]);
            assert_eq!(asked("distribution_free = true"), Everything);
            assert_eq!(asked("distribution_free = false"), Nothing);
        }
        let bounds = task("expr = '-x^2'\nreturn_low = -9", "").stated_return_bounds(&[]);
        assert!(bounds.is_some_and(|[low, high]| low == -9.0 && (0.0..1e-6).contains(&high)));
    }
}
