//! What a controller sees: `observes` in a policy file, names of states or functions of them,
//! in the controller's order.

use hambo_core::policy::MAX_OBSERVED;
use hambo_core::task::expression::{MAX_OPS, Op, Program, Variable};

use super::error::PolicyError;
use super::format::Checker;
use super::host_policy::{HostPolicy, ObservedPolicy, Observer};
use crate::expression::Names;
use crate::expression::compiler::Compiler;
use crate::task::task_file::TaskFile;

const KEY: &str = "observes";

impl Checker<'_> {
    /// The slots of what is seen, and their tape.
    pub(super) fn observations(
        &self,
        observes: &[String],
        task: &TaskFile,
    ) -> Result<(Vec<Op>, Vec<u16>), PolicyError> {
        let names = Names {
            state: &task.state_names,
            action: &task.action_names,
            horizon: task.horizon,
        };
        let mut compiler = Compiler::new(names);
        let mut slots = Vec::with_capacity(observes.len());
        for (index, source) in observes.iter().enumerate() {
            let key = format!("{KEY}[{index}]");
            match compiler.add(source) {
                Ok(slot) => slots.push(slot),
                Err(error) => {
                    let help = format!(
                        "write states ({}) or functions of them, for example \"cos(theta)\"",
                        task.state_names.join(", ")
                    );
                    return self.fail(&key, format!("is not an expression: {error}"), help);
                }
            }
        }
        if slots.is_empty() || slots.len() > MAX_OBSERVED {
            let problem = format!("has {} observations", slots.len());
            return self.fail(KEY, problem, format!("give 1 to {MAX_OBSERVED}"));
        }
        let ops = compiler.finish();
        let other = ops.iter().find_map(|op| match op {
            Op::Variable(Variable::State(_)) => None,
            Op::Variable(other) => Some(*other),
            _ => None,
        });
        if let Some(other) = other {
            let what = match other {
                Variable::Action(_) => "reads an action",
                Variable::Next(_) | Variable::Learned(_) => "reads the next state",
                _ => "reads the step",
            };
            let help = "write functions of the state; what a controller remembers is a state \
                        of [known] in the task";
            return self.fail(KEY, what, help);
        }
        if Program::new(&ops, task.state_names.len(), 0).is_err() {
            let problem = format!("needs more than {MAX_OPS} operations");
            return self.fail(
                KEY,
                problem,
                "compute less, or let the task know it as a state",
            );
        }
        Ok((ops, slots))
    }

    /// A controller that was read for the observations, as one for the task's states.
    pub(super) fn observing(
        &self,
        policy: HostPolicy,
        (ops, slots): (Vec<Op>, Vec<u16>),
        task: &TaskFile,
    ) -> Result<HostPolicy, PolicyError> {
        let observer = match policy {
            HostPolicy::Linear(policy) => Observer::Linear(policy),
            HostPolicy::Perceptron(policy) => Observer::Perceptron(policy),
            HostPolicy::Waypoints(_) | HostPolicy::Observed(_) => {
                let help = "waypoints are places in the first states; leave it out";
                return self.fail(KEY, "does not belong to kind = \"waypoints\"", help);
            }
        };
        Ok(HostPolicy::Observed(ObservedPolicy {
            states: task.state_names.len(),
            ops,
            slots,
            observer,
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_core::policy::Policy;

    use super::*;
    use crate::image::{AlignedBytes, decode_policy, encode_policy};
    use hambo_core::numeric::Slices;
    use hambo_core::policy::PolicyInputs;

    fn task(reward: &str) -> TaskFile {
        let text = format!(
            "name = 'arm'\nhorizon = 5\n[state]\nnames = ['x', 'theta', 'omega']\n\
             [action]\nnames = ['u']\nlow = [-9]\nhigh = [9]\n[reward]\n{reward}\n\
             [initial]\nkind = 'data'\n"
        );
        TaskFile::parse(&text, "arm.toml").unwrap()
    }

    fn action(policy: &HostPolicy, state: &[f32]) -> f32 {
        let bytes = AlignedBytes::new(&encode_policy(policy).unwrap());
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        assert_eq!(stored.state_dimension(), state.len());
        let state: Vec<[f32; 1]> = state.iter().map(|x| [*x]).collect();
        let mut scratch = vec![[0.0; 1]; stored.scratch_rows().unwrap()];
        let mut action = [[0.0; 1]];
        let whole = Slices::default();
        stored.act(PolicyInputs::new(&state, &mut scratch, &whole), &mut action);
        action[0][0]
    }

    #[test]
    fn a_controller_sees_what_it_observes() {
        let text = "kind = 'linear'\nobserves = ['cos(theta)', 'sin(theta)', 'omega']\n\
                    gain = [[1, 2, 3]]\nbias = [0.5]\n";
        for reward in ["expr = '-x^2'", "learned = true"] {
            let task = task(reward);
            let policy = HostPolicy::parse(text, "pd.toml", &task).unwrap();
            let mut state = vec![7.0, 0.3, -0.25];
            state.resize(task.state_names.len(), 1e6);
            let wanted = 0.3_f32.cos() + 2.0 * 0.3_f32.sin() - 0.75 + 0.5;
            assert!((action(&policy, &state) - wanted).abs() < 1e-6);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        let task = task("expr = '-x^2'");
        for (observes, wanted) in [
            ("[]", "has 0 observations"),
            ("['speed']", "observes[0]"),
            ("['u']", "reads an action"),
            ("['next.x']", "reads the next state"),
            ("['t']", "reads the step"),
            ("['x', 'omega']", "has length 1, not 2"),
        ] {
            let text = format!("kind = 'linear'\nobserves = {observes}\ngain = [[1]]\nbias = [0]");
            let error = HostPolicy::parse(&text, "pd.toml", &task).unwrap_err();
            let error = error.to_string();
            assert!(error.contains(wanted) && error.contains("help"), "{error}");
        }
        let text = "kind = 'waypoints'\nobserves = ['x']\nspeed = 1\nlegs = [{ target = [1] }]";
        let error = HostPolicy::parse(text, "w.toml", &task).unwrap_err();
        assert!(error.to_string().contains("observes"), "{error}");
    }
}
