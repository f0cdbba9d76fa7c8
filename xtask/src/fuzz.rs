//! The fuzz targets: built with the coverage that libFuzzer steers by, and run
//! side by side for a while, from the committed corpus.
//!
//! The flags are those of cargo-fuzz without the address sanitizer, which a
//! program without `unsafe` has no use for. They work on the stable compiler.

use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};
use crate::project::Project;
use crate::setup::{self, ThisMachine};
use crate::steps::{Failure, Steps, say};

/// The binaries of `fuzz/`.
pub const TARGETS: [&str; 5] = ["image", "bundle", "expression", "drive", "frame"];
/// How long each is run by `cargo xtask test`.
pub const SECONDS: u32 = 15;

const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// The targets' builds and runs, as command lines to run from the root.
pub struct Fuzz {
    directory: PathBuf,
    /// The compiler's own target: naming it keeps the flags from build
    /// scripts and macros.
    host: String,
}

impl Fuzz {
    /// `target_directory` is the workspace's; the targets get their own inside.
    pub fn new(target_directory: &Path) -> Result<Self, Problem> {
        let version = CommandLine::new("rustc -vV").output().unwrap_or_default();
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.map(str::to_owned).ok_or_else(|| {
            Problem::Advice("`rustc -vV` names no host. Is the compiler there?".to_owned())
        })?;
        Ok(Self {
            directory: target_directory.join("fuzz"),
            host,
        })
    }

    pub fn build(&self) -> CommandLine {
        CommandLine::new("cargo build --release --locked --manifest-path fuzz/Cargo.toml --target")
            .words(&self.host)
            .words("--target-dir")
            .argument(&self.directory)
            .with("RUSTFLAGS", COVERAGE)
    }

    /// What a run finds is kept here, for the next run on this machine.
    pub fn findings(&self, target: &str) -> PathBuf {
        self.directory.join("corpus").join(target)
    }

    pub fn log(&self, target: &str) -> PathBuf {
        self.directory.join(format!("{target}.log"))
    }

    fn program(&self, target: &str) -> PathBuf {
        let folder = self.directory.join(&self.host).join("release");
        folder.join(format!("{target}{}", std::env::consts::EXE_SUFFIX))
    }

    pub fn run(&self, target: &str, seconds: u32) -> CommandLine {
        let prefix = self.directory.join(format!("{target}-"));
        CommandLine::new("env")
            .argument(self.program(target))
            .argument(self.findings(target))
            .argument(format!("fuzz/corpus/{target}"))
            .argument(format!("-max_total_time={seconds}"))
            .argument(format!("-artifact_prefix={}", prefix.display()))
            .words("-print_final_stats=1 -max_len=8192 -timeout=10")
    }

    /// Runs all targets at once. Each writes to its log, of which a summary
    /// is given, or the end where a target failed.
    pub fn run_all(&self, root: &Path, seconds: u32) -> Result<Vec<String>, Problem> {
        for target in TARGETS {
            let folder = self.findings(target);
            std::fs::create_dir_all(&folder).map_err(|error| {
                Problem::Advice(format!("{} cannot be made: {error}", folder.display()))
            })?;
        }
        let results = std::thread::scope(|scope| {
            let runs =
                TARGETS.map(|target| scope.spawn(move || self.run_one(target, root, seconds)));
            runs.map(|run| run.join().unwrap_or_else(|_| Err(stopped())))
        });
        results.into_iter().collect()
    }

    fn run_one(&self, target: &str, root: &Path, seconds: u32) -> Result<String, Problem> {
        let log = self.log(target);
        let result = self.run(target, seconds).run_into(root, &log);
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        match result {
            Ok(()) => summary(&text)
                .map(|summary| format!("{target}: {summary}"))
                .ok_or_else(|| Problem::Advice(format!("{} has no figures.", log.display()))),
            Err(Problem::Command { outcome, .. }) => {
                Err(Problem::Advice(self.complaint(target, &outcome, &text)))
            }
            Err(advice) => Err(advice),
        }
    }

