//! What the page says, from the rows: rankings, heat maps, failures.

use std::collections::BTreeMap;

use hambo_base::Error;
use hambo_report::{
    FittedModels, HeatCell, HeatMap, RankedPolicy, SweepFailure, SweepPage, SweepRanking,
};
use hambo_task::task::TaskFile;

use super::Gathered;
use super::summary::{Several, by_value, ends, median};
use crate::folder::SweepFolder;
use crate::plan::Sweep;
use crate::row::{Found, Row};

/// Columns that a heat map has room for.
const MOST_COLUMNS: usize = 40;
/// Cells that are named with a failure.
const MOST_NAMED: usize = 5;

/// Everything that the page says.
///
/// # Errors
/// If the task file cannot be read any more.
pub(super) fn about(
    folder: &SweepFolder,
    rows: &BTreeMap<usize, Row>,
    gathered: &Gathered,
) -> Result<SweepPage, Error> {
    let sweep = folder.sweep();
    let task = TaskFile::read(&sweep.task.path)?;
    let verdict = |word: &str| gathered.verdicts.get(word).copied().unwrap_or(0);
    let checks = gathered.verdicts.values().sum::<usize>();
    Ok(SweepPage {
        hambo_version: sweep.hambo_version.clone(),
        name: sweep.name.clone(),
        task: task.name,
        cells: gathered.cells,
        checks,
        deploy: verdict("deploy"),
        reject: verdict("reject"),
        abstain: verdict("abstain"),
        failed: gathered.failed,
        missing: gathered.missing,
        delta: delta(rows).unwrap_or(f64::from(task.delta)),
        episodes: sweep.episodes.iter().copied().max().unwrap_or(0),
        rankings: rankings(sweep, rows),
        maps: maps(sweep, rows),
        models: models(sweep, rows),
        failures: failures(rows),
        plan: plan_lines(sweep),
        files: files(sweep),
    })
}

/// That of the checks, which options may have changed.
fn delta(rows: &BTreeMap<usize, Row>) -> Option<f64> {
    let mut checked = rows.values().filter_map(|row| match &row.found {
        Found::Checked(checked) => Some(checked.delta.0),
        _ => None,
    });
    checked.next()
}

/// The checks' rows with their controllers and horizons.
fn checks(rows: &BTreeMap<usize, Row>) -> impl Iterator<Item = (&Row, &str, u32)> {
    rows.values().filter_map(|row| {
        row.check
            .as_ref()
            .map(|of| (row, of.policy.as_str(), of.horizon))
    })
}

/// Controllers by the median of their bounds on the largest log, for each horizon.
fn rankings(sweep: &Sweep, rows: &BTreeMap<usize, Row>) -> Vec<SweepRanking> {
    let largest = sweep.episodes.iter().copied().max().unwrap_or(0);
    let each = sweep.horizons.iter().map(|horizon| {
        let mut several: BTreeMap<&str, Several> = BTreeMap::new();
        for (row, policy, of) in checks(rows) {
            if of == *horizon && row.episodes == largest {
                several.entry(policy).or_default().add(row);
            }
        }
        let mut controllers: Vec<RankedPolicy> = several
            .into_iter()
            .map(|(name, several)| ranked(name, &several))
            .collect();
        // Equal ones stay in the order of their names.
        controllers.sort_by(|one, other| by_value(other.median, one.median));
        SweepRanking {
            horizon: *horizon,
            controllers,
        }
    });
    each.collect()
}

fn ranked(name: &str, several: &Several) -> RankedPolicy {
    let [least, greatest] = ends(&several.bounds);
    RankedPolicy {
        name: name.to_owned(),
        judged: several.judged,
        checks: several.checks(),
        deploy: several.deploy,
        reject: several.reject,
        abstain: several.abstain,
        failed: several.failed,
        least,
        median: median(&several.bounds),
        greatest,
        neutral: median(&several.neutrals),
    }
}

