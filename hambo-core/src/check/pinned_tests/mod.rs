//! Pinned results of a small system: checksums of whole checks, of every sweep
//! of a search, of trajectories and of derivatives.
//!
//! Arithmetic has the same bits on every machine, so a checksum changes only with a
//! deliberate change of the model, the rollout or the search. Whoever makes one
//! pins them again, and says in the commit why they moved. What a number should be
//! and why is tested elsewhere; these tests notice that something moved at all.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod fingerprint;
pub(super) mod plane;

use heapless::Vec;

use crate::adversary::{Level, Search, SearchResult, Starts};
use crate::check::advance::{Check, Progress};
use crate::check::outcome::Outcome;
use crate::gate::Reason;
use crate::image::Image;
use crate::numeric::random::Stream;
use crate::rollout::{Buffers, Feedback, Returns, Rollout};
use crate::task::{InitialKind, InitialState, Objective, Task, Variant};
use fingerprint::Fingerprint;
use plane::{HORIZON, MEMBERS, STATES};

const ALL: [Variant; 8] = [
    Variant::Mean,
    Variant::DistributionSampling,
    Variant::TrajectorySampling1,
    Variant::TrajectorySamplingInf,
    Variant::Penalised,
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];

const ADVERSARIES: [Variant; 3] = [
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];

/// A set that holds every member, and one that does not.
const WIDE: f32 = 1.5;
const NARROW: f32 = 0.8;

fn check(image: &Image<'_>) -> (Outcome, u32) {
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(image).unwrap()];
    let mut check = Check::new(image, &mut rows).unwrap();
    let Progress::Finished(outcome) = check.advance(u32::MAX) else {
        panic!("unfinished");
    };
    let mut print = Fingerprint::default();
    print.outcome(&outcome);
    let checksum = print.checksum();
    (outcome, checksum)
}

fn variants(task: &mut Task<'_>, variants: &[Variant]) {
    task.plan.method.variants = Vec::from_slice(variants).unwrap();
}

#[test]
fn a_check_of_every_variant() {
    let (outcome, checksum) = check(&plane::image(WIDE, |task| {
        variants(task, &ALL[1..]);
    }));
    assert_eq!(outcome.verdict.name(), "abstain");
    let outside = |reason: &Reason| matches!(reason, Reason::OutsideSupport(_));
    assert!(outcome.reasons.iter().any(outside));
    assert_eq!(outcome.estimates.len(), 16);
    assert_eq!(checksum, 0xE780_2CB7, "{outcome:?}");
}

#[test]
fn a_check_from_logged_starts_with_adversaries_from_elsewhere() {
    static STARTS: [f32; 12] = [
        0.3, 0.1, -0.4, 0.2, 2.9, -0.1, 0.3, 0.1, -1.5, 0.4, 0.9, -0.4,
    ];
    let (outcome, checksum) = check(&plane::image(NARROW, |task| {
        variants(task, &ADVERSARIES);
        plane::with_adversaries(task);
        task.initial = InitialState {
            kind: InitialKind::Logged,
            first: &STARTS,
            second: &[],
        };
        task.plan.effort.trajectories = 12;
        task.plan.effort.searched = 6;
    }));
    assert_eq!(checksum, 0x5973_5AC4, "{outcome:?}");
}

#[test]
fn a_check_without_noise_or_end() {
    let (outcome, checksum) = check(&plane::image(NARROW, |task| {
        variants(task, &ALL[1..]);
        task.plan.method.aleatoric_noise = false;
        task.plan.method.penalty = 0.7;
        task.termination = None;
        task.reward_bounds = Some([-3.0, 3.0]);
        task.constraint_bounds = [Some([0.2, 1.2])].into_iter().collect();
        task.initial = InitialState {
            kind: InitialKind::Gaussian,
            first: &[0.5, 0.0],
            second: &[0.5, 0.2],
        };
    }));
    assert_eq!(checksum, 0x667B_C621, "{outcome:?}");
}

