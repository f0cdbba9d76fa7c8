//! One gradient step of soft actor-critic: critics, actor and temperature.

use std::time::Instant;

use hambo_core::numeric::random::Stream;

use super::contest::Contest;
use super::peer::BenchError;
use hambo_base::Error;
use hambo_base::random::Random;
use hambo_check::reinforcement::{
    Actions, LearningOptions, Problem, Rounds, SoftActorCritic, SoftActorCriticOptions, Value,
};

const OBSERVATIONS: usize = 3;
const ACTIONS: usize = 1;
const ROWS: usize = 2000;
const BATCH: usize = 256;
/// Steps of one run.
const STEPS: usize = 20;

pub(super) fn contest() -> Result<Contest, Error> {
    let mut problem = Noise(Stream::new(1, 0));
    let learning = LearningOptions {
        value: Value::Endless { discount: 0.99 },
        rounds: Rounds {
            episodes: 1,
            gradient_steps: 1,
            evaluation_episodes: 0,
            ..Rounds::default()
        },
        batch: BATCH,
        replay: ROWS,
        learning_rate: 3e-4,
        ..LearningOptions::default()
    };
    let options = SoftActorCriticOptions {
        learning,
        temperature_rate: 3e-4,
        temperature: 1.0,
        ..SoftActorCriticOptions::default()
    };
    let mut learner = SoftActorCritic::new(&problem, options)?;
    learner.round(&mut problem)?;
    let mut random = Random::new(0, 0);
    Ok(Contest {
        peer: "SB3",
        script: include_str!("../../../../../benches/soft_actor_critic.py"),
        sizes: vec![OBSERVATIONS, ACTIONS, ROWS, BATCH, STEPS],
        limit: Some(0.67),
        ours: Box::new(move |pool| {
            let start = Instant::now();
            let loss = pool.install(|| {
                let steps = (0..STEPS).map(|_| learner.gradient_step(&mut random));
                steps.sum::<f64>()
            });
            let time = start.elapsed();
            if loss.is_finite() {
                Ok(time / STEPS as u32)
            } else {
                Err(BenchError::NotFinite.into())
            }
        }),
    })
}

/// Only its sizes matter.
struct Noise(Stream);

impl Problem for Noise {
    fn lanes(&self) -> usize {
        1
    }

    fn observation_size(&self) -> usize {
        OBSERVATIONS
    }

    fn actions(&self) -> Actions {
        Actions::Continuous(ACTIONS)
    }

    fn horizon(&self) -> usize {
        ROWS
    }

    fn start(&mut self, _: usize, _: u32) -> Result<(), Error> {
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        let mut stream = self.0.clone();
        observations.fill_with(|| stream.standard_normal());
    }

    fn step(
        &mut self,
        _: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        self.0.skip(OBSERVATIONS as u64);
        rewards.fill_with(|| self.0.standard_normal());
        terminated.fill(false);
        Ok(())
    }
}
