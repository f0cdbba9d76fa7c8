//! Policies: the core against f64, derivatives, lanes, and own and stochastic
//! controllers in a whole check.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_base::network::Layer;
use hambo_check::parallel::{Watch, check};
use hambo_core::SVector;
use hambo_core::check::{Check, Outcome, Progress};
use hambo_core::image::Image;
use hambo_core::numeric::Slices;
use hambo_core::numeric::network::Activation;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::PolicyInputs;
use hambo_core::policy::{Controller, Head, LaneByLane, Leg, Policy, Spread, Waypoints};
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{AlignedBytes, decode_policy, encode_image, encode_policy};
use hambo_task::policy::{ActionMap, HostPolicy, LinearPolicy};
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw};
use hambo_tests::policy::{self, KINDS};
use hambo_tests::reference::waypoint_action;

fn encoded(policy: &HostPolicy) -> AlignedBytes {
    AlignedBytes::new(&encode_policy(policy).unwrap())
}

/// What a policy does in some lanes: actions, then derivatives added to 0.5.
fn rows<const B: usize>(
    policy: &impl Policy,
    state: &[[f32; B]],
    noise: &[[f32; B]],
    cotangent: &[[f32; B]],
) -> (Vec<[f32; B]>, Vec<[f32; B]>) {
    let mut scratch = vec![[f32::NAN; B]; policy.scratch_rows().unwrap()];
    let mut action = vec![[f32::NAN; B]; policy.action_dimension()];
    let whole = Slices::default();
    let inputs = PolicyInputs {
        noise,
        ..PolicyInputs::new(state, &mut scratch, &whole)
    };
    policy.act(inputs, &mut action);
    let mut gradient = vec![[0.5; B]; policy.state_dimension()];
    let inputs = PolicyInputs {
        noise,
        ..PolicyInputs::new(state, &mut scratch, &whole)
    };
    policy.pull_back(inputs, cotangent, &mut gradient);
    (action, gradient)
}

fn normals<const B: usize>(draw: &mut Draw, count: usize) -> Vec<[f32; B]> {
    (0..count)
        .map(|_| [0.0; B].map(|_| draw.normal()))
        .collect()
}

fn wide(rows: &[[f32; 1]]) -> Vec<f64> {
    rows.iter().map(|[x]| f64::from(*x)).collect()
}

/// Actions within 1e-5 of the f64 reference, relative where they exceed 1.
/// Derivatives within 1e-4 of its central differences, relative where they
/// exceed 0.1; points on a kink (a rectifier, a clamp, a leg) are left out.
#[test]
fn every_kind_and_head_agrees_with_f64() {
    let (mut compared, mut left_out) = (0, 0);
    for seed in 0..8 * KINDS {
        let draw = &mut Draw::new(seed);
        let (states, actions) = (1 + draw.below(6), 1 + draw.below(5));
        let host = policy::random(seed, states, actions);
        let bytes = encoded(&host);
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        let dimensions = (stored.state_dimension(), stored.action_dimension());
        assert_eq!(dimensions, (states, actions));
        let state = normals::<1>(draw, states);
        let noise = normals::<1>(draw, actions);
        let cotangent = normals::<1>(draw, actions);
        let (action, gradient) = rows(&stored, &state, &noise, &cotangent);
        let (state, noise) = (wide(&state), wide(&noise));
        let Some(expected) = policy::action(&host, &state, &noise) else {
            continue;
        };
        for (y, expected) in wide(&action).iter().zip(&expected) {
            let error = (y - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-5, "seed {seed}: {y} {expected}\n{host:?}");
        }
        let value = |state: &[f64]| -> f64 {
            let action = policy::action(&host, state, &noise).unwrap();
            action
                .iter()
                .zip(wide(&cotangent))
                .map(|(y, c)| y * c)
                .sum()
        };
        for (i, found) in wide(&gradient).iter().enumerate() {
            let found = found - 0.5;
            let difference = |h: f64| {
                let shifted = |by: f64| {
                    let mut state = state.clone();
                    state[i] += by;
                    value(&state)
                };
                (shifted(h) - shifted(-h)) / (2.0 * h)
            };
            let (fine, coarse) = (difference(1e-6), difference(1e-4));
            if (fine - coarse).abs() > 1e-5 * fine.abs().max(0.1) {
                left_out += 1;
                continue;
            }
            let error = (found - fine).abs() / fine.abs().max(0.1);
            assert!(error < 1e-4, "seed {seed}, {i}: {found} {fine}\n{host:?}");
            compared += 1;
        }
    }
    assert!(compared > 1500 && left_out < 40, "{compared}, {left_out}");
}

