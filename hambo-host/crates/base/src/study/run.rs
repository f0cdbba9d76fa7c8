//! Works off the cells that a file does not hold yet.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::rows::{Appender, Row, Study, Summary, Table};

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many cells, from the first; without a number all of them.
    pub cells: Option<usize>,
    /// Of these every cell whose number this divides: a part of a study that is like the whole.
    pub every: usize,
    /// No cell is begun after this time.
    pub time: Option<Duration>,
    /// Cells side by side.
    pub threads: usize,
}

/// Where a study's rows are.
#[must_use]
pub fn file(folder: &Path, study: &dyn Study) -> PathBuf {
    folder.join(format!("{}.csv", study.name()))
}

/// The rows that are there, and which of the wanted cells are left.
///
/// # Errors
/// If the file is another study's or cannot be read.
pub fn left(study: &dyn Study, folder: &Path, plan: &Plan) -> Result<(Table, Vec<usize>), String> {
    let table = Table::read(&file(folder, study), study)?.whole_cells(study);
    let wanted = plan.cells.unwrap_or(usize::MAX).min(study.cells());
    let wanted = (0..wanted).step_by(plan.every.max(1));
    let left = wanted.filter(|cell| table.of_cell(*cell).is_empty() && study.can_run(*cell));
    let left = left.collect();
    Ok((table, left))
}

/// Adds cells that were worked off elsewhere: those of which all rows are there.
///
/// # Errors
/// If the file is another study's or cannot be written.
pub fn add(study: &dyn Study, folder: &Path, rows: &[Vec<Row>]) -> Result<(), String> {
    let path = file(folder, study);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let table = Table::read(&path, study)?.whole_cells(study);
    let mut appender = Appender::new(&path, &table).map_err(failed)?;
    for rows in rows {
        appender.add(rows).map_err(failed)?;
    }
    let table = Table::read(&path, study)?.whole_cells(study);
    table.write(&path).map_err(failed)
}

/// Works off what is left. `tell` hears of every finished cell and of how many there are; on
/// `Break` no more are begun.
///
/// # Errors
/// If the file is another study's or cannot be written, or a cell is wrong.
pub fn run(
    study: &dyn Study,
    folder: &Path,
    plan: &Plan,
    tell: &(dyn Fn(usize, usize) -> ControlFlow<()> + Sync),
) -> Result<(), String> {
    let path = file(folder, study);
    let (table, left) = left(study, folder, plan)?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let appender = Mutex::new(Appender::new(&path, &table).map_err(failed)?);
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let work = || -> Result<(), String> {
        // One thread for each cell: they are many, and no two share anything.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| error.to_string())?;
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let in_time = plan.time.is_none_or(|time| started.elapsed() < time);
            let Some(cell) = left.get(place).filter(|_| in_time) else {
                return Ok(());
            };
            let rows = pool.install(|| study.run(*cell));
            let rows = rows.map_err(|error| format!("cell {cell}: {error}"))?;
            let mut appender = appender.lock().map_err(|error| error.to_string())?;
            appender.add(&rows).map_err(failed)?;
            if tell(place + 1, left.len()).is_break() {
                next.store(left.len(), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.threads.max(1))
            .map(|_| scope.spawn(work))
            .collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        // All of them end before the first error is told.
        let ended: Vec<_> = ended.collect();
        ended.into_iter().try_for_each(|one| match one {
            Ok(result) => result,
            Err(_) => Err("a thread has died".to_owned()),
        })
    })?;
    let table = Table::read(&path, study)?.whole_cells(study);
    table.write(&path).map_err(failed)
}

/// What the rows in `folder` say; the picture goes beside them.
///
/// # Errors
/// If the file is another study's or empty, or the picture cannot be written.
pub fn summary(study: &dyn Study, folder: &Path) -> Result<Summary, String> {
    let table = Table::read(&file(folder, study), study)?.whole_cells(study);
    if table.is_empty() {
        return Err(format!("`{}` has no rows yet", study.name()));
    }
    let summary = study.summary(&table);
    let path = folder.join(format!("{}.svg", study.name()));
    std::fs::write(&path, &summary.svg).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(summary)
}
