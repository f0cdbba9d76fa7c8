//! A learned reward against a system whose true return is known, and that the
//! extra state, the return so far, changes nothing but the reward.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::network::Layer;
use hambo_base::observer::Unobserved;
use hambo_check::assumption::SetOrigin;
use hambo_check::case::Case;
use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::image::Image;
use hambo_core::image::container::Container;
use hambo_core::image::{Part, Problem, parse_model};
use hambo_core::model::Kernel;
use hambo_core::numeric::Slices;
use hambo_core::numeric::network::Activation;
use hambo_core::policy::Policy;
use hambo_core::policy::PolicyInputs;
use hambo_core::task::{Allocation, Effort};
use hambo_data::with_return_so_far;
use hambo_data::{Log, Transition};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, GaussianProcessOptions, ModelOptions, fit};
use hambo_learn::gaussian_process::SearchOptions;
use hambo_learn::near_path::JudgingRows;
use hambo_task::image::{Adversaries, AlignedBytes, decode_policy, encode_policy};
use hambo_task::policy::{ActionMap, HostPolicy, PerceptronPolicy, onnx};
use hambo_task::task::TaskFile;
use hambo_tests::fixture::Draw;

const STEPS: usize = 20;
const GAIN: [f32; 2] = [-0.8, -0.6];
const CONTROLLER: &str = "kind = 'linear'\ngain = [[-0.8, -0.6]]\nbias = [0]\n";
const COMPUTED: &str = "expr = '-(x^2) - 0.1 * u^2'";
const LEARNED: &str = "learned = true";

/// A cart that is paid for standing at 0, and its task.
fn task(reward: &str) -> TaskFile {
    let text = format!(
        "name = 'cart'\nhorizon = {STEPS}\n[state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\n\
         low = [-1]\nhigh = [1]\n[reward]\n{reward}\n[initial]\nkind = 'point'\nvalue = [1, 0]\n"
    );
    TaskFile::parse(&text, "cart.toml").unwrap()
}

fn step(state: [f32; 2], u: f32, draw: &mut Draw) -> ([f32; 2], f32) {
    let [x, v] = state;
    let next = [
        x + 0.1 * v + 0.005 * draw.normal(),
        0.9 * v + 0.3 * u + 0.01 * draw.normal(),
    ];
    let reward = -(x * x) - 0.1 * u * u + 0.01 * draw.normal();
    (next, reward)
}

fn act([x, v]: [f32; 2]) -> f32 {
    (GAIN[0] * x + GAIN[1] * v).clamp(-1.0, 1.0)
}

/// Episodes of the controller with much noise on its actions.
fn log(seed: u64, episodes: u32) -> Log {
    let draw = &mut Draw::new(seed);
    let mut log = Log::new(2, 1);
    for episode in 0..episodes {
        let mut state = [draw.between(-1.5, 1.5), draw.between(-1.0, 1.0)];
        for _ in 0..STEPS {
            let u = (act(state) + 0.5 * draw.normal()).clamp(-1.0, 1.0);
            let (next, reward) = step(state, u, draw);
            let row = Transition {
                state: &state,
                action: &[u],
                next_state: &next,
                reward,
                episode,
            };
            log.push(row).unwrap();
            state = next;
        }
    }
    log
}

/// The mean return of many episodes from the task's start.
fn true_return() -> f32 {
    let draw = &mut Draw::new(77);
    let episodes = 4000;
    let mut sum = 0.0;
    for _ in 0..episodes {
        let mut state = [1.0, 0.0];
        for _ in 0..STEPS {
            let (next, reward) = step(state, act(state), draw);
            sum += f64::from(reward);
            state = next;
        }
    }
    (sum / f64::from(episodes)) as f32
}

fn networks(seed: u64) -> ModelOptions {
    ModelOptions::Networks(EnsembleOptions {
        members: 4,
        activation: Activation::Tanh,
        hidden: vec![16, 16],
        steps: 1000,
        seed,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    })
}

fn processes(kernel: Kernel, seed: u64) -> ModelOptions {
    ModelOptions::GaussianProcess(GaussianProcessOptions {
        search: SearchOptions {
            kernel,
            starts: 1,
            seed,
            ..SearchOptions::default()
        },
        most_rows: 250,
        ..GaussianProcessOptions::default()
    })
}

/// The model's part.
fn model(task: &TaskFile, log: &Log, options: ModelOptions) -> Vec<u8> {
    let log = if task.learns_reward() {
        with_return_so_far(log).unwrap()
    } else {
        log.clone()
    };
    let options = FitOptions::new(options);
    let (file, _) = fit(task, &log, &options, &mut Unobserved).unwrap();
    file.model_part().to_vec()
}

