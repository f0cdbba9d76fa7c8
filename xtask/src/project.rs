//! The repository and where its builds go; how its commands are run.

use std::env;
use std::path::PathBuf;

use crate::command::{CommandLine, Problem, project_root};
use crate::firmware::{Firmware, Toolchain};
use crate::setup::{Machine, ThisMachine};
use crate::steps::say;

/// The repository, and where its builds go.
pub struct Project {
    pub root: PathBuf,
    pub target_directory: PathBuf,
    /// Set when the caller chose `target_directory`: children must agree on it,
    /// though they start in `root`.
    chosen: bool,
    /// Where commands write that run beside others; else to the terminal.
    log: Option<PathBuf>,
}

impl Project {
    pub fn new() -> Self {
        let root = project_root();
        let chosen = env::var_os("CARGO_TARGET_DIR").filter(|directory| !directory.is_empty());
        let target_directory = match &chosen {
            Some(directory) => std::path::absolute(directory).unwrap_or_else(|_| directory.into()),
            None => root.join("target"),
        };
        Self {
            root,
            target_directory,
            chosen: chosen.is_some(),
            log: None,
        }
    }

    /// The same, for commands that run while others use the terminal.
    pub fn beside(&self) -> Self {
        Self {
            root: self.root.clone(),
            target_directory: self.target_directory.clone(),
            chosen: self.chosen,
            log: Some(self.target_directory.join("beside.log")),
        }
    }

    /// Shows the line and makes it agree with the target directory.
    pub fn prepared(&self, line: CommandLine) -> CommandLine {
        say(format_args!("$ {line}"));
        if self.chosen {
            line.with("CARGO_TARGET_DIR", &self.target_directory)
        } else {
            line
        }
    }

    pub fn run(&self, line: CommandLine) -> Result<(), Problem> {
        let line = self.prepared(line);
        match &self.log {
            Some(log) => line.run_into(&self.root, log).inspect_err(|_| {
                let text = std::fs::read_to_string(log).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let end = lines.split_at(lines.len().saturating_sub(60)).1;
                say(end.join("\n"));
            }),
            None => line.run(&self.root),
        }
    }

    pub fn must_fail(&self, line: CommandLine, because: &str) -> Result<(), Problem> {
        self.prepared(line).must_fail(&self.root, because)
    }

    pub fn toolchain(
        &self,
        provide: fn(&mut dyn Machine, Option<&str>) -> Result<Toolchain, Problem>,
    ) -> Result<Toolchain, Problem> {
        let wanted = env::var("HAMBO_TOOLCHAIN").ok();
        provide(&mut ThisMachine, wanted.as_deref())
    }

    pub fn firmware_of(&self, toolchain: Toolchain) -> Firmware {
        let rustflags = env::var_os("RUSTFLAGS");
        Firmware::new(toolchain, &self.target_directory, rustflags.as_deref())
    }
}
