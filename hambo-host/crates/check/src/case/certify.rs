//! How many trajectories the probability of a constraint needs.

use hambo_core::estimate::{ErrorBudget, trials_for};

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
/// use hambo_task::task::TaskFile;
/// let text = "name = 'cart'\nhorizon = 50\ndelta = 0.1\n[state]\nnames = ['x']\n\
///             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
///             [reward]\nexpr = '-abs(x)'\n[initial]\nkind = 'point'\nvalue = [0]\n\
///             [[constraint]]\nname = 'wall'\nexpr = 'x < 2'\nkind = 'always'\nprobability = 0.99\n";
/// let task = TaskFile::parse(text, "cart.toml")?;
/// assert_eq!(trajectories_for(&task), 971);
/// # Ok::<(), hambo_task::task::TaskError>(())
/// ```
#[must_use]
pub fn trajectories_for(task: &TaskFile) -> u32 {
    let needed = with_probability(task).map(|(_, share)| least(task, share, VIOLATIONS));
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
    trajectories: u32,
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
        let least = least(task, share, 0).map(|least| least * starts_of_their_own(task));
        let Some(least) = least else {
            let problem = "no check can show that".to_owned();
            return refuse(problem, "ask for less in the task file".to_owned());
        };
        if trajectories < least {
            let problem = format!("{trajectories} trajectories cannot show that");
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

/// Trajectories that reach a share with this many violations, by the first level's delta.
fn least(task: &TaskFile, share: f32, violations: u32) -> Option<u32> {
    let budget = ErrorBudget {
        delta: task.delta,
        objectives: task.constraints.len() + 1,
    };
    trials_for(share, violations, budget.level())
}
