//! What one step's reward or constraint can be at all: its expression over the task's limits.

use super::task_file::{Initial, TaskFile};
use super::wraps::Wrap;
use crate::expression::interval::bounds::Interval;
use crate::expression::interval::tape::{InputIntervals, tape_intervals};

/// More than the core's normal sampler reaches, in standard deviations: 6.2.
const NORMAL_REACH: f64 = 6.5;

/// The lowest and the highest value that a slot of the task's tape can have in a step of a
/// check. The highest may be infinite; none if there is no lowest one. What is not finite
/// counts for nothing here, since it makes a check abstain.
///
/// States after a step keep to the task's limits, which they are clamped to, and actions to
/// theirs. A trajectory's first state is clamped to nothing: it comes from where the task
/// starts, or is one of `listed`, the states of a task that starts from its data, one after
/// the other. A state that wraps is always inside its interval.
///
/// ```
/// use hambo_task::task::{TaskFile, step_bounds};
///
/// let text = "name = 'cart'\nhorizon = 50\n[state]\nnames = ['x']\nlow = [-3]\nhigh = [2]\n\
///             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
///             [reward]\nexpr = '1 - x^2 - 0.5 * u^2'\n[initial]\nkind = 'point'\nvalue = [0]\n";
/// let task = TaskFile::parse(text, "cart.toml")?;
/// let [low, high] = step_bounds(&task, task.reward.slot(), &[]).ok_or("unbounded")?;
/// assert!(low <= -8.5 && low > -8.501 && high >= 1.0 && high < 1.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn step_bounds(task: &TaskFile, slot: u16, listed: &[f32]) -> Option<[f32; 2]> {
    let [low, high] = slot_intervals(task, listed)
        .get(usize::from(slot))?
        .outward();
    low.is_finite().then_some([low, high])
}

/// The highest value that a slot can have in a step; infinite where nothing limits it.
pub(super) fn highest_step(task: &TaskFile, slot: u16, listed: &[f32]) -> f32 {
    let intervals = slot_intervals(task, listed);
    let own = intervals.get(usize::from(slot));
    own.map_or(f32::INFINITY, |own| {
        let [_, high] = own.outward();
        high
    })
}

/// The interval of every slot during a step.
fn slot_intervals(task: &TaskFile, listed: &[f32]) -> Vec<Interval> {
    let next = state_limits(task);
    let starts = next
        .iter()
        .enumerate()
        .map(|(index, limits)| match wrapped(task, index) {
            Some(_) => *limits,
            None => limits.hull(start(task, index, listed)),
        });
    let state: Vec<Interval> = starts.collect();
    let inputs = InputIntervals {
        state: &state,
        action: &action_limits(task),
        next: &next,
        step: step_numbers(task),
    };
    tape_intervals(&task.ops, inputs)
}

/// What the step's number may be.
pub(super) fn step_numbers(task: &TaskFile) -> Interval {
    // As the core rounds it.
    Interval::new(0.0, f64::from(task.horizon.saturating_sub(1) as f32))
}

/// What a state may be after a step.
pub(super) fn state_limits(task: &TaskFile) -> Vec<Interval> {
    let limit = |limits: &Option<Vec<f32>>, index: usize, none: f64| {
        let limit = limits.as_ref().and_then(|limits| limits.get(index));
        limit.map_or(none, |limit| f64::from(*limit))
    };
    let states = 0..task.state_names.len();
    let states = states.map(|index| {
        wrapped(task, index).unwrap_or_else(|| {
            Interval::new(
                limit(&task.state_low, index, f64::NEG_INFINITY),
                limit(&task.state_high, index, f64::INFINITY),
            )
        })
    });
    states.collect()
}

/// The interval of a state that wraps. Its limits lie outside.
fn wrapped(task: &TaskFile, index: usize) -> Option<Interval> {
    let Wrap { low, period } = (*task.wraps.get(index)?)?;
    // The upper end as the core rounds it.
    Some(Interval::new(low.into(), (low + period).into()))
}

/// What an action may be.
pub(super) fn action_limits(task: &TaskFile) -> Vec<Interval> {
    let limits = task.action_low.iter().zip(&task.action_high);
    let limits = limits.map(|(low, high)| Interval::new((*low).into(), (*high).into()));
    limits.collect()
}

