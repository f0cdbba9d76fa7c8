//! The check's rollouts: mean propagation, one estimate, no search.
//!
//! Twice: with networks trained on a log of the pendulum, as a check has them,
//! and with random weights. Trained networks have many units that are off in
//! all lanes, which our kernel passes over; the peer's time is the same.

use std::time::Instant;

use hambo_core::image::Image;
use hambo_core::model::Calibration;
use hambo_core::numeric::random::Stream;
use hambo_core::task::{Allocation, Effort, Variant};

use super::contest::Contest;
use super::peer::BenchError;
use crate::environment::pendulum::Pendulum;
use crate::environment::rollout::rollout;
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_base::network::{Activation, Layer, Standardisation};
use hambo_check::parallel::{LANES, Watch, check};
use hambo_learn::ensemble::encode_ensemble;
use hambo_learn::ensemble::{EnsembleOptions, Member, TrainedEnsemble, train_ensemble};
use hambo_learn::fit::Tables;
use hambo_task::image::{
    AlignedBytes, LoggedRegion, NoisePools, Uncertainty, encode_image, encode_policy,
};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::Initial;

const MEMBERS: usize = 5;
const WIDTHS: [usize; 6] = [4, 256, 256, 256, 256, 6];
const TRAJECTORIES: u32 = 1000;
const HORIZON: u32 = 50;
const POLICY: &str = "kind = \"linear\"\ngain = [[0, -2, -0.5]]\nbias = [0]";
/// The log: episodes of 200 steps, with this much noise on the action.
const EPISODES: u32 = 20;
const ACTION_NOISE: f32 = 1.0;

pub(super) fn trained() -> Result<Contest, Error> {
    contest(Some(1.0), &trained_ensemble()?)
}

pub(super) fn random() -> Result<Contest, Error> {
    contest(None, &random_ensemble())
}

fn contest(limit: Option<f64>, ensemble: &TrainedEnsemble) -> Result<Contest, Error> {
    let mut task = Pendulum::new()?.task().clone();
    task.horizon = HORIZON;
    task.initial = Initial::Uniform {
        low: vec![-1.0; 3],
        high: vec![1.0; 3],
    };
    let policy = encode_policy(&HostPolicy::parse(POLICY, "linear", &task)?)?;
    let uncertainty = Uncertainty {
        features: 3,
        beta: 1.0,
        calibration_scale: vec![1.0; 3],
        calibration: Calibration::Passed,
        tested_steps: u16::MAX,
        noise_scale: vec![1.0; 3],
        noise_factor: Vec::new(),
        noise_pools: NoisePools::default(),
        width_regions: Vec::new(),
        support: LoggedRegion::everywhere(4),
    };
    let effort = Effort {
        trajectories: TRAJECTORIES,
        searched: 0,
        iterations: 0,
        seed: 0,
        allocation: Allocation::Even,
    };
    let plan = CheckPlan::from(effort).with_variants([Variant::Mean]);
    let model = encode_ensemble(ensemble, &uncertainty)?;
    let image = AlignedBytes::new(&encode_image(&model, &task, plan, &[], &policy)?);
    Ok(Contest {
        peer: "PyTorch",
        script: include_str!("../../../../../benches/rollout.py"),
        sizes: vec![TRAJECTORIES as usize, HORIZON as usize],
        limit,
        ours: Box::new(move |pool| {
            let image = Image::parse(image.as_bytes())?;
            let start = Instant::now();
            let outcome = pool
                .install(|| check::<LANES>(&image, Watch::NONE))?
                .outcome;
            let time = start.elapsed();
            if outcome.neutral.is_finite() {
                Ok(time)
            } else {
                Err(BenchError::NotFinite.into())
            }
        }),
    })
}

/// The paper's networks on a log of the pendulum.
fn trained_ensemble() -> Result<TrainedEnsemble, Error> {
    let system = Pendulum::new()?;
    let policy = HostPolicy::parse(POLICY, "linear", system.task())?;
    let run = rollout(&system, &policy, EPISODES, ACTION_NOISE, 0)?;
    let options = EnsembleOptions::paper();
    let tables = Tables::new(&run.log, &system.task().model_view());
    Ok(train_ensemble(&tables.training_set(), &options)?)
}

/// Random networks: only their sizes matter.
fn random_ensemble() -> TrainedEnsemble {
    let mut stream = Stream::new(0, 0);
    let mut normals = |count: usize, std: f32| -> Vec<f32> {
        (0..count).map(|_| std * stream.standard_normal()).collect()
    };
    let mut layer = |inputs: usize, outputs: usize| Layer {
        inputs,
        outputs,
        weights: normals(inputs * outputs, (2.0 / inputs as f32).sqrt()),
        bias: normals(outputs, 0.3),
    };
    let members = (0..MEMBERS).map(|_| Member {
        layers: WIDTHS
            .windows(2)
            .map(|pair| layer(pair[0], pair[1]))
            .collect(),
    });
    TrainedEnsemble {
        widths: WIDTHS.to_vec(),
        activation: Activation::Relu,
        standardisation: Standardisation {
            input_mean: vec![0.0; 4],
            input_scale: vec![1.0; 4],
            output_mean: vec![0.0; 3],
            output_scale: vec![0.05, 0.05, 0.2],
        },
        std_floor: 0.01,
        std_cap: 10.0,
        members: members.collect(),
        priors: Vec::new(),
        losses: vec![0.0; MEMBERS],
    }
}
