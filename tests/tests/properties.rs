//! What must hold for every model, task and controller.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_check::parallel::{Watch, check};
use hambo_core::check::{Estimate, Outcome};
use hambo_core::image::Image;
use hambo_core::numeric::network::Activation;
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::TrainedEnsemble;
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{AlignedBytes, Uncertainty, encode_image, encode_policy};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw, REWARDS, VARIANTS};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rayon::prelude::*;

/// A small random case that can be changed before it is checked.
struct Case {
    ensemble: TrainedEnsemble,
    uncertainty: Uncertainty,
    task: TaskFile,
    policy: Vec<u8>,
    plan: CheckPlan,
}

impl Case {
    fn new(seed: u64, variants: &[Variant]) -> Self {
        let draw = &mut Draw::new(seed);
        let space = 1 + draw.below(2);
        let activations = [Activation::Relu, Activation::Tanh, Activation::Silu];
        let activation = activations[draw.below(3)];
        let ensemble = fixture::ensemble(draw, space, activation);
        let uncertainty = fixture::uncertainty(draw, &ensemble);
        let reward = REWARDS[draw.below(REWARDS.len())];
        let task = fixture::task(draw, space, reward).unwrap();
        let policy = encode_policy(&fixture::waypoints(draw, [space; 2]).unwrap()).unwrap();
        let effort = Effort {
            trajectories: 3,
            searched: 3,
            iterations: 16,
            seed,
            allocation: Allocation::Even,
        };
        Self {
            ensemble,
            uncertainty,
            task,
            policy,
            plan: CheckPlan::from(effort).with_variants(variants.iter().copied()),
        }
    }

    fn outcome(&self) -> Outcome {
        let model = encode_ensemble(&self.ensemble, &self.uncertainty).unwrap();
        let bytes = encode_image(&model, &self.task, self.plan.clone(), &[], &self.policy).unwrap();
        let bytes = AlignedBytes::new(&bytes);
        check::<16>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
            .unwrap()
            .outcome
    }
}

fn of(outcome: &Outcome, variant: Variant) -> Estimate {
    let found = outcome
        .estimates
        .iter()
        .find(|estimate| estimate.variant == variant && estimate.objective == Objective::Return);
    *found.unwrap()
}

/// What CA's search reached, on the trajectories that it was on.
fn searched(outcome: &Outcome) -> f32 {
    of(outcome, Variant::ContinuousAdversary).found.search
}

/// What a search may miss: a share of what the adversary moves, and rounding.
fn tolerance(neutral: f32, found: f32) -> f32 {
    0.02 * (neutral - found).abs() + 1e-4 * (1.0 + neutral.abs())
}

proptest! {
    // The seed is the case, so there is nothing to keep beside it; and the
    // same cases every time, so that what passes here passes elsewhere.
    // Another number gives other cases.
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn every_estimate_is_finite_and_ordered(seed in any::<u64>()) {
        let outcome = Case::new(seed, &VARIANTS).outcome();
        for estimate in &outcome.estimates {
            prop_assert!(estimate.mean.is_finite() && estimate.standard_error >= 0.0);
            let of_members = estimate.variant == Variant::DiscreteAdversaryInf;
            prop_assert!(of_members || estimate.mean <= estimate.sampled.mean);
            prop_assert!(estimate.lower <= estimate.mean);
        }
        prop_assert!(outcome.bound <= of(&outcome, Variant::ContinuousAdversary).lower);
    }

    #[test]
    fn the_adversaries_nest(seed in any::<u64>()) {
        let variants = [
            Variant::ContinuousAdversary,
            Variant::DiscreteAdversary1,
            Variant::DiscreteAdversaryInf,
        ];
        let outcome = Case::new(seed, &variants).outcome();
        let [ca, da1, dainf] = variants.map(|variant| of(&outcome, variant));
        prop_assert!(da1.mean <= dainf.mean && da1.lower <= dainf.lower);
        prop_assert!(ca.mean <= da1.mean && ca.lower <= da1.lower);
    }

    #[test]
    fn the_order_of_members_does_not_matter(seed in any::<u64>()) {
        let mut case = Case::new(seed, &[Variant::ContinuousAdversary]);
        case.plan.effort.iterations = 0;
        let before = case.outcome();
        case.ensemble.members.rotate_left(1);
        if !case.ensemble.priors.is_empty() {
            case.ensemble.priors.rotate_left(1);
        }
        let after = case.outcome();
        let change = (before.bound - after.bound).abs();
        // Beyond rounding a comparison in the reward may tip; that is rare
        // and no matter of the members' order.
        let smooth = !case.task.ops.iter().any(|op| op.is_condition());
        prop_assert!(!smooth || change <= 1e-3 * (1.0 + before.bound.abs()), "{change}");
    }

    /// The larger set holds the smaller one, so all that the adversary did
    /// there it can do here; the search must get there, if need be with more
    /// sweeps.
    #[test]
    fn a_larger_set_never_raises_the_bound(seed in any::<u64>(), rough in any::<bool>()) {
        let case = if rough { rough_case(seed) } else { smooth_case(seed) };
        let efforts = [1, 10, 100].map(|times| times * SWEEPS);
        let short = efforts_short_of_a_smaller_set(case, seed, &efforts);
        prop_assert!(short < efforts.len(), "not even with {} sweeps", 100 * SWEEPS);
    }

    #[test]
    fn a_longer_horizon_of_losses_never_raises_the_bound(seed in any::<u64>()) {
        let mut case = Case::new(seed, &[Variant::ContinuousAdversary]);
        let losses = fixture::task(&mut Draw::new(seed), case.task.state_names.len(), "-abs(next.s0) - s0^2");
        let losses = losses.unwrap();
        (case.task.ops, case.task.reward) = (losses.ops.clone(), losses.reward);
        (case.task.termination, case.task.constraints) = (None, Vec::new());
        case.plan.method.aleatoric_noise = false;
        case.plan.effort.iterations = 40;
        let short = case.outcome();
        case.task.horizon += 2;
        let long = case.outcome();
        let [short_ca, long_ca] = [&short, &long].map(searched);
        let allowed = short_ca + tolerance(short.neutral, short_ca);
        prop_assert!(long_ca <= allowed, "{short_ca} became {long_ca}");
    }
}

