//! Networks that learn: weights with their optimiser, and twin critics whose
//! targets trail behind.

use serde::{Deserialize, Serialize};

use hambo_base::network::adam::Adam;
use hambo_base::network::initial::initial_parameters;
use hambo_base::network::perceptron::{Gradient, LayerShape, Network};
use hambo_base::network::{Activation, Initial};
use hambo_base::random::Random;

/// Between the layers of every network here, as in the paper.
pub(super) const ACTIVATION: Activation = Activation::Relu;

/// Widths of a network from input to output.
pub(super) fn widths(inputs: usize, hidden: &[usize], outputs: usize) -> Vec<usize> {
    let inner = hidden.iter().copied();
    std::iter::once(inputs)
        .chain(inner)
        .chain([outputs])
        .collect()
}

/// Parameters and the moments of their gradients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    pub(super) parameters: Vec<f32>,
    pub(super) adam: Adam,
}

impl Weights {
    pub(super) fn new(layers: &[LayerShape], random: &mut Random) -> Self {
        let parameters = initial_parameters(Initial::Narrow, layers, ACTIVATION, random);
        Self {
            adam: Adam::new(parameters.len()),
            parameters,
        }
    }

    pub(super) fn fits(&self, parameters: usize) -> bool {
        self.adam.fits(parameters)
            && self.parameters.len() == parameters
            && self.parameters.iter().all(|number| number.is_finite())
    }

    /// Derivatives of the network's last batch, then one step of Adam.
    pub(super) fn descend(&mut self, work: &mut Work, learning_rate: f32) {
        work.network
            .backward(&self.parameters, &mut work.gradient, Gradient::Replace);
        self.adam
            .step(&mut self.parameters, &work.gradient, learning_rate);
    }
}

/// Working memory of one network.
pub(super) struct Work {
    pub(super) network: Network,
    pub(super) gradient: Vec<f32>,
}

impl Work {
    pub(super) fn new(layers: &[LayerShape], rows: usize) -> Self {
        let parameters = hambo_base::network::perceptron::parameter_count(layers);
        Self {
            network: Network::new(layers, ACTIVATION, rows),
            gradient: vec![0.0; parameters],
        }
    }
}

/// One critic, and its target that trails behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Critic {
    pub(super) weights: Weights,
    pub(super) target: Vec<f32>,
}

impl Critic {
    fn new(layers: &[LayerShape], random: &mut Random) -> Self {
        let weights = Weights::new(layers, random);
        Self {
            target: weights.parameters.clone(),
            weights,
        }
    }

    /// Moves the target a little towards the critic (Polyak's average).
    pub(super) fn polyak_average(&mut self, rate: f32) {
        for (target, parameter) in self.target.iter_mut().zip(&self.weights.parameters) {
            *target += rate * (parameter - *target);
        }
    }
}

/// Two critics that start apart; the smaller of their values counts, so that
/// neither's errors are chased upward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twins(pub(super) [Critic; 2]);

impl Twins {
    pub(super) fn new(layers: &[LayerShape], random: &mut Random) -> Self {
        Self([Critic::new(layers, random), Critic::new(layers, random)])
    }

    pub(super) fn fits(&self, parameters: usize) -> bool {
        self.0.iter().all(|critic| {
            critic.weights.fits(parameters)
                && critic.target.len() == parameters
                && critic.target.iter().all(|number| number.is_finite())
        })
    }

    /// Does the same with both, on two threads where there are; neither sees
    /// the other, so the bits do not depend on it.
    pub(super) fn both<R: Send>(
        &mut self,
        works: &mut [Work; 2],
        job: impl Fn(&mut Critic, &mut Work) -> R + Sync,
    ) -> [R; 2] {
        let [first, second] = &mut self.0;
        let [one, two] = works;
        let (one, two) = rayon::join(|| job(first, one), || job(second, two));
        [one, two]
    }
}
