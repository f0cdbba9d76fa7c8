//! The robot of the examples: a point on a line that its controller pulls to
//! the origin, and a model of it whose two members disagree.
//!
//! The members say s′ = s + a + 0.1 and s′ = s + a − 0.1, so mu = a and
//! sigma_e = 0.1 for the difference s′ − s. From s_0 = 1 the controller
//! a = −s / 2 halves the state at each of four steps, and the reward is −s²:
//!
//! - the mean gives −1 − 1/4 − 1/16 − 1/64 = −1.328;
//! - the worst choice inside the set pushes by 0.1 away from the origin at
//!   every step, through 1, 0.6, 0.4 and 0.3, and gives −1.61.
//!
//! Nothing but examples and tests uses this module, and a linker leaves it out.

use heapless::Vec;

use crate::floor::{Floor, FloorManifest, question};
use crate::image::{Bundle, Image, Name};
use crate::model::{
    Calibration, ConfidenceSet, Ensemble, Model, Noise, Standardisation, StatisticalModel, Support,
    nested_beta,
};
use crate::numeric::dense::TILE;
use crate::numeric::network::{Activation, NetworkShape};
use crate::policy::{ActionMap, Linear, StoredPolicy};
use crate::task::expression::{Op, Program, Variable};
use crate::task::{
    Allocation, Constraint, DistributionFree, Effort, InitialKind, InitialState, Limits, Method,
    Physics, Plan, Task, Wraps,
};

/// Two members of one layer each: biases, then the weights of s and of a. The
/// outputs are the mean and the raw standard deviation.
const MEMBERS: [[f32; TILE]; 6] = [
    [0.1, -20.0, 0.0, 0.0],
    [0.0; TILE],
    [1.0, 0.0, 0.0, 0.0],
    [-0.1, -20.0, 0.0, 0.0],
    [0.0; TILE],
    [1.0, 0.0, 0.0, 0.0],
];

/// The bias and the gain of the controller.
const GAIN: [[f32; TILE]; 2] = [[0.0; TILE], [-0.5, 0.0, 0.0, 0.0]];

/// Physical units: one input each for state and action, one output.
pub(crate) const UNITS: Standardisation<'static> = Standardisation {
    input_mean: &[0.0, 0.0],
    input_scale: &[1.0, 1.0],
    output_mean: &[0.0],
    output_scale: &[1.0],
    noise_scale: &[1.0],
};

/// The model, with the smallest confidence set that holds both members.
///
/// # Errors
/// Never; the sizes fit together.
pub fn model() -> Result<Model<'static>, &'static str> {
    let network = NetworkShape::new(2, &[], 2, Activation::Relu).map_err(|_| "network")?;
    let ensemble = Ensemble::new(network, 1, (1e-3, 1.0), UNITS, &MEMBERS);
    let ensemble = ensemble.map_err(|_| "ensemble")?;
    Ok(Model {
        dynamics: StatisticalModel::Ensemble(ensemble).into(),
        confidence: ConfidenceSet {
            beta: nested_beta(2, &[1.0]),
            calibration_scale: &[1.0],
            calibration: Calibration::Passed,
            tested_steps: 100,
        },
        noise: Noise::WHITE,
        support: Support {
            centre: &[0.0, 0.0],
            scale: &[1.0, 1.0],
            whitening: &[1.0, 0.0, 1.0],
            rows: &[0.0, 0.0],
            limit: 2.0,
            gaps: &[],
            exit_rate: 0.0,
        },
    })
}

/// The task: four steps from s = 1, the reward −s², the constraint 2 − |s|,
/// and a threshold of −2. The robot's own noise is switched off.
///
/// # Errors
/// Never; the program is sound.
pub fn task() -> Result<Task<'static>, &'static str> {
    let ops = [
        Op::Variable(Variable::State(0)),
        Op::Multiply(0, 0),
        Op::Negate(1),
        Op::Constant(2.0),
        Op::Absolute(0),
        Op::Subtract(3, 4),
    ];
    Ok(Task {
        horizon: 4,
        discount: 1.0,
        delta: 0.1,
        threshold: Some(-2.0),
        distribution_free: DistributionFree::Shares,
        reward_bounds: None,
        return_bounds: None,
        constraint_bounds: Vec::new(),
        wraps: Wraps::NONE,
        physics: Physics::learned_alone(1),
        state_limits: Limits {
            low: &[-5.0],
            high: &[5.0],
        },
        action_limits: Limits {
            low: &[-1.0],
            high: &[1.0],
        },
        initial: InitialState {
            kind: InitialKind::Point,
            first: &[1.0],
            second: &[],
        },
        program: Program::new(&ops, 1, 1).map_err(|_| "program")?,
        reward: 2,
        termination: None,
        power_off: None,
        constraints: Vec::from_slice(&[Constraint::mean(5)]).map_err(|_| "constraints")?,
        plan: Plan::new(
            Effort {
                trajectories: 2,
                searched: 2,
                iterations: 8,
                seed: 0,
                allocation: Allocation::Even,
            },
            Method {
                aleatoric_noise: false,
                ..Method::default()
            },
        ),
    })
}