/// Actions and derivatives of waypoints agree with f64.
#[test]
fn waypoints_agree_with_f64() {
    let legs = [([0.1, 1.2, 0.0], 0.0), ([1.4, -0.2, 0.0], f32::MAX)].map(|(target, below)| Leg {
        target,
        axis: 0,
        below,
    });
    let policy = Waypoints::new(2, 0.5, &legs).unwrap();
    let draw = &mut Draw::new(1);
    for _ in 0..200 {
        let state = normals::<1>(draw, 2);
        let cotangent = normals::<1>(draw, 2);
        let (action, gradient) = rows(&policy, &state, &[], &cotangent);
        let (state, c) = (wide(&state), wide(&cotangent));
        let law = |state: &[f64]| waypoint_action(&legs, 0.5, f64::MAX, state);
        for (y, expected) in wide(&action).iter().zip(law(&state)) {
            assert!((y - expected).abs() < 1e-6);
        }
        for (i, found) in wide(&gradient).iter().enumerate() {
            let shifted = |by: f64| {
                let mut state = state.clone();
                state[i] += by;
                let action = law(&state);
                action[0] * c[0] + action[1] * c[1]
            };
            let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!((found - 0.5 - slope).abs() < 1e-4, "{found} {slope}");
        }
    }
}

/// The lanes of `B` at a time, one after the other.
fn bits_in_lanes<const B: usize>(stored: &impl Policy, lanes: &[Vec<[f32; 32]>; 3]) -> Vec<u32> {
    let mut bits = vec![Vec::new(); 32];
    for first in (0..32).step_by(B) {
        let [state, noise, cotangent] = lanes.each_ref().map(|rows| -> Vec<[f32; B]> {
            let part = |row: &[f32; 32]| row[first..first + B].try_into().unwrap();
            rows.iter().map(part).collect()
        });
        let (action, gradient) = rows(stored, &state, &noise, &cotangent);
        for row in action.iter().chain(&gradient) {
            for (lane, x) in row.iter().enumerate() {
                bits[first + lane].push(x.to_bits());
            }
        }
    }
    bits.concat()
}

#[test]
fn bits_are_equal_for_every_number_of_lanes() {
    for seed in 0..2 * KINDS {
        let draw = &mut Draw::new(seed);
        let (states, actions) = (1 + draw.below(6), 1 + draw.below(5));
        let host = policy::random(seed, states, actions);
        let bytes = encoded(&host);
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        let lanes = [states, actions, actions].map(|count| normals::<32>(draw, count));
        let one = bits_in_lanes::<1>(&stored, &lanes);
        assert_eq!(one.len(), 32 * (states + actions));
        assert_eq!(one, bits_in_lanes::<4>(&stored, &lanes), "seed {seed}");
        assert_eq!(one, bits_in_lanes::<8>(&stored, &lanes), "seed {seed}");
        assert_eq!(one, bits_in_lanes::<32>(&stored, &lanes), "seed {seed}");
    }
    // And in the whole check.
    for seed in 0..KINDS / 2 {
        let bytes = fixture::image_of(seed, |[states, actions]| {
            policy::random(seed, states, actions)
        })
        .unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let bounds = [
            check::<1>(&image, Watch::NONE).unwrap().outcome,
            check::<4>(&image, Watch::NONE).unwrap().outcome,
            check::<32>(&image, Watch::NONE).unwrap().outcome,
        ]
        .map(|outcome| (outcome.bound.to_bits(), outcome.neutral.to_bits()));
        assert!(f32::from_bits(bounds[0].0).is_finite());
        assert!(bounds[0] == bounds[1] && bounds[0] == bounds[2], "{seed}");
    }
}