/// A map of every model and horizon: controllers by log sizes; by seeds where there is one size.
fn maps(sweep: &Sweep, rows: &BTreeMap<usize, Row>) -> Vec<HeatMap> {
    let by_size = sweep.episodes.len() > 1;
    let mut columns: Vec<u64> = if by_size {
        sweep.episodes.iter().map(|n| u64::from(*n)).collect()
    } else {
        sweep.seeds.clone()
    };
    let all_columns = columns.len();
    columns.truncate(MOST_COLUMNS);
    let mut cells: BTreeMap<(&str, u32, &str, u64), Several> = BTreeMap::new();
    for (row, policy, horizon) in checks(rows) {
        let column = if by_size {
            u64::from(row.episodes)
        } else {
            row.seed
        };
        let key = (row.model.as_str(), horizon, policy, column);
        cells.entry(key).or_default().add(row);
    }
    let mut maps = Vec::new();
    for model in &sweep.models {
        for horizon in &sweep.horizons {
            let of = |policy: &str, column: u64| {
                let several = cells.get(&(model.name.as_str(), *horizon, policy, column))?;
                (several.checks() > 0).then(|| HeatCell {
                    bound: median(&several.bounds),
                    deploy: several.judged.then_some(several.deploy),
                    checks: several.checks(),
                    abstains: several.abstain == several.checks(),
                })
            };
            let policies = sweep.policies.iter();
            let rows = policies.map(|policy| {
                let each = columns.iter().map(|column| of(&policy.name, *column));
                (policy.name.clone(), each.collect())
            });
            maps.push(HeatMap {
                model: model.name.clone(),
                horizon: *horizon,
                head: if by_size { "episodes" } else { "seed" },
                columns: columns.iter().map(u64::to_string).collect(),
                left_out: all_columns - columns.len(),
                rows: rows.collect(),
            });
        }
    }
    maps
}

/// How many models passed their calibration, by name and log size.
fn models(sweep: &Sweep, rows: &BTreeMap<usize, Row>) -> Vec<FittedModels> {
    let mut models = Vec::new();
    for model in &sweep.models {
        for episodes in &sweep.episodes {
            let of = rows.values().filter(|row| {
                row.check.is_none() && row.model == model.name && row.episodes == *episodes
            });
            let mut one = FittedModels {
                model: model.name.clone(),
                options: model.fit.join(" "),
                episodes: *episodes,
                fitted: 0,
                calibrated: 0,
                failed: 0,
            };
            for row in of {
                match &row.found {
                    Found::Fitted(fitted) => {
                        one.fitted += 1;
                        one.calibrated += usize::from(fitted.calibrated);
                    }
                    _ => one.failed += 1,
                }
            }
            models.push(one);
        }
    }
    models
}

/// Failures by their sentences, the most frequent first.
fn failures(rows: &BTreeMap<usize, Row>) -> Vec<SweepFailure> {
    let mut by_text: BTreeMap<&str, SweepFailure> = BTreeMap::new();
    for (cell, row) in rows {
        if let Found::Failed(why) = &row.found {
            let one = by_text.entry(why).or_insert_with(|| SweepFailure {
                message: why.clone(),
                count: 0,
                cells: Vec::new(),
            });
            one.count += 1;
            if one.cells.len() < MOST_NAMED {
                one.cells.push(*cell);
            }
        }
    }
    let mut failures: Vec<SweepFailure> = by_text.into_values().collect();
    failures.sort_by_key(|one| std::cmp::Reverse(one.count));
    failures
}

/// What was asked, a line for each key of the plan.
fn plan_lines(sweep: &Sweep) -> Vec<[String; 2]> {
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
    vec![
        [
            "seeds".to_owned(),
            list(&mut sweep.seeds.iter().map(u64::to_string)),
        ],
        [
            "episodes".to_owned(),
            format!(
                "{} of {}",
                list(&mut sweep.episodes.iter().map(u32::to_string)),
                sweep.all_episodes
            ),
        ],
        [
            "horizons".to_owned(),
            list(&mut sweep.horizons.iter().map(u32::to_string)),
        ],
        ["check".to_owned(), sweep.check.join(" ")],
    ]
}

/// What went in, with hashes. Of a path the name alone, so that the page is the same everywhere.
fn files(sweep: &Sweep) -> Vec<[String; 3]> {
    let name = |path: &std::path::Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let row = |what: &str, path: &std::path::Path, sha256: &str| {
        [what.to_owned(), name(path), sha256.to_owned()]
    };
    let mut files = vec![row("task", &sweep.task.path, &sweep.task.sha256)];
    files.extend(
        sweep
            .data
            .iter()
            .map(|one| row("log", &one.path, &one.sha256)),
    );
    let policies = sweep.policies.iter();
    files.extend(policies.map(|one| row("policy", &one.path, &one.sha256)));
    files
}
