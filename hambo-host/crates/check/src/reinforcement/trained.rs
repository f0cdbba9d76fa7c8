//! What learning leaves behind: plain layers, as policies and adversaries.

use hambo_core::policy::{Head, Spread};
use hambo_core::task::Variant;

use super::options::InputUnits;
use super::weights::ACTIVATION;
use hambo_base::network::Layer;
use hambo_task::image::TrainedAdversary;
use hambo_task::policy::{ActionMap, PerceptronPolicy};

/// The actor of soft actor-critic.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrainedActor {
    /// From the observation to the means, then the logarithms of the standard
    /// deviations, of the actions before tanh.
    pub layers: Vec<Layer>,
    /// Units of the observations.
    pub units: InputUnits,
}

impl TrainedActor {
    /// Numbers of an action.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.layers.last().map_or(0, |layer| layer.outputs / 2)
    }

    /// Its weights, moved by a share of the way to another's of the same shape.
    #[must_use]
    pub fn towards(mut self, other: &Self, share: f32) -> Self {
        for (own, other) in self.layers.iter_mut().zip(&other.layers) {
            let weights = own.weights.iter_mut().zip(&other.weights);
            for (own, other) in weights.chain(own.bias.iter_mut().zip(&other.bias)) {
                *own = (1.0 - share) * *own + share * other;
            }
        }
        self
    }

    /// The layers to the means alone.
    #[must_use]
    pub fn mean_layers(&self) -> Vec<Layer> {
        let count = self.actions();
        let mut layers = self.layers.clone();
        if let Some(last) = layers.last_mut() {
            last.outputs = count;
            last.weights.truncate(count * last.inputs);
            last.bias.truncate(count);
        }
        layers
    }

    /// A controller that acts with tanh(mean), stretched to the limits.
    #[must_use]
    pub fn policy(&self, low: &[f32], high: &[f32]) -> PerceptronPolicy {
        let actions = stretched(Head::Deterministic, true, low, high);
        self.perceptron(self.mean_layers(), actions)
    }

    /// A controller that draws its actions as in training.
    #[must_use]
    pub fn stochastic_policy(&self, low: &[f32], high: &[f32]) -> PerceptronPolicy {
        let head = Head::TanhGaussian(Spread::OfState);
        let actions = stretched(head, false, low, high);
        self.perceptron(self.layers.clone(), actions)
    }

    /// An adversary for CA, where the observation is (s, a) and the actions are eta.
    #[must_use]
    pub fn adversary(&self) -> TrainedAdversary {
        TrainedAdversary {
            variant: Variant::ContinuousAdversary,
            objective: 0,
            layers: self.mean_layers(),
            activation: ACTIVATION,
            input_mean: self.units.mean.clone(),
            input_scale: self.units.scale.clone(),
        }
    }

    fn perceptron(&self, layers: Vec<Layer>, actions: ActionMap) -> PerceptronPolicy {
        PerceptronPolicy {
            activations: vec![ACTIVATION; layers.len().saturating_sub(1)],
            layers,
            observation_mean: self.units.mean.clone(),
            observation_scale: self.units.scale.clone(),
            actions,
        }
    }
}

/// The network of clipped double DQN: the largest output is the choice.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedChooser {
    /// From the observation to one number for each choice.
    pub layers: Vec<Layer>,
    /// Units of the observations.
    pub units: InputUnits,
}

impl TrainedChooser {
    /// An adversary for DA1, where the observation is (s, a) and the choice a member.
    #[must_use]
    pub fn adversary(&self) -> TrainedAdversary {
        TrainedAdversary {
            variant: Variant::DiscreteAdversary1,
            objective: 0,
            layers: self.layers.clone(),
            activation: ACTIVATION,
            input_mean: self.units.mean.clone(),
            input_scale: self.units.scale.clone(),
        }
    }
}

/// From [−1, 1] to the limits.
fn stretched(head: Head, squash: bool, low: &[f32], high: &[f32]) -> ActionMap {
    let limits = || low.iter().zip(high);
    ActionMap {
        head,
        squash,
        log_std: Vec::new(),
        scale: limits().map(|(low, high)| 0.5 * (high - low)).collect(),
        offset: limits().map(|(low, high)| 0.5 * (high + low)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_moves_by_its_share_of_the_way() {
        let actor = |weights: [f32; 2], bias: f32| TrainedActor {
            layers: vec![Layer {
                inputs: 2,
                outputs: 1,
                weights: weights.to_vec(),
                bias: vec![bias],
            }],
            units: InputUnits::plain(2),
        };
        let moved = actor([0.0, 4.0], 8.0).towards(&actor([4.0, 0.0], 0.0), 0.25);
        assert_eq!(moved, actor([1.0, 3.0], 6.0));
    }
}
