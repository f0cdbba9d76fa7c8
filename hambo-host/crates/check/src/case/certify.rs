//! How many trajectories the probability of a constraint needs.

use hambo_core::adversary::complete_trajectories;
use hambo_core::estimate::{ErrorBudget, probability_limit, trials_for};
use hambo_core::task::{Allocation, Effort};

use hambo_base::Error;
use hambo_task::task::{Initial, NamedConstraint, TaskFile};

/// How many starts a check of a task that starts wherever it is worst has, each with
/// trajectories of its own.
pub const WORST_STARTS: usize = 32;

/// Trajectories that may break a constraint before its bound lies below the probability that
/// the task asks for, with the number of trajectories that a check takes by itself.
const VIOLATIONS: u32 = 3;

/// The trajectories with which every constraint's probability can be reached although
/// [`VIOLATIONS`] of them break it; 0 if the task names none.
///
/// ```
/// use hambo_check::certify::trajectories_for;
/// use hambo_core::task::Allocation;
/// use hambo_task::task::TaskFile;
/// let text = "name = 'cart'\nhorizon = 50\ndelta = 0.1\n[state]\nnames = ['x']\n\
///             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
///             [reward]\nexpr = '-abs(x)'\n[initial]\nkind = 'point'\nvalue = [0]\n\
///             [[constraint]]\nname = 'wall'\nexpr = 'x < 2'\nkind = 'always'\nprobability = 0.99\n";
/// let task = TaskFile::parse(text, "cart.toml")?;
/// assert_eq!(trajectories_for(&task, Allocation::Even), 971);
/// # Ok::<(), hambo_task::task::TaskError>(())
/// ```
#[must_use]
pub fn trajectories_for(task: &TaskFile, allocation: Allocation) -> u32 {
    let needed =
        with_probability(task).map(|(_, share)| least(task, share, VIOLATIONS, allocation));
    needed.map(|least| least.unwrap_or(0)).max().unwrap_or(0) * starts_of_their_own(task)
}

/// Refuses a number of trajectories with which no controller could reach the probability of a
/// constraint, since not even a check without any violation would. `option` is what the user
/// may change. A task that starts from its data has as many independent trajectories as the
/// log has episodes, at most.
///
/// # Errors
/// Which constraint it is and how many are needed.
pub fn ensure_certifiable(
    task: &TaskFile,
    effort: &Effort,
    option: &str,
    starts: usize,
) -> Result<(), Error> {
    let logged = matches!(task.initial, Initial::Data { always: false });
    for (constraint, share) in with_probability(task) {
        let name = &constraint.name;
        let refuse = |problem: String, help: String| {
            let text = format!(
                "the constraint {name} asks for a probability of {share}, and {problem}\n\
                 help: {help}"
            );
            Err(Error::Usage(text))
        };
        let least = least(task, share, 0, effort.allocation);
        let least = least.map(|least| least * starts_of_their_own(task));
        let Some(least) = least else {
            let problem = "no check can show that".to_owned();
            return refuse(problem, "ask for less in the task file".to_owned());
        };
        if effort.trajectories < least {
            let problem = format!("{} trajectories cannot show that", effort.trajectories);
            let help = format!("give {option} {least} or more, or ask for less in the task file");
            return refuse(problem, help);
        }
        if logged && starts < least as usize {
            let problem =
                format!("the {starts} first states of the log cannot show that: {least} could");
            let help = "log more episodes, ask for less in the task file, or say where the \
                        robot starts with [initial] kind = \"uniform\", \"gaussian\" or \"point\"";
            return refuse(problem, help.to_owned());
        }
    }
    Ok(())
}

/// Initial states that each need the whole number of trajectories.
fn starts_of_their_own(task: &TaskFile) -> u32 {
    match task.initial {
        Initial::Worst { .. } => WORST_STARTS as u32,
        _ => 1,
    }
}

fn with_probability(task: &TaskFile) -> impl Iterator<Item = (&NamedConstraint, f32)> {
    let constraints = task.constraints.iter();
    constraints.filter_map(|one| Some((one, one.constraint.probability?)))
}

/// Trajectories that reach a share with this many violations, by the first level's delta. In a
/// focused check a part of them, on which nothing else is broken, bounds what the starts take
/// that the pilot leaves out.
fn least(task: &TaskFile, share: f32, violations: u32, allocation: Allocation) -> Option<u32> {
    let budget = ErrorBudget {
        delta: task.delta,
        objectives: task.constraints.len() + 1,
    };
    let even = trials_for(share, violations, budget.level(2))?;
    let in_turn = matches!(
        task.initial,
        Initial::Worst { .. } | Initial::Data { always: false }
    );
    // Up to here all are complete.
    let all_complete = complete_trajectories(even) == even;
    if allocation == Allocation::Even || in_turn || all_complete {
        return Some(even);
    }
    let level = budget.level(3);
    let reaches = |count: u32| {
        let left_out = 1.0 - probability_limit(complete_trajectories(count), 0, level);
        probability_limit(count, violations, level) - left_out >= share
    };
    let [mut low, mut high] = [even - 1, even];
    while !reaches(high) {
        low = high;
        high = high.checked_mul(2)?;
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if reaches(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn task(share: f32) -> TaskFile {
        let text = format!(
            "name = 'cart'\nhorizon = 50\ndelta = 0.1\n[state]\nnames = ['x']\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = '-abs(x)'\n[initial]\nkind = 'point'\nvalue = [0]\n\
             [[constraint]]\nname = 'wall'\nexpr = 'x < 2'\nkind = 'always'\n\
             probability = {share}\n"
        );
        TaskFile::parse(&text, "cart.toml").unwrap()
    }

    #[test]
    fn a_focused_check_needs_more_where_it_leaves_starts_out() {
        // Fewer than a thousand are all complete.
        let both = [Allocation::Even, Allocation::Focused];
        assert_eq!(both.map(|one| trajectories_for(&task(0.99), one)), [971; 2]);
        let [even, focused] = both.map(|one| trajectories_for(&task(0.998), one));
        let level = ErrorBudget {
            delta: 0.1,
            objectives: 2,
        }
        .level(3);
        let bound = |count| {
            let complete = probability_limit(complete_trajectories(count), 0, level);
            probability_limit(count, VIOLATIONS, level) + complete - 1.0
        };
        assert!(focused > even, "{focused} {even}");
        assert!(bound(focused) >= 0.998 && bound(focused - 4) < 0.998);
    }
}