/// Rewards without steps and wraps.
const SMOOTH_REWARDS: [&str; 4] = [
    "-(s0^2) - 0.1 * a0^2",
    "tanh(s0 * a0) - exp(-(next.s0^2))",
    "sin(s0) * cos(a0) - sqrt(1 + next.s0^2)",
    "0.3 * next.s0 - log(1 + s0^2)",
];

/// A case with steps and wraps in the reward, a controller that switches and
/// trajectories that end: more valleys than a short search can visit.
fn rough_case(seed: u64) -> Case {
    Case::new(seed, &[Variant::ContinuousAdversary])
}

/// A case in which nothing jumps: neither the reward nor the controller, and
/// no trajectory ends early.
fn smooth_case(seed: u64) -> Case {
    let mut case = Case::new(seed, &[Variant::ContinuousAdversary]);
    let draw = &mut Draw::new(seed ^ 0x534D);
    let space = case.task.state_names.len();
    let reward = SMOOTH_REWARDS[draw.below(SMOOTH_REWARDS.len())];
    let task = fixture::task(&mut Draw::new(seed), space, reward).unwrap();
    (case.task.ops, case.task.reward) = (task.ops, task.reward);
    (case.task.termination, case.task.constraints) = (None, Vec::new());
    let gain: Vec<Vec<f32>> = (0..space)
        .map(|_| (0..space).map(|_| 0.5 * draw.normal()).collect())
        .collect();
    let bias = vec![0.0; space];
    let text = format!("kind = \"linear\"\ngain = {gain:?}\nbias = {bias:?}\n");
    let policy = HostPolicy::parse(&text, "random.toml", &case.task).unwrap();
    case.policy = encode_policy(&policy).unwrap();
    case
}

/// What the adversary finds in a set with [`SWEEPS`], and whether it finds as
/// much in a larger one, up to the tolerance, with the sweeps of each of
/// `efforts` in turn. Returns how many efforts fell short.
fn efforts_short_of_a_smaller_set(mut case: Case, seed: u64, efforts: &[u32]) -> usize {
    case.plan.method.aleatoric_noise = false;
    case.plan.effort.iterations = SWEEPS;
    let narrow = case.outcome();
    let narrow_ca = searched(&narrow);
    let allowed = narrow_ca + tolerance(narrow.neutral, narrow_ca);
    let factor = 1.0 + (seed % 20) as f32 / 10.0;
    if seed.is_multiple_of(2) {
        case.uncertainty.beta *= factor;
    } else {
        case.uncertainty.calibration_scale[0] *= factor;
    }
    let enough = efforts.iter().position(|effort| {
        case.plan.effort.iterations = *effort;
        searched(&case.outcome()) <= allowed
    });
    enough.unwrap_or(efforts.len())
}

/// Sweeps of a search, as many as a demo on the device does.
const SWEEPS: u32 = 40;

/// Cases of each kind; `HAMBO_PROPERTY_CASES=1000` for what docs/evidence.md tells.
fn cases() -> u64 {
    let wanted = std::env::var("HAMBO_PROPERTY_CASES").ok();
    wanted.map_or(300, |wanted| wanted.parse().unwrap())
}

/// A search with few sweeps may miss, so this is counted: how often does a
/// larger set leave the adversary with less for the same effort?
#[test]
fn a_larger_set_hardly_ever_raises_the_bound_for_the_same_effort() {
    let cases = cases();
    let raised = |make: fn(u64) -> Case| -> Vec<u64> {
        (0..cases)
            .into_par_iter()
            .filter(|seed| efforts_short_of_a_smaller_set(make(*seed), *seed, &[SWEEPS]) > 0)
            .collect()
    };
    let more = [10, 100].map(|times| times * SWEEPS);
    let still = |make: fn(u64) -> Case, seeds: &[u64]| {
        let seeds = seeds.par_iter();
        let short = |seed: &&u64| efforts_short_of_a_smaller_set(make(**seed), **seed, &more);
        seeds.filter(|seed| short(seed) == more.len()).count()
    };
    let (smooth, rough) = (raised(smooth_case), raised(rough_case));
    let still = still(smooth_case, &smooth) + still(rough_case, &rough);
    let (smooth, rough) = (smooth.len(), rough.len());
    println!(
        "raised in {smooth} of {cases} smooth cases and in {rough} of {cases} rough ones, with \
         more sweeps in {still}"
    );
    let at_most = |of_a_thousand: u64| (of_a_thousand * cases).div_ceil(1000) as usize;
    assert!(
        smooth <= at_most(5) && rough <= at_most(15),
        "{smooth} and {rough}"
    );
    assert_eq!(still, 0);
}
