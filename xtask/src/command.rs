//! A command line that can be run, and shown so that a person can repeat it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Why xtask stops. Both kinds tell what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Something a person has to do or to correct, in full sentences.
    Advice(String),
    /// A command that did not succeed; repeating it shows the error alone.
    Command { line: String, outcome: String },
}

/// The repository.
pub fn project_root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_owned)
}

/// The search path of every command, if a tool was unpacked into the project.
pub fn search_path() -> Option<OsString> {
    let tools = project_root().join("target/tools/bin");
    let path = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(tools.clone()).chain(env::split_paths(&path));
    tools.is_dir().then(|| env::join_paths(all).ok()).flatten()
}

/// Program, arguments and changes to the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    unset: Vec<&'static str>,
    set: Vec<(&'static str, OsString)>,
    program: OsString,
    arguments: Vec<OsString>,
}

impl CommandLine {
    /// Starts from words separated by spaces: `CommandLine::new("cargo fmt --all")`.
    pub fn new(words: &str) -> Self {
        let mut words = words.split_whitespace().map(OsString::from);
        Self {
            unset: Vec::new(),
            set: Vec::new(),
            program: words.next().unwrap_or_default(),
            arguments: words.collect(),
        }
    }

    /// Starts from a program's path, spaces included.
    pub fn program(path: impl Into<OsString>) -> Self {
        Self {
            program: path.into(),
            ..Self::new("")
        }
    }

    /// Appends words separated by spaces.
    pub fn words(mut self, words: &str) -> Self {
        self.arguments
            .extend(words.split_whitespace().map(OsString::from));
        self
    }

    /// Appends one argument as it is, spaces included.
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn with(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        self.set.push((variable, value.into()));
        self
    }

    pub fn without(mut self, variable: &'static str) -> Self {
        self.unset.push(variable);
        self
    }

    /// Runs in `directory`, with the terminal lent to the command.
    pub fn run(&self, directory: &Path) -> Result<(), Problem> {
        let outcome = match self.command().current_dir(directory).status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => describe(status),
            Err(error) => format!("could not be started: {error}"),
        };
        Err(Problem::Command {
            line: self.to_string(),
            outcome,
        })
    }

    /// Runs in `directory` and writes all that the command prints to the file `log`.
    pub fn run_into(&self, directory: &Path, log: &Path) -> Result<(), Problem> {
        let mut command = self.command();
        command.current_dir(directory).stdin(Stdio::null());
        let files = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
        let outcome = match files {
            Err(error) => format!("has no log: {}: {error}", log.display()),
            Ok((out, err)) => match command.stdout(out).stderr(err).status() {
                Ok(status) if status.success() => return Ok(()),
                Ok(status) => describe(status),
                Err(error) => format!("could not be started: {error}"),
            },
        };
        Err(Problem::Command {
            line: self.to_string(),
            outcome,
        })
    }

    /// Runs in `directory` and returns what the command prints.
    pub fn read(&self, directory: &Path) -> Result<String, Problem> {
        let mut command = self.command();
        command.current_dir(directory).stdin(Stdio::null());
        let outcome = match command.stderr(Stdio::inherit()).output() {
            Ok(output) if output.status.success() => match String::from_utf8(output.stdout) {
                Ok(text) => return Ok(text),
                Err(_) => "printed something else than text".to_owned(),
            },
            Ok(output) => describe(output.status),
            Err(error) => format!("could not be started: {error}"),
        };
        Err(Problem::Command {
            line: self.to_string(),
            outcome,
        })
    }

    /// Runs a command that must fail, for the reason that `because` names in
    /// what it prints on standard error.
    pub fn must_fail(&self, directory: &Path, because: &str) -> Result<(), Problem> {
        let mut command = self.command();
        let outcome = match command.current_dir(directory).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => "succeeded, and must not".to_owned(),
            Ok(output) if String::from_utf8_lossy(&output.stderr).contains(because) => {
                return Ok(());
            }
            Ok(_) => format!("failed, but not because of {because}"),
            Err(error) => format!("could not be started: {error}"),
        };
        Err(Problem::Command {
            line: self.to_string(),
            outcome,
        })
    }

    /// What a quiet command prints, or `None` if it fails or does not exist.
    pub fn output(&self) -> Option<String> {
        let output = self.command().stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(path) = search_path() {
            command.env("PATH", path);
        }
        for variable in &self.unset {
            command.env_remove(variable);
        }
        for (variable, value) in &self.set {
            command.env(variable, value);
        }
        command
    }
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was stopped by a signal".to_owned(),
    }
}

