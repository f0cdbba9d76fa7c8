//! What the pages say of `results/peers.csv`: estimates of several tools beside the truth.

use std::collections::{BTreeMap, BTreeSet};

use super::kept::{Kept, csv};
use super::markdown::table;
use super::parts::Parts;

/// Estimators: the rows' name, the name for people, and whether they estimate the controller
/// with the log's noise, so that its return is their truth.
const ESTIMATORS: [(&str, &str, bool); 19] = [
    ("ca_lower", "hambo CA, lower bound", false),
    ("da1_lower", "hambo DA1, lower bound", false),
    ("dainf_lower", "hambo DAinf, lower bound", false),
    ("ca", "hambo CA, mean", false),
    ("da1", "hambo DA1, mean", false),
    ("dainf", "hambo DAinf, mean", false),
    ("mean", "mean model", false),
    ("ds", "ensemble, DS", false),
    ("ts1", "ensemble, TS1", false),
    ("tsinf", "ensemble, TSinf", false),
    ("mopo", "ensemble, MOPO", false),
    ("fqe", "fitted Q (d3rlpy)", false),
    ("fqe_wide", "fitted Q, 2 × 256 units", false),
    ("is", "importance sampling (IS)", true),
    ("is_bootstrap", "IS, bootstrap 5 %", true),
    ("wis", "weighted IS", true),
    ("wis_bootstrap", "weighted IS, bootstrap 5 %", true),
    ("lipschitz", "Lipschitz bound", false),
    (
        "wis_bootstrap",
        "weighted IS, bootstrap 5 %, without noise",
        false,
    ),
];

/// How good the estimates of several controllers are. NaN where a number has no meaning:
/// estimates that are all the same neither rank nor choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Quality {
    /// Mean absolute error.
    pub error: f64,
    /// The same over the span of the truths.
    pub relative: f64,
    /// Spearman's rank correlation, mean over logs.
    pub rank: f64,
    /// What is lost by taking the controller with the highest estimate, mean over logs.
    pub regret: f64,
    /// The share of estimates above the truth by more than two of its standard errors.
    pub above: f64,
    /// The largest estimate less its truth.
    pub excess: f64,
}

fn mean(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn most(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

fn span(numbers: &[f64]) -> f64 {
    most(numbers.iter().copied()) + most(numbers.iter().map(|x| -x))
}

/// Spearman's correlation; equal numbers share their rank.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |numbers: &[f64]| -> Vec<f64> {
        let rank = |x: &f64| {
            let below = numbers.iter().filter(|y| *y < x).count();
            let same = numbers.iter().filter(|y| *y == x).count();
            below as f64 + 0.5 * same as f64
        };
        let ranks: Vec<f64> = numbers.iter().map(rank).collect();
        let middle = mean(ranks.iter().copied());
        ranks.iter().map(|rank| rank - middle).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Of estimates, one line for each log, beside the truths of the controllers and their
/// standard errors.
#[must_use]
pub fn quality(logs: &[Vec<f64>], truths: &[f64], errors: &[f64]) -> Quality {
    let differences = || {
        let of_log = |log: &Vec<f64>| -> Vec<f64> {
            log.iter().zip(truths).map(|(x, truth)| x - truth).collect()
        };
        logs.iter().flat_map(of_log)
    };
    let ranks = |log: &&Vec<f64>| log.iter().any(|x| Some(x) != log.first());
    let over_logs = |value: &dyn Fn(&Vec<f64>) -> f64| {
        mean(
            logs.iter()
                .map(|log| if ranks(&log) { value(log) } else { f64::NAN }),
        )
    };
    let lost = |log: &Vec<f64>| {
        let highest = most(log.iter().copied());
        let chosen = log.iter().zip(truths).find(|(x, _)| **x == highest);
        most(truths.iter().copied()) - chosen.map_or(f64::NAN, |(_, truth)| *truth)
    };
    let error = mean(differences().map(f64::abs));
    let far = errors.iter().cycle().map(|error| 2.0 * error);
    Quality {
        error,
        relative: error / span(truths),
        rank: over_logs(&|log| spearman(log, truths)),
        regret: over_logs(&lost),
        above: mean(
            differences()
                .zip(far)
                .map(|(x, far)| f64::from(u8::from(x > far))),
        ),
        excess: most(differences()),
    }
}

/// A number; one beyond 10^20 says nothing.
fn number(value: f64, places: usize) -> String {
    match value {
        _ if value.is_nan() => "–".to_owned(),
        _ if value.abs() > 1e20 => "vacuous".to_owned(),
        _ => format!("{value:.places$}"),
    }
}

pub(super) fn add(parts: &mut Parts) -> Result<(), String> {
    let rows = csv("results/peers.csv")?;
    for system in ["point_safety", "point_env", "pendulum"] {
        let own: Vec<&Kept> = rows.iter().filter(|row| row["system"] == system).collect();
        parts.add(&format!("peers-{system}"), of_system(&own)?);
    }
    Ok(())
}

fn of_system(rows: &[&Kept]) -> Result<String, String> {
    let policies: BTreeSet<&str> = rows.iter().map(|row| row["policy"].as_str()).collect();
    let mut lines = Vec::new();
    let mut text = String::new();
    for (estimator, name, noisy) in ESTIMATORS {
        let mut logs: BTreeMap<&str, BTreeMap<&str, &Kept>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row["estimator"] == estimator) {
            logs.entry(&row["seed"])
                .or_default()
                .insert(&row["policy"], row);
        }
        logs.retain(|_, log| log.len() == policies.len());
        let Some((_, first)) = logs.first_key_value() else {
            continue;
        };
        let column = |log: &BTreeMap<&str, &Kept>, column: &str| -> Result<Vec<f64>, String> {
            let number = |row: &&Kept| row[column].parse();
            let numbers: Result<_, _> = log.values().map(number).collect();
            numbers.map_err(|_| format!("results/peers.csv: {estimator} has no {column}"))
        };
        let [truth, error] = if noisy {
            ["noisy_truth", "noisy_truth_error"]
        } else {
            ["truth", "truth_error"]
        };
        let (truths, errors) = (column(first, truth)?, column(first, error)?);
        let estimates: Result<Vec<Vec<f64>>, String> =
            logs.values().map(|log| column(log, "estimate")).collect();
        let found = quality(&estimates?, &truths, &errors);
        if text.is_empty() {
            let count = |verdict: &str| {
                let rows = logs.values().flat_map(BTreeMap::values);
                rows.filter(|row| row["note"] == verdict).count()
            };
            text = format!(
                "{} controllers, whose true returns span {:.1}. Hambo's verdicts: {} deploy, {} \
                 reject, {} abstain.\n\n",
                policies.len(),
                span(&truths),
                count("deploy"),
                count("reject"),
                count("abstain")
            );
        }
        lines.push([
            name.to_owned(),
            logs.len().to_string(),
            number(found.error, 1),
            number(found.relative, 3),
            number(found.rank, 2),
            number(found.regret, 1),
            number(100.0 * found.above, 0) + " %",
            number(found.excess, 1),
        ]);
    }
    let header = [
        "estimator",
        "logs",
        "absolute error",
        "of the spread",
        "rank correlation",
        "regret@1",
        "above the truth",
        "worst excess",
    ];
    Ok(text + &table(header, &lines))
}
