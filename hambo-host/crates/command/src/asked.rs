//! What `hambo check` and `hambo rank` may ask for instead of what the task says.

use std::path::Path;

use clap::Args;
use hambo_base::Error;
use hambo_console::number::whole;
use hambo_task::task::TaskFile;

/// Threshold, delta and horizon.
#[derive(Args)]
pub struct AskedArguments {
    /// Deploy only at or above this return, instead of the task's threshold.
    #[arg(long)]
    threshold: Option<f32>,
    /// The bound may fail with this probability in all, instead of the task's
    /// delta.
    #[arg(long)]
    delta: Option<f32>,
    /// Judge each of several controllers by itself: the bound of each may fail
    /// with probability delta, and one of many more often.
    #[arg(long)]
    each: bool,
    /// Steps of a trajectory, instead of the task's horizon.
    #[arg(long, value_parser = whole::<u32>)]
    horizon: Option<u32>,
}

impl AskedArguments {
    /// Reads a task, and takes over what the command line says instead of it.
    pub fn task(&self, path: &Path) -> Result<TaskFile, Error> {
        self.task_of(|horizon| Ok(TaskFile::read_with_horizon(path, horizon)?))
    }

    /// The same of a task that `read` reads with the horizon that is asked for.
    pub fn task_of(
        &self,
        read: impl FnOnce(Option<u32>) -> Result<TaskFile, Error>,
    ) -> Result<TaskFile, Error> {
        if self.horizon == Some(0) {
            return Err(Error::Usage("--horizon 0: give at least 1".to_owned()));
        }
        let mut task = read(self.horizon)?;
        if let Some(threshold) = self.threshold {
            if !threshold.is_finite() {
                return Err(Error::Usage("--threshold: give a finite number".to_owned()));
            }
            task.threshold = Some(threshold);
        }
        if let Some(delta) = self.delta {
            if !(delta > 0.0 && delta < 1.0) {
                let text = format!("--delta {delta}: give a probability between 0 and 1");
                return Err(Error::Usage(text));
            }
            task.delta = delta;
        }
        Ok(task)
    }

    /// How many of these controllers share delta.
    pub fn sharing(&self, controllers: usize) -> usize {
        if self.each { 1 } else { controllers }
    }
}
