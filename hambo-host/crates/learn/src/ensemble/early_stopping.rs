//! When to stop, and which weights to keep: those with the best likelihood of
//! rows that training does not see.
//!
//! What is compared is the mean over the members of the mean negative log
//! likelihood. The mixture's would hide a member that overfits behind the
//! others, and the adversary may follow any single member.

use serde::{Deserialize, Serialize};

/// The best look at the validation rows so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EarlyStopping {
    /// Updates before the best look; 0 before the first.
    pub(super) step: usize,
    pub(super) loss: f32,
    /// Looks since then.
    pub(super) stale: usize,
    /// All members' weights then.
    pub(super) parameters: Vec<Vec<f32>>,
}

impl EarlyStopping {
    pub(super) fn new() -> Self {
        Self {
            step: 0,
            loss: f32::INFINITY,
            stale: 0,
            parameters: Vec::new(),
        }
    }

    /// Takes note of a look. A loss that is not a number is no improvement.
    pub(super) fn look<'a>(
        &mut self,
        step: usize,
        loss: f32,
        parameters: impl Iterator<Item = &'a Vec<f32>>,
    ) {
        if loss < self.loss {
            self.step = step;
            self.loss = loss;
            self.stale = 0;
            self.parameters.resize(parameters.size_hint().0, Vec::new());
            let kept = self.parameters.iter_mut().zip(parameters);
            kept.for_each(|(kept, parameters)| kept.clone_from(parameters));
        } else {
            self.stale += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_best_and_counts_since() {
        let mut stopping = EarlyStopping::new();
        let looks = [2.0, 1.0, 1.5, f32::NAN, 1.0];
        for (step, loss) in looks.into_iter().enumerate() {
            stopping.look(step, loss, [vec![step as f32]].iter());
        }
        assert_eq!((stopping.step, stopping.loss), (1, 1.0));
        assert_eq!(stopping.stale, 3);
        assert_eq!(stopping.parameters, [[1.0]]);
    }
}
