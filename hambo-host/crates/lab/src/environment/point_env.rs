//! PointEnv (the paper's convergence experiment): a point in the plane walks to the origin.

use hambo_core::numeric::random::Stream;

use super::system::Environment;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

const TASK: &str = include_str!("../../../../tasks/point_env.toml");
const PROPORTIONAL: &str = include_str!("../../../../tasks/point_env_proportional.toml");
/// The paper's log covers [−40, 40]², this its episodes begin in [−20, 20]².
const START: f64 = 20.0;

/// s′ = s + a, actions in [−1, 1]², the reward is minus the distance to the origin.
#[derive(Clone, Debug)]
pub struct PointEnv {
    task: TaskFile,
}

impl PointEnv {
    /// The system with the task file that comes with hambo.
    ///
    /// # Errors
    /// If the built-in task file is wrong, which a test rules out.
    pub fn new() -> Result<Self, hambo_base::Error> {
        let task = TaskFile::parse(TASK, "point_env.toml")?;
        Ok(Self { task })
    }

    /// The controller that is evaluated: half the way to the origin, as far as a step goes.
    ///
    /// # Errors
    /// If the built-in file is wrong, which a test rules out.
    pub fn proportional(&self) -> Result<HostPolicy, hambo_base::Error> {
        let file = "point_env_proportional.toml";
        Ok(HostPolicy::parse(PROPORTIONAL, file, &self.task)?)
    }
}

impl Environment for PointEnv {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, stream: &mut Stream) -> Vec<f64> {
        let mut between = || START * (2.0 * f64::from(stream.uniform()) - 1.0);
        vec![between(), between()]
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        state.iter().map(|x| *x as f32).collect()
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        for (x, a) in state.iter_mut().zip(action) {
            *x += f64::from(*a);
        }
        -state.iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::rollout::rollout;

    #[test]
    fn the_proportional_controller_reaches_the_origin() {
        let system = PointEnv::new().unwrap();
        let run = rollout(&system, &system.proportional().unwrap(), 20, 0.0, 3).unwrap();
        let last: Vec<_> = run.log.rows().skip(49).step_by(50).collect();
        assert_eq!(last.len(), 20);
        for row in last {
            assert!(row.next_state.iter().all(|x| x.abs() < 1e-3));
        }
        // A step is at most 1 along each axis: from (20, 20) the sum of distances would be
        // √2 · (19 + … + 0) and what the last halves add.
        assert!(
            run.returns
                .iter()
                .all(|value| *value > -300.0 && *value < 0.0)
        );
        // The environment's reward is the task's.
        let task = system.task();
        let program = hambo_core::task::expression::Program::new(&task.ops, 2, 2).unwrap();
        for row in run.log.rows() {
            let mut values = vec![[0.0; 1]; program.len()];
            let inputs = hambo_core::task::expression::Inputs {
                state: hambo_base::one_lane::one_lane(row.state),
                action: hambo_base::one_lane::one_lane(row.action),
                next: hambo_base::one_lane::one_lane(row.next_state),
                step: 0.0,
            };
            let exact = hambo_core::task::expression::Comparison::Exact;
            assert_eq!(program.evaluate(exact, inputs, &mut values), [true]);
            let [reward] = values[usize::from(task.reward.slot())];
            assert!((reward - row.reward).abs() < 1e-4);
        }
    }
}
