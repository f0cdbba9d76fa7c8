//! What Slurm's own commands say.

use std::path::Path;
use std::process::Command;

use hambo_base::Error;

/// Slurm's limit where it does not say one.
const MAX_ARRAY_SIZE: usize = 1001;
/// Jobs that a controller keeps, where it does not say.
const MAX_JOB_COUNT: usize = 10_000;

/// The cluster, and under which name our jobs run.
#[derive(Debug)]
pub(super) struct Cluster<'a> {
    name: &'a str,
    most_tasks: usize,
}

impl<'a> Cluster<'a> {
    /// Asks for the limits.
    ///
    /// # Errors
    /// If there is no Slurm here, or it does not answer.
    pub fn ask(name: &'a str) -> Result<Self, Error> {
        let text = run("scontrol", &["show", "config"])?;
        let array = number(&text, "MaxArraySize").unwrap_or(MAX_ARRAY_SIZE);
        let jobs = number(&text, "MaxJobCount").unwrap_or(MAX_JOB_COUNT);
        if array == 0 {
            let text = "slurm: this cluster takes no array jobs (MaxArraySize = 0)\nhelp: ask its \
                        administrator, or take --engine local on a machine of your own";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(Self {
            name,
            // Numbers of an array's tasks begin with 0 and stay below the limit.
            most_tasks: array.min(jobs).max(1),
        })
    }

    /// Tasks of one array.
    pub fn most_tasks(&self) -> usize {
        self.most_tasks
    }

    /// Submits a script; returns the job's number.
    ///
    /// # Errors
    /// In Slurm's words.
    pub fn submit(&self, script: &Path) -> Result<String, Error> {
        let text = run("sbatch", &["--parsable", &script.to_string_lossy()])?;
        let id = text.trim().split(';').next().unwrap_or_default();
        if id.is_empty() || !id.chars().all(|letter| letter.is_ascii_digit()) {
            return Err(Error::Usage(format!(
                "sbatch: it gave no job's number: {}\nhelp: look whether the job runs (squeue)",
                text.trim()
            )));
        }
        Ok(id.to_owned())
    }

    /// The numbers of our jobs in the queue, each once.
    ///
    /// # Errors
    /// If Slurm does not answer, or holds all of them.
    pub fn running(&self) -> Result<Vec<String>, Error> {
        let name = format!("--name={}", self.name);
        let text = run("squeue", &["--noheader", "--format=%F|%r", &name])?;
        let (mut ids, mut held, mut jobs) = (Vec::new(), None, 0);
        let mut others = false;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (id, reason) = line.split_once('|').unwrap_or((line, ""));
            jobs += 1;
            let reason = reason.trim();
            if reason.to_ascii_lowercase().contains("held") {
                held = Some((id.trim().to_owned(), reason.to_owned()));
            } else {
                others = true;
            }
            let id = id.trim().to_owned();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        match held {
            Some((id, reason)) if !others => Err(Error::Usage(format!(
                "slurm: it holds what is left ({jobs} in the queue): {reason}\nhelp: mend its \
                 cause, then scontrol release {id}, and call hambo sweep again, which waits for it"
            ))),
            _ => Ok(ids),
        }
    }
}

/// A number of `scontrol show config`.
fn number(text: &str, key: &str) -> Option<usize> {
    let mut lines = text.lines().filter_map(|line| line.split_once('='));
    let found = lines.find(|(name, _)| name.trim() == key);
    found.and_then(|(_, value)| value.trim().parse().ok())
}

/// What a command of Slurm prints.
fn run(program: &str, words: &[&str]) -> Result<String, Error> {
    let output = Command::new(program).args(words).output().map_err(|error| {
        Error::Usage(format!(
            "{program}: {error}\nhelp: --engine slurm needs Slurm's commands; call it where sbatch \
             works, such as the cluster's login node"
        ))
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Usage(format!(
            "{program} {}: {}\nhelp: these are Slurm's words; rows that are there stay, and the \
             next call of hambo sweep goes on",
            words.join(" "),
            text.trim()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn limits_are_read_by_their_names() {
        let text = "Configuration data as of 2026\nMaxArraySize            = 1001\n\
                    MaxArraySizeOther       = 5\nMaxJobCount             = n/a\n";
        assert_eq!(number(text, "MaxArraySize"), Some(1001));
        assert_eq!(number(text, "MaxJobCount"), None);
        assert_eq!(number(text, "MaxArray"), None);
    }
}
