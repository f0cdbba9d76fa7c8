//! The check's rollouts: mean propagation, one estimate, no search.

use std::time::Instant;

use hambo_core::arithmetic::random::Stream;
use hambo_core::image::Image;
use hambo_core::model::Calibration;
use hambo_core::task::{Effort, Variant};

use super::{BenchError, Contest};
use crate::Error;
use crate::check::check;
use crate::image_file::{AlignedBytes, Uncertainty, encode_ensemble, encode_image, encode_policy};
use crate::policy_file::HostPolicy;
use crate::task_file::TaskFile;
use crate::training::{Activation, Layer, Member, Standardisation, TrainedEnsemble};

const MEMBERS: usize = 5;
const WIDTHS: [usize; 6] = [4, 256, 256, 256, 256, 6];
const TRAJECTORIES: u32 = 1000;
const HORIZON: u32 = 5;

const TASK: &str = r#"
name = "pendulum"
[state]
names = ["c", "s", "omega"]
low = [-1, -1, -8]
high = [1, 1, 8]
[action]
names = ["torque"]
low = [-2]
high = [2]
[reward]
expr = "-(atan2(s, c)^2 + 0.1 * omega^2 + 0.001 * torque^2)"
[initial]
kind = "uniform"
low = [-1, -1, -1]
high = [1, 1, 1]
"#;

const POLICY: &str = "kind = \"linear\"\ngain = [[0, -2, -0.5]]\nbias = [0]";

pub(super) fn contest() -> Result<Contest, Error> {
    let mut task = TaskFile::parse(&format!("horizon = {HORIZON}\n{TASK}"), "pendulum")?;
    task.method.variants.clear();
    task.method.variants.extend([Variant::Mean]);
    let policy = encode_policy(&HostPolicy::parse(POLICY, "linear", &task)?)?;
    let uncertainty = Uncertainty {
        beta: 1.0,
        calibration_scale: vec![1.0; 3],
        calibration: Calibration::Passed,
        support_low: vec![-100.0; 4],
        support_high: vec![100.0; 4],
    };
    let effort = Effort {
        trajectories: TRAJECTORIES,
        iterations: 0,
        seed: 0,
    };
    let model = encode_ensemble(&ensemble(), &uncertainty)?;
    let image = AlignedBytes::new(&encode_image(&model, &task, effort, &[], &policy)?);
    Ok(Contest {
        name: "rollouts: 5 networks of 4 × 256, 1000 trajectories of 5 steps",
        peer: "PyTorch",
        script: include_str!("../../../benches/rollout.py"),
        sizes: vec![TRAJECTORIES as usize, HORIZON as usize],
        limit: 1.0,
        ours: Box::new(move |pool| {
            let image = Image::parse(image.as_bytes())?;
            let start = Instant::now();
            let outcome = pool.install(|| check(&image))?;
            let time = start.elapsed();
            if outcome.neutral.is_finite() {
                Ok(time)
            } else {
                Err(BenchError::NotFinite.into())
            }
        }),
    })
}

/// Random networks: only their sizes matter.
fn ensemble() -> TrainedEnsemble {
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
        losses: vec![0.0; MEMBERS],
    }
}
