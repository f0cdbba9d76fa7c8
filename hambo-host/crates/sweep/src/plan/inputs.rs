//! Everything that a plan names, read once: files, controllers, options, sizes of the log.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_data::read_task_logs;
use hambo_task::image::encode_policy;
use hambo_task::policy::HostPolicy;
use hambo_task::policy::find::find;
use hambo_task::task::TaskFile;
use sha2::{Digest, Sha256};

use super::file::PlanFile;
use super::{InputFile, MOST_CELLS, ModelPlan, PolicyFile, Sweep};
use crate::commands::Commands;

/// The hash of bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hambo_check::model_summary::hexadecimal(&Sha256::digest(bytes))
}

/// What a plan file asks for.
///
/// # Errors
/// If anything that it names is missing or bad.
pub(super) fn resolved(
    plan_path: &Path,
    plan: PlanFile,
    commands: &dyn Commands,
) -> Result<Sweep, Error> {
    let folder = plan_path.parent().unwrap_or(Path::new(""));
    let usage = |problem: String| Error::Usage(format!("{}: {problem}", plan_path.display()));
    let task_path = folder.join(&plan.task);
    let task = TaskFile::read(&task_path)?;
    let horizons = plan.horizons.unwrap_or_else(|| vec![task.horizon]);
    let seeds = plan.seeds.list();
    let models = models(
        plan.model
            .into_iter()
            .map(|one| (one.name, words(&one.fit))),
    );
    let names: Vec<&str> = models.iter().map(|one| one.name.as_str()).collect();
    for (key, problem) in [
        ("horizons", list_problem(&horizons)),
        ("seeds", list_problem(&seeds)),
        ("model", list_problem(&names)),
    ] {
        if let Some(problem) = problem {
            return Err(usage(format!("{key}: {problem}")));
        }
    }
    if horizons.contains(&0) {
        return Err(usage("horizons: give at least 1 step".to_owned()));
    }
    let check = words(&plan.check);
    for model in &models {
        let named = |error: Error| usage(format!("[[model]] {}: fit: {error}", model.name));
        commands.ensure_fit(&task, &model.fit).map_err(named)?;
    }
    let named = |error: Error| usage(format!("check: {error}"));
    commands.ensure_check(&check).map_err(named)?;
    let given: Vec<PathBuf> = plan.policies.paths();
    let given: Vec<PathBuf> = given.iter().map(|path| folder.join(path)).collect();
    let policies = policies(&given, &task_path, &horizons)?;
    let logs: Vec<PathBuf> = plan.data.paths();
    let logs: Vec<PathBuf> = logs.iter().map(|path| folder.join(path)).collect();
    if logs.is_empty() || policies.is_empty() {
        let problem = "data and policies: give at least one of each";
        return Err(usage(problem.to_owned()));
    }
    let log = read_task_logs(&logs, &task)?;
    let all_episodes = u32::try_from(log.episode_numbers().len()).unwrap_or(u32::MAX);
    let episodes = plan.episodes.unwrap_or_else(|| vec![all_episodes]);
    if let Some(problem) = list_problem(&episodes) {
        return Err(usage(format!("episodes: {problem}")));
    }
    if let Some(wrong) = episodes.iter().find(|n| !(1..=all_episodes).contains(n)) {
        return Err(usage(format!(
            "episodes: {wrong}: the log has {all_episodes}: give 1 to {all_episodes}"
        )));
    }
    let default_name = plan_path.file_stem().unwrap_or_default().to_string_lossy();
    let sweep = Sweep {
        hambo_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: plan.name.unwrap_or_else(|| default_name.into_owned()),
        task: input(&task_path)?,
        data: logs
            .iter()
            .map(|path| input(path))
            .collect::<Result<_, _>>()?,
        policies,
        models,
        episodes,
        all_episodes,
        seeds,
        horizons,
        check,
    };
    let cells = sweep.counts().cells();
    if cells > MOST_CELLS {
        return Err(usage(format!(
            "{cells} cells: a sweep has at most {MOST_CELLS}\nhelp: divide it into several plans"
        )));
    }
    Ok(sweep)
}

/// The options of the command line.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The models; one of the command's own choice where a plan names none.
fn models(given: impl Iterator<Item = (String, Vec<String>)>) -> Vec<ModelPlan> {
    let mut models: Vec<ModelPlan> = given.map(|(name, fit)| ModelPlan { name, fit }).collect();
    if models.is_empty() {
        let (name, fit) = ("default".to_owned(), Vec::new());
        models.push(ModelPlan { name, fit });
    }
    models
}

/// What is wrong with a list whose entries each make cells.
fn list_problem<T: Ord + std::fmt::Display>(list: &[T]) -> Option<String> {
    let mut seen = BTreeSet::new();
    match list.iter().find(|one| !seen.insert(*one)) {
        Some(twice) => Some(format!("{twice} is there twice: give each once")),
        None => list.is_empty().then(|| "give at least one".to_owned()),
    }
}

/// Every controller, which must fit the task at every horizon.
fn policies(
    given: &[PathBuf],
    task_path: &Path,
    horizons: &[u32],
) -> Result<Vec<PolicyFile>, Error> {
    let found = find(given, task_path)?;
    let tasks = horizons.iter();
    let tasks = tasks.map(|horizon| TaskFile::read_with_horizon(task_path, Some(*horizon)));
    let tasks = tasks.collect::<Result<Vec<_>, _>>()?;
    let mut policies = Vec::new();
    for one in found {
        let mut hash = String::new();
        for task in &tasks {
            let policy = HostPolicy::read(&one.path, task).map_err(|problem| {
                Error::Usage(format!(
                    "{problem}\nnothing was begun: correct this file, or leave it out"
                ))
            })?;
            hash = sha256(&encode_policy(&policy)?);
        }
        policies.push(PolicyFile {
            name: one.name,
            path: from_root(&one.path)?,
            sha256: hash,
        });
    }
    Ok(policies)
}

fn input(path: &Path) -> Result<InputFile, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })?;
    Ok(InputFile {
        path: from_root(path)?,
        sha256: sha256(&bytes),
    })
}

fn from_root(path: &Path) -> Result<PathBuf, Error> {
    Ok(path.canonicalize().map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })?)
}