    fn complaint(&self, target: &str, outcome: &str, log: &str) -> String {
        let lines: Vec<&str> = log.lines().collect();
        let end = lines.split_at(lines.len().saturating_sub(8)).1.join("\n");
        // The message stands on the line after its place.
        let panic = lines.iter().position(|line| line.contains("panicked at"));
        let panic = lines.iter().skip(panic.unwrap_or(lines.len())).take(2);
        let panic: String = panic.map(|line| format!("{line}\n")).collect();
        let input = log.lines().find_map(|line| {
            let (_, path) = line.split_once("Test unit written to ")?;
            Some(path.trim())
        });
        let repeat = input.map_or_else(String::new, |input| {
            let line = CommandLine::new("env").argument(self.program(target));
            format!(
                "\nTo repeat it, from the root of the repository:\n\n    {}\n\n\
                 Fix it, and add the input to fuzz/corpus/{target} and to a test.",
                line.argument(input)
            )
        });
        format!("The fuzz target {target} {outcome}.\n{panic}{end}\n{repeat}")
    }
}

fn stopped() -> Problem {
    Problem::Advice("A fuzz target's thread has died.".to_owned())
}

/// Executions, coverage and corpus of a run that ended well.
fn summary(log: &str) -> Option<String> {
    let done = log.lines().find(|line| line.starts_with("Done "))?;
    let last = log.lines().rfind(|line| line.contains(" cov: "))?;
    let words: Vec<&str> = last.split_whitespace().collect();
    let after = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        words.get(place + 1).copied()
    };
    Some(format!(
        "{}, {} edges, {} inputs of the corpus",
        done.trim_start_matches("Done ").trim(),
        after("cov:")?,
        after("corp:")?
    ))
}

impl Project {
    /// All targets side by side, each for `seconds`.
    pub fn fuzz_steps(&self, steps: &mut Steps, seconds: u32) -> Result<(), Failure> {
        let fuzz = steps.step("fuzz targets", || {
            setup::cpp(&mut ThisMachine)?;
            let fuzz = Fuzz::new(&self.target_directory)?;
            self.run(fuzz.build())?;
            Ok(fuzz)
        })?;
        steps.step("fuzzing", || {
            for target in TARGETS {
                say(format_args!("$ {}", fuzz.run(target, seconds)));
            }
            for summary in fuzz.run_all(&self.root, seconds)? {
                say(summary);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fuzz() -> Fuzz {
        Fuzz {
            directory: "/t/fuzz".into(),
            host: "x86_64-unknown-linux-gnu".into(),
        }
    }

    #[test]
    fn a_run_keeps_the_committed_corpus_as_it_is() {
        let line = fuzz().run("image", 60).to_string();
        // libFuzzer writes to the first folder only.
        assert!(
            line.starts_with(
                "env /t/fuzz/x86_64-unknown-linux-gnu/release/image /t/fuzz/corpus/image \
                 fuzz/corpus/image -max_total_time=60"
            ),
            "{line}"
        );
        let build = fuzz().build().to_string();
        assert!(
            build.contains("--target x86_64-unknown-linux-gnu"),
            "{build}"
        );
    }

    #[test]
    fn figures_are_read_from_a_log() {
        let log = "INFO: Seed: 1\n#2\tINITED cov: 9 ft: 9 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                   #100\tNEW    cov: 31 ft: 40 corp: 7/25b lim: 4 exec/s: 9 rss: 40Mb\n\
                   Done 1234 runs in 61 second(s)\nstat::number_of_executed_units: 1234\n";
        assert_eq!(
            summary(log).as_deref(),
            Some("1234 runs in 61 second(s), 31 edges, 7/25b inputs of the corpus")
        );
        assert_eq!(summary("==7== ERROR: libFuzzer: deadly signal"), None);
    }

    #[test]
    fn a_crash_names_its_input() {
        let log = "panicked at x.rs:\nplanted\n1\n2\n3\n4\n5\n6\n7\n8\nartifact_prefix='/t/fuzz/image-'; \
                   Test unit written to /t/fuzz/image-crash-1\nBase64: AA==\n";
        let text = fuzz().complaint("image", "ended with exit code 77", log);
        assert!(text.contains("panicked at x.rs:\nplanted\n"), "{text}");
        assert!(
            text.contains("release/image /t/fuzz/image-crash-1\n"),
            "{text}"
        );
        assert!(
            text.contains("add the input to fuzz/corpus/image"),
            "{text}"
        );
    }
}
