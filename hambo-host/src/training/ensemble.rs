//! A deep ensemble: the same network trained from several random starts.
//!
//! Members train in parallel and each runs alone on its thread with its own
//! stream of random numbers, so the weights depend on the seed only.

use rayon::prelude::*;

use super::adam::{Adam, decay};
use super::likelihood::GaussianHead;
use super::minibatch::Minibatches;
use super::network::{LayerShape, Network, initial_parameters, layer_shapes};
use super::random::Random;
use super::standardise::StandardisedSet;
use super::{Activation, EnsembleOptions, Standardisation, TrainingError, TrainingSet};

/// An ensemble with all that is needed to predict with it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedEnsemble {
    /// Widths from the input (s, a) to the output (mean, raw), both included.
    pub widths: Vec<usize>,
    /// Activation of the hidden layers.
    pub activation: Activation,
    /// Units of the networks' inputs and outputs.
    pub standardisation: Standardisation,
    /// Standard deviation = min(`std_cap`, `std_floor` + softplus(raw)), standardised.
    pub std_floor: f32,
    /// See `std_floor`.
    pub std_cap: f32,
    /// The networks.
    pub members: Vec<Member>,
    /// Mean negative log likelihood of the training rows, per member, in standardised units.
    pub losses: Vec<f32>,
}

/// One network of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// From the input to the output.
    pub layers: Vec<Layer>,
}

/// One layer: outputs = weights · inputs + bias.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Row-major, outputs × inputs.
    pub weights: Vec<f32>,
    /// One per output.
    pub bias: Vec<f32>,
}

/// Trains an ensemble on logged transitions.
///
/// ```
/// use hambo_host::training::{EnsembleOptions, TrainingSet, train_ensemble};
///
/// // One state, one action, s′ = s + a.
/// let inputs: Vec<f32> = (0..50).flat_map(|i| [0.1 * i as f32, (i % 7) as f32]).collect();
/// let targets: Vec<f32> = (0..50).map(|i| (i % 7) as f32).collect();
/// let set = TrainingSet { inputs: &inputs, input_columns: 2, targets: &targets, target_columns: 1 };
/// let options = EnsembleOptions { steps: 50, ..EnsembleOptions::default() };
/// let ensemble = train_ensemble(&set, &options)?;
/// assert_eq!(ensemble.widths, [2, 32, 32, 2]);
/// assert_eq!(ensemble.members.len(), 5);
/// # Ok::<(), hambo_host::training::TrainingError>(())
/// ```
pub fn train_ensemble(
    set: &TrainingSet<'_>,
    options: &EnsembleOptions,
) -> Result<TrainedEnsemble, TrainingError> {
    options.check()?;
    let (standardisation, rows) = set.standardise()?;
    let mut widths = vec![set.input_columns];
    widths.extend(&options.hidden);
    widths.push(2 * set.target_columns);
    let layers = layer_shapes(&widths);
    let results: Vec<_> = (0..options.members)
        .into_par_iter()
        .map(|member| train_member(&rows, &layers, options, member))
        .collect();
    // In order, so that of several failures the first member's is reported.
    let trained = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (members, losses) = trained.into_iter().unzip();
    Ok(TrainedEnsemble {
        widths,
        activation: options.activation,
        standardisation,
        std_floor: options.std_floor,
        std_cap: options.std_cap,
        members,
        losses,
    })
}

/// Trains one member; returns it with its loss on the training rows.
fn train_member(
    set: &StandardisedSet,
    layers: &[LayerShape],
    options: &EnsembleOptions,
    member: usize,
) -> Result<(Member, f32), TrainingError> {
    let head = GaussianHead {
        floor: options.std_floor,
        cap: options.std_cap,
    };
    let mut random = Random::new(options.seed, member as u64);
    let mut parameters = initial_parameters(layers, options.activation, &mut random);
    let mut gradient = vec![0.0; parameters.len()];
    let mut adam = Adam::new(parameters.len());
    let mut batches = Minibatches::new(set, options.batch);
    let mut network = Network::new(layers, options.activation, options.batch.min(set.rows));

    for step in 0..options.steps {
        batches.draw(set, &mut random);
        network.forward(&parameters, &batches.inputs);
        let (outputs, slope) = network.outputs_and_slope();
        head.loss(outputs, &batches.targets, set.target_columns, slope);
        network.backward(&parameters, &mut gradient);

        let rate = options.learning_rate_at(step);
        adam.step(&mut parameters, &gradient, rate);
        for layer in layers {
            decay(
                &mut parameters[layer.weights.clone()],
                rate * options.weight_decay,
            );
        }
    }

    let loss = whole_loss(&mut network, head, &parameters, set, options.batch);
    if !loss.is_finite() || parameters.iter().any(|parameter| !parameter.is_finite()) {
        return Err(TrainingError::Diverged { member });
    }
    Ok((unpack(layers, &parameters), loss))
}

/// Mean loss over all rows, a batch at a time.
fn whole_loss(
    network: &mut Network,
    head: GaussianHead,
    parameters: &[f32],
    set: &StandardisedSet,
    batch: usize,
) -> f32 {
    let chunks = set
        .inputs
        .chunks(batch * set.input_columns)
        .zip(set.targets.chunks(batch * set.target_columns));
    let mut sum = 0.0;
    for (inputs, targets) in chunks {
        network.forward(parameters, inputs);
        let (outputs, slope) = network.outputs_and_slope();
        let rows = (targets.len() / set.target_columns) as f32;
        sum += rows * head.loss(outputs, targets, set.target_columns, slope);
    }
    sum / set.rows as f32
}

/// The parameters as layers.
fn unpack(layers: &[LayerShape], parameters: &[f32]) -> Member {
    let layers = layers
        .iter()
        .map(|layer| Layer {
            inputs: layer.inputs,
            outputs: layer.outputs,
            weights: parameters[layer.weights.clone()].to_vec(),
            bias: parameters[layer.bias.clone()].to_vec(),
        })
        .collect();
    Member { layers }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::super::reference::member_means;
    use super::*;

    /// s′ = s + sin(a), one state and one action.
    fn data() -> (Vec<f32>, Vec<f32>) {
        let mut random = Random::new(5, 99);
        let inputs: Vec<f32> = (0..240).map(|_| random.normal() as f32).collect();
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
        };
        train_ensemble(&set, options)
    }

    fn short() -> EnsembleOptions {
        EnsembleOptions {
            members: 3,
            steps: 60,
            ..EnsembleOptions::default()
        }
    }

    #[test]
    fn training_lowers_the_loss_and_fits() {
        for activation in [Activation::Relu, Activation::Tanh, Activation::Silu] {
            let options = EnsembleOptions {
                activation,
                ..EnsembleOptions::default()
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
                    (mean[0] - 0.5_f64.sin()).abs() < 0.03,
                    "{activation:?}: {mean:?}"
                );
            }
        }
    }

    #[test]
    fn members_disagree_more_away_from_the_data() {
        let trained = train(&EnsembleOptions::default()).unwrap();
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
        assert!(spread([8.0, 8.0]) > 5.0 * spread([0.0, 0.0]));
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
