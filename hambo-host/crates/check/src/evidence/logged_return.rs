//! What the log's own controllers returned, by the task's reward: the first number that a
//! bound is compared with.

use hambo_core::rollout::PathReturn;
use hambo_core::task::Task;
use hambo_core::task::expression::Inputs;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use hambo_data::Log;

/// Returns of the logged episodes, over the task's horizon at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedReturn {
    pub episodes: u32,
    pub mean: Number,
    pub least: Number,
    pub greatest: Number,
    /// Steps of the shortest that were counted.
    pub shortest: u32,
    /// Steps of the longest.
    pub longest: u32,
}

impl LoggedReturn {
    /// As a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.sentence_with(|number| format!("{number:.3}"))
    }

    /// The same with numbers as the reader's place writes them.
    #[must_use]
    pub fn sentence_with(&self, number: impl Fn(Number) -> String) -> String {
        let steps = if self.shortest == self.longest {
            self.longest.to_string()
        } else {
            format!("{} to {}", self.shortest, self.longest)
        };
        format!(
            "the log's own {} episodes of {steps} steps return {} on average ({} to {})",
            self.episodes,
            number(self.mean),
            number(self.least),
            number(self.greatest)
        )
    }
}

/// Scores the episodes of a log; `None` if it is empty.
#[must_use]
pub fn logged_return(task: &Task<'_>, log: &Log) -> Option<LoggedReturn> {
    let episodes = scored(task, log);
    let returns = || episodes.iter().map(|one| f64::from(one.path.value));
    let steps = || episodes.iter().map(|one| one.steps);
    let (Some(shortest), Some(longest)) = (steps().min(), steps().max()) else {
        return None;
    };
    Some(LoggedReturn {
        episodes: episodes.len() as u32,
        mean: Number(returns().sum::<f64>() / episodes.len() as f64),
        least: Number(returns().fold(f64::INFINITY, f64::min)),
        greatest: Number(returns().fold(f64::NEG_INFINITY, f64::max)),
        shortest,
        longest,
    })
}

/// The return of every episode of a log.
#[must_use]
pub fn logged_returns(task: &Task<'_>, log: &Log) -> Vec<f32> {
    let episodes = scored(task, log).into_iter();
    episodes.map(|one| one.path.value).collect()
}

fn scored(task: &Task<'_>, log: &Log) -> Vec<Episode> {
    let mut values = vec![[0.0_f32; 1]; task.program.len()];
    let mut episodes: Vec<Episode> = Vec::new();
    for row in log.rows() {
        if episodes
            .last()
            .is_none_or(|last| last.number != row.episode)
        {
            episodes.push(Episode::new(row.episode));
        }
        let Some(episode) = episodes.last_mut() else {
            continue;
        };
        if episode.ended || episode.steps == task.horizon {
            continue;
        }
        let lane = |values: &[f32]| -> Vec<[f32; 1]> { values.iter().map(|x| [*x]).collect() };
        let (state, action, next) = (lane(row.state), lane(row.action), lane(row.next_state));
        let inputs = Inputs {
            state: &state,
            action: &action,
            next: &next,
            step: episode.steps as f32,
        };
        episode.ended = !episode.path.step(task, inputs, &mut values);
        episode.steps += 1;
    }
    episodes
}

struct Episode {
    number: u32,
    path: PathReturn,
    steps: u32,
    ended: bool,
}

impl Episode {
    fn new(number: u32) -> Self {
        Self {
            number,
            path: PathReturn::default(),
            steps: 0,
            ended: false,
        }
    }
}
