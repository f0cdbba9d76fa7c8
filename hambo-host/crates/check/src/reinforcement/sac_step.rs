//! One gradient step of soft actor-critic on a batch of transitions.
//!
//! Critics: mean of ½ (Q(s, a) − y)², y = r + discount · (min Q̄(s′, a′) −
//! temperature · ln pi(a′ | s′)). Actor: mean of temperature · ln pi(a | s) −
//! min Q(s, a). Temperature: −ln temperature · mean of (ln pi(a | s) + target
//! entropy). a and a′ are fresh draws of the actor.

use serde::{Deserialize, Serialize};

use super::replay::Batch;
use super::squashed_gaussian::{Draws, add_likelihood_slopes};
use super::weights::{Twins, Weights, Work};
use hambo_base::network::perceptron::LayerShape;
use hambo_base::random::Random;

/// Everything that learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActorCriticWeights {
    pub(super) actor: Weights,
    pub(super) twins: Twins,
    /// ln temperature.
    pub(super) temperature: Weights,
}

/// What stays the same from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) discount: f32,
    /// One step as a part of the horizon, where the critics see the time.
    pub(super) tick: Option<f32>,
    pub(super) target_entropy: f32,
    pub(super) learning_rate: f32,
    /// The actor's; without one it stays as it is, and so does the temperature.
    pub(super) actor_rate: Option<f32>,
    /// What a unit of the logged actions' log likelihood is worth to the actor.
    pub(super) imitation: f32,
    pub(super) temperature_rate: f32,
    pub(super) polyak: f32,
}

/// Working memory of a gradient step.
pub(super) struct SacStep {
    actions: usize,
    /// Draws for the next states, then for the states.
    pub(super) next: Draws,
    pub(super) now: Draws,
    next_actor: Work,
    pub(super) actor: Work,
    pub(super) critics: [Work; 2],
    inputs: Vec<f32>,
    pub(super) targets: Vec<f32>,
    action_slopes: Vec<f32>,
    pub(super) temperature_gradient: f32,
}

impl SacStep {
    pub(super) fn new(actor: &[LayerShape], critic: &[LayerShape], rows: usize) -> Self {
        let actions = actor.last().map_or(0, |layer| layer.outputs / 2);
        Self {
            actions,
            next: Draws::new(rows, actions),
            now: Draws::new(rows, actions),
            next_actor: Work::new(actor, rows),
            actor: Work::new(actor, rows),
            critics: [Work::new(critic, rows), Work::new(critic, rows)],
            inputs: Vec::new(),
            targets: vec![0.0; rows],
            action_slopes: vec![0.0; rows * actions],
            temperature_gradient: 0.0,
        }
    }

    /// Noise for both draws.
    pub(super) fn make_noise(&mut self, random: &mut Random) {
        let noise = self.next.noise.iter_mut().chain(&mut self.now.noise);
        noise.for_each(|number| *number = random.normal());
    }

    /// Learns from the batch with the noise at hand; returns the critics' mean
    /// squared error.
    pub(super) fn learn(
        &mut self,
        weights: &mut ActorCriticWeights,
        batch: &Batch,
        rates: &Rates,
    ) -> f64 {
        let temperature = weights.temperature.parameters[0].exp();
        let parameters = &weights.actor.parameters;
        let actions = self.actions;
        // The draws for the states wait for the critics' update: the actor
        // itself does not change before.
        rayon::join(
            || {
                let outputs = self.next_actor.network.forward(parameters, &batch.next);
                self.next.draw(outputs, actions);
            },
            || {
                let outputs = self.actor.network.forward(parameters, &batch.observation);
                self.now.draw(outputs, actions);
            },
        );
        let loss = self.learn_critics(&mut weights.twins, batch, temperature, rates);
        let Some(actor_rate) = rates.actor_rate else {
            return loss;
        };
        self.learn_actor(weights, batch, temperature, actor_rate, rates);
        self.learn_temperature(&mut weights.temperature, batch, rates);
        loss
    }

    /// Less pay for entropy where it is above its target, more where it is below.
    fn learn_temperature(&mut self, temperature: &mut Weights, batch: &Batch, rates: &Rates) {
        let densities = self.now.log_densities.iter().map(|&d| f64::from(d));
        let entropy = -densities.sum::<f64>() / batch_rows(batch);
        self.temperature_gradient = (entropy - f64::from(rates.target_entropy)) as f32;
        let Weights { parameters, adam } = temperature;
        let gradient = [self.temperature_gradient];
        adam.step(parameters, &gradient, rates.temperature_rate);
    }

    /// One step towards the batch's actions: −ln pi(a | s) falls.
    pub(super) fn imitate(&mut self, actor: &mut Weights, batch: &Batch, rate: f32) {
        self.actor
            .network
            .forward(&actor.parameters, &batch.observation);
        let (outputs, slopes) = self.actor.network.outputs_and_slope();
        slopes.fill(0.0);
        let weight = 1.0 / batch.rows as f32;
        add_likelihood_slopes(outputs, &batch.action, self.actions, weight, slopes);
        actor.descend(&mut self.actor, rate);
    }