/// The controller a = −s / 2.
///
/// ```
/// use hambo_core::numeric::Slices;
/// use hambo_core::policy::{Policy, PolicyInputs};
/// let policy = hambo_core::example::policy()?;
/// let mut action = [[0.0]];
/// let (mut scratch, slices) = ([[0.0]; 16], Slices::default());
/// policy.act(PolicyInputs::new(&[[1.0]], &mut scratch, &slices), &mut action);
/// assert_eq!(action, [[-0.5]]);
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
/// Never; the sizes fit together.
pub fn policy() -> Result<StoredPolicy<'static>, &'static str> {
    let actions = ActionMap::deterministic(&[1.0], &[0.0]);
    let policy = Linear::new(&GAIN, 1, actions).map_err(|_| "policy")?;
    Ok(StoredPolicy::Linear(policy))
}

/// All three, as [`Image::parse`] would give them.
///
/// # Errors
/// Never; the parts fit together.
pub fn image() -> Result<Image<'static>, &'static str> {
    image_with(|_| {})
}

/// The image with a task that `change` has changed.
///
/// ```
/// let image = hambo_core::example::image_with(|task| task.threshold = None)?;
/// assert_eq!(image.task().threshold, None);
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
/// Never; the parts fit together.
pub fn image_with(change: impl FnOnce(&mut Task<'static>)) -> Result<Image<'static>, &'static str> {
    let mut task = task()?;
    change(&mut task);
    Ok(Image::of(model()?, task, policy()?))
}

/// Image and monitor, as [`Bundle::parse`] would give them. Period: 0.05 s.
///
/// # Errors
/// Never; the parts fit together.
pub fn bundle() -> Result<Bundle<'static>, &'static str> {
    bundle_with(None, |_| {})
}

/// The bundle with a fallback, and a task that `change` has changed.
///
/// ```
/// use hambo_core::example;
/// let bundle = example::bundle_with(Some(example::policy()?), |_| {})?;
/// assert!(bundle.fallback().is_some());
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
/// Never; the parts fit together.
pub fn bundle_with(
    fallback: Option<StoredPolicy<'static>>,
    change: impl FnOnce(&mut Task<'static>),
) -> Result<Bundle<'static>, &'static str> {
    Ok(Bundle::of(image_with(change)?, fallback))
}

/// A floor that asks the question of a bundle and nothing more of it than the example has; it
/// knows no transitions.
///
/// ```
/// use hambo_core::{Shortfall, example};
/// let floor = example::floor(&example::bundle()?)?;
/// let lax = example::bundle_with(None, |task| task.threshold = Some(-3.0))?;
/// assert_eq!(floor.admit(&lax, &mut []).err(), Some(Shortfall::Threshold));
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
/// Never; the question is small.
pub fn floor(bundle: &Bundle<'_>) -> Result<Floor<'static>, &'static str> {
    let asked = bundle.image().task();
    let own = task()?;
    Ok(Floor::of_manifest(FloorManifest {
        board: Name::new(),
        robot: Name::new(),
        counter: 0,
        period: None,
        states: asked.state_dimension() as u16,
        actions: asked.action_limits.low.len() as u16,
        threshold: own.threshold,
        delta: own.delta,
        horizon: asked.horizon,
        beta: 0.0,
        trajectories: 1,
        searched: 1,
        sweeps: 1,
        allocation: Allocation::Focused,
        distribution_free: DistributionFree::Nothing,
        noise: false,
        fallback: false,
        calibration: true,
        continuous_adversary: true,
        question: question(asked).ok_or("question")?,
        constraints: Vec::new(),
        monitor: None,
        noise_width: 2.8,
        noise_limits: 0,
        transitions: 0,
    }))
}
