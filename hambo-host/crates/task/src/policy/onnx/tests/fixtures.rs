//! Files of both exporters of PyTorch against onnxruntime; see
//! `tests/data/onnx/make_fixtures.py`.

use hambo_core::policy::{Head, Spread};

use super::{act, fixture, task};
use crate::policy::host_policy::{HostPolicy, PerceptronPolicy};
use crate::policy::onnx::options::OnnxOptions;
use crate::policy::onnx::read::read;
use hambo_base::network::Activation;

/// Actions are of the order of 1; what is written by us is held to less.
const TOLERANCE: f64 = 1e-5;
const OWN_TOLERANCE: f64 = 2e-6;

/// Inputs and outputs as onnxruntime gives them.
fn reference(name: &str) -> Vec<(Vec<f32>, Vec<f64>)> {
    let text = std::fs::read_to_string(fixture(&format!("{name}.csv"))).unwrap();
    let rows = text.lines().map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        let (inputs, outputs) = numbers.split_at(3);
        (inputs.iter().map(|x| *x as f32).collect(), outputs.to_vec())
    });
    rows.collect()
}

pub(super) fn compare(name: &str, limit: f32) -> PerceptronPolicy {
    let path = fixture(&format!("{name}.onnx"));
    let task = task(3, 2, limit);
    let policy = read(&path, &task, &OnnxOptions::default()).unwrap().policy;
    // The command reads the same.
    assert_eq!(
        HostPolicy::read(&path, &task).unwrap(),
        HostPolicy::Perceptron(policy.clone())
    );
    let rows = reference(name);
    assert_eq!(rows.len(), 20);
    let tolerance = if name.starts_with("own_") {
        OWN_TOLERANCE
    } else {
        TOLERANCE
    };
    let mut worst = 0.0_f64;
    let mut close = |found: f32, wanted: f64, what: &str| {
        let limit = f64::from(limit);
        let found = f64::from(found).clamp(-limit, limit);
        worst = worst.max((found - wanted).abs());
        assert!(
            (found - wanted).abs() < tolerance,
            "{name}, {what}: {found} for {wanted}"
        );
    };
    for (state, outputs) in rows {
        let (means, log_stds) = outputs.split_at(2);
        let still = act(&policy, &state, 0.0);
        let noisy = act(&policy, &state, 1.0);
        for (index, mean) in means.iter().enumerate() {
            close(still[index], *mean, "action");
            let Some(log_std) = log_stds.get(index) else {
                assert_eq!(noisy, still);
                continue;
            };
            let scale = f64::from(policy.actions.scale[index]);
            let offset = f64::from(policy.actions.offset[index]);
            let inner = (mean - offset) / scale;
            match policy.actions.head {
                Head::Gaussian(_) => close(noisy[index], mean + log_std.exp(), "with noise"),
                // Near ±1 the tanh has no inverse in f32.
                _ if inner.abs() < 0.99 => {
                    let inner = inner.atanh() + log_std.exp();
                    close(noisy[index], scale * inner.tanh() + offset, "with noise");
                }
                _ => {}
            }
        }
    }
    println!("{name}: within {worst:.1e} of onnxruntime");
    policy
}

#[test]
fn torchscript_exports_are_read() {
    let policy = compare("torchscript_relu", 100.0);
    assert_eq!(policy.activations, [Activation::Relu; 2]);
    assert_eq!(policy.observation_mean, [0.5, -1.0, 20.0]);
    assert_eq!(policy.observation_scale, [1.5, 0.25, 8.0]);
    assert_eq!((policy.actions.squash, policy.layers.len()), (true, 3));
    assert_eq!(policy.actions.scale, [2.0, 1.0]);
    assert_eq!(policy.actions.offset, [0.0, 0.5]);
    let sigmoid = compare("torchscript_sigmoid", 100.0);
    assert!(
        sigmoid
            .activations
            .iter()
            .all(|one| *one == Activation::Tanh)
    );
    compare("torchscript_opset_9", 100.0);
    compare("torchscript_vector", 100.0);
    let head = compare("torchscript_ppo", 100.0).actions.head;
    assert_eq!(head, Head::Gaussian(Spread::Fixed));
}

#[test]
fn dynamo_exports_are_read() {
    compare("dynamo_tanh", 100.0);
    compare("dynamo_external", 100.0);
    compare("dynamo_double", 100.0);
    compare("dynamo_vector", 100.0);
    let silu = compare("dynamo_silu", 100.0);
    assert!(silu.activations.iter().all(|one| *one == Activation::Silu));
    let head = compare("dynamo_ppo", 100.0).actions.head;
    assert_eq!(head, Head::Gaussian(Spread::Fixed));
    for name in ["dynamo_sac", "dynamo_joined"] {
        let head = compare(name, 100.0).actions.head;
        assert_eq!(head, Head::TanhGaussian(Spread::OfState));
    }
}

#[test]
fn clips_are_limits_or_relus() {
    // Observation and action clipped inside the network.
    assert_eq!(compare("torchscript_clipped", 100.0).layers.len(), 4);
    // The action's clip is that of the task.
    assert_eq!(compare("torchscript_clipped", 2.0).layers.len(), 3);
}

#[test]
fn convolutions_over_one_pixel_are_layers() {
    for name in ["torchscript_pixel", "dynamo_pixel", "dynamo_batched"] {
        let policy = compare(name, 100.0);
        assert_eq!(policy.activations, [Activation::Tanh, Activation::Relu]);
        assert_eq!((policy.actions.squash, policy.layers.len()), (true, 3));
        assert_eq!(policy.actions.scale, [2.0, 0.5]);
    }
    for name in ["torchscript_signal", "dynamo_signal"] {
        assert_eq!(compare(name, 100.0).layers.len(), 2);
    }
    assert!(compare("torchscript_image", 100.0).actions.squash);
}
