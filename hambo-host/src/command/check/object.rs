//! A finished check for programs.

use hambo_core::rollout::Objective;
use hambo_core::verdict::Reason;
use hambo_host::adversary::Contest;
use hambo_host::case::Case;
use serde_json::{Value, json};

use super::{CheckArguments, words};

impl CheckArguments {
    /// One object for programs.
    pub(super) fn object(&self, case: &Case, contest: &Contest) -> Value {
        let (task, outcome) = (&case.task, &contest.outcome);
        let of_return = outcome.estimates.iter();
        let of_return = of_return.filter(|estimate| estimate.objective == Objective::Return);
        let deciding = of_return.clone().find(|estimate| {
            task.method.variants.contains(&estimate.variant) && estimate.lower == outcome.bound
        });
        let constraints = task.constraints.iter().filter_map(|(name, slot)| {
            let lowers = outcome.estimates.iter().filter(|estimate| {
                estimate.objective == Objective::Constraint(*slot)
                    && task.method.variants.contains(&estimate.variant)
            });
            let lower = lowers.map(|estimate| estimate.lower).reduce(f32::min)?;
            Some(json!({ "name": name, "lower": lower, "ok": lower >= 0.0 }))
        });
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
