//! What one member descends: its network's posterior, seen through minibatches.
//!
//! −log p(theta) / n = (1 / batch) Σ_batch −log N(target; mean, std²) + (prior_weight / n) ‖theta‖² / 2
//!
//! but for a constant: the paper's objective divided by the number of rows n.

use std::sync::Arc;

use rayon::prelude::*;

use super::likelihood::GaussianHead;
use super::minibatch::Minibatches;
use super::options::EnsembleOptions;
use super::particles::Density;
use super::training_set::StandardisedSet;
use hambo_base::Held;
pub use hambo_base::network::perceptron::{Gradient, LayerShape, Network, add};
use hambo_base::network::vectors::{squared_norm, with_vectors};
use hambo_base::random::Random;

/// Rows that one thread takes at a time. Larger batches are split, so that more
/// threads than members find work; the sum over the splits has one order.
const SHARD: usize = 128;

/// One member's network, its minibatches and its working memory.
pub(super) struct Posterior {
    set: Arc<StandardisedSet>,
    head: GaussianHead,
    /// prior_weight / n.
    prior: f32,
    pub(super) random: Random,
    pub(super) batches: Minibatches,
    shards: Vec<Shard>,
}

/// Inputs and targets of rows, with the marks of those that say nothing.
type Rows<'r> = (&'r [f32], (&'r [f32], Held<'r>));

/// A part of a minibatch.
struct Shard {
    network: Network,
    /// Where a shard writes that works beside the first; empty until then.
    gradient: Vec<f32>,
    loss: f32,
}

impl Posterior {
    pub(super) fn new(
        set: &Arc<StandardisedSet>,
        layers: &[LayerShape],
        options: &EnsembleOptions,
        random: Random,
    ) -> Self {
        let batch = options.batch.min(set.rows);
        let shards = (0..batch.div_ceil(SHARD)).map(|_| Shard {
            network: Network::new(layers, options.activation, batch.min(SHARD)),
            gradient: Vec::new(),
            loss: 0.0,
        });
        Self {
            set: Arc::clone(set),
            head: GaussianHead {
                floor: options.std_floor,
                cap: options.std_cap,
            },
            prior: options.prior_weight / set.rows as f32,
            random,
            batches: Minibatches::new(set, batch),
            shards: shards.collect(),
        }
    }

    /// Mean negative log likelihood of the rows of a set, without the prior.
    pub(super) fn loss_on(&mut self, parameters: &[f32], set: &StandardisedSet) -> f32 {
        let Some(Shard { network, .. }) = self.shards.first_mut() else {
            return f32::NAN;
        };
        let rows = self.batches.rows().min(SHARD);
        let chunks = set
            .inputs
            .chunks(rows * set.input_columns)
            .zip(set.targets.chunks(rows * set.target_columns));
        let mut sum = 0.0;
        for (chunk, (inputs, targets)) in chunks.enumerate() {
            let places = rows * set.target_columns;
            let held = set.held().part(chunk * places, places);
            network.forward(parameters, inputs);
            let (outputs, slope) = network.outputs_and_slope();
            let loss = self
                .head
                .loss(outputs, (targets, held), set.target_columns, 1.0, slope);
            sum += f64::from(loss);
        }
        (sum / set.rows as f64) as f32
    }
}

impl Density for Posterior {
    fn descend(&mut self, parameters: &[f32], gradient: &mut [f32]) -> f32 {
        self.batches.draw(&self.set, &mut self.random);
        let (inputs, targets) = (&self.batches.inputs, &self.batches.targets);
        let held = self.batches.held();
        let (head, columns) = (self.head, self.set.target_columns);
        let weight = 1.0 / self.batches.rows() as f32;
        let work = |shard: &mut Shard, (inputs, targets): Rows<'_>, to: &mut [f32], how| {
            shard.network.forward(parameters, inputs);
            let (outputs, slope) = shard.network.outputs_and_slope();
            shard.loss = head.loss(outputs, targets, columns, weight, slope);
            shard.network.backward(parameters, to, how);
        };
        let (input_chunk, target_chunk) = (SHARD * self.set.input_columns, SHARD * columns);
        let Some((first, others)) = self.shards.split_first_mut() else {
            return f32::NAN;
        };
        let (input, inputs) = inputs.split_at(input_chunk.min(inputs.len()));
        let (target, targets) = targets.split_at(target_chunk.min(targets.len()));
        let of_shard = |shard: usize| held.part(shard * target_chunk, target_chunk);
        let own = (input, (target, of_shard(0)));
        let mut first = |to: &mut [f32]| work(first, own, to, Gradient::Replace);
        // Either way the shards' gradients are added in their order.
        if others.is_empty() || rayon::current_num_threads() == 1 {
            first(gradient);
            let chunks = inputs.chunks(input_chunk).zip(targets.chunks(target_chunk));
            let beside = others.iter_mut().zip(chunks);
            for (place, (shard, (inputs, targets))) in beside.enumerate() {
                let rows = (inputs, (targets, of_shard(place + 1)));
                work(shard, rows, gradient, Gradient::Add);
            }
        } else {
            let chunks = inputs.par_chunks(input_chunk);
            let chunks = chunks.zip(targets.par_chunks(target_chunk));
            let beside = others.par_iter_mut().zip(chunks).enumerate();
            let count = parameters.len();
            rayon::join(
                || first(gradient),
                || {
                    beside.for_each(|(place, (shard, (inputs, targets)))| {
                        let rows = (inputs, (targets, of_shard(place + 1)));
                        let mut to = std::mem::take(&mut shard.gradient);
                        to.resize(count, 0.0);
                        work(shard, rows, &mut to, Gradient::Replace);
                        shard.gradient = to;
                    });
                },
            );
            for shard in others.iter() {
                add(gradient, &shard.gradient);
            }
        }
        let likelihood: f32 = self.shards.iter().map(|shard| shard.loss).sum();
        likelihood + add_prior(self.prior, parameters, gradient)
    }
}

