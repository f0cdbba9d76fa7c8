//! How many trajectories a check takes by itself where only a wide range of the return stands
//! between Student's t and a margin without assumptions: counted in trajectories and in steps of
//! the model, not in seconds.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::observer::Unobserved;
use hambo_check::adversary::{AdversarialCheck, check_against_adversaries};
use hambo_check::assumption::SetOrigin;
use hambo_check::case::Case;
use hambo_core::estimate::Margin;
use hambo_core::numeric::network::Activation;
use hambo_core::task::{Allocation, Effort};
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::encode_policy;
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw};

/// The sampled trajectories of a check that nothing makes grow.
const ASKED: u32 = 4000;

/// A task of two states whose reward telescopes the margin 1 - |x| at the end: its bounds add up
/// over the steps, and the return does not.
fn check(horizon: u32) -> AdversarialCheck {
    let draw = &mut Draw::new(7);
    let ensemble = fixture::ensemble(draw, 2, Activation::Tanh);
    let uncertainty = fixture::uncertainty(draw, &ensemble);
    let text = format!(
        "name = 'telescope'\nhorizon = {horizon}\ndelta = 0.1\n[state]\nnames = ['x', 'v']\n\
         low = [-1.2, -1.2]\nhigh = [1.2, 1.2]\n[action]\nnames = ['u', 'w']\nlow = [-1, -1]\n\
         high = [1, 1]\n[reward]\nexpr = 'abs(x) - abs(next.x) + 0.02'\n\
         [initial]\nkind = 'uniform'\nlow = [0.4, -0.5]\nhigh = [1, 0.5]\n"
    );
    let task = TaskFile::parse(&text, "telescope.toml").unwrap();
    let idle = HostPolicy::parse("kind = \"constant\"\nvalue = [0, 0]", "idle", &task).unwrap();
    let case = Case {
        model_part: encode_ensemble(&ensemble, &uncertainty).unwrap(),
        plan: CheckPlan::from(Effort {
            trajectories: ASKED,
            searched: 4,
            iterations: 8,
            seed: 1,
            allocation: Allocation::Even,
        }),
        initial: Vec::new(),
        policy_part: encode_policy(&idle).unwrap(),
        set: SetOrigin::Networks,
        may_grow: true,
        judging_rows: hambo_learn::near_path::JudgingRows::default(),
        near_path: None,
        task,
    };
    case.parsed(|case| check_against_adversaries(&case, None, &mut Unobserved))
        .unwrap()
}

fn margin(check: &AdversarialCheck) -> Margin {
    check.outcome.estimates[1].margin
}

#[test]
fn a_wide_range_alone_does_not_multiply_the_work() {
    let long = check(35);
    assert_eq!(long.effort.trajectories, ASKED);
    assert_eq!(margin(&long), Margin::StudentT);
    assert!(long.model_steps < 5_000_000, "{}", long.model_steps);
    // A step or two cost little, and need fewer.
    let short = check(2);
    assert!(short.effort.trajectories > ASKED, "{:?}", short.effort);
    assert_eq!(margin(&short), Margin::Betting);
    assert!(short.model_steps < 5_000_000, "{}", short.model_steps);
}
