//! Controllers that come with hambo: trained by `hambo env train`, the commands and returns
//! stand in `agents/README.md`.

use crate::Error;
use crate::environment::Environment;
use crate::formats::policy::{HostPolicy, for_task, onnx};
use crate::formats::task::TaskFile;

/// What figures 3 and 4 take of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agents {
    /// The system's name.
    pub system: &'static str,
    /// The task that is checked; the system's own if there is none.
    task: Option<&'static str>,
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
}

/// The systems of figures 3 and 4.
pub const AGENTS: [Agents; 1] = [Agents {
    system: "pendulum",
    task: Some(include_str!("../../tasks/pendulum_on_circle.toml")),
    logging: &[
        include_bytes!("../../agents/pendulum_3000.onnx"),
        include_bytes!("../../agents/pendulum_4000.onnx"),
        include_bytes!("../../agents/pendulum_6000.onnx"),
    ],
    evaluated: include_bytes!("../../agents/pendulum_20000.onnx"),
    horizon: 200,
    horizons: &[100, 200, 400],
    action_noise: 0.4,
}];

impl Agents {
    /// The task that is checked: the system's, with what is known of it.
    ///
    /// # Errors
    /// If the file is wrong, which a test rules out.
    pub fn task(&self, system: &dyn Environment) -> Result<TaskFile, Error> {
        Ok(match self.task {
            Some(text) => TaskFile::parse(text, self.system)?,
            None => system.task().clone(),
        })
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
        let read = onnx::decode(bytes, None, task, &onnx::OnnxOptions::default());
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
    use crate::environment::{named, rollout};

    #[test]
    fn the_evaluated_controller_is_better_than_those_that_log() {
        for agents in AGENTS.iter().filter(|agents| agents.system == "pendulum") {
            let system = named(agents.system).unwrap();
            let task = agents.task(system.as_ref()).unwrap();
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
