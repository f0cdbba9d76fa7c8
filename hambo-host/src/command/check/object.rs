//! A finished check for programs.

use crate::check::adversary::Contest;
use crate::check::case::Case;
use crate::present::report::{Reach, Story};
use hambo_core::rollout::Objective;
use hambo_core::verdict::Reason;
use serde_json::{Value, json};

use super::{CheckArguments, record, words};

impl CheckArguments {
    /// One object for programs.
    pub(super) fn object(&self, case: &Case, contest: &Contest, story: Option<&Story>) -> Value {
        let (task, outcome) = (&case.task, &contest.outcome);
        let of_return = outcome.estimates.iter();
        let of_return = of_return.filter(|estimate| estimate.objective == Objective::Return);
        let deciding = record::deciding(task, outcome);
        let constraints = record::constraints(task, outcome).into_iter();
        let constraints = constraints
            .map(|(name, lower)| json!({ "name": name, "lower": lower, "ok": lower >= 0.0 }));
        let reasons = outcome
            .reasons
            .iter()
            .filter(|reason| **reason != Reason::NoThreshold);
        json!({
            "task": task.name,
            "policy": self.case.policy,
            "model": self.model,
            "delta": task.delta,
            "horizon": task.horizon,
            "trajectories": self.case.trajectories,
            "sweeps": case.effort.iterations,
            "effort": self.effort().name(),
            "seed": self.case.seed,
            "estimates": of_return.map(|estimate| json!({
                "variant": words::variant(estimate.variant),
                "adversary": words::adversary(estimate.adversary),
                "constant": estimate.start_mean,
                "search": estimate.search_mean,
                "network": estimate.network_mean,
                "mean": estimate.mean,
                "std_error": estimate.standard_error,
                "lower": estimate.lower,
            })).collect::<Vec<_>>(),
            "adversaries": contest.contenders.iter().map(|one| json!({
                "variant": words::variant(one.variant),
                "name": one.name,
                "mean": one.mean,
                "model_steps": one.model_steps,
                "gradient_steps": one.gradient_steps,
                "seconds": one.time.as_secs_f64(),
            })).collect::<Vec<_>>(),
            "loss": story.map(loss),
            "support": story.map(support),
            "constraints": constraints.collect::<Vec<_>>(),
            "bound": outcome.bound,
            "bound_bits": format!("{:08x}", outcome.bound.to_bits()),
            "bound_variant": deciding.map(|estimate| words::variant(estimate.variant)),
            "threshold": outcome.threshold,
            "verdict": outcome.threshold.map(|_| outcome.verdict.name()),
            "reasons": reasons.map(|reason| words::why(task, outcome, *reason)).collect::<Vec<_>>(),
        })
    }
}

/// Where in state space and at which step the adversary won. Steps and
/// trajectories count from 0.
fn loss(story: &Story) -> Value {
    json!({
        "variant": story.variant,
        "trajectories": story.trajectories,
        "total": story.total_loss(),
        "half_by_step": story.half_loss_step(),
        "worst_step": story.worst_step(),
        "by_step": story.loss,
        "places": story.places,
    })
}

/// How far the trajectories leave the box around the log, whose edge is at
/// distance 1.
fn support(story: &Story) -> Value {
    let reach = |reach: &Reach| {
        json!({
            "steps_outside": reach.outside,
            "trajectories_outside": reach.trajectories_outside,
            "first_step_outside": reach.first_step,
            "farthest": reach.farthest.as_ref().map(|far| json!({
                "name": story.input_name(far.input),
                "value": far.value,
                "distance": far.distance,
                "trajectory": far.trajectory,
                "step": far.step,
            })),
        })
    };
    json!({
        "neutral": reach(&story.support.neutral),
        "worst": reach(&story.support.worst),
    })
}
