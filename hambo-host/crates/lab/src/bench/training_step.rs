//! One step of training an ensemble: forward, backward and Adam.

use std::time::Instant;

use hambo_base::Held;
use hambo_core::numeric::random::Stream;

use super::contest::Contest;
use super::peer::BenchError;
use hambo_base::Error;
use hambo_learn::ensemble::{EnsembleOptions, Inference, Trainer, TrainingSet};

const ROWS: usize = 1024;
const BATCH: usize = 256;
/// Steps of one run.
const STEPS: usize = 8;
const INPUTS: usize = 4;
const TARGETS: usize = 3;

pub(super) fn contest() -> Result<Contest, Error> {
    let mut stream = Stream::new(1, 0);
    let mut normals =
        |count: usize| -> Vec<f32> { (0..count).map(|_| stream.standard_normal()).collect() };
    let (inputs, targets) = (normals(ROWS * INPUTS), normals(ROWS * TARGETS));
    let set = TrainingSet {
        inputs: &inputs,
        input_columns: INPUTS,
        targets: &targets,
        target_columns: TARGETS,
        held: Held::NONE,
    };
    let options = EnsembleOptions {
        inference: Inference::Ensemble,
        members: 5,
        hidden: vec![256; 4],
        batch: BATCH,
        steps: usize::MAX,
        check_every: STEPS,
        learning_rate: 1e-4,
        ..EnsembleOptions::default()
    };
    let mut trainer = Trainer::new(&set, None, &options)?;
    Ok(Contest {
        peer: "PyTorch",
        script: include_str!("../../../../../benches/training_step.py"),
        sizes: vec![ROWS, BATCH, STEPS],
        limit: Some(0.9),
        ours: Box::new(move |pool| {
            let start = Instant::now();
            let progress = pool.install(|| trainer.advance())?;
            let time = start.elapsed();
            let loss = progress.map_or(f32::NAN, |progress| progress.training_loss);
            if loss.is_finite() {
                Ok(time / STEPS as u32)
            } else {
                Err(BenchError::NotFinite.into())
            }
        }),
    })
}
