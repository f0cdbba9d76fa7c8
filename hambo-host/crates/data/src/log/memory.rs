//! States that a log does not have and the task computes: what a controller remembers.

use hambo_core::task::expression::ProgramError;

use hambo_task::task::ModelView;

use super::follows::goes_on;
use super::known_states::KnownStates;
use super::rows::Log;

/// Follows the rows of a log and adds those states. They start at their initial value where an
/// episode begins, and where a row does not begin where the one before it ended.
pub(crate) struct Memory<'v> {
    view: &'v ModelView,
    known: KnownStates<'v>,
    /// The episode of the last row and the state that it led to.
    last: Option<(u32, Vec<f32>)>,
    step: u32,
}

impl<'v> Memory<'v> {
    /// # Errors
    /// If the tape is bad.
    pub(crate) fn new(view: &'v ModelView) -> Result<Self, ProgramError> {
        Ok(Self {
            view,
            known: KnownStates::new(view)?,
            last: None,
            step: 0,
        })
    }

    /// State and next state of the following row with these states after its own. `None` if one of
    /// them is not finite.
    pub(crate) fn row(
        &mut self,
        episode: u32,
        (state, action): (&[f32], &[f32]),
        next_state: Option<&[f32]>,
    ) -> Option<(Vec<f32>, Option<Vec<f32>>)> {
        let own = state.len();
        let remembered = self.last.take().filter(|(before, reached)| {
            *before == episode && goes_on(reached, state, &self.view.wraps)
        });
        let mut longer = state.to_vec();
        if let Some((_, reached)) = &remembered {
            longer.extend(reached.iter().skip(own));
            self.step += 1;
        } else {
            longer.extend(&self.view.memory);
            self.step = 0;
        }
        let Some(next_state) = next_state else {
            return Some((longer, None));
        };
        let mut next = next_state.to_vec();
        next.resize(longer.len(), 0.0);
        let mut computed = next.clone();
        self.known
            .compute((&longer, action), self.step, &mut computed);
        // Those that the log has are its own.
        for (next, computed) in next.iter_mut().zip(computed).skip(own) {
            *next = computed;
        }
        self.last = Some((episode, next.clone()));
        let finite = next.iter().all(|x| x.is_finite());
        finite.then_some((longer, Some(next)))
    }
}

/// The log with those states after its own.
///
/// # Errors
/// What is wrong, in words: a row in which such a state is not finite.
pub fn with_memory(log: &Log, view: &ModelView) -> Result<Log, String> {
    let mut memory = Memory::new(view).map_err(|error| error.to_string())?;
    let dimension = log.state_dimension() + view.memory.len();
    let longer = log.with_states(dimension, |row, state, next_state| {
        let seen = (row.state, row.action);
        let found = memory.row(row.episode, seen, Some(row.next_state));
        // A state that stays as long as it was is refused.
        if let Some((longer, Some(longer_next))) = found {
            (*state, *next_state) = (longer, longer_next);
        }
    });
    longer.map_err(|error| {
        let place = log.place(error.row());
        format!("{place}: a state of [known] with an initial value is not finite")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_task::task::TaskFile;

    use super::super::rows::Transition;
    use super::*;

    #[test]
    fn an_integral_and_the_last_action_follow_the_episodes() {
        let text = "name = 'cart'\nhorizon = 5\n\
            [state]\nnames = ['x', 'i', 'last']\nlow = [-9, -1, -9]\nhigh = [9, 1, 9]\n\
            [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
            [known]\ni = { next = 'i + 0.5 * next.x', initial = 0.25 }\n\
            last = { next = 'u + 0.125 * t', initial = 0 }\n\
            [reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'\n";
        let task = TaskFile::parse(text, "cart.toml").unwrap();
        let mut log = Log::new(1, 1);
        // Two steps of an episode, a gap in it, and another episode.
        for (x, u, next, episode) in [
            (0.0, 0.5, 1.0, 0),
            (1.0, -0.5, 2.0, 0),
            (5.0, 0.25, 1.0, 0),
            (1.0, 0.75, -1.0, 1),
        ] {
            log.push(Transition {
                state: &[x],
                action: &[u],
                next_state: &[next],
                reward: 0.0,
                episode,
            })
            .unwrap();
        }
        let longer = with_memory(&log, &task.model_view()).unwrap();
        let rows: Vec<(Vec<f32>, Vec<f32>)> = longer
            .rows()
            .map(|row| (row.state.to_vec(), row.next_state.to_vec()))
            .collect();
        let row = |state: [f32; 3], next: [f32; 3]| (state.to_vec(), next.to_vec());
        assert_eq!(rows[0], row([0.0, 0.25, 0.0], [1.0, 0.75, 0.5]));
        // Held at its limit.
        assert_eq!(rows[1], row([1.0, 0.75, 0.5], [2.0, 1.0, -0.375]));
        assert_eq!(rows[2], row([5.0, 0.25, 0.0], [1.0, 0.75, 0.25]));
        assert_eq!(rows[3], row([1.0, 0.25, 0.0], [-1.0, -0.25, 0.75]));
    }
}
