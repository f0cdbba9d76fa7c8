//! From a tally to a code word: evaluated from each copy of the tally by itself.

use heapless::Vec;

use super::estimate::{Adversary, Estimate};
use super::limits::{FEWEST_STARTS, MAX_ESTIMATES, MOST_OUTSIDE};
use super::tally::{Note, Tally};
use crate::adversary::searches;
use crate::gate::{Claim, Reason, Reasons, decide};
use crate::model::Model;
use crate::numeric::elementary::exp;
use crate::numeric::redundant::Side;
use crate::task::{Constraint, InitialKind, Objective, Task, Variant};

/// The objectives and variants that a check estimates, in its order.
pub(super) fn planned<'t>(
    task: &'t Task<'_>,
) -> impl Iterator<Item = (Objective, Variant)> + use<'t> {
    task.objectives().flat_map(move |objective| {
        let others = task.plan.method.variants.iter().copied();
        let others = others.filter(|variant| *variant != Variant::Mean);
        let variants = core::iter::once(Variant::Mean).chain(others);
        variants.map(move |variant| (objective, variant))
    })
}

/// Of an estimate, what decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decisive {
    pub objective: Objective,
    pub variant: Variant,
    pub adversary: Adversary,
    pub mean: f32,
    pub lower: f32,
}

impl Decisive {
    pub fn of(estimate: &Estimate) -> Self {
        Self {
            objective: estimate.objective,
            variant: estimate.variant,
            adversary: estimate.adversary,
            mean: estimate.mean,
            lower: estimate.lower,
        }
    }
}

/// Whether an estimate of this variant decides.
pub(super) fn decides(task: &Task<'_>, variant: Variant) -> bool {
    variant.has_adversary() && task.plan.method.variants.contains(&variant)
}

/// The code word of one copy of the tally under a task, and why it is not deploy.
#[inline(never)]
pub(super) fn judge(
    tally: &Tally,
    side: Side,
    model: &Model<'_>,
    task: &Task<'_>,
) -> (u32, Reasons) {
    let mut all: Vec<Decisive, MAX_ESTIMATES> = Vec::new();
    for (place, (objective, variant)) in planned(task).enumerate() {
        let Some([mean, lower]) = tally.estimate(place, side) else {
            break;
        };
        let decisive = Decisive {
            objective,
            variant,
            adversary: Adversary::None,
            mean,
            lower,
        };
        // As many places as a tally has.
        let _ = all.push(decisive);
    }
    nest(&mut all, holds_members(model));
    let claims = all.iter().filter(|one| decides(task, one.variant));
    let claims = claims.map(|one| {
        let (threshold, failure) = match one.objective {
            Objective::Return => (task.threshold, Reason::ReturnBelowThreshold),
            Objective::Constraint(place) => {
                let constraint = task.constraint(one.objective);
                let threshold = constraint.map_or(f32::INFINITY, Constraint::threshold);
                (Some(threshold), Reason::ConstraintViolated(place))
            }
        };
        Claim {
            mean: one.mean,
            lower: one.lower,
            threshold,
            failure,
        }
    });
    decide(&unfit(tally, side, model, task), claims)
}

/// What makes the evidence unfit for a verdict.
fn unfit(tally: &Tally, side: Side, model: &Model<'_>, task: &Task<'_>) -> Reasons {
    let mut unfit = Reasons::new();
    let mut add = |applies: bool, reason: Reason| {
        if applies {
            // There are fewer of these than places.
            let _ = unfit.push(reason);
        }
    };
    add(
        tally.has(Note::Corrupted, side) || !tally.agrees(),
        Reason::Corrupted,
    );
    if task.initial.kind == InitialKind::Logged {
        let distinct = task.initial.distinct(task.state_dimension());
        add(distinct < FEWEST_STARTS, Reason::FewStarts(distinct as u8));
    }
    add(tally.has(Note::NotFinite, side), Reason::NotFinite);
    add(tally.has(Note::SearchFailed, side), Reason::SearchFailed);
    add(
        tally.has(Note::OutsideRewardBounds, side),
        Reason::OutsideRewardBounds,
    );
    let calibration = model.confidence.calibration;
    add(
        !calibration.serves(task.horizon),
        Reason::NotCalibrated(calibration),
    );
    let tested = model.confidence.tested_steps;
    // Where the calibration says that there is no telling, it says why.
    add(
        calibration.serves(task.horizon) && !model.confidence.is_tested_for(task.horizon),
        Reason::UntestedHorizon(tested),
    );
    if tally.steps(side) > task.plan.method.step_limit {
        add(true, Reason::OverBudget);
    } else if tally.count(side) != planned(task).count() {
        add(true, Reason::Unfinished);
    } else {
        add(!tally.has(Note::Width, side), Reason::NoWidth);
    }
    let outside = tally.percent_outside(side);
    add(outside > MOST_OUTSIDE, Reason::OutsideSupport(outside));
    let far = tally.percent_of_far_paths(side);
    add(
        far > most_far_paths(model, task),
        Reason::TrajectoriesOutside(far),
    );
    add(task.plan.refused_by_host, Reason::RefusedByHost);
    let variants = &task.plan.method.variants;
    add(
        !variants.iter().any(|variant| variant.has_adversary()),
        Reason::NoAdversary,
    );
    let mut objectives = task.objectives();
    let unbounded = objectives
        .find(|objective| task.is_distribution_free(*objective) && !task.is_bounded(*objective));
    let number = unbounded.and_then(|objective| task.objective_number(objective));
    add(number.is_some(), Reason::Unbounded(number.unwrap_or(0)));
    let idle = task.plan.effort.iterations == 0 || task.plan.effort.searched < 2;
    add(
        idle && variants.iter().copied().any(searches),
        Reason::NoSearch,
    );
    unfit
}

