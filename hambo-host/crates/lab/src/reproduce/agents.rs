//! Controllers that come with hambo: trained by `hambo env train`, the commands and returns
//! stand in `agents/README.md`.

use crate::environment;
use hambo_base::Error;
use hambo_task::policy::{HostPolicy, for_task, onnx};
use hambo_task::task::TaskFile;

/// What figures 3 and 4 take of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agents {
    /// The system's name.
    pub system: &'static str,
    /// The task that is checked.
    task: &'static str,
    /// Mediocre controllers, whose episodes are the log.
    logging: &'static [&'static [u8]],
    /// One of the best, which is evaluated.
    evaluated: &'static [u8],
    /// Horizon of figure 3.
    pub horizon: u32,
    /// Horizons of figure 4.
    pub horizons: &'static [u32],
    /// Noise on the logged actions, as a part of half their range.
    pub action_noise: f32,
    /// Steps of a logged episode, whatever the check's horizon.
    pub logged_steps: u32,
}

/// The systems of figures 3 and 4. Numbers of cells follow from their order.
pub const AGENTS: [Agents; 3] = [
    Agents {
        system: "pendulum",
        task: include_str!("../../../../tasks/pendulum_on_circle.toml"),
        logging: &[
            include_bytes!("../../agents/pendulum_3000.onnx"),
            include_bytes!("../../agents/pendulum_4000.onnx"),
            include_bytes!("../../agents/pendulum_6000.onnx"),
        ],
        evaluated: include_bytes!("../../agents/pendulum_20000.onnx"),
        horizon: 200,
        horizons: &[100, 200, 400],
        action_noise: 0.4,
        logged_steps: 200,
    },
    Agents {
        system: "hopper",
        task: include_str!("../../../../tasks/hopper.toml"),
        logging: &[
            include_bytes!("../../agents/hopper_25000.onnx"),
            include_bytes!("../../agents/hopper_50000.onnx"),
            include_bytes!("../../agents/hopper_75000.onnx"),
        ],
        evaluated: include_bytes!("../../agents/hopper_100000.onnx"),
        horizon: 200,
        horizons: &[100, 200, 400],
        action_noise: 0.4,
        logged_steps: 400,
    },
    Agents {
        system: "half_cheetah",
        task: include_str!("half_cheetah_limited.toml"),
        logging: &[
            include_bytes!("../../agents/half_cheetah_25000.onnx"),
            include_bytes!("../../agents/half_cheetah_50000.onnx"),
            include_bytes!("../../agents/half_cheetah_75000.onnx"),
        ],
        evaluated: include_bytes!("../../agents/half_cheetah_200000.onnx"),
        horizon: 100,
        horizons: &[100, 150],
        action_noise: 0.4,
        logged_steps: 150,
    },
];

impl Agents {
    /// Whether the system needs MuJoCo.
    #[must_use]
    pub fn needs_mujoco(&self) -> bool {
        environment::needs_mujoco(self.system)
    }

    /// The task that is checked: the system's, with what is known of it.
    ///
    /// # Errors
    /// If the file is wrong, which a test rules out.
    pub fn task(&self) -> Result<TaskFile, Error> {
        Ok(TaskFile::parse(self.task, self.system)?)
    }

    /// The controllers that log.
    ///
    /// # Errors
    /// If a file does not fit the task, which a test rules out.
    pub fn logging(&self, task: &TaskFile) -> Result<Vec<HostPolicy>, Error> {
        let files = self.logging.iter();
        files.map(|bytes| self.policy(bytes, task)).collect()
    }

    /// The controller that is evaluated.
    ///
    /// # Errors
    /// As [`Self::logging`].
    pub fn evaluated(&self, task: &TaskFile) -> Result<HostPolicy, Error> {
        self.policy(self.evaluated, task)
    }

    fn policy(&self, bytes: &[u8], task: &TaskFile) -> Result<HostPolicy, Error> {
        let seen = task.seen_by_controllers();
        let read = onnx::decode(bytes, None, &seen, &onnx::OnnxOptions::default());
        let read = read.map_err(|problem| {
            Error::Usage(format!(
                "the controller of {} that comes with hambo: {problem}",
                self.system
            ))
        })?;
        Ok(for_task(HostPolicy::Perceptron(read.policy), task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::named::named;
    use crate::environment::rollout::rollout;

    #[test]
    fn every_controller_fits_its_task() {
        for agents in &AGENTS {
            let task = agents.task().unwrap();
            assert_eq!(agents.logging(&task).unwrap().len(), 3, "{}", agents.system);
            assert!(agents.evaluated(&task).is_ok());
            assert!(agents.horizons.contains(&agents.horizon));
        }
    }

    #[test]
    fn the_evaluated_controller_is_better_than_those_that_log() {
        for agents in AGENTS.iter().filter(|agents| agents.system == "pendulum") {
            let system = named(agents.system).unwrap();
            let task = agents.task().unwrap();
            let mean = |policy: &HostPolicy| {
                let run = rollout(system.as_ref(), policy, 50, 0.0, 9).unwrap();
                run.mean_return().mean
            };
            let evaluated = mean(&agents.evaluated(&task).unwrap());
            let logging = agents.logging(&task).unwrap();
            assert!(logging.iter().all(|policy| mean(policy) < evaluated));
        }
    }
}
