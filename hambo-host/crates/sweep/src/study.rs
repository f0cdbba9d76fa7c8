//! The engines for a study's cells: a cell is a number, and its rows are kept beside the study's
//! file until they are added to it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_base::study::Study;
use hambo_base::study::rows::Row;
use hambo_base::study::run::{Plan, add, left};

use crate::engine::{Ended, Engine, Job};
use crate::keep::{forget_parts, keep_bytes};

/// A study, where its file is, and what works off one of its cells.
pub struct StudyJob<'a> {
    /// The study.
    pub study: &'a dyn Study,
    /// Where its file is.
    pub folder: &'a Path,
    /// For the rows of cells, until they are added; every machine sees it.
    pub scratch: &'a Path,
    /// The program and its words before the cell's number; it calls [`work`].
    pub program: Vec<OsString>,
}

/// Works off a cell and keeps its rows.
///
/// # Errors
/// If the cell is wrong, or its rows cannot be written.
pub fn work(study: &dyn Study, scratch: &Path, cell: usize) -> Result<(), Error> {
    if cell >= study.cells() || !study.can_run(cell) {
        return Err(Error::Usage(format!(
            "cell {cell}: the study {} has {}, and this program may lack parts for some",
            study.name(),
            study.cells()
        )));
    }
    let place = place(scratch, cell);
    if place.exists() {
        return Ok(());
    }
    let rows = study.run(cell)?;
    let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    keep_bytes(scratch, &place, text.as_bytes())?;
    Ok(())
}

/// Works off what is left by an engine, and adds the rows to the study's file: those that are there
/// too if the engine fails.
///
/// # Errors
/// If the engine fails, or a file is another study's or cannot be written.
pub fn run(
    job: &StudyJob<'_>,
    plan: &Plan,
    engine: &Engine,
    observer: &mut dyn Observer,
) -> Result<Ended, Error> {
    let study = job.study;
    let (_, cells) = left(study, job.folder, plan).map_err(Error::Usage)?;
    let done = || {
        let mut done = vec![true; study.cells()];
        for cell in &cells {
            if let Some(done) = done.get_mut(*cell) {
                *done = place(job.scratch, *cell).exists();
            }
        }
        Ok(done)
    };
    let all = 0..study.cells();
    let ended = engine.run(
        &Job {
            name: study.name(),
            program: job.program.clone(),
            stages: vec![all],
            done: &done,
            folder: job.scratch,
            cpus: 1,
        },
        observer,
    );
    let rows = cells.iter().filter_map(|cell| rows(job, *cell).transpose());
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    add(study, job.folder, &rows).map_err(Error::Usage)?;
    let ended = ended?;
    if ended.left.is_empty() {
        forget_parts(job.scratch);
    }
    Ok(ended)
}

/// The rows of a cell, if they are there.
fn rows(job: &StudyJob<'_>, cell: usize) -> Result<Option<Vec<Row>>, Error> {
    let place = place(job.scratch, cell);
    if !place.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&place)?;
    let rows = text.lines();
    let rows: Vec<Row> = rows
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let own = |row: &Row| row.first().and_then(|first| first.parse().ok()) == Some(cell);
    if rows.len() != job.study.rows_of(cell) || !rows.iter().all(own) {
        return Err(Error::Usage(format!(
            "{}: these are not the rows of cell {cell}\nhelp: remove the file and run the study \
             again",
            place.display()
        )));
    }
    Ok(Some(rows))
}

fn place(scratch: &Path, cell: usize) -> PathBuf {
    scratch.join(format!("cells/{cell:07}.csv"))
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use hambo_base::observer::Unobserved;
    use hambo_base::study::rows::{Summary, Table};

    use super::*;
    use crate::engine::LocalOptions;

    struct Squares;

    impl Study for Squares {
        fn name(&self) -> &'static str {
            "squares"
        }

        fn columns(&self) -> &'static [&'static str] {
            &["cell", "square"]
        }

        fn cells(&self) -> usize {
            7
        }

        fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
            Ok(vec![vec![cell.to_string(), (cell * cell).to_string()]])
        }

        fn summary(&self, _: &Table) -> Summary {
            Summary {
                text: String::new(),
                svg: String::new(),
            }
        }
    }

    #[test]
    fn a_studys_rows_are_the_same_whoever_works_them_off() {
        let folder = std::env::temp_dir().join(format!("hambo-study-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let scratch = folder.join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let file = folder.join("squares.csv");
        // A row that is there is not worked off again.
        fs::write(&file, "cell,square\n3,9\n").unwrap();
        let script = "mkdir -p $0/cells; [ $1 != 3 ] || exit 1; \
                      printf '%d,%d\\n' $1 $(($1 * $1)) > $0/cells/$(printf %07d $1).csv";
        let mut program: Vec<OsString> = ["sh", "-c", script].map(Into::into).into();
        program.push(scratch.clone().into_os_string());
        let job = StudyJob {
            study: &Squares,
            folder: &folder,
            scratch: &scratch,
            program,
        };
        let plan = |cells| Plan {
            cells,
            every: 1,
            time: None,
            threads: 1,
        };
        let engine = Engine::Local(LocalOptions { workers: 2 });
        let ended = run(&job, &plan(Some(2)), &engine, &mut Unobserved).unwrap();
        assert_eq!(ended, Ended::default());
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "cell,square\n0,0\n1,1\n3,9\n"
        );
        // A cell that was worked off and not added yet.
        work(&Squares, &scratch, 6).unwrap();
        run(&job, &plan(None), &engine, &mut Unobserved).unwrap();
        let all: String = (0..7).map(|n| format!("{n},{}\n", n * n)).collect();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            format!("cell,square\n{all}")
        );
        assert!(work(&Squares, &scratch, 7).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