/// The largest share of trajectories with a step far outside the data's support, in per cent,
/// rounded down: [`MOST_OUTSIDE`], and what the log's own windows show over as many steps. The
/// share of any such step grows with the horizon by itself.
pub(super) fn most_far_paths(model: &Model<'_>, task: &Task<'_>) -> u8 {
    let steps = model.support.exit_rate * task.horizon as f32;
    let own = 100.0 * (1.0 - exp(-steps));
    // A cast of a NaN is 0.
    let own = own as u8;
    MOST_OUTSIDE.saturating_add(own).min(100)
}

/// Whether the adversary's set holds every member.
pub(super) fn holds_members(model: &Model<'_>) -> bool {
    let members = model.dynamics.members();
    members > 0 && model.confidence.holds_every_member(members)
}

/// What DAinf finds, DA1 could have done; and a set that holds every member
/// could have followed any of them, so CA could have done both. Where the
/// search missed that, their finding counts: CA <= DA1 <= DAinf, in the means
/// and in the bounds.
pub(super) fn nest(estimates: &mut [Decisive], holds_members: bool) {
    for index in 0..estimates.len() {
        let Some(found) = estimates.get(index).copied() else {
            return;
        };
        if !matches!(
            found.variant,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf
        ) {
            continue;
        }
        let same = |estimate: &&mut Decisive| {
            let could_have = match estimate.variant {
                Variant::ContinuousAdversary => holds_members,
                Variant::DiscreteAdversary1 => true,
                _ => false,
            };
            could_have && estimate.objective == found.objective
        };
        for estimate in estimates.iter_mut().filter(same) {
            if found.mean < estimate.mean {
                estimate.mean = found.mean;
                estimate.adversary = found.adversary;
            }
            if found.lower < estimate.lower {
                estimate.lower = found.lower;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::code_words::{ABSTAIN, DEPLOY, REJECT};

    /// The example's task: the return and a constraint, each under mean propagation and CA.
    fn tally(estimates: [[f32; 2]; 4], twins: [[f32; 2]; 4]) -> Tally {
        let mut tally = Tally::new(0);
        for (estimate, twin) in estimates.into_iter().zip(twins) {
            tally.add_estimate(estimate, twin);
        }
        tally.note(Note::Width);
        tally
    }

    fn judged(tally: &Tally) -> [u32; 2] {
        let model = crate::example::model().unwrap();
        let task = crate::example::task().unwrap();
        [Side::Plain, Side::Complement].map(|side| judge(tally, side, &model, &task).0)
    }

    #[test]
    fn a_flipped_sign_in_either_copy_is_no_deploy() {
        let good = [[-1.0, -1.0], [-1.6, -1.6], [1.0, 1.0], [0.5, 0.5]];
        let bad = [[-1.0, -1.0], [-628.0, -628.0], [1.0, 1.0], [0.5, 0.5]];
        let flipped = [[-1.0, -1.0], [628.0, 628.0], [1.0, 1.0], [0.5, 0.5]];
        assert_eq!(judged(&tally(good, good)), [DEPLOY; 2]);
        assert_eq!(judged(&tally(bad, bad)), [REJECT; 2]);
        // The copies disagree: neither deploys, whichever it is.
        assert_eq!(judged(&tally(flipped, bad)), [ABSTAIN; 2]);
        assert_eq!(judged(&tally(bad, flipped)), [ABSTAIN; 2]);
    }

    #[test]
    fn a_missing_estimate_or_note_is_no_deploy() {
        let good = [[-1.0, -1.0], [-1.6, -1.6], [1.0, 1.0], [0.5, 0.5]];
        let mut short = Tally::new(0);
        short.add_estimate(good[0], good[0]);
        short.note(Note::Width);
        assert_eq!(judged(&short), [ABSTAIN; 2]);
        for note in [
            Note::NotFinite,
            Note::SearchFailed,
            Note::OutsideRewardBounds,
            Note::Corrupted,
        ] {
            let mut noted = tally(good, good);
            noted.note(note);
            assert_eq!(judged(&noted), [ABSTAIN; 2], "{note:?}");
        }
    }
}
