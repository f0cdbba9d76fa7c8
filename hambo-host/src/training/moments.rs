//! What the ensemble predicts for its validation rows while it is trained.

use rayon::prelude::*;

use super::Trainer;

/// Predictions and observations of one target, in standardised units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moments {
    /// Mean over members.
    pub mean: Vec<f32>,
    /// Spread of the members' means.
    pub epistemic_std: Vec<f32>,
    /// Root of the mean of the members' variances.
    pub aleatoric_std: Vec<f32>,
    /// The target itself.
    pub observed: Vec<f32>,
}

impl Trainer {
    /// The moments of the validation rows, target by target; none without
    /// such rows.
    #[must_use]
    pub fn validation_moments(&mut self) -> Vec<Moments> {
        let Some(set) = &self.validation else {
            return Vec::new();
        };
        let particles = self.particles.all.par_iter_mut();
        let members: Vec<Vec<(f32, f32)>> = particles
            .map(|particle| particle.density.heads_on(&particle.parameters, set))
            .collect();
        let count = members.len().max(1) as f32;
        let mut targets = vec![Moments::default(); set.target_columns];
        for (place, observed) in set.targets.iter().enumerate() {
            let heads = || members.iter().filter_map(|heads| heads.get(place));
            let mean = heads().map(|(mean, _)| mean).sum::<f32>() / count;
            let spread = heads().map(|(m, _)| (m - mean).powi(2)).sum::<f32>() / count;
            let noise = heads().map(|(_, std)| std * std).sum::<f32>() / count;
            let target = &mut targets[place % set.target_columns];
            target.mean.push(mean);
            target.epistemic_std.push(spread.sqrt());
            target.aleatoric_std.push(noise.sqrt());
            target.observed.push(*observed);
        }
        targets
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::super::{EnsembleOptions, TrainingSet};
    use super::*;

    #[test]
    fn moments_belong_to_their_rows() {
        let inputs: Vec<f32> = (0..60).map(|i| 0.1 * i as f32).collect();
        let targets: Vec<f32> = inputs.iter().flat_map(|x| [x.sin(), 3.0 * x]).collect();
        let rows = |from: usize, to: usize| TrainingSet {
            inputs: &inputs[from..to],
            input_columns: 1,
            targets: &targets[2 * from..2 * to],
            target_columns: 2,
        };
        let options = EnsembleOptions {
            steps: 400,
            check_every: 400,
            ..EnsembleOptions::demo()
        };
        let (set, validation) = (rows(0, 60), rows(20, 27));
        let mut trainer = Trainer::new(&set, Some(&validation), &options).unwrap();
        trainer.advance().unwrap();
        let moments = trainer.validation_moments();
        assert_eq!(moments.len(), 2);
        for target in &moments {
            assert_eq!(target.observed.len(), 7);
            assert!(target.aleatoric_std.iter().all(|std| *std > 0.0));
            for (mean, observed) in target.mean.iter().zip(&target.observed) {
                assert!((mean - observed).abs() < 0.2, "{mean} {observed}");
            }
        }
        let mut plain = Trainer::new(&set, None, &options).unwrap();
        assert!(plain.validation_moments().is_empty());
    }
}