#[test]
fn a_short_scratch_gives_nan_and_no_derivative() {
    for seed in 0..10 {
        let bytes = encoded(&policy::random(seed, 3, 2));
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        let rows = stored.scratch_rows().unwrap();
        let (mut scratch, mut action) = (vec![[0.0]; rows - 1], [[0.0]; 2]);
        let whole = Slices::default();
        stored.act(
            PolicyInputs::new(&[[1.0]; 3], &mut scratch, &whole),
            &mut action,
        );
        assert!(action.as_flattened().iter().all(|x| x.is_nan()));
        let mut gradient = [[7.0]; 3];
        let c = [[1.0]; 2];
        let inputs = PolicyInputs::new(&[[1.0]; 3], &mut scratch, &whole);
        stored.pull_back(inputs, &c, &mut gradient);
        assert_eq!(gradient, [[7.0]; 3]);
    }
}

/// The extremes of a learned spread: clamped, and flat outside the clamp.
#[test]
fn a_learned_spread_is_clamped() {
    let policy = |raw: f32| {
        HostPolicy::Linear(LinearPolicy {
            layer: Layer {
                inputs: 1,
                outputs: 2,
                weights: vec![0.0, 1.0],
                bias: vec![0.25, raw],
            },
            actions: ActionMap {
                head: Head::Gaussian(Spread::OfState),
                ..ActionMap::plain(1)
            },
        })
    };
    for (raw, std, slope) in [
        (5.0, 2.0_f32.exp(), 0.0),
        (-30.0, (-20.0_f32).exp(), 0.0),
        (0.0, 1.0, 3.0),
    ] {
        let bytes = encoded(&policy(raw));
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        let (action, gradient) = rows(&stored, &[[0.0]], &[[3.0]], &[[1.0]]);
        assert!((action[0][0] - 0.25 - 3.0 * std).abs() < 1e-5, "{raw}");
        assert_eq!(gradient[0][0] - 0.5, slope);
    }
}

const CART: &str = r#"
name = "cart"
horizon = 20
[state]
names = ["x", "v"]
[action]
names = ["u"]
low = [-1]
high = [1]
[reward]
expr = "-x^2"
[initial]
kind = "point"
value = [1, 0]
"#;

const PLANE: &str = r#"
name = "plane"
horizon = 6
delta = 0.1
[state]
names = ["x", "y"]
[action]
names = ["dx", "dy"]
low = [-0.4, -0.4]
high = [0.4, 0.4]
[reward]
expr = "-(next.x^2) - 0.5 * next.y^2 - 0.1 * dx * dy"
[initial]
kind = "point"
value = [-0.7, 0.4]
"#;

fn cart() -> TaskFile {
    TaskFile::parse(CART, "cart.toml").unwrap()
}

fn plane() -> TaskFile {
    TaskFile::parse(PLANE, "plane.toml").unwrap()
}

fn parse(text: &str, task: &TaskFile) -> HostPolicy {
    HostPolicy::parse(text, "p.toml", task).unwrap_or_else(|error| panic!("{error}"))
}

const PD: &str = "kind = \"pd\"\nposition = [\"x\"]\nvelocity = [1]\ntarget = [0.5]\nkp = [2]\nkd = [0.25]\nstd = [0.5]";
const LINEAR: &str = "kind = \"linear\"\ngain = [[-2, -0.25]]\nbias = [1]\nstd = [0.5]";

