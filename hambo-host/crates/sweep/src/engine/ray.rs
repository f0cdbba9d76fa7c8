//! Tasks on Ray, by a small program in Python: Ray has no client for Rust.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use hambo_base::Error;
use hambo_base::observer::Observer;
use serde::{Deserialize, Serialize};

use super::told::{Told, report};
use super::{Ended, Job};

/// How often Ray tries a cell again whose worker is lost.
const RETRIES: u32 = 5;
/// How long an address may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How often the observer is asked whether to go on.
const LOOK: Duration = Duration::from_millis(200);

const SCRIPT: &str = include_str!("ray.py");

/// Which cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RayOptions {
    /// `HOST:PORT`, `ray://HOST:PORT` or `auto`; without one a cluster is started here.
    pub address: Option<String>,
    /// The Python that has Ray.
    pub python: PathBuf,
    /// Cells side by side on a cluster that is started here.
    pub workers: usize,
}

/// What the program is told.
#[derive(Serialize)]
struct Task<'a> {
    address: Option<&'a str>,
    workers: usize,
    cpus: usize,
    retries: u32,
    program: Vec<&'a str>,
    stages: Vec<Vec<usize>>,
}

/// A line that it says.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Problem {
        problem: String,
        text: String,
    },
    Cell {
        cell: usize,
        code: i32,
        text: String,
    },
}

pub(super) fn run(
    options: &RayOptions,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<Ended, Error> {
    if let Some(address) = &options.address {
        ensure_answer(address)?;
    }
    let stages = job.left_by_stage()?;
    let planned = stages.iter().map(Vec::len).sum();
    let task = Task {
        address: options.address.as_deref(),
        workers: options.workers,
        cpus: job.cpus,
        retries: RETRIES,
        program: job.words()?,
        stages,
    };
    let task = serde_json::to_vec(&task).map_err(std::io::Error::other)?;
    let log = job.own_folder("ray")?.join("stderr.txt");
    let errors = std::fs::File::create(&log).map_err(|error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", log.display()))
    })?;
    let child = Command::new(&options.python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn();
    let child = child.map_err(|error| {
        Error::Usage(format!(
            "{}: {error}\nhelp: name a Python with Ray by --python",
            options.python.display()
        ))
    })?;
    let mut driver = Driver(child);
    // A program that has ended already says why on its other end.
    if let Some(mut stdin) = driver.0.stdin.take() {
        let _ = stdin.write_all(&task);
    }
    let mut told = Told::default();
    let ended = listen(&mut driver, options, &mut told, |ended| {
        report(observer, ended, planned)
    })?;
    let status = driver.0.wait()?;
    if !status.success() || ended < planned {
        return Err(Error::Usage(format!(
            "ray: it ended after {ended} of {planned} cells: {status}; its last words are in {}\n\
             help: call hambo sweep again, which goes on from here",
            log.display()
        )));
    }
    Ok(Ended {
        problems: told.problems,
        ..Ended::default()
    })
}

/// Reads what the program says until its end; returns how many cells have ended.
fn listen(
    driver: &mut Driver,
    options: &RayOptions,
    told: &mut Told,
    mut look: impl FnMut(usize) -> Result<(), Error>,
) -> Result<usize, Error> {
    let (tell, heard) = mpsc::channel();
    let Some(stdout) = driver.0.stdout.take() else {
        return Ok(0);
    };
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    let mut ended = 0;
    loop {
        let line = match heard.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                look(ended)?;
                continue;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(ended),
        };
        match serde_json::from_str(&line) {
            Ok(Line::Problem { problem, text }) => return Err(refused(&problem, &text, options)),
            Ok(Line::Cell { cell, code, text }) => {
                ended += 1;
                if code != 0 {
                    told.add(cell, &text);
                }
            }
            // Ray may say something of its own.
            Err(_) => {}
        }
        look(ended)?;
    }
}

/// Why there is no cluster, and what to do.
fn refused(problem: &str, text: &str, options: &RayOptions) -> Error {
    let text = text.lines().next().unwrap_or_default();
    let python = options.python.display();
    Error::Usage(match (problem, &options.address) {
        ("missing", _) => format!(
            "ray: {python} does not have it: {text}\nhelp: {python} -m pip install ray, or name a \
             Python that has it by --python"
        ),
        (_, Some(address)) => format!(
            "ray: no cluster at {address}: {text}\nhelp: start one with ray start --head, with the \
             same version of Ray and Python; or leave --address out, which starts one here"
        ),
        (_, None) => format!(
            "ray: no cluster could be started here: {text}\nhelp: try ray start --head by itself, \
             and give its address by --address"
        ),
    })
}

/// Asks before Ray does, which takes a minute to give up.
fn ensure_answer(address: &str) -> Result<(), Error> {
    if ["auto", "local"].contains(&address) {
        return Ok(());
    }
    let place = address.strip_prefix("ray://").unwrap_or(address);
    let wrong = |problem: String| {
        Error::Usage(format!(
            "--address {address}: {problem}\nhelp: give HOST:PORT as ray start --head prints it, \
             ray://HOST:PORT or auto; or leave it out, which starts a cluster here"
        ))
    };
    let resolved = place.to_socket_addrs();
    let resolved = resolved.map_err(|error| wrong(format!("no such place: {error}")))?;
    let mut last = "no such place".to_owned();
    for address in resolved {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(_) => return Ok(()),
            Err(error) => last = format!("nobody answers there: {error}"),
        }
    }
    Err(wrong(last))
}

/// The program in Python; it ends with us, and Ray ends what it was given.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn an_address_where_nobody_is_is_refused_before_ray_is_asked() {
        // A port that was free a moment ago.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        assert!(ensure_answer(&format!("ray://{address}")).is_ok());
        drop(free);
        let text = ensure_answer(&address.to_string()).unwrap_err().to_string();
        assert!(text.contains("nobody answers there"), "{text}");
        for wrong in ["here", "256.0.0.1:6379", "ray://"] {
            let text = ensure_answer(wrong).unwrap_err().to_string();
            assert!(
                text.contains("no such place") && text.contains("help: "),
                "{text}"
            );
        }
        assert!(ensure_answer("auto").is_ok());
    }
}