    fn learn_critics(
        &mut self,
        twins: &mut Twins,
        batch: &Batch,
        temperature: f32,
        rates: &Rates,
    ) -> f64 {
        let time = rates.tick.map(|tick| (&batch.time[..], tick));
        let next = (&batch.next[..], &self.next.actions[..]);
        join_inputs(&mut self.inputs, batch.rows, next, time);
        let inputs = &self.inputs;
        twins.both(&mut self.critics, |critic, work| {
            work.network.forward(&critic.target, inputs);
        });
        let [one, two] = &mut self.critics;
        let values = one.network.outputs_and_slope().0.iter();
        let values = values.zip(two.network.outputs_and_slope().0);
        let entropies = values.zip(&self.next.log_densities);
        let rows = batch.reward.iter().zip(&batch.bootstrap).zip(entropies);
        for (target, ((reward, bootstrap), ((one, two), log_density))) in
            self.targets.iter_mut().zip(rows)
        {
            let soft = one.min(*two) - temperature * log_density;
            *target = reward + rates.discount * bootstrap * soft;
        }

        let now = (&batch.observation[..], &batch.action[..]);
        join_inputs(
            &mut self.inputs,
            batch.rows,
            now,
            time.map(|(t, _)| (t, 0.0)),
        );
        let (inputs, targets) = (&self.inputs, &self.targets);
        let weight = 1.0 / batch.rows as f32;
        let losses = twins.both(&mut self.critics, |critic, work| {
            work.network.forward(&critic.weights.parameters, inputs);
            let (values, slopes) = work.network.outputs_and_slope();
            let mut loss = 0.0;
            for ((value, slope), target) in values.iter().zip(slopes).zip(targets) {
                let error = value - target;
                *slope = weight * error;
                loss += f64::from(error) * f64::from(error);
            }
            critic.weights.descend(work, rates.learning_rate);
            critic.polyak_average(rates.polyak);
            loss
        });
        0.5 * (losses[0] + losses[1]) / batch_rows(batch)
    }

    /// The critics' weights stay: only their derivatives in the action are needed.
    fn learn_actor(
        &mut self,
        weights: &mut ActorCriticWeights,
        batch: &Batch,
        temperature: f32,
        actor_rate: f32,
        rates: &Rates,
    ) {
        let twins = &mut weights.twins;
        let time = rates.tick.map(|_| (&batch.time[..], 0.0));
        let now = (&batch.observation[..], &self.now.actions[..]);
        join_inputs(&mut self.inputs, batch.rows, now, time);
        let inputs = &self.inputs;
        twins.both(&mut self.critics, |critic, work| {
            work.network.forward(&critic.weights.parameters, inputs);
        });
        let weight = 1.0 / batch.rows as f32;
        let [one, two] = &mut self.critics;
        let (ones, one_slopes) = one.network.outputs_and_slope();
        let (twos, two_slopes) = two.network.outputs_and_slope();
        let values = ones.iter().zip(twos);
        let slopes = one_slopes.iter_mut().zip(two_slopes);
        for ((one, two), (one_slope, two_slope)) in values.zip(slopes) {
            let smaller = one <= two;
            *one_slope = if smaller { -weight } else { 0.0 };
            *two_slope = if smaller { 0.0 } else { -weight };
        }
        twins.both(&mut self.critics, |critic, work| {
            work.network.backward_to_inputs(&critic.weights.parameters);
        });
        let [one, two] = &self.critics;
        let width = self.inputs.len() / batch.rows;
        let slopes = one.network.input_slope().chunks_exact(width);
        let slopes = slopes.zip(two.network.input_slope().chunks_exact(width));
        let rows = self.action_slopes.chunks_exact_mut(self.actions);
        for (row, (one, two)) in rows.zip(slopes) {
            // The action comes last.
            let parts = one.iter().rev().zip(two.iter().rev());
            for (slope, (one, two)) in row.iter_mut().rev().zip(parts) {
                *slope = one + two;
            }
        }
        let (outputs, slopes) = self.actor.network.outputs_and_slope();
        self.now
            .pull_back(outputs, &self.action_slopes, temperature, weight, slopes);
        if rates.imitation > 0.0 {
            // Logged rows come last.
            let count = self.actions;
            let rolled = batch.rows - batch.logged;
            let own = (
                &outputs[2 * count * rolled..],
                &batch.action[count * rolled..],
            );
            let to = &mut slopes[2 * count * rolled..];
            add_likelihood_slopes(own.0, own.1, count, weight * rates.imitation, to);
        }
        weights.actor.descend(&mut self.actor, actor_rate);
    }
}

fn batch_rows(batch: &Batch) -> f64 {
    batch.rows as f64
}

/// Rows of (observation, time + tick where there is one, action).
fn join_inputs(
    to: &mut Vec<f32>,
    rows: usize,
    (observations, actions): (&[f32], &[f32]),
    time: Option<(&[f32], f32)>,
) {
    to.clear();
    let observations = observations.chunks_exact(observations.len() / rows);
    let actions = actions.chunks_exact(actions.len() / rows);
    for (row, (observation, action)) in observations.zip(actions).enumerate() {
        to.extend_from_slice(observation);
        if let Some((times, tick)) = time {
            to.push(times[row] + tick);
        }
        to.extend_from_slice(action);
    }
}
