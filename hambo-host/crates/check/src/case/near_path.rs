//! What withheld rows near the controller's path say of the model there.

use serde::{Deserialize, Serialize};

use crate::number::Number;

/// What withheld rows near the path say, as a verdict shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearPathUse {
    /// Rows near the path.
    pub rows: usize,
    /// Of how many episodes.
    pub episodes: usize,
    /// Of how many in all that judged.
    pub judging_episodes: usize,
    /// The largest factor on the set of any state; 1 if it stays as it was.
    pub widened: Number,
    /// What the set did not hold; none if it stays as it was.
    pub found: Option<String>,
    /// Whether no width that calibration allows is enough, so that the check abstains.
    pub refused: bool,
}

impl NearPathUse {
    /// One line for text and report.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self {
            rows,
            episodes,
            judging_episodes,
            ..
        } = self;
        let near = format!(
            "withheld rows near this controller's path: {rows} of {episodes} of \
             {judging_episodes} episodes"
        );
        match &self.found {
            Some(found) if self.refused => format!("{near}; {found}, more than any width allowed"),
            Some(found) => format!("{near}; {found}; set widened {:.1} times", self.widened.0),
            None if self.widened.0.is_nan() => {
                format!("{near}, too few to tell anything of the model there")
            }
            None => format!("{near}, which the set holds"),
        }
    }

    /// The reason of an abstain; none if the set could be widened.
    pub(crate) fn refusal(&self) -> Option<String> {
        let found = self.found.as_ref().filter(|_| self.refused)?;
        Some(format!(
            "the model is wrong where this controller goes: of the withheld rows near its path {found}, \
             and no width that calibration allows makes up for it: log more there and fit again, \
             or a larger model (--hidden)"
        ))
    }
}
