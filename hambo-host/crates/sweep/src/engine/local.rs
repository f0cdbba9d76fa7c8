//! Processes on this machine, one cell each, as many side by side as there are processors.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use hambo_base::Error;
use hambo_base::observer::Observer;

use super::told::{Told, report};
use super::{Ended, Job};

/// How often a cell is tried whose process is ended by a signal: by a lack of memory, by a hand.
const TRIES: usize = 3;
/// How often the observer is asked whether to go on.
const LOOK: Duration = Duration::from_millis(200);

/// How this machine is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalOptions {
    /// Cells side by side.
    pub workers: usize,
}

/// What a process comes to.
enum End {
    Done,
    /// Without a result; the machine is at fault if it says so itself.
    Failed(usize, String),
}

pub(super) fn run(
    options: &LocalOptions,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<Ended, Error> {
    let stages = job.left_by_stage()?;
    let planned = stages.iter().map(Vec::len).sum();
    let mut told = Told::default();
    let mut ended = 0;
    for cells in &stages {
        stage(options.workers, job, cells, |end| {
            ended += 1;
            let failed = match end {
                Some(End::Failed(cell, text)) => {
                    told.add(cell, &text);
                    true
                }
                Some(End::Done) => false,
                None => {
                    ended -= 1;
                    false
                }
            };
            report(observer, ended, planned)?;
            // What one process cannot write no other can.
            Ok(!failed)
        })?;
        if !told.problems.is_empty() {
            break;
        }
    }
    Ok(Ended {
        problems: told.problems,
        ..Ended::default()
    })
}

/// Works off cells side by side. `hear` is told of each that ended, and now and then of none; it
/// says whether to go on.
fn stage(
    workers: usize,
    job: &Job<'_>,
    cells: &[usize],
    mut hear: impl FnMut(Option<End>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let (tell, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, cells.len().max(1)) {
            let tell = tell.clone();
            let (next, stopped) = (&next, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(place) else {
                        return;
                    };
                    if tell.send(one(job, *cell)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(tell);
        let mut result = Ok(());
        loop {
            let end = match heard.recv_timeout(LOOK) {
                Ok(end) => Some(end),
                Err(mpsc::RecvTimeoutError::Timeout) => None,
                Err(mpsc::RecvTimeoutError::Disconnected) => return result,
            };
            match hear(end) {
                Ok(true) => {}
                stop => {
                    stopped.store(true, Ordering::Relaxed);
                    result = result.and(stop.map(|_| ()));
                }
            }
        }
    })
}

/// Works off one cell in a process of its own.
fn one(job: &Job<'_>, cell: usize) -> End {
    let mut last = String::new();
    for _ in 0..TRIES {
        match process(job, cell) {
            Ok(output) if output.status.success() => return End::Done,
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr).into_owned();
                if output.status.code().is_some() {
                    return End::Failed(cell, text);
                }
                last = format!("its process was ended {TRIES} times: {}", output.status);
            }
            Err(error) => {
                let program = job.program.first().map(|word| word.to_string_lossy());
                let program = program.unwrap_or_default();
                return End::Failed(cell, format!("{program}: cannot be started: {error}"));
            }
        }
    }
    End::Failed(cell, last)
}

fn process(job: &Job<'_>, cell: usize) -> std::io::Result<Output> {
    let mut words = job.program.iter();
    let program = words.next().ok_or(std::io::ErrorKind::NotFound)?;
    Command::new(program)
        .args(words)
        .arg(cell.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;
    use std::path::PathBuf;

    use hambo_base::observer::Unobserved;

    use super::*;
    use crate::engine::Engine;

    /// A folder, and how the cells of a shell script end that gets folder and cell.
    fn ended(name: &str, script: &str) -> (PathBuf, Ended) {
        let folder = std::env::temp_dir().join(format!("hambo-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let words = ["sh", "-c", script].map(Into::into);
        let mut program: Vec<std::ffi::OsString> = words.into();
        program.push(folder.clone().into_os_string());
        let done = || {
            let there = (0..9).map(|cell| folder.join(cell.to_string()).exists());
            Ok(there.collect())
        };
        let job = Job {
            name,
            program,
            stages: vec![0..3, 3..9],
            done: &done,
            folder: &folder,
            cpus: 1,
        };
        let engine = Engine::Local(LocalOptions { workers: 3 });
        let ended = engine.run(&job, &mut Unobserved).unwrap();
        (folder, ended)
    }

    #[test]
    fn a_cell_that_a_signal_ends_is_tried_again_and_stages_wait() {
        // The second stage fails unless the first has ended.
        let script = "if [ $1 -lt 3 ]; then sleep 0.1; else for n in 0 1 2; do [ -e $0/$n ] || exit 4; done; fi; \
                      if [ $1 = 5 ] && [ ! -e $0/tried ]; then touch $0/tried; kill -9 $$; fi; touch $0/$1";
        let (folder, ended) = ended("local-again", script);
        assert_eq!(ended, Ended::default());
        assert!(folder.join("tried").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_one_process_cannot_do_is_told_once_and_ends_the_rest() {
        let script = "if [ $1 = 1 ]; then echo 'hambo: no space left' >&2; exit 2; fi; touch $0/$1";
        let (folder, ended) = ended("local-full", script);
        assert_eq!(ended.problems, [(1, "no space left".to_owned())]);
        assert!(
            ended.left.contains(&1) && ended.left.contains(&8),
            "{ended:?}"
        );
        fs::remove_dir_all(folder).unwrap();
        let (folder, ended) = self::ended("local-dead", "[ $1 != 2 ] || kill -9 $$; touch $0/$1");
        let (cell, text) = ended.problems.first().unwrap();
        assert!(*cell == 2 && text.contains("ended 3 times"), "{text}");
        fs::remove_dir_all(folder).unwrap();
    }
}