/// Every sweep of the search of a level: what was walked, what is proposed next,
/// and what was found in the end.
fn sweeps(image: &Image<'_>, rollout: (Variant, Objective), level: Level) -> u32 {
    let (variant, objective) = rollout;
    let rollout = Rollout {
        model: image.model(),
        policy: image.policy(),
        task: image.task(),
        variant,
        objective,
    };
    let mut rows = vec![[0.0; 4]; Check::<4>::rows_needed(image).unwrap()];
    let dynamics = &image.model().dynamics;
    let mut print = Fingerprint::default();
    let starts = Starts::of(&rollout).count() as u32;
    for first in (0..level.trajectories(image.task()) * starts).step_by(4) {
        let mut buffers =
            Buffers::carve(&mut rows, dynamics, image.task(), image.policy()).unwrap();
        let mut search = Search::new(&rollout, level, [0, 1, 2, 3].map(|lane| first + lane));
        let (mut least, mut found) = ([f32::INFINITY; 4], [0; 4]);
        for sweep in 0.. {
            let done = search.sweep(&rollout, &mut buffers);
            print.numbers(buffers.states);
            print.numbers(buffers.eta);
            print.numbers(buffers.worst_eta);
            print.members(buffers.members.chosen);
            print.members(buffers.members.worst);
            print.members(buffers.members.proposed);
            print.numbers(buffers.members.gain);
            print.numbers(&[*search.least()]);
            for lane in 0..4 {
                if search.least()[lane] < least[lane] {
                    (least[lane], found[lane]) = (search.least()[lane], sweep);
                }
                print.count(found[lane]);
            }
            print.flags([buffers.smooth_end]);
            if done {
                break;
            }
        }
        for result in search.results() {
            result_numbers(&result, &mut print);
        }
    }
    print.checksum()
}

fn result_numbers(result: &SearchResult, print: &mut Fingerprint) {
    print.count(result.start as u32);
    print.numbers(&[[result.start_value, result.least]]);
    print.numbers(&[result.course]);
    print.count(result.outside);
    print.count(result.watched);
    print.flags([
        result.finite,
        result.within_bounds,
        result.width,
        result.failed,
    ]);
}

#[test]
fn every_sweep_of_the_searches() {
    let objectives = [Objective::Return, Objective::Constraint(0)];
    let image = plane::image(NARROW, |task| {
        variants(task, &ADVERSARIES);
        plane::with_adversaries(task);
    });
    let mut found = vec![];
    for variant in [Variant::ContinuousAdversary, Variant::DiscreteAdversary1] {
        for objective in objectives {
            found.push(sweeps(&image, (variant, objective), Level::Searched));
        }
    }
    for variant in ALL {
        found.push(sweeps(&image, (variant, Objective::Return), Level::Sampled));
    }
    assert_eq!(
        found,
        [
            0xA4A6_605E,
            0x510F_B947,
            0x5792_D62B,
            0xB2B4_BC8D,
            0xD5D9_DF80,
            0xE6FE_149F,
            0xD3F7_5EFF,
            0x3265_F846,
            0x5EE7_1E1A,
            0x25CA_DB95,
            0xC1D3_3377,
            0xE08A_9C85
        ]
    );
}

#[test]
fn every_sweep_of_the_searches_without_noise_or_end() {
    let image = plane::image(WIDE, |task| {
        variants(task, &ADVERSARIES);
        task.plan.method.aleatoric_noise = false;
        task.termination = None;
    });
    let adversaries = [Variant::ContinuousAdversary, Variant::DiscreteAdversary1];
    let found = adversaries.map(|variant| {
        let rollout = (variant, Objective::Return);
        sweeps(&image, rollout, Level::Searched)
    });
    assert_eq!(found, [0xB423_66D9, 0xBDA7_995F]);
}

fn returns_numbers<const B: usize>(returns: &Returns<B>, print: &mut Fingerprint) {
    print.numbers(&[returns.value, returns.smooth]);
    for count in returns.steps.iter().chain(&returns.outside) {
        print.count(*count);
    }
    for flags in [returns.finite, returns.within_bounds, returns.width] {
        print.flags(flags);
    }
}

