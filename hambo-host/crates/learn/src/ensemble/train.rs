//! Training in one call.

use super::error::TrainingError;
use super::options::EnsembleOptions;
use super::trained::TrainedEnsemble;
use super::trainer::Trainer;
use super::training_set::TrainingSet;

/// Trains an ensemble on logged transitions, with all of them and to the last
/// update. [`Trainer`] does the same with validation rows, reports and checkpoints.
///
/// # Errors
/// If the options or the data are unfit, or training diverges.
///
/// ```
/// use hambo_base::Held;
/// use hambo_learn::ensemble::{EnsembleOptions, TrainingSet, train_ensemble};
///
/// // One state, one action, s′ = s + a.
/// let inputs: Vec<f32> = (0..50).flat_map(|i| [0.1 * i as f32, (i % 7) as f32]).collect();
/// let targets: Vec<f32> = (0..50).map(|i| (i % 7) as f32).collect();
/// let set = TrainingSet { inputs: &inputs, input_columns: 2, targets: &targets, target_columns: 1, held: Held::NONE };
/// let options = EnsembleOptions { steps: 50, ..EnsembleOptions::demo() };
/// let ensemble = train_ensemble(&set, &options)?;
/// assert_eq!(ensemble.widths, [2, 32, 32, 2]);
/// assert_eq!(ensemble.members.len(), 5);
/// # Ok::<(), hambo_learn::ensemble::TrainingError>(())
/// ```
pub fn train_ensemble(
    set: &TrainingSet<'_>,
    options: &EnsembleOptions,
) -> Result<TrainedEnsemble, TrainingError> {
    let mut trainer = Trainer::new(set, None, options)?;
    while trainer.advance()?.is_some() {}
    trainer.finish()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::super::reference::member_means;
    use super::*;
    use hambo_base::Held;
    use hambo_base::network::{Activation, Initial};
    use hambo_base::random::Random;

    /// s′ = s + sin(a), one state and one action.
    fn data() -> (Vec<f32>, Vec<f32>) {
        let mut random = Random::new(5, 99);
        let inputs: Vec<f32> = (0..240).map(|_| random.normal()).collect();
        let targets = inputs.chunks(2).map(|row| row[1].sin()).collect();
        (inputs, targets)
    }

    fn train(options: &EnsembleOptions) -> Result<TrainedEnsemble, TrainingError> {
        let (inputs, targets) = data();
        let set = TrainingSet {
            inputs: &inputs,
            input_columns: 2,
            targets: &targets,
            target_columns: 1,
            held: Held::NONE,
        };
        train_ensemble(&set, options)
    }

    fn short() -> EnsembleOptions {
        EnsembleOptions {
            members: 3,
            steps: 60,
            ..EnsembleOptions::demo()
        }
    }

    #[test]
    fn training_lowers_the_loss_and_fits() {
        // A random part has to be learnt away first.
        let priors = [(0.0, 0.03), (1.0, 0.08)];
        for (activation, (random_prior, near)) in
            [Activation::Relu, Activation::Tanh, Activation::Silu]
                .into_iter()
                .flat_map(|activation| priors.map(|prior| (activation, prior)))
        {
            let options = EnsembleOptions {
                activation,
                random_prior,
                ..EnsembleOptions::demo()
            };
            let trained = train(&options).unwrap();
            let untrained = train(&EnsembleOptions {
                steps: 1,
                ..options
            })
            .unwrap();
            for (after, before) in trained.losses.iter().zip(&untrained.losses) {
                assert!(*after < before - 2.0, "{activation:?}: {before} to {after}");
            }
            for mean in member_means(&trained, &[0.3, 0.5]) {
                assert!(
                    (mean[0] - 0.5_f64.sin()).abs() < near,
                    "{activation:?}, prior {random_prior}: {mean:?}"
                );
            }
        }
    }

    #[test]
    fn members_disagree_more_away_from_the_data() {
        for initial in [Initial::Wide, Initial::Narrow] {
            let options = EnsembleOptions {
                initial,
                ..EnsembleOptions::demo()
            };
            let trained = train(&options).unwrap();
            let spread = |input: [f32; 2]| {
                let means: Vec<f64> = member_means(&trained, &input)
                    .iter()
                    .map(|mean| mean[0])
                    .collect();
                let centre = means.iter().sum::<f64>() / means.len() as f64;
                means
                    .iter()
                    .map(|mean| (mean - centre).abs())
                    .fold(0.0, f64::max)
            };
            let (near, far) = (spread([0.0, 0.0]), spread([8.0, 8.0]));
            println!("{initial:?}: {near} near, {far} far");
            assert!(far > 5.0 * near, "{initial:?}: {near} near, {far} far");
        }
    }

    #[test]
    fn weights_depend_on_the_seed_only() {
        let with_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| train(&short()).unwrap())
        };
        let one = with_threads(1);
        assert_eq!(one, with_threads(2));
        let fewer = train(&EnsembleOptions {
            members: 2,
            ..short()
        })
        .unwrap();
        assert_eq!(one.members[..2], fewer.members[..]);
        let other = train(&EnsembleOptions { seed: 1, ..short() }).unwrap();
        assert_ne!(one.members, other.members);
        assert_ne!(one.members[0], one.members[1]);
        assert_ne!(one.members[1], one.members[2]);
    }

    #[test]
    fn weight_decay_shrinks_the_weights() {
        let size = |weight_decay| -> f32 {
            let trained = train(&EnsembleOptions {
                weight_decay,
                ..short()
            })
            .unwrap();
            let layers = trained.members.iter().flat_map(|member| &member.layers);
            layers.flat_map(|layer| &layer.weights).map(|w| w * w).sum()
        };
        assert!(size(5.0) < 0.8 * size(0.0));
    }

    #[test]
    fn shapes_are_consistent() {
        let hidden = vec![8];
        let trained = train(&EnsembleOptions { hidden, ..short() }).unwrap();
        assert_eq!(trained.widths, [2, 8, 2]);
        for (layer, pair) in trained.members[0]
            .layers
            .iter()
            .zip(trained.widths.windows(2))
        {
            assert_eq!((layer.inputs, layer.outputs), (pair[0], pair[1]));
            assert_eq!(layer.weights.len(), pair[0] * pair[1]);
            assert_eq!(layer.bias.len(), pair[1]);
        }
    }

    #[test]
    fn divergence_is_an_error() {
        let learning_rate = 1e30;
        let result = train(&EnsembleOptions {
            learning_rate,
            ..short()
        });
        assert_eq!(result, Err(TrainingError::Diverged { member: 0 }));
    }
}
