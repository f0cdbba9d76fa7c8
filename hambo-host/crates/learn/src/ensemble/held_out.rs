//! How well an ensemble explains rows that it was not trained on.

use super::error::TrainingError;
use super::likelihood::GaussianHead;
use super::trained::TrainedEnsemble;
use super::training_set::TrainingSet;
use hambo_base::network::pack;
use hambo_base::network::perceptron::{Network, layer_shapes};

/// Rows at a time.
const ROWS: usize = 128;

/// Mean negative log likelihood per row, in standardised target units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Of a single member, on average.
    pub members: f32,
    /// Of the mixture of all members with equal weights; never above `members`.
    pub mixture: f32,
}

impl TrainedEnsemble {
    /// The likelihood of a set.
    ///
    /// # Errors
    /// If the set is empty, has other columns or holds a value that is not finite.
    ///
    /// ```
    /// use hambo_base::Held;
    /// use hambo_learn::ensemble::{EnsembleOptions, TrainingSet, train_ensemble};
    ///
    /// let inputs: Vec<f32> = (0..50).map(|i| 0.1 * i as f32).collect();
    /// let targets: Vec<f32> = inputs.iter().map(|x| x.sin()).collect();
    /// let set = TrainingSet { inputs: &inputs, input_columns: 1, targets: &targets, target_columns: 1, held: Held::NONE };
    /// let ensemble = train_ensemble(&set, &EnsembleOptions::demo())?;
    /// let likelihood = ensemble.held_out(&set)?;
    /// assert!(likelihood.mixture <= likelihood.members);
    /// # Ok::<(), hambo_learn::ensemble::TrainingError>(())
    /// ```
    pub fn held_out(&self, set: &TrainingSet<'_>) -> Result<HeldOut, TrainingError> {
        let set = set.standardise_as(&self.standardisation)?;
        let sets = set.for_members(&self.priors, self.members.len());
        let layers = layer_shapes(&self.widths);
        let head = GaussianHead {
            floor: self.std_floor,
            cap: self.std_cap,
        };
        let mut network = Network::new(&layers, self.activation, ROWS);
        let members = self.members.iter().map(|member| pack(&member.layers));
        let members: Vec<_> = members.collect();
        let (mut alone, mut together) = (0.0, 0.0);
        for (chunk, inputs) in set.inputs.chunks(ROWS * set.input_columns).enumerate() {
            // Log likelihoods, member by member.
            let mut rows = vec![Vec::new(); ROWS];
            for (parameters, own) in members.iter().zip(&sets) {
                let places = ROWS * set.target_columns;
                let held = own.held().part(chunk * places, places);
                let targets = own.targets.chunks(places);
                let targets = targets.skip(chunk).take(1).flatten();
                let targets: Vec<f32> = targets.copied().collect();
                let outputs = network.forward(parameters, inputs);
                let outputs = outputs.chunks_exact(2 * set.target_columns);
                let targets = targets.chunks_exact(set.target_columns);
                let pairs = rows.iter_mut().zip(outputs).zip(targets).enumerate();
                for (number, ((row, output), target)) in pairs {
                    let held = held.part(number * target.len(), target.len());
                    row.push(-f64::from(head.row(output, target, held)));
                }
            }
            for row in rows.iter().filter(|row| !row.is_empty()) {
                let count = row.len() as f64;
                let largest = row.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
                let sum: f64 = row.iter().map(|log| (log - largest).exp()).sum();
                alone -= row.iter().sum::<f64>() / count;
                together -= largest + (sum / count).ln();
            }
        }
        Ok(HeldOut {
            members: (alone / set.rows as f64) as f32,
            mixture: (together / set.rows as f64) as f32,
        })
    }
}