#[test]
fn constants_and_pd_controllers_are_linear_ones() {
    let task = cart();
    let (pd, linear) = (parse(PD, &task), parse(LINEAR, &task));
    assert_eq!(encode_policy(&pd).unwrap(), encode_policy(&linear).unwrap());
    let constant = parse("kind = \"constant\"\nvalue = [0.3]", &task);
    let flat = parse("kind = \"linear\"\ngain = [[0, 0]]\nbias = [0.3]", &task);
    assert_eq!(
        encode_policy(&constant).unwrap(),
        encode_policy(&flat).unwrap()
    );

    // What they do: kp (target - x) - kd v + std noise, and the value.
    let (bytes, constant) = (encoded(&pd), encoded(&constant));
    let pd = decode_policy(bytes.as_bytes()).unwrap();
    let constant = decode_policy(constant.as_bytes()).unwrap();
    let draw = &mut Draw::new(3);
    for _ in 0..50 {
        let state = normals::<1>(draw, 2);
        let noise = normals::<1>(draw, 1);
        let (action, gradient) = rows(&pd, &state, &noise, &[[1.0]]);
        let law = 2.0 * (0.5 - state[0][0]) - 0.25 * state[1][0] + 0.5 * noise[0][0];
        assert!((action[0][0] - law).abs() < 1e-6 * law.abs().max(1.0));
        assert_eq!(gradient, [[-1.5], [0.25]]);
        let (action, gradient) = rows(&constant, &state, &noise, &[[1.0]]);
        assert_eq!((action[0][0], gradient), (0.3, vec![[0.5]; 2]));
    }

    // No standard deviation at all is no noise at all.
    let still = parse(&LINEAR.replace("0.5]", "0]"), &task);
    let bytes = encoded(&still);
    let stored = decode_policy(bytes.as_bytes()).unwrap();
    let (action, _) = rows(&stored, &[[0.0], [0.0]], &[[5.0]], &[[1.0]]);
    assert_eq!(action, [[1.0]]);
}

fn plane_image(policy: &HostPolicy) -> AlignedBytes {
    let draw = &mut Draw::new(21);
    let ensemble = fixture::ensemble(draw, 2, Activation::Tanh);
    let uncertainty = fixture::uncertainty(draw, &ensemble);
    let effort = Effort {
        trajectories: 12,
        searched: 12,
        iterations: 6,
        seed: 5,
        allocation: Allocation::Even,
    };
    let model = encode_ensemble(&ensemble, &uncertainty).unwrap();
    let policy = encode_policy(policy).unwrap();
    AlignedBytes::new(&encode_image(&model, &plane(), effort, &[], &policy).unwrap())
}

const FEEDBACK: &str = "kind = \"linear\"\ngain = [[-0.6, 0.2], [0.1, -0.4]]\nbias = [0.05, -0.1]";

/// [`FEEDBACK`] in plain Rust.
struct Own;

impl Controller<2, 2> for Own {
    fn action(&self, state: &SVector<f32, 2>) -> SVector<f32, 2> {
        SVector::from([
            0.05 - 0.6 * state.x + 0.2 * state.y,
            -0.1 + 0.1 * state.x - 0.4 * state.y,
        ])
    }
}

/// Stated: the two bounds agree to 1e-3 of their size. (The search follows
/// signs of derivatives, which rounding may turn where they are near 0.)
#[test]
fn an_own_controller_gets_the_bound_of_the_stored_policy() {
    let bytes = plane_image(&parse(FEEDBACK, &plane()));
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let stored = check::<4>(&image, Watch::NONE).unwrap().outcome;

    let own = LaneByLane::new(Own);
    let needed = Buffers::<4>::rows_needed(&image.model().dynamics, image.task(), &own).unwrap();
    let mut rows = vec![[0.0; 4]; needed];
    let mut check = Check::with_policy(&image, &own, &mut rows).unwrap();
    let own: Outcome = loop {
        if let Progress::Finished(outcome) = check.advance(100) {
            break outcome;
        }
    };
    // The adversary bites, so that its search is part of what agrees.
    assert!(stored.estimates[1].mean < stored.neutral - 0.1);
    for (a, b) in [
        (stored.bound, own.bound),
        (stored.neutral, own.neutral),
        (stored.estimates[1].mean, own.estimates[1].mean),
    ] {
        assert!((a - b).abs() < 1e-3 * a.abs(), "{a} {b}");
    }
}

