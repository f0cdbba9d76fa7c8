//! One step of training an ensemble: forward, backward and Adam.

use std::time::{Duration, Instant};

use hambo_core::arithmetic::random::Stream;

use super::Contest;
use crate::Error;
use crate::training::{EnsembleOptions, Inference, TrainingSet, train_ensemble};

const ROWS: usize = 1024;
const BATCH: usize = 256;
/// Steps of one run, after the first.
const STEPS: usize = 8;
const INPUTS: usize = 4;
const TARGETS: usize = 3;

pub(super) fn contest() -> Result<Contest, Error> {
    let mut stream = Stream::new(1, 0);
    let mut normals =
        |count: usize| -> Vec<f32> { (0..count).map(|_| stream.standard_normal()).collect() };
    let (inputs, targets) = (normals(ROWS * INPUTS), normals(ROWS * TARGETS));
    Ok(Contest {
        name: "training step: 5 networks of 4 × 256, batch 256",
        peer: "PyTorch",
        script: include_str!("../../../benches/training_step.py"),
        sizes: vec![ROWS, BATCH, STEPS],
        limit: Some(0.9),
        ours: Box::new(move |pool| {
            let set = TrainingSet {
                inputs: &inputs,
                input_columns: INPUTS,
                targets: &targets,
                target_columns: TARGETS,
            };
            // What is not a step, such as the first weights, takes the same
            // time in both.
            let more = pool.install(|| train(&set, 1 + STEPS))?;
            let one = pool.install(|| train(&set, 1))?;
            Ok(more.saturating_sub(one) / STEPS as u32)
        }),
    })
}

fn train(set: &TrainingSet<'_>, steps: usize) -> Result<Duration, Error> {
    let options = EnsembleOptions {
        inference: Inference::Ensemble,
        members: 5,
        hidden: vec![256; 4],
        batch: BATCH,
        steps,
        learning_rate: 1e-4,
        ..EnsembleOptions::default()
    };
    let start = Instant::now();
    train_ensemble(set, &options)?;
    Ok(start.elapsed())
}