/// The lower bound, and how far the neutral estimate lies from it.
fn bound(reward: &str, log: &Log, options: ModelOptions, seed: u64) -> (f32, f32) {
    let task = task(reward);
    let policy = HostPolicy::parse(CONTROLLER, "linear", &task).unwrap();
    let case = Case {
        model_part: model(&task, log, options),
        plan: Effort {
            trajectories: 100,
            searched: 8,
            iterations: 20,
            seed,
            allocation: Allocation::Even,
        }
        .into(),
        initial: Vec::new(),
        policy_part: encode_policy(&policy).unwrap(),
        set: SetOrigin::Networks,
        may_grow: false,
        judging_rows: JudgingRows::default(),
        near_path: None,
        task,
    };
    let bytes = case.image(&Adversaries::default()).unwrap();
    let outcome = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
        .unwrap()
        .outcome;
    let reasons = outcome.reasons.iter().map(|reason| format!("{reason:?}"));
    let reasons: Vec<String> = reasons.collect();
    // Nothing but the missing threshold speaks against the evidence: the
    // return so far does not count as a way out of the data.
    assert_eq!(reasons, ["NoThreshold"]);
    (outcome.bound, outcome.neutral)
}

fn check_bounds(name: &str, options: impl Fn(u64) -> ModelOptions) {
    let truth = true_return();
    let mut above = 0;
    for seed in 0..3 {
        let log = log(100 + seed, 60);
        let (learned, neutral) = bound(LEARNED, &log, options(seed), seed);
        let (computed, _) = bound(COMPUTED, &log, options(seed), seed);
        println!(
            "{name}, seed {seed}: true {truth:.3}, lower bound {learned:.3} with the reward \
             learned, {computed:.3} with it computed; learned and neutral {neutral:.3}"
        );
        above += usize::from(learned > truth);
        // One that fails may not fail by much: a fiftieth of the return.
        assert!(learned <= truth + 0.02 * truth.abs(), "{name}, seed {seed}");
        assert!((neutral - truth).abs() < 0.15 * truth.abs(), "{name}");
        // As much again as the dynamics cost, and the return: the random part of a network's
        // reward adds up over the steps, and the set is widened until it holds windows of them.
        let allowed = 3.0 * (truth - computed).max(0.0) + truth.abs();
        assert!(truth - learned <= allowed, "{name}, seed {seed}");
    }
    // With delta = 0.05 two or more of three would be a chance of 1 %.
    assert!(
        above <= 1,
        "{name}: {above} of 3 bounds lie above the truth"
    );
}

#[test]
fn networks_bound_the_true_return() {
    check_bounds("networks", networks);
}

#[test]
fn gaussian_processes_bound_the_true_return() {
    check_bounds("processes", |seed| processes(Kernel::Rbf, seed));
}

#[test]
fn no_model_sees_the_return_so_far() {
    let task = task(LEARNED);
    assert_eq!(task.model_view().features, ["x", "v"]);
    let log = log(5, 40);
    for options in [networks(1), processes(Kernel::Rbf, 1)] {
        let part = model(&task, &log, options);
        let bytes = AlignedBytes::new(&part);
        let part = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
        let dynamics = parse_model(&part).unwrap().dynamics;
        assert_eq!((dynamics.features(), dynamics.outputs()), (2, 3));
    }
}

/// A point in the plane that is moved by its actions.
fn plane(reward: &str) -> TaskFile {
    let text = format!(
        "name = 'plane'\nhorizon = 5\n[state]\nnames = ['x', 'y']\nlow = [-9, -9]\n\
         high = [9, 9]\n[action]\nnames = ['u', 'w']\nlow = [-1, -1]\nhigh = [1, 1]\n\
         [reward]\n{reward}\n[initial]\nkind = 'point'\nvalue = [-1, 0]\n"
    );
    TaskFile::parse(&text, "plane.toml").unwrap()
}

const WAYPOINTS: &str = "kind = 'waypoints'\nspeed = 0.5\n\
    legs = [{ target = [0, 1], while = 'x', below = 0 }, { target = [2, 0] }]";

/// What the controller of a policy part does, as bits.
fn action(part: &[u8], state: &[f32], noise: f32) -> Vec<u32> {
    let bytes = AlignedBytes::new(part);
    let policy = decode_policy(bytes.as_bytes()).unwrap();
    let mut scratch = vec![[0.0]; policy.scratch_rows().unwrap()];
    let mut action = vec![[f32::NAN]; policy.action_dimension()];
    let noise = vec![[noise]; action.len()];
    let rows: Vec<[f32; 1]> = state.iter().map(|x| [*x]).collect();
    let whole = Slices::default();
    let inputs = PolicyInputs {
        noise: &noise,
        ..PolicyInputs::new(&rows, &mut scratch, &whole)
    };
    policy.act(inputs, &mut action);
    action.into_iter().map(|[x]| x.to_bits()).collect()
}

