//! Where a system stops at a limit its next state has a kink, and a Gaussian process is smooth.

use hambo_data::Log;
use hambo_task::task::{TaskFile, known_line};

/// A warning for each state that rows leave at a limit. Pairs on a circle reach their limits
/// smoothly, and rows in which a line of `[known]` holds the state say nothing.
#[must_use]
pub fn kinks_at_limits(task: &TaskFile, log: &Log) -> Vec<String> {
    let on_circle = |state: usize| task.physics.on_circle(state) || task.physics.corrects(state);
    let names = task.logged_states().iter().enumerate();
    names
        .filter(|(state, _)| !on_circle(*state))
        .filter_map(|(state, name)| {
            let at_limit = |x: Option<&f32>| x.is_some_and(|x| task.is_at_limit(state, *x));
            let rows = log.rows().filter(|row| at_limit(row.next_state.get(state)));
            match rows.count() {
                0 => None,
                count => Some(format!(
                    "{count} of {} rows end at a limit of `{name}`, which a Gaussian process \
                     takes for a kink: the set may be widened for it everywhere\n\
                     help: say under [known] that it stops there, for example {}; or fit \
                     networks, which can follow it",
                    log.len(),
                    known_line(name, &held(task, state)),
                )),
            }
        })
        .collect()
}

/// A state's learned value within its limits.
fn held(task: &TaskFile, state: usize) -> String {
    let limit = |limits: &Option<Vec<f32>>| {
        let limit = limits.as_ref().and_then(|limits| limits.get(state));
        limit.copied().filter(|limit| limit.is_finite())
    };
    let learned = format!(
        "learned.{}",
        task.state_names.get(state).map_or("", |name| name)
    );
    match (limit(&task.state_low), limit(&task.state_high)) {
        (Some(low), Some(high)) => format!("clamp({learned}, {low}, {high})"),
        (Some(low), None) => format!("max({learned}, {low})"),
        (None, Some(high)) => format!("min({learned}, {high})"),
        (None, None) => learned,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use hambo_data::Transition;

    #[test]
    fn rows_at_a_limit_are_named_and_pairs_on_a_circle_are_not() {
        let text = "name = 'pendulum'\nhorizon = 2\n[state]\nnames = ['c', 's', 'omega']\nlow = [-1, -1, -8]\n\
             high = [1, 1, 8]\ncircle = [['c', 's']]\n[action]\nnames = ['u']\nlow = [-1]\n\
             high = [1]\n[reward]\nexpr = 'c'\n[initial]\nkind = 'data'\n";
        let task = TaskFile::parse(text, "task.toml").unwrap();
        let mut log = Log::new(3, 1);
        for (episode, omega) in (0..).zip([7.9, 8.0, -8.0, 0.0]) {
            log.push(Transition {
                state: &[1.0, 0.0, 7.0],
                action: &[0.0],
                next_state: &[1.0, 0.0, omega],
                reward: 0.0,
                episode,
            })
            .unwrap();
        }
        let said = kinks_at_limits(&task, &log);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("2 of 4 rows end at a limit of `omega`"));
        // The line that it proposes is one that the task takes, and then nothing is said.
        let line = "omega = \"clamp(learned.omega, -8, 8)\"";
        assert!(said[0].contains(line), "{said:?}");
        let text = text.replace("[reward]", &format!("[known]\n{line}\n[reward]"));
        let task = TaskFile::parse(&text, "task.toml").unwrap();
        assert!(kinks_at_limits(&task, &log).is_empty());
    }
}
