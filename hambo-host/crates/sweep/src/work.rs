//! Works off one cell: reads what it depends on, fits or checks as the command does, keeps a row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hambo_base::Error;
use hambo_base::random::Random;
use hambo_data::{Log, read_task_logs};
use hambo_learn::calibration::CalibrationStatus;
use hambo_learn::model_file::ModelFile;
use hambo_task::image::encode_policy;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use crate::cells::{Cell, FitCell};
use crate::commands::Commands;
use crate::folder::SweepFolder;
use crate::plan::{InputFile, Sweep, sha256};
use crate::row::{Asked, Checked, Fitted, Found, Row};

/// Of the seed's numbers those that choose episodes; networks and splits draw from others.
const EPISODE_STREAM: u32 = 0x5eed_0e95;

/// Works off a cell, unless its row is there. What is wrong with the cell itself is its row; what
/// is wrong with this machine (a full disk, a file that has changed) is an error, and nothing is
/// kept.
///
/// # Errors
/// If there is no such cell, an input is not what was planned, or nothing can be written.
pub fn work(folder: &SweepFolder, number: usize, commands: &dyn Commands) -> Result<(), Error> {
    let counts = folder.sweep().counts();
    let Some(cell) = counts.cell(number) else {
        return Err(Error::Usage(format!(
            "cell {number}: the sweep has {}, numbered from 0",
            counts.cells()
        )));
    };
    if folder.row(number)?.is_some() {
        return Ok(());
    }
    let case = Case { folder, commands };
    match cell {
        Cell::Fit(fit) => case.fit(number, fit).map(|_| ()),
        Cell::Check {
            fit_cell,
            fit,
            policy,
            horizon,
        } => {
            let fitted = match folder.row(fit_cell)? {
                Some(row) => row,
                None => case.fit(fit_cell, fit)?,
            };
            case.check(number, (fit_cell, fit, fitted), (policy, horizon))
        }
    }
}

struct Case<'a> {
    folder: &'a SweepFolder,
    commands: &'a dyn Commands,
}

