//! What is written is read back: the same policy, or the same numbers.

use hambo_core::policy::{Head, Spread};
use proptest::prelude::*;

use super::{act, fixture, task};
use crate::policy::host_policy::{ActionMap, PerceptronPolicy};
use crate::policy::onnx::options::OnnxOptions;
use crate::policy::onnx::read::decode;
use crate::policy::onnx::writer::encode;
use hambo_base::network::{Activation, Layer};

/// A network with weights of a simple recurrence.
fn policy(widths: &[usize], activation: Activation, actions: ActionMap) -> PerceptronPolicy {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    let layers = widths.windows(2).map(|pair| Layer {
        inputs: pair[0],
        outputs: pair[1],
        weights: (0..pair[0] * pair[1]).map(|_| next()).collect(),
        bias: (0..pair[1]).map(|_| next()).collect(),
    });
    PerceptronPolicy {
        layers: layers.collect(),
        activations: vec![activation; widths.len() - 2],
        observation_mean: vec![0.3; widths[0]],
        observation_scale: vec![1.7; widths[0]],
        actions,
    }
}

fn read(policy: &PerceptronPolicy) -> PerceptronPolicy {
    let bytes = encode(policy, &[]).unwrap();
    let task = task(
        policy.observation_mean.len(),
        policy.actions.scale.len(),
        100.0,
    );
    decode(&bytes, None, &task, &OnnxOptions::default())
        .unwrap()
        .policy
}

fn map(head: Head, squash: bool, actions: usize) -> ActionMap {
    let fixed = head.spread() == Some(Spread::Fixed);
    ActionMap {
        head,
        squash,
        log_std: if fixed {
            vec![-0.5; actions]
        } else {
            Vec::new()
        },
        ..ActionMap::plain(actions)
    }
}

#[test]
fn every_head_comes_back() {
    let heads = [
        (Head::Deterministic, false),
        (Head::Deterministic, true),
        (Head::Gaussian(Spread::Fixed), false),
        (Head::Gaussian(Spread::Fixed), true),
        (Head::Gaussian(Spread::OfState), false),
        (Head::Gaussian(Spread::OfState), true),
        (Head::TanhGaussian(Spread::Fixed), false),
        (Head::TanhGaussian(Spread::OfState), false),
    ];
    for activation in [
        Activation::Relu,
        Activation::Tanh,
        Activation::Silu,
        Activation::Elu,
        Activation::Softplus,
        Activation::Gelu,
    ] {
        for (head, squash) in heads {
            let outputs = if head.spread() == Some(Spread::OfState) {
                4
            } else {
                2
            };
            let policy = policy(&[3, 8, 5, outputs], activation, map(head, squash, 2));
            assert_eq!(read(&policy), policy, "{head:?} {squash}");
        }
    }
    // Scaled after the tanh: the same policy; without one, the same numbers.
    let mut scaled = policy(&[3, 8, 4], Activation::Relu, map(heads[7].0, false, 2));
    scaled.actions.scale = vec![2.0, 0.7];
    scaled.actions.offset = vec![0.1, -3.0];
    assert_eq!(read(&scaled), scaled);
    scaled.layers[1] =
        policy(&[8, 2], Activation::Relu, map(heads[0].0, false, 2)).layers[0].clone();
    for (head, squash) in [heads[0], heads[1], heads[2], heads[3]] {
        let actions = map(head, squash, 2);
        scaled.actions = ActionMap {
            scale: vec![2.0, 0.7],
            offset: vec![0.1, -3.0],
            ..actions
        };
        let back = read(&scaled);
        for noise in [0.0, 1.0] {
            let state = [0.4, -1.0, 2.0];
            let (wanted, found) = (act(&scaled, &state, noise), act(&back, &state, noise));
            for (wanted, found) in wanted.iter().zip(&found) {
                assert!(
                    (wanted - found).abs() < 1e-6,
                    "{head:?}: {found} for {wanted}"
                );
            }
        }
    }
}

