//! One short reason for each controller.

use crate::number::Number;
use crate::outcome::result::CheckResult;
use hambo_core::gate::Verdict;

/// Why a controller stands where it stands, in a few words.
pub(super) fn why(result: &CheckResult) -> String {
    let decision = &result.decision;
    let by = decision.threshold.map(|threshold| {
        let distance = (decision.bound.0 - threshold.0).abs();
        Number(distance)
    });
    match (decision.verdict, by) {
        (Some(Verdict::Deploy), Some(by)) => format!("{by:.3} above the threshold"),
        (Some(Verdict::Deploy) | None, _) => "no threshold to reach".to_owned(),
        (Some(Verdict::Abstain), _) => {
            let first = decision.reasons.first();
            first.map_or_else(|| "unfit evidence".to_owned(), |text| clause(text))
        }
        (Some(Verdict::Reject), by) => {
            let broken = result.evidence.constraints.iter();
            let broken: Vec<&str> = broken
                .filter(|one| !one.ok)
                .map(|one| one.name.as_str())
                .collect();
            match (broken.as_slice(), by) {
                ([], Some(by)) => below(result, by),
                (names, _) => format!("does not keep {}", names.join(", ")),
            }
        }
    }
}

/// Whether only the worst case misses the threshold, or the mean model too.
fn below(result: &CheckResult, by: Number) -> String {
    let decision = &result.decision;
    let expected = decision
        .threshold
        .is_some_and(|threshold| decision.neutral.0 >= threshold.0);
    if expected {
        format!("{by:.3} below the threshold in the worst case; the mean model reaches it")
    } else {
        format!("{by:.3} below the threshold; the mean model misses it too")
    }
}

/// A sentence up to what explains it.
fn clause(sentence: &str) -> String {
    let ends = [": ", ", farthest", " (", "; "];
    let end = ends.iter().filter_map(|end| sentence.find(end)).min();
    end.and_then(|end| sentence.get(..end))
        .unwrap_or(sentence)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::clause;

    #[test]
    fn a_clause_ends_before_its_explanation() {
        for (sentence, short) in [
            (
                "the model is not calibrated: log more and fit again (hambo model info says)",
                "the model is not calibrated",
            ),
            (
                "at 12 % of the steps it is elsewhere (5 % are allowed), farthest at step 3",
                "at 12 % of the steps it is elsewhere",
            ),
            ("a number was not finite", "a number was not finite"),
        ] {
            assert_eq!(clause(sentence), short);
        }
    }
}