impl Case<'_> {
    fn sweep(&self) -> &Sweep {
        self.folder.sweep()
    }

    fn row(&self, cell: usize, fit: FitCell, check: Option<Asked>, found: Found) -> Option<Row> {
        let sweep = self.sweep();
        Some(Row {
            cell,
            model: sweep.models.get(fit.model)?.name.clone(),
            seed: *sweep.seeds.get(fit.seed)?,
            episodes: *sweep.episodes.get(fit.size)?,
            check,
            found,
        })
    }

    fn keep(&self, row: Option<Row>) -> Result<Row, Error> {
        let row = row.ok_or_else(|| Error::Usage("the plan has no such cell".to_owned()))?;
        self.folder.keep_row(&row)?;
        Ok(row)
    }

    /// Fits a model and keeps it before its row.
    fn fit(&self, cell: usize, fit: FitCell) -> Result<Row, Error> {
        let sweep = self.sweep();
        let (text, origin) = task_text(&sweep.task)?;
        let task = TaskFile::parse(&text, &origin)?;
        let log = self.log(&task, fit)?;
        let mut options = sweep
            .models
            .get(fit.model)
            .map_or(Vec::new(), |model| model.fit.clone());
        options.extend(self.seed(fit));
        let found = match self.commands.fit(&task, &log, &options) {
            Ok(model) => {
                self.folder
                    .keep_model(cell, |path| Ok(model.write(path)?))?;
                let bytes = read(&self.folder.model(cell))?;
                Found::Fitted(Fitted {
                    rows: log.len(),
                    calibrated: calibrated(&model),
                    sha256: sha256(&bytes),
                })
            }
            Err(error) => failed(error)?,
        };
        self.keep(self.row(cell, fit, None, found))
    }

    fn check(
        &self,
        cell: usize,
        (fit_cell, fit, fitted): (usize, FitCell, Row),
        (policy, horizon): (usize, usize),
    ) -> Result<(), Error> {
        let sweep = self.sweep();
        let wanted = sweep.policies.get(policy).zip(sweep.horizons.get(horizon));
        let Some((policy, horizon)) = wanted else {
            return Err(Error::Usage("the plan has no such cell".to_owned()));
        };
        let asked = Some(Asked {
            policy: policy.name.clone(),
            horizon: *horizon,
        });
        let fitted = match fitted.found {
            Found::Fitted(fitted) => fitted,
            other => {
                let why = match other {
                    Found::Failed(why) => why,
                    _ => "its row is that of a check".to_owned(),
                };
                let found = Found::Failed(format!("no model was fitted: {why}"));
                self.keep(self.row(cell, fit, asked, found))?;
                return Ok(());
            }
        };
        let path = self.folder.model(fit_cell);
        if sha256(&read(&path)?) != fitted.sha256 {
            return Err(Error::Usage(format!(
                "{}: this is not the model of its row\nhelp: remove the file and {}, and call \
                 hambo sweep again",
                path.display(),
                self.folder.row_path(fit_cell).display()
            )));
        }
        let model = ModelFile::read(&path)?;
        let (text, origin) = task_text(&sweep.task)?;
        let task = TaskFile::parse_with_horizon(&text, &origin, Some(*horizon))?;
        let controller = HostPolicy::read(&policy.path, &task)?;
        ensure_hash(
            &policy.path,
            &sha256(&encode_policy(&controller)?),
            &policy.sha256,
        )?;
        let log = self.log(&task, fit)?;
        let mut options = sweep.check.clone();
        options.extend(self.seed(fit));
        options.push(format!("--horizon={horizon}"));
        let task = (text.as_str(), origin.as_str());
        let result = self
            .commands
            .check(task, &model, &policy.path, &log, &options);
        let found = match result {
            Ok(result) => {
                let of_model = (fitted.rows, fitted.calibrated);
                Found::Checked(Box::new(Checked::of(&result, of_model)))
            }
            Err(error) => failed(error)?,
        };
        self.keep(self.row(cell, fit, asked, found))?;
        Ok(())
    }

    fn seed(&self, fit: FitCell) -> Option<String> {
        let seed = self.sweep().seeds.get(fit.seed)?;
        Some(format!("--seed={seed}"))
    }

    /// The log of a fit and its checks: the first episodes of an order that the seed draws, so that
    /// a smaller log is a part of a larger one.
    fn log(&self, task: &TaskFile, fit: FitCell) -> Result<Log, Error> {
        let sweep = self.sweep();
        for input in &sweep.data {
            ensure_hash(&input.path, &sha256(&read(&input.path)?), &input.sha256)?;
        }
        let paths: Vec<_> = sweep.data.iter().map(|input| input.path.clone()).collect();
        let log = read_task_logs(&paths, task)?;
        let (Some(seed), Some(wanted)) = (sweep.seeds.get(fit.seed), sweep.episodes.get(fit.size))
        else {
            return Ok(log);
        };
        if *wanted >= sweep.all_episodes {
            return Ok(log);
        }
        let mut episodes = log.episode_numbers();
        Random::new(*seed, EPISODE_STREAM).shuffle(&mut episodes);
        let wanted: BTreeSet<u32> = episodes.into_iter().take(*wanted as usize).collect();
        Ok(log.of_episodes(&wanted)?)
    }
}

fn calibrated(model: &ModelFile) -> bool {
    model.metadata().calibration.status == CalibrationStatus::Calibrated
}

/// What a cell's own error leaves; what is this machine's is handed on.
fn failed(error: Error) -> Result<Found, Error> {
    match error {
        Error::File(_) | Error::Interrupted => Err(error),
        error => Ok(Found::Failed(error.to_string())),
    }
}

fn task_text(task: &InputFile) -> Result<(String, String), Error> {
    let bytes = read(&task.path)?;
    ensure_hash(&task.path, &sha256(&bytes), &task.sha256)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok((text, task.path.display().to_string()))
}

fn ensure_hash(path: &Path, found: &str, planned: &str) -> Result<(), Error> {
    if found == planned {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{}: it has changed since the sweep was planned\nhelp: bring it back, or plan the sweep \
         anew in another folder",
        path.display()
    )))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    Ok(fs::read(path).map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })?)
}
