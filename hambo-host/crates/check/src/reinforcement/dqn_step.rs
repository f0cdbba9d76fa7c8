//! One gradient step of clipped double DQN on a batch of transitions.
//!
//! Critics: mean of ½ (Q(s, k) − y)² for the choice k that was made, with
//! y = r + discount · min Q̄(s′, k′), k′ the chooser's choice in s′. The chooser
//! learns the critics' advantages, min Q(s, k) less its mean over k. It does
//! not see the time that they see, so it learns the advantages' mean over the
//! times at which a state is met.

use serde::{Deserialize, Serialize};

use super::replay::Batch;
use super::weights::{Twins, Weights, Work};
use hambo_base::network::perceptron::LayerShape;

/// Everything that learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChooserWeights {
    pub(super) chooser: Weights,
    pub(super) twins: Twins,
}

/// What stays the same from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) discount: f32,
    /// One step as a part of the horizon, where the critics see the time.
    pub(super) tick: Option<f32>,
    pub(super) learning_rate: f32,
    pub(super) polyak: f32,
}

/// Working memory of a gradient step.
pub(super) struct DqnStep {
    choices: usize,
    next_chooser: Work,
    pub(super) chooser: Work,
    pub(super) critics: [Work; 2],
    inputs: Vec<f32>,
    pub(super) targets: Vec<f32>,
    pub(super) advantages: Vec<f32>,
}

impl DqnStep {
    pub(super) fn new(chooser: &[LayerShape], critic: &[LayerShape], rows: usize) -> Self {
        let choices = critic.last().map_or(0, |layer| layer.outputs);
        Self {
            choices,
            next_chooser: Work::new(chooser, rows),
            chooser: Work::new(chooser, rows),
            critics: [Work::new(critic, rows), Work::new(critic, rows)],
            inputs: Vec::new(),
            targets: vec![0.0; rows],
            advantages: vec![0.0; rows * choices],
        }
    }

    /// Learns from the batch; returns the critics' mean squared error.
    pub(super) fn learn(
        &mut self,
        weights: &mut ChooserWeights,
        batch: &Batch,
        rates: &Rates,
    ) -> f64 {
        let ChooserWeights { chooser, twins } = weights;
        self.clipped_double_q_targets(chooser, twins, batch, rates);
        let loss = self.learn_critics(twins, batch, rates);
        self.learn_chooser(chooser, batch, rates.learning_rate);
        loss
    }

    fn clipped_double_q_targets(
        &mut self,
        chooser: &Weights,
        twins: &mut Twins,
        batch: &Batch,
        rates: &Rates,
    ) {
        let time = rates.tick.map(|tick| (&batch.time[..], tick));
        join_inputs(&mut self.inputs, batch.rows, &batch.next, time);
        let inputs = &self.inputs;
        twins.both(&mut self.critics, |critic, work| {
            work.network.forward(&critic.target, inputs);
        });
        let network = &mut self.next_chooser.network;
        let preferences = network.forward(&chooser.parameters, &batch.next);
        let [one, two] = &mut self.critics;
        let values = one.network.outputs_and_slope().0.chunks_exact(self.choices);
        let values = values.zip(two.network.outputs_and_slope().0.chunks_exact(self.choices));
        let values = values.zip(preferences.chunks_exact(self.choices));
        let rows = batch.reward.iter().zip(&batch.bootstrap).zip(values);
        for (target, ((reward, bootstrap), ((one, two), preferences))) in
            self.targets.iter_mut().zip(rows)
        {
            let choice = largest(preferences);
            let value = one[choice].min(two[choice]);
            *target = reward + rates.discount * bootstrap * value;
        }
    }

    fn learn_critics(&mut self, twins: &mut Twins, batch: &Batch, rates: &Rates) -> f64 {
        let time = rates.tick.map(|_| (&batch.time[..], 0.0));
        join_inputs(&mut self.inputs, batch.rows, &batch.observation, time);
        let (inputs, targets, choices) = (&self.inputs, &self.targets, self.choices);
        let weight = 1.0 / batch.rows as f32;
        let losses = twins.both(&mut self.critics, |critic, work| {
            work.network.forward(&critic.weights.parameters, inputs);
            let (values, slopes) = work.network.outputs_and_slope();
            slopes.fill(0.0);
            let rows = values
                .chunks_exact(choices)
                .zip(slopes.chunks_exact_mut(choices));
            let made = batch.action.iter().zip(targets);
            let mut loss = 0.0;
            for ((values, slopes), (choice, target)) in rows.zip(made) {
                let choice = *choice as usize;
                let error = values[choice] - target;
                slopes[choice] = weight * error;
                loss += f64::from(error) * f64::from(error);
            }
            critic.weights.descend(work, rates.learning_rate);
            critic.polyak_average(rates.polyak);
            loss
        });
        0.5 * (losses[0] + losses[1]) / batch.rows as f64
    }

    /// From the values that the critics had before they learnt.
    fn learn_chooser(&mut self, chooser: &mut Weights, batch: &Batch, learning_rate: f32) {
        let [one, two] = &mut self.critics;
        let values = one.network.outputs_and_slope().0.iter();
        let values = values.zip(two.network.outputs_and_slope().0);
        for (advantage, (one, two)) in self.advantages.iter_mut().zip(values) {
            *advantage = one.min(*two);
        }
        for row in self.advantages.chunks_exact_mut(self.choices) {
            let mean = row.iter().sum::<f32>() / self.choices as f32;
            row.iter_mut().for_each(|value| *value -= mean);
        }
        let network = &mut self.chooser.network;
        network.forward(&chooser.parameters, &batch.observation);
        let (outputs, slopes) = network.outputs_and_slope();
        let weight = 1.0 / batch.rows as f32;
        let errors = outputs.iter().zip(&self.advantages);
        for (slope, (output, advantage)) in slopes.iter_mut().zip(errors) {
            *slope = weight * (output - advantage);
        }
        chooser.descend(&mut self.chooser, learning_rate);
    }
}

/// The place of the largest number; the first of equals, as in the core.
pub(super) fn largest(numbers: &[f32]) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (place, number) in numbers.iter().enumerate() {
        if *number > best.1 {
            best = (place, *number);
        }
    }
    best.0
}

/// Rows of (observation, time + tick where there is one).
fn join_inputs(to: &mut Vec<f32>, rows: usize, observations: &[f32], time: Option<(&[f32], f32)>) {
    to.clear();
    let observations = observations.chunks_exact(observations.len() / rows);
    for (row, observation) in observations.enumerate() {
        to.extend_from_slice(observation);
        if let Some((times, tick)) = time {
            to.push(times[row] + tick);
        }
    }
}
