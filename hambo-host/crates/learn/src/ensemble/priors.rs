//! Randomised prior functions (Osband and others, 2018): a fixed random network
//! beside each member's trained one. The trained part learns the targets less
//! what the random part says, so members agree where there are data and
//! disagree where there are none, also across a relation that the whole log
//! keeps, such as actions that follow from states.

use hambo_core::image::PRIOR_ACTIVATION;

use super::trained::Member;
use super::training_set::StandardisedSet;
use hambo_base::network::perceptron::{Network, layer_shapes, parameter_count};
use hambo_base::network::{pack, unpack};
use hambo_base::random::Random;

/// Units of the hidden layer.
pub(super) const UNITS: usize = 32;
/// The first random stream: far from those of the trained networks.
const FIRST_STREAM: u32 = 1 << 20;
/// Rows at a time.
const ROWS: usize = 256;

/// The random networks of all members, each with mean 0 and this standard
/// deviation over the rows, in standardised target units; none for 0.
pub(super) fn draw(set: &StandardisedSet, members: usize, std: f32, seed: u64) -> Vec<Member> {
    if std == 0.0 {
        return Vec::new();
    }
    let streams = (FIRST_STREAM..).take(members);
    streams
        .map(|stream| one(set, std, &mut Random::new(seed, stream)))
        .collect()
}

fn one(set: &StandardisedSet, std: f32, random: &mut Random) -> Member {
    let layers = layer_shapes(&[set.input_columns, UNITS, set.target_columns]);
    let mut parameters = vec![0.0; parameter_count(&layers)];
    let size = (1.0 / set.input_columns as f64).sqrt() as f32;
    if let [hidden, output] = &layers[..] {
        // Kinks all over the data, and as steep in one direction as in another.
        for weight in &mut parameters[hidden.weights.clone()] {
            *weight = size * random.normal();
        }
        for bias in &mut parameters[hidden.bias.clone()] {
            *bias = random.normal();
        }
        for weight in &mut parameters[output.weights.clone()] {
            *weight = random.normal();
        }
    }
    let mut member = Member {
        layers: unpack(&layers, &parameters),
    };
    let values = values(&member, set);
    if let Some(output) = member.layers.last_mut() {
        let rows = output.weights.chunks_exact_mut(UNITS);
        for (column, (weights, bias)) in rows.zip(&mut output.bias).enumerate() {
            let of_column = || values.iter().skip(column).step_by(set.target_columns);
            let mean = of_column().map(|x| f64::from(*x)).sum::<f64>() / set.rows as f64;
            let squares = of_column().map(|x| (f64::from(*x) - mean).powi(2));
            let deviation = (squares.sum::<f64>() / set.rows as f64).sqrt();
            // A network that is flat on the data is left out.
            let factor = if deviation > 1e-3 {
                f64::from(std) / deviation
            } else {
                0.0
            };
            weights.iter_mut().for_each(|w| *w *= factor as f32);
            *bias = (-mean * factor) as f32;
        }
    }
    member
}

/// What a random network says of every row.
fn values(prior: &Member, set: &StandardisedSet) -> Vec<f32> {
    let layers = layer_shapes(&[set.input_columns, UNITS, set.target_columns]);
    let parameters = pack(&prior.layers);
    let mut network = Network::new(&layers, PRIOR_ACTIVATION, ROWS);
    let chunks = set.inputs.chunks(ROWS * set.input_columns);
    chunks
        .flat_map(|inputs| network.forward(&parameters, inputs).to_vec())
        .collect()
}

impl StandardisedSet {
    /// The same rows for each member, their targets less what its random network says.
    pub(super) fn for_members(&self, priors: &[Member], members: usize) -> Vec<Self> {
        let copies = (0..members).map(|member| {
            let mut copy = self.clone();
            if let Some(prior) = priors.get(member) {
                let values = values(prior, self);
                let targets = copy.targets.iter_mut().zip(values);
                targets.for_each(|(target, value)| *target -= value);
            }
            copy
        });
        copies.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> StandardisedSet {
        let mut random = Random::new(1, 1);
        let inputs: Vec<f32> = (0..600).map(|_| random.normal()).collect();
        StandardisedSet {
            rows: 200,
            input_columns: 3,
            target_columns: 2,
            held: [].into(),
            inputs: inputs.into(),
            targets: vec![0.5; 400],
        }
    }

    #[test]
    fn they_have_the_stated_size_and_differ() {
        let set = set();
        let priors = draw(&set, 3, 0.7, 5);
        assert_eq!(priors.len(), 3);
        for prior in &priors {
            let values = values(prior, &set);
            for column in 0..2 {
                let of: Vec<f32> = values.iter().skip(column).step_by(2).copied().collect();
                let mean = of.iter().sum::<f32>() / 200.0;
                let variance = of.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 200.0;
                assert!(mean.abs() < 1e-4 && (variance.sqrt() - 0.7).abs() < 1e-3);
            }
        }
        assert_ne!(priors[0], priors[1]);
        assert_eq!(priors[0], draw(&set, 1, 0.7, 5)[0]);
        assert!(draw(&set, 3, 0.0, 5).is_empty());
    }

    #[test]
    fn members_learn_what_the_random_part_leaves() {
        let set = set();
        let priors = draw(&set, 2, 1.0, 5);
        let sets = set.for_members(&priors, 2);
        for (own, prior) in sets.iter().zip(&priors) {
            let sums = own.targets.iter().zip(values(prior, &set));
            assert!(sums.into_iter().all(|(a, b)| (a + b - 0.5).abs() < 1e-5));
        }
        assert_eq!(set.for_members(&[], 1)[0].targets, set.targets);
    }
}