/// SAC's form, and one without tanh or normalisation.
fn own_policies() -> [(&'static str, PerceptronPolicy); 2] {
    let mut sac = policy(
        &[3, 12, 12, 4],
        Activation::Silu,
        map(Head::TanhGaussian(Spread::OfState), false, 2),
    );
    sac.actions.scale = vec![2.0, 0.7];
    sac.actions.offset = vec![0.1, -3.0];
    let mut plain = policy(
        &[3, 12, 2],
        Activation::Relu,
        map(Head::Gaussian(Spread::Fixed), false, 2),
    );
    plain.observation_mean = vec![0.0; 3];
    plain.observation_scale = vec![1.0; 3];
    [("own_sac", sac), ("own_plain", plain)]
}

/// Our files are what onnxruntime has run: bytes as stored, numbers as it says
/// (`tests/data/onnx/make_fixtures.py`).
#[test]
fn onnxruntime_reads_our_files() {
    for (name, policy) in own_policies() {
        let (file, bytes) = (
            fixture(&format!("{name}.onnx")),
            encode(&policy, &[("seed", "0")]),
        );
        let bytes = bytes.unwrap();
        // After a change of the format: write them anew, then run the script.
        if std::env::var_os("HAMBO_WRITE_FIXTURES").is_some() {
            std::fs::write(&file, &bytes).unwrap();
        }
        assert!(std::fs::read(&file).unwrap() == bytes, "{name}");
        let back = super::fixtures::compare(name, 100.0);
        assert_eq!(back, policy);
    }
}

#[test]
fn what_onnx_cannot_say_is_refused() {
    let good = policy(
        &[3, 4, 2],
        Activation::Relu,
        map(Head::Deterministic, false, 2),
    );
    let change = |with: &dyn Fn(&mut PerceptronPolicy)| {
        let mut bad = good.clone();
        with(&mut bad);
        encode(&bad, &[]).unwrap_err().to_string()
    };
    assert!(encode(&good, &[]).is_ok());
    assert!(change(&|p| p.layers.clear()).contains("do not fit together"));
    assert!(change(&|p| p.layers[0].inputs = 2).contains("do not fit together"));
    assert!(change(&|p| p.layers[1].bias.push(0.0)).contains("do not fit together"));
    assert!(change(&|p| p.observation_scale[0] = 0.0).contains("not above 0"));
    assert!(change(&|p| p.layers[0].weights[0] = f32::NAN).contains("not finite"));
    let of_state = Head::Gaussian(Spread::OfState);
    let mut bad = policy(&[3, 4], Activation::Relu, map(of_state, false, 2));
    bad.actions.scale = vec![2.0; 2];
    assert!(
        encode(&bad, &[])
            .unwrap_err()
            .to_string()
            .contains("fold the scale")
    );
}

#[test]
fn notes_are_kept_and_the_head_is_ours() {
    let policy = policy(
        &[1, 1],
        Activation::Relu,
        map(Head::Deterministic, false, 1),
    );
    let notes = [
        ("bound", "-12.5"),
        ("hambo.head", "nonsense"),
        ("task", "cart ✓"),
    ];
    let bytes = encode(&policy, &notes).unwrap();
    let read = decode(&bytes, None, &task(1, 1, 9.0), &OnnxOptions::default()).unwrap();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        read.metadata,
        [
            pair("hambo.head", "deterministic"),
            pair("bound", "-12.5"),
            pair("task", "cart ✓")
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Any finite weights come back bit by bit.
    #[test]
    fn weights_keep_their_bits(
        numbers in prop::collection::vec(prop::num::f32::NORMAL, 15),
        mean in -1e6_f32..1e6,
        std in 1e-6_f32..1e6,
    ) {
        let mut policy = policy(&[2, 3, 1], Activation::Tanh, map(Head::Deterministic, true, 1));
        let places = policy.layers.iter_mut().flat_map(|l| l.weights.iter_mut().chain(&mut l.bias));
        for (place, x) in places.zip(numbers) {
            *place = x;
        }
        policy.observation_mean = vec![mean, 0.0];
        policy.observation_scale = vec![std, 1.0];
        prop_assert_eq!(read(&policy), policy);
    }
}
