//! Policy parts: sizes that disagree are not written, bad numbers not read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_core::image::{
    ActionManifest, Image, LinearManifest, Part, PerceptronManifest, PolicyManifest, Problem,
};
use hambo_core::numeric::network::Activation;
use hambo_core::policy::{Head, Spread};
use hambo_task::image::{AlignedBytes, EncodeError, decode_policy, encode_part, encode_policy};
use hambo_task::policy::{HostPolicy, PerceptronPolicy};
use hambo_tests::{fixture, policy};

#[test]
fn sizes_that_disagree_are_not_written() {
    let HostPolicy::Perceptron(good) = policy::random(6, 3, 2) else {
        panic!("not a network");
    };
    assert!(encode_policy(&HostPolicy::Perceptron(good.clone())).is_ok());
    let refused = |change: &dyn Fn(&mut PerceptronPolicy)| {
        let mut bad = good.clone();
        change(&mut bad);
        encode_policy(&HostPolicy::Perceptron(bad)).unwrap_err()
    };
    let size = |error: &EncodeError| matches!(error, EncodeError::PolicySize { .. });
    assert!(size(&refused(&|bad| bad.observation_scale.push(1.0))));
    assert!(size(&refused(&|bad| bad.observation_mean.clear())));
    assert!(size(&refused(&|bad| bad.layers[0].bias.push(1.0))));
    assert!(size(&refused(&|bad| {
        bad.layers[0].weights.pop();
    })));
    assert!(size(&refused(&|bad| bad.actions.offset.clear())));
    assert!(size(&refused(&|bad| bad.actions.log_std.push(0.0))));
    assert!(size(&refused(&|bad| bad.actions.scale.push(1.0))));
    let number = |error: &EncodeError| matches!(error, EncodeError::Policy(Problem::Number));
    assert!(number(&refused(&|bad| bad.observation_scale[0] = 0.0)));
    assert!(number(&refused(&|bad| bad.observation_scale[0] = -1.0)));
    assert!(number(&refused(&|bad| bad.layers[0].weights[0] = f32::NAN)));
    let error = refused(&|bad| bad.actions.scale.push(1.0)).to_string();
    assert!(
        error.contains("log-std") && error.contains("not 3"),
        "{error}"
    );
}

/// Every number of an arena made bad, one at a time.
#[test]
fn images_with_bad_numbers_are_refused() {
    let actions = ActionManifest {
        action_dimension: 1,
        head: Head::Gaussian(Spread::Fixed),
        squash: false,
    };
    let linear = PolicyManifest::Linear(LinearManifest {
        state_dimension: 2,
        actions,
    });
    let perceptron = PolicyManifest::Perceptron(PerceptronManifest {
        state_dimension: 2,
        hidden: [3].into_iter().collect(),
        activation: Activation::Tanh,
        actions,
    });
    let refusal = |manifest: &PolicyManifest, arena: &[f32]| {
        let bytes = encode_part(Part::Policy, manifest, arena).unwrap();
        let bytes = AlignedBytes::new(&bytes);
        decode_policy(bytes.as_bytes())
            .err()
            .map(|error| error.problem)
    };
    // log-std, scale, offset, a bias tile and two of weights.
    let good = vec![0.5; 4 * 6];
    assert_eq!(refusal(&linear, &good), None);
    // log-std, scale, offset, observation mean and scale, 1 + 2, 1 + 3 tiles.
    let larger = vec![0.5; 4 * 12];
    assert_eq!(refusal(&perceptron, &larger), None);
    for (manifest, good, ignored) in [
        (&linear, &good, &[1, 2, 3, 5, 6, 7, 9, 10, 11][..]),
        (
            &perceptron,
            &larger,
            &[1, 2, 3, 5, 6, 7, 9, 10, 11, 14, 15, 18, 19][..],
        ),
    ] {
        for position in 0..good.len() {
            let with = |x: f32| {
                let mut bad = good.clone();
                bad[position] = x;
                refusal(manifest, &bad)
            };
            assert_eq!(with(f32::NAN), Some(Problem::Number), "{position}");
            // Padding of runs is not read; that of weights is.
            let read = !ignored.contains(&position);
            let expected = read.then_some(Problem::Number);
            assert_eq!(with(f32::INFINITY), expected, "{position}");
            let expected = expected.filter(|_| position != 0);
            assert_eq!(with(f32::NEG_INFINITY), expected, "{position}");
        }
        assert_eq!(refusal(manifest, &good[4..]), Some(Problem::Arena));
        let longer = [&good[..], &[0.5; 4]].concat();
        assert_eq!(refusal(manifest, &longer), Some(Problem::Arena));
    }
    // A standard deviation that overflows, an observation without a scale.
    let changed = |good: &[f32], position: usize, x: f32| {
        let mut bad = good.to_vec();
        bad[position] = x;
        bad
    };
    let huge = changed(&good, 0, 89.0);
    assert_eq!(refusal(&linear, &huge), Some(Problem::Number));
    for scale in [0.0, -1.0] {
        let bad = changed(&larger, 16, scale);
        assert_eq!(refusal(&perceptron, &bad), Some(Problem::Number));
    }
    for (state_dimension, action_dimension) in [(0, 1), (2, 0)] {
        let empty = PolicyManifest::Linear(LinearManifest {
            state_dimension,
            actions: ActionManifest {
                action_dimension,
                ..actions
            },
        });
        assert_eq!(refusal(&empty, &good), Some(Problem::Dimension));
    }
    // A policy for another robot.
    let error = fixture::image_of(3, |[states, actions]| {
        policy::random(0, states + 1, actions)
    })
    .map(|bytes| Image::parse(bytes.as_bytes()).err())
    .unwrap();
    assert_eq!(error.map(|error| error.problem), Some(Problem::Dimension));
}

/// The current format: later programs must still read it.
#[test]
fn manifests_keep_their_order() {
    let kind = |seed| encode_policy(&policy::random(seed, 2, 2)).unwrap()[64];
    for (seed, wanted) in [(0, 1), (6, 2), (10, 0), (5, 3)] {
        assert_eq!(kind(seed), wanted);
    }
    // Networks of several activations.
    assert!(
        (0..99)
            .filter(|seed| seed % 3 == 1)
            .any(|seed| kind(seed) == 4)
    );
}