/// Where a state may start.
fn start(task: &TaskFile, index: usize, listed: &[f32]) -> Interval {
    let at = |numbers: &[f32]| {
        let number = numbers.get(index).copied();
        number.map_or(Interval::EVERYTHING, Interval::point)
    };
    match &task.initial {
        Initial::Point(value) => at(value),
        Initial::Worst { low, high } => at(low).hull(at(high)),
        // The core adds a share of their difference to the low end, and rounds.
        Initial::Uniform { low, high } => {
            let share = Interval::new(0.0, 1.0);
            at(low)
                .plus(at(high).minus(at(low)).times(share))
                .hull(at(high))
        }
        Initial::Gaussian { mean, std } => {
            let reach = Interval::new(-NORMAL_REACH, NORMAL_REACH);
            at(mean).plus(at(std).times(reach))
        }
        Initial::Data { .. } => {
            let states = listed.chunks_exact(task.state_names.len().max(1));
            let own = states.map(at).reduce(Interval::hull);
            own.unwrap_or(Interval::EVERYTHING)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn task(reward: &str, limits: &str, initial: &str) -> TaskFile {
        let text = format!(
            "name = 'cart'\nhorizon = 5\n[state]\nnames = ['x', 'v']\n{limits}\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\n{reward}\n\
             [initial]\n{initial}\n"
        );
        TaskFile::parse(&text, "cart.toml").unwrap()
    }

    const LIMITS: &str = "low = [-2, -3]\nhigh = [2, 3]";

    fn near(found: Option<[f32; 2]>, low: f32, high: f32) {
        let [found_low, found_high] = found.unwrap();
        assert!(
            found_low <= low && found_low > low - 1e-3,
            "{found_low} {low}"
        );
        let close = found_high == high || found_high < high + 1e-3;
        assert!(found_high >= high && close, "{found_high} {high}");
    }

    #[test]
    fn starts_count_where_they_lie_beyond_the_limits() {
        let reward = "expr = '-x^2'";
        let bounds = |initial: &str, listed: &[f32]| {
            let task = task(reward, LIMITS, initial);
            step_bounds(&task, task.reward.slot(), listed)
        };
        near(bounds("kind = 'point'\nvalue = [0, 0]", &[]), -4.0, 0.0);
        near(bounds("kind = 'point'\nvalue = [5, 0]", &[]), -25.0, 0.0);
        let uniform = "kind = 'uniform'\nlow = [0, 0]\nhigh = [3, 1]";
        near(bounds(uniform, &[]), -9.0, 0.0);
        let gaussian = "kind = 'gaussian'\nmean = [1, 0]\nstd = [1, 0]";
        near(bounds(gaussian, &[]), -56.25, 0.0);
        near(bounds("kind = 'data'", &[0.0, 9.0, -4.0, 9.0]), -16.0, 0.0);
        // Nobody says which states these are.
        assert_eq!(bounds("kind = 'data'", &[]), None);
    }

    #[test]
    fn a_state_that_wraps_is_in_its_interval_wherever_it_starts() {
        let wrap = "wrap = [{ name = 'x', period = 360 }]";
        let task = task("expr = '-x'", wrap, "kind = 'point'\nvalue = [500, 0]");
        near(step_bounds(&task, task.reward.slot(), &[]), -180.0, 180.0);
    }

    #[test]
    fn what_has_no_limit_has_no_bound() {
        let start = "kind = 'point'\nvalue = [0, 0]";
        let bounds = |reward: &str, limits: &str| {
            let task = task(reward, limits, start);
            step_bounds(&task, task.reward.slot(), &[])
        };
        assert_eq!(bounds("expr = '-x^2'", ""), None);
        near(bounds("expr = 'next.x^2'", ""), 0.0, f32::INFINITY);
        near(bounds("expr = 'x * v - 10 * (x > 1)'", LIMITS), -16.0, 6.0);
        near(bounds("expr = '-tanh(x)'", ""), -1.0, 1.0);
        near(bounds("expr = 'u - (next.v > 5)'", LIMITS), -1.0, 1.0);
        assert_eq!(bounds("learned = true", LIMITS), None);
        let learned = task("learned = true\nlow = -1\nhigh = 0", LIMITS, start);
        let found = step_bounds(&learned, learned.reward.slot(), &[]);
        assert_eq!(found, learned.reward_bounds);
    }
}