/// A trajectory under each variant with choices at random, and back along it: the
/// checksums of what was walked, and of the derivatives or the members' gains.
fn walks(task: &Task<'_>, objective: Objective) -> std::vec::Vec<[u32; 2]> {
    let (model, policy) = (plane::model(WIDE), plane::policy());
    let streams = [0, 1, 2, 3].map(|trajectory| Stream::new(8, trajectory));
    let walk = |variant| {
        let rollout = Rollout {
            model: &model,
            policy: &policy,
            task,
            variant,
            objective,
        };
        let mut rows = vec![[0.0; 4]; 512];
        let mut buffers = Buffers::carve(&mut rows, &model.dynamics, task, &policy).unwrap();
        rollout.start(&streams, &mut buffers);
        let etas = plane::numbers(20, HORIZON as usize * STATES * 4);
        buffers.eta.as_flattened_mut().copy_from_slice(etas);
        let chosen = buffers.members.chosen.as_flattened_mut().iter_mut();
        for (place, chosen) in chosen.enumerate() {
            *chosen = (place % MEMBERS) as u16;
        }
        buffers.smooth_end = true;
        buffers.watch_support = [true, false, true, true];
        buffers.feedback[3] = Feedback::Member(2);
        let returns = rollout.forward(&streams, &mut buffers);
        let mut forward = Fingerprint::default();
        returns_numbers(&returns, &mut forward);
        forward.numbers(buffers.states);
        forward.numbers(buffers.eta);
        let mut back = Fingerprint::default();
        if variant == Variant::ContinuousAdversary {
            rollout.eta_gradient(&streams, &returns, 0.5, &mut buffers, |row| {
                back.count(row.step);
                back.numbers(&[row.derivative]);
            });
        }
        if variant == Variant::DiscreteAdversary1 {
            let lanes = [true, true, false, true];
            rollout.member_gains(&streams, &returns, 0.5, &lanes, &mut buffers);
            back.members(buffers.members.proposed);
            back.numbers(buffers.members.gain);
        }
        [forward.checksum(), back.checksum()]
    };
    ALL.into_iter().map(walk).collect()
}

#[test]
fn trajectories_and_their_derivatives() {
    let task = plane::task(|task| {
        variants(task, &ADVERSARIES);
        task.reward_bounds = Some([-1.0, 1.0]);
        task.constraint_bounds = [Some([0.5, 1.2])].into_iter().collect();
    });
    let returns = walks(&task, Objective::Return);
    assert_eq!(
        returns,
        [
            [0x93C0_C4F9, 0],
            [0x5CCA_53CE, 0],
            [0xA440_7E69, 0],
            [0xD4D3_2B43, 0],
            [0xF08C_6B64, 0],
            [0xDABA_BEC5, 0xA8E3_BEDF],
            [0x7C73_6A85, 0xB15D_F3B4],
            [0x7C73_6A85, 0]
        ]
    );
    let constraints = walks(&task, Objective::Constraint(0));
    assert_eq!(
        constraints,
        [
            [0x139F_FD7C, 0],
            [0x7C6C_7160, 0],
            [0xB4D8_99CA, 0],
            [0x434C_BF51, 0],
            [0xB4D8_99CA, 0],
            [0x78E5_8CA1, 0xD4B8_27EF],
            [0xEAA4_D7C6, 0x931E_F4D1],
            [0xEAA4_D7C6, 0]
        ]
    );
}

#[test]
fn trajectories_and_their_derivatives_without_noise() {
    let task = plane::task(|task| {
        variants(task, &ADVERSARIES);
        task.plan.method.aleatoric_noise = false;
        task.termination = None;
    });
    assert_eq!(
        walks(&task, Objective::Return),
        [
            [0xD183_CDEE, 0],
            [0xB89A_F66B, 0],
            [0xC314_6BE7, 0],
            [0x6E20_474F, 0],
            [0x373F_F401, 0],
            [0x26DF_BD9E, 0x0959_A155],
            [0x265C_95B0, 0x842C_2DD7],
            [0x265C_95B0, 0]
        ]
    );
}
