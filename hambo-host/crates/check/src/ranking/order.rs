//! The order of several controllers: what deploys first, what cannot be judged last.

use std::cmp::Ordering;

use crate::outcome::result::CheckResult;
use hambo_core::gate::Verdict;

/// By the verdict, and within one by the lower bound, the greatest first.
#[must_use]
pub fn order(one: &CheckResult, other: &CheckResult) -> Ordering {
    let by_verdict = group(one).cmp(&group(other));
    by_verdict.then(other.decision.bound.0.total_cmp(&one.decision.bound.0))
}

fn group(result: &CheckResult) -> u8 {
    match result.decision.verdict {
        Some(Verdict::Deploy) => 0,
        None => 1,
        Some(Verdict::Reject) => 2,
        Some(Verdict::Abstain) => 3,
    }
}