/// A line for a shell.
impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.unset.is_empty() {
            f.write_str("env ")?;
        }
        for variable in &self.unset {
            write!(f, "-u {variable} ")?;
        }
        for (variable, value) in &self.set {
            write!(f, "{variable}={} ", quote(value))?;
        }
        f.write_str(&quote(&self.program))?;
        for argument in &self.arguments {
            write!(f, " {}", quote(argument))?;
        }
        Ok(())
    }
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_as_a_shell_reads_it() {
        let line = CommandLine::new("cargo test --release")
            .argument("a b")
            .argument("it's")
            .argument("")
            .with("HAMBO_FIRMWARE", "/x y/elf")
            .without("RUSTFLAGS");
        assert_eq!(
            line.to_string(),
            r"env -u RUSTFLAGS HAMBO_FIRMWARE='/x y/elf' cargo test --release 'a b' 'it'\''s' ''"
        );
    }

    #[test]
    fn a_failure_names_the_line_and_the_code() {
        let line = CommandLine::new("sh -c").argument("exit 7");
        assert_eq!(
            line.run(Path::new(".")),
            Err(Problem::Command {
                line: "sh -c 'exit 7'".to_owned(),
                outcome: "ended with exit code 7".to_owned(),
            })
        );
    }

    #[test]
    fn a_failure_can_be_wanted() {
        let here = Path::new(".");
        let line = CommandLine::new("sh -c").argument("echo no such symbol >&2; exit 1");
        assert_eq!(line.must_fail(here, "symbol"), Ok(()));
        assert!(line.must_fail(here, "another reason").is_err());
        assert!(CommandLine::new("true").must_fail(here, "").is_err());
    }

    #[test]
    fn a_result_can_be_read() {
        let here = Path::new(".");
        let line = CommandLine::new("echo x = 1");
        assert_eq!(line.read(here), Ok("x = 1\n".to_owned()));
        assert!(CommandLine::new("false").read(here).is_err());
    }

    #[test]
    fn what_is_printed_can_go_to_a_file() {
        let here = Path::new(".");
        let log = std::env::temp_dir().join(format!("hambo-xtask-{}.log", std::process::id()));
        let line = CommandLine::new("sh -c").argument("echo out; echo err >&2");
        assert_eq!(line.run_into(here, &log), Ok(()));
        assert_eq!(
            std::fs::read_to_string(&log).as_deref().ok(),
            Some("out\nerr\n")
        );
        assert!(CommandLine::new("false").run_into(here, &log).is_err());
        assert!(
            line.run_into(here, Path::new("/no/such/folder/log"))
                .is_err()
        );
        let _ = std::fs::remove_file(log);
    }

    #[test]
    fn a_missing_program_is_a_problem_and_not_a_panic() {
        let line = CommandLine::new("hambo-no-such-program");
        assert!(matches!(
            line.run(Path::new(".")),
            Err(Problem::Command { outcome, .. }) if outcome.starts_with("could not be started")
        ));
        assert_eq!(line.output(), None);
    }

    #[test]
    fn variables_are_set_and_unset() {
        let line = CommandLine::new("sh -c").argument("echo $HAMBO_A ${HOME-gone}");
        let line = line.with("HAMBO_A", "here").without("HOME");
        assert_eq!(line.output().as_deref(), Some("here gone"));
    }
}