/// Adds the gradient of `weight` · ‖theta‖² / 2, and returns that.
fn add_prior(weight: f32, parameters: &[f32], gradient: &mut [f32]) -> f32 {
    if weight <= 0.0 {
        return 0.0;
    }
    with_vectors(|| {
        let sums = gradient.iter_mut().zip(parameters);
        sums.for_each(|(sum, theta)| *sum += weight * theta);
    });
    (0.5 * f64::from(weight) * squared_norm(parameters)) as f32
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::super::TrainingSet;
    use super::super::reference;
    use super::*;
    use hambo_base::network::initial::initial_parameters;
    use hambo_base::network::perceptron::layer_shapes;
    use hambo_base::network::{Activation, Initial};

    const ROWS: usize = 300;
    const WIDTHS: [usize; 4] = [3, 5, 4, 4];

    fn posterior(batch: usize, activation: Activation) -> (Posterior, Vec<f32>) {
        let mut random = Random::new(2, 8);
        let mut draw = |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal()).collect() };
        let (inputs, targets) = (draw(3 * ROWS), draw(2 * ROWS));
        let set = TrainingSet {
            inputs: &inputs,
            input_columns: 3,
            targets: &targets,
            target_columns: 2,
            held: Held::NONE,
        };
        let (_, set) = set.standardise().unwrap();
        let options = EnsembleOptions {
            batch,
            activation,
            prior_weight: 20.0,
            ..EnsembleOptions::paper()
        };
        let layers = layer_shapes(&WIDTHS);
        let parameters = initial_parameters(Initial::Wide, &layers, activation, &mut random);
        let posterior = Posterior::new(&Arc::new(set), &layers, &options, random);
        (posterior, parameters)
    }

    /// rows / batch · the batch's sum of −log N + prior_weight ‖theta‖² / 2, in f64.
    fn whole_objective(posterior: &Posterior, activation: Activation, point: &[f64]) -> f64 {
        let Minibatches {
            inputs, targets, ..
        } = &posterior.batches;
        let limits = (
            f64::from(posterior.head.floor),
            f64::from(posterior.head.cap),
        );
        let mean = reference::objective(&WIDTHS, activation, point, inputs, targets, limits);
        let batch = posterior.batches.rows() as f64;
        let likelihood = ROWS as f64 / batch * (batch * mean);
        likelihood + 20.0 * 0.5 * point.iter().map(|p| p * p).sum::<f64>()
    }

    /// Likelihood, prior and the factor rows / batch, in batches of one shard
    /// and of two. Stated error: 1e-3 of a derivative, or of a hundredth of the
    /// largest one where it is smaller than that.
    #[test]
    fn gradient_of_the_whole_objective_matches_finite_differences() {
        for (batch, activation) in [
            (60, Activation::Tanh),
            (60, Activation::Relu),
            (150, Activation::Silu),
        ] {
            let (mut posterior, parameters) = posterior(batch, activation);
            let mut gradient = vec![f32::NAN; parameters.len()];
            let loss = posterior.descend(&parameters, &mut gradient);
            let mut point: Vec<f64> = parameters.iter().map(|&p| f64::from(p)).collect();
            let expected = whole_objective(&posterior, activation, &point);
            assert!((ROWS as f64 * f64::from(loss) / expected - 1.0).abs() < 1e-5);

            let step = 1e-6;
            let differences: Vec<f64> = (0..point.len())
                .map(|i| {
                    let middle = point[i];
                    point[i] = middle + step;
                    let above = whole_objective(&posterior, activation, &point);
                    point[i] = middle - step;
                    let below = whole_objective(&posterior, activation, &point);
                    point[i] = middle;
                    (above - below) / (2.0 * step)
                })
                .collect();
            let largest = differences.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            for (i, (&explicit, expected)) in gradient.iter().zip(&differences).enumerate() {
                let explicit = ROWS as f64 * f64::from(explicit);
                let error = (explicit - expected).abs() / expected.abs().max(0.01 * largest);
                assert!(
                    error < 1e-3,
                    "{activation:?}, batch {batch}, parameter {i}: {explicit} against {expected}"
                );
            }
        }
    }

    /// The batches of one pass, taken together, see the sum over all rows.
    #[test]
    fn minibatches_are_unbiased() {
        let gradient_of = |batch: usize| {
            let (mut posterior, parameters) = posterior(batch, Activation::Tanh);
            let mut mean = vec![0.0; parameters.len()];
            let mut gradient = mean.clone();
            for _ in 0..ROWS / batch {
                posterior.descend(&parameters, &mut gradient);
                let sums = mean.iter_mut().zip(&gradient);
                sums.for_each(|(sum, g)| *sum += g * batch as f32 / ROWS as f32);
            }
            mean
        };
        let whole = gradient_of(ROWS);
        for batch in [20, 60, 150] {
            for (part, whole) in gradient_of(batch).iter().zip(&whole) {
                assert!((part - whole).abs() < 1e-4, "batch {batch}: {part} {whole}");
            }
        }
    }
}