/// Has no second action where the first state is not positive.
fn forgetful(state: &SVector<f32, 32>) -> SVector<f32, 2> {
    let (x, y) = (state[0], state[1]);
    let second = if x > 0.0 { y * x } else { f32::NAN };
    SVector::from([x * x, second])
}

#[test]
fn own_controllers_have_lanes_and_derivatives() {
    let policy = LaneByLane::new(forgetful);
    let mut state = vec![[0.0; 3]; 32];
    (state[0], state[1]) = ([3.0, -3.0, 300.0], [-2.0, 5.0, 0.5]);
    let (action, gradient) = rows(&policy, &state, &[], &[[1.0; 3], [10.0; 3]]);
    assert_eq!(action[0], [9.0, 9.0, 90_000.0]);
    assert_eq!((action[1][0], action[1][2]), (-6.0, 150.0));
    assert!(action[1][1].is_nan());
    // 2 s0 + 10 s1 and 10 s0; what is not finite adds nothing.
    for (found, expected) in gradient[0].iter().zip([-14.0, -6.0, 605.0]) {
        assert!((found - 0.5 - expected).abs() < 1e-3 * expected.abs());
    }
    for (found, expected) in gradient[1].iter().zip([30.0, 0.0, 3000.0]) {
        assert!((found - 0.5 - expected).abs() <= 1e-3 * expected.abs());
    }
    assert_eq!(gradient[31], [0.5; 3]);

    let lanes = [32, 1, 2].map(|count| normals::<32>(&mut Draw::new(8), count));
    let one = bits_in_lanes::<1>(&policy, &lanes);
    assert_eq!(one, bits_in_lanes::<4>(&policy, &lanes));
    assert_eq!(one, bits_in_lanes::<32>(&policy, &lanes));

    // A model of other dimensions gets no action at all.
    let mut action = [[0.0; 3]; 2];
    let whole = Slices::default();
    policy.act(
        PolicyInputs::new(&state[..31], &mut [], &whole),
        &mut action,
    );
    assert!(action.as_flattened().iter().all(|x| x.is_nan()));
}

/// From one initial state on the mean model, chance is the controller's alone.
#[test]
fn a_gaussian_policy_spreads_the_returns() {
    let returns = |text: &str| {
        let bytes = plane_image(&parse(text, &plane()));
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let (model, task, policy) = (image.model(), image.task(), image.policy());
        let rollout = Rollout {
            model,
            policy,
            task,
            variant: Variant::Mean,
            objective: Objective::Return,
        };
        let needed = Buffers::<8>::rows_needed(&model.dynamics, task, policy).unwrap();
        let mut rows = vec![[0.0; 8]; needed];
        let mut buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy).unwrap();
        let streams = std::array::from_fn(|lane| Stream::new(5, lane as u32));
        rollout.start(&streams, &mut buffers);
        let returns = rollout.forward(&streams, &mut buffers);
        assert_eq!(returns.finite, [true; 8]);
        (
            returns.value,
            check::<8>(&image, Watch::NONE).unwrap().outcome,
        )
    };
    let (still, still_outcome) = returns(FEEDBACK);
    assert_eq!(still, [still[0]; 8]);
    let noisy = format!("{FEEDBACK}\nstd = [0.2, 0.3]");
    let (spread, outcome) = returns(&noisy);
    for (lane, value) in spread.iter().enumerate() {
        assert!(!spread[..lane].contains(value), "{spread:?}");
    }
    let (quiet, loud) = (still_outcome.neutral, outcome.neutral);
    assert!(
        loud.is_finite() && (loud - quiet).abs() > 1e-3,
        "{quiet} {loud}"
    );
    assert!(outcome.estimates[1].mean <= loud);
}
