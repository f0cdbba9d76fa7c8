//! A ranking of made-up checks, against what stands in its rule.

#![allow(clippy::unwrap_used, reason = "a failed test may stop where it fails")]

use serde_json::json;

use super::judge_all::Judged;
use super::table::Ranking;
use crate::outcome::model_summary::ModelSummary;
use crate::outcome::result::CheckResult;
use crate::outcome::run::CheckOutcome;
use hambo_core::gate::Verdict;

/// A check by a variant: its bound, what the mean model expects, and the mean under the variant.
fn result(variant: &str, [bound, neutral, mean]: [f64; 3], verdict: &str) -> CheckResult {
    let level = json!({"count": 4, "mean": mean, "lower": bound, "margin": "betting"});
    let estimate = json!({
        "variant": variant, "adversary": "none", "mean": mean, "std_error": 0.1,
        "margin": "betting", "lower": bound, "distribution_free": null, "sampled": level,
        "correction": null, "constant": null, "member": null, "found_elsewhere": null,
        "search": mean, "network": null, "course": [],
    });
    let verdict = match verdict {
        "none" => None,
        word => Some(word),
    };
    let object = json!({
        "task": "cart", "horizon": 7, "delta": 0.05, "controllers": 3, "discount": 1.0,
        "trajectories": 4, "searched": 2, "sweeps": 1, "allocation": "even", "effort": "quick",
        "seed": 0, "variants": [variant],
        "estimates": [estimate], "adversaries": [], "loss": null, "support": null,
        "log_next": [], "exact": null, "constraints": [], "digest": "0",
        "bound": bound, "bound_bits": format!("{:08x}", (bound as f32).to_bits()),
        "bound_variant": variant, "neutral": neutral, "threshold": -20.0, "verdict": verdict,
        "reasons": ["too low: log more"], "assumes": "",
    });
    serde_json::from_value(object).unwrap()
}

fn judged(name: &str, numbers: [f64; 3], verdict: &str, others: Vec<CheckResult>) -> Judged {
    let gate = json!({
        "widening": 1.0, "rows": 1, "episodes": 1, "share": 1.0, "share_lower": 1.0,
        "episodes_outside": 0, "episodes_outside_upper": 0.0, "windows": [],
    });
    let model = json!({
        "description": "", "hambo_version": "", "seed": 0, "data_hash": "", "rows": 1,
        "training_rows": 1, "validation_rows": 0, "withheld_rows": 0, "theory": [],
        "assumptions": [], "calibration": {
            "status": "", "passed": true, "mode": "widen", "joint_coverage": 1.0, "gate": gate,
            "states": [], "shared_noise": [],
        },
    });
    let model: ModelSummary = serde_json::from_value(model).unwrap();
    Judged {
        name: name.to_owned(),
        outcome: CheckOutcome {
            result: result("ca", numbers, verdict),
            paths: None,
            walks: None,
            model,
        },
        others,
    }
}

fn names(ranking: &Ranking) -> Vec<&str> {
    let rows = ranking.controllers.iter();
    rows.map(|row| row.name.as_str()).collect()
}

#[test]
fn rows_stand_by_verdict_then_bound_then_name() {
    let mut all = [
        judged("unfit", [5.0, 6.0, 6.0], "abstain", Vec::new()),
        judged("low", [-30.0, -25.0, -28.0], "reject", Vec::new()),
        judged("b", [-10.0, -5.0, -8.0], "deploy", Vec::new()),
        judged("broken", [-9.0, -5.0, -8.0], "reject", Vec::new()),
        judged("a", [-10.0, -5.0, -8.0], "deploy", Vec::new()),
        judged("best", [-4.0, -3.0, -3.5], "deploy", Vec::new()),
    ];
    let ranking = Ranking::of(&mut all).unwrap();
    assert_eq!(
        names(&ranking),
        ["best", "a", "b", "broken", "low", "unfit"]
    );
    let places: Vec<String> = ranking.controllers.iter().map(|row| row.place()).collect();
    // By return `best` is settled above all but the unfit one, and `low` below them.
    assert_eq!(
        places,
        ["1 to 2", "2 to 5", "2 to 5", "2 to 5", "5 to 6", "1 to 6"]
    );
    let open: Vec<&str> = ranking.open_with("a").collect();
    assert_eq!(open, ["b", "broken", "unfit"]);
    assert_eq!(ranking.unsettled.len(), 5 + 3);
    assert_eq!((ranking.sharing, ranking.delta.0), (3, f64::from(0.05_f32)));
    assert!(Ranking::of(&mut []).is_none());
}

/// An estimate under any variant may be what reaches up to the other's bound.
#[test]
fn every_estimate_counts_for_what_is_open() {
    let high = |mean: f64| vec![result("da1", [-9.0, -8.0, mean], "deploy")];
    let above = || judged("above", [-4.0, -3.0, -3.5], "deploy", Vec::new());
    for (mean, open) in [(-4.5, 0), (-4.0, 1), (-2.0, 1)] {
        let mut all = [
            above(),
            judged("below", [-9.0, -8.0, -8.5], "deploy", high(mean)),
        ];
        let ranking = Ranking::of(&mut all).unwrap();
        assert_eq!(ranking.unsettled.len(), open, "{mean}");
        assert_eq!(ranking.controllers[1].greatest.0, mean);
    }
}

#[test]
fn a_row_has_a_column_for_each_check_and_one_reason() {
    let others = vec![
        result("da1", [-9.5, -8.0, -9.0], "abstain"),
        result("dainf", [-8.5, -8.0, -8.2], "reject"),
    ];
    let mut all = [judged("one", [-22.0, -18.0, -20.0], "reject", others)];
    let ranking = Ranking::of(&mut all).unwrap();
    assert_eq!(ranking.variants, ["ca", "da1", "dainf"]);
    let row = &ranking.controllers[0];
    let columns: Vec<_> = row
        .bounds
        .iter()
        .map(|one| (one.lower.0, one.verdict))
        .collect();
    let verdicts = [Verdict::Reject, Verdict::Abstain, Verdict::Reject].map(Some);
    let bounds = [-22.0, -9.5, -8.5];
    assert_eq!(
        columns,
        bounds.into_iter().zip(verdicts).collect::<Vec<_>>()
    );
    assert_eq!(row.bounds[0].bits, row.bound_bits);
    let words = "2.000 below the threshold in the worst case; the mean model reaches it";
    assert_eq!(row.why, words);
    let back: Ranking = serde_json::from_str(&serde_json::to_string(&ranking).unwrap()).unwrap();
    assert_eq!(back, ranking);
}

#[test]
fn the_reason_says_who_misses_what() {
    let why = |numbers, verdict| {
        let ranking = Ranking::of(&mut [judged("one", numbers, verdict, Vec::new())]);
        ranking.unwrap().controllers[0].why.clone()
    };
    assert_eq!(
        why([-15.5, -9.0, -9.0], "deploy"),
        "4.500 above the threshold"
    );
    let both = why([-30.0, -29.0, -29.0], "reject");
    assert_eq!(
        both,
        "10.000 below the threshold; the mean model misses it too"
    );
    assert_eq!(why([f64::NAN, 0.0, 0.0], "abstain"), "too low");
    assert_eq!(why([1.0, 1.0, 1.0], "none"), "no threshold to reach");
}