fn perceptron(draw: &mut Draw) -> PerceptronPolicy {
    let mut layer = |inputs: usize, outputs: usize| Layer {
        inputs,
        outputs,
        weights: (0..inputs * outputs).map(|_| draw.normal()).collect(),
        bias: (0..outputs).map(|_| draw.normal()).collect(),
    };
    PerceptronPolicy {
        layers: vec![layer(2, 9), layer(9, 5), layer(5, 2)],
        activations: vec![Activation::Tanh; 2],
        observation_mean: vec![0.5, -0.25],
        observation_scale: vec![2.0, 0.3],
        actions: ActionMap::plain(2),
    }
}

#[test]
fn controllers_act_as_without_it() {
    let (plain, learned) = (plane("expr = '-x^2'"), plane(LEARNED));
    let draw = &mut Draw::new(3);
    let file = std::env::temp_dir().join(format!("hambo-learned-{}.onnx", std::process::id()));
    onnx::write(&file, &perceptron(draw), &[]).unwrap();
    let mut pairs: Vec<[HostPolicy; 2]> = [
        "kind = 'linear'\ngain = [[-0.3, 2], [0.1, -7]]\nbias = [0.5, -1]\nstd = [0.1, 0]",
        "kind = 'pd'\nposition = ['x', 'y']\nvelocity = ['y', 'x']\ntarget = [1, 2]\n\
         kp = [2, 3]\nkd = [0.1, 0.2]",
        "kind = 'constant'\nvalue = [0.25, 0.75]",
        WAYPOINTS,
    ]
    .map(|text| [&plain, &learned].map(|task| HostPolicy::parse(text, "p.toml", task).unwrap()))
    .into();
    pairs.push([&plain, &learned].map(|task| HostPolicy::read(&file, task).unwrap()));
    std::fs::remove_file(&file).unwrap();
    for [own, longer] in pairs {
        let (own, longer) = (
            encode_policy(&own).unwrap(),
            encode_policy(&longer).unwrap(),
        );
        for _ in 0..100 {
            let (x, y, noise) = (draw.normal(), draw.normal(), draw.normal());
            let expected = action(&own, &[x, y], noise);
            for value in [0.0, 1e6, -3.5] {
                assert_eq!(action(&longer, &[x, y, value], noise), expected);
            }
        }
    }
}

#[test]
fn an_image_takes_waypoints_of_the_first_states_and_nothing_else_of_fewer() {
    let draw = &mut Draw::new(8);
    let mut log = Log::new(2, 2);
    for episode in 0..20 {
        for _ in 0..10 {
            let state = [draw.between(-3.0, 3.0), draw.between(-3.0, 3.0)];
            let action = [draw.between(-1.0, 1.0), draw.between(-1.0, 1.0)];
            let row = Transition {
                state: &state,
                action: &action,
                next_state: &[state[0] + action[0], state[1] + action[1]],
                reward: -state[0].abs(),
                episode,
            };
            log.push(row).unwrap();
        }
    }
    let (plain, learned) = (plane("expr = '-abs(x)'"), plane(LEARNED));
    let options = ModelOptions::Networks(EnsembleOptions {
        members: 2,
        hidden: vec![8],
        steps: 100,
        ..EnsembleOptions::for_board("stm32f405").unwrap()
    });
    let mut case = Case {
        model_part: model(&learned, &log, options),
        plan: Effort {
            trajectories: 4,
            searched: 4,
            iterations: 5,
            seed: 0,
            allocation: Allocation::Even,
        }
        .into(),
        initial: Vec::new(),
        policy_part: Vec::new(),
        set: SetOrigin::Networks,
        may_grow: false,
        judging_rows: JudgingRows::default(),
        near_path: None,
        task: learned.clone(),
    };
    let policy = HostPolicy::parse(WAYPOINTS, "waypoints", &learned).unwrap();
    case.policy_part = encode_policy(&policy).unwrap();
    let bytes = case.image(&Adversaries::default()).unwrap();
    let outcome = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
        .unwrap()
        .outcome;
    assert!(outcome.bound.is_finite() && outcome.bound < outcome.neutral);

    // A gain for each of two states, and a model of three.
    let text = "kind = 'linear'\ngain = [[1, 0], [0, 1]]\nbias = [0, 0]";
    let policy = HostPolicy::parse(text, "linear", &plain).unwrap();
    case.policy_part = encode_policy(&policy).unwrap();
    let bytes = case.image(&Adversaries::default()).unwrap();
    let error = Image::parse(bytes.as_bytes()).unwrap_err();
    assert_eq!(
        (error.part, error.problem),
        (Part::Policy, Problem::Dimension)
    );
}
