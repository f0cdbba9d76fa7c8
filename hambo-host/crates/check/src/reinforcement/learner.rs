//! What differs between the learners: soft actor-critic and clipped double DQN.
//! All else is the [`Driver`](super::Driver)'s.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ReinforcementError;
use super::lanes::LaneNetwork;
use super::options::LearningOptions;
use super::problem::decision::{Actions, Problem};
use super::replay::{Batch, Columns};
use super::weights::{Weights, widths};
use hambo_base::network::perceptron::{LayerShape, layer_shapes};
use hambo_base::random::Random;

/// An algorithm that acts and learns from batches of transitions.
pub trait Learner: Sized {
    /// What it is told.
    type Options: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// Everything that learns.
    type Weights: Clone + Debug + PartialEq + Serialize + DeserializeOwned;

    /// Name, and what it decides, for messages.
    const NAMES: [&'static str; 2];
    /// Streams of random numbers: of the first weights, and of everything after.
    const STREAMS: [u32; 2];

    /// What it is told beside its own.
    fn learning(options: &Self::Options) -> &LearningOptions;

    /// Refuses options of its own that are out of range.
    fn check(options: &Self::Options) -> Result<(), ReinforcementError>;

    /// How many numbers or choices it decides, and what they are called; `None` if
    /// it cannot decide such actions.
    fn decides(actions: Actions) -> Option<(&'static str, usize)>;

    /// Outputs of the network that acts; inputs of the critics beyond observation and
    /// time; outputs of the critics.
    fn widths(count: usize) -> [usize; 3];

    fn first_weights(sizes: &Sizes, options: &Self::Options, random: &mut Random) -> Self::Weights;

    /// Working memory. `tick` is one step as a part of the horizon, where the
    /// critics see the time.
    fn new(sizes: &Sizes, options: &Self::Options, tick: Option<f32>) -> Self;

    /// Whether weights are of these sizes, and finite.
    fn fits(weights: &Self::Weights, sizes: &Sizes) -> bool;

    /// The network that acts.
    fn actor(weights: &Self::Weights) -> &Weights;

    /// Actions with exploration, or wholly at random.
    fn explore(&mut self, network: &mut ActingNetwork<'_>, random: &mut Random, how: Exploration);

    /// Actions without exploration, from the acting network's outputs.
    fn act(&self, outputs: &[f32], actions: &mut [f32]);

    /// One gradient step; returns the critics' mean squared error.
    fn learn(&mut self, weights: &mut Self::Weights, batch: &Batch, random: &mut Random) -> f64;

    /// How much it explores in a round: a temperature, or a share.
    fn exploration(&self, weights: &Self::Weights, round: usize) -> f32;
}

/// How actions are explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// At random, before anything was learnt.
    Random,
    /// As the learner does in this round.
    OfRound(usize),
}

/// The acting network of all lanes in one step: what is seen and what is done.
pub struct ActingNetwork<'a> {
    pub(super) network: &'a mut LaneNetwork,
    pub(super) parameters: &'a [f32],
    pub(super) observations: &'a [f32],
    pub(super) actions: &'a mut [f32],
}

impl ActingNetwork<'_> {
    /// The network's outputs, one row for each lane, and the actions to fill.
    pub(super) fn outputs_and_actions(&mut self) -> (&[f32], &mut [f32]) {
        self.network.forward(self.parameters, self.observations);
        (&self.network.values, self.actions)
    }
}

/// Sizes of a problem's transitions and of the networks.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Numbers or choices that are decided.
    pub(super) count: usize,
    pub(super) columns: Columns,
    pub(super) actor: Vec<LayerShape>,
    pub(super) critic: Vec<LayerShape>,
}

impl Sizes {
    pub(super) fn of<L: Learner>(
        problem: &dyn Problem,
        options: &LearningOptions,
    ) -> Result<Self, ReinforcementError> {
        let actions = problem.actions();
        let Some((name, count)) = L::decides(actions) else {
            let [learner, decides] = L::NAMES;
            return Err(ReinforcementError::Actions {
                learner,
                decides,
                asks: actions,
            });
        };
        check_sizes(problem, name, count)?;
        let observation = problem.observation_size();
        let [acted, extra, valued] = L::widths(count);
        let inputs = observation + options.value.time_inputs() + extra;
        Ok(Self {
            count,
            columns: Columns {
                observation,
                action: actions.numbers(),
            },
            actor: layer_shapes(&widths(observation, &options.hidden, acted)),
            critic: layer_shapes(&widths(inputs, &options.hidden, valued)),
        })
    }
}

/// Refuses a problem without lanes, steps, observations or actions.
fn check_sizes(
    problem: &dyn Problem,
    actions: &'static str,
    count: usize,
) -> Result<(), ReinforcementError> {
    let sizes = [
        (actions, count),
        ("observation", problem.observation_size()),
        ("horizon", problem.horizon()),
        ("number of lanes", problem.lanes()),
    ];
    match sizes.into_iter().find(|(_, found)| *found == 0) {
        None => Ok(()),
        Some((what, found)) => Err(ReinforcementError::Size {
            what,
            found,
            needed: String::from("at least 1"),
        }),
    }
}
