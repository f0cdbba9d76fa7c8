//! `cargo xtask`: set-up, firmware builds and everything that runs on them.
//!
//! `demo` shows what hambo does, `test` proves that it does it.

mod budget;
mod command;
mod firmware;
#[cfg(test)]
mod formulas;
mod fuzz;
mod layers;
mod lines;
mod mutants;
mod picture;
mod setup;
mod source;
mod steps;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use budget::Budgets;
use command::{CommandLine, Problem};
use firmware::{Firmware, Toolchain};
use fuzz::Fuzz;
use setup::{Machine, ThisMachine};
use steps::{Failure, Steps, closing_words, say};

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo [ARGUMENTS]  build everything and run `hambo demo` with ARGUMENTS
  test              format, lints, builds for the Cortex-M, all tests incl. QEMU
  docs              the core's documentation, with all its links
  miri              the core's tests under Miri
  fuzz [--seconds N] hostile images and expressions, 15 s without N
  mutants [--shard K/N] break the core line by line: do its tests notice?
  budget [--update] what the firmware takes, against budgets.toml, or into it
  study NAME [...]  work off a study into studies/NAME.csv; --summary says what it says
  districts         draw docs/figures/districts.svg from the host's imports
  lines [COMMIT]    lines of code, comments and tests by crate, now or at COMMIT
  firmware          build the firmware and print the path of its ELF file
  setup             install what is missing: the Cortex-M target and QEMU
  help              show this

Examples: cargo xtask demo
          cargo xtask demo -- --output elsewhere

HAMBO_TOOLCHAIN=rustup|debian chooses who builds the firmware; without it rustup
does, or Debian's compiler where rustup cannot. CARGO_TARGET_DIR is honoured.";

const DOCS: &str = "documentation of the core";
const NO_CLIPPY: &str = "no clippy here; rustup component add clippy";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let command = arguments.next().unwrap_or_else(|| "help".into());
    let rest: Vec<OsString> = arguments.collect();
    let known = command.to_str().unwrap_or_default();
    if !rest.is_empty()
        && matches!(
            known,
            "test" | "firmware" | "setup" | "miri" | "docs" | "districts"
        )
    {
        say(format_args!(
            "error: `cargo xtask {known}` takes no arguments.\n\n{USAGE}"
        ));
        return ExitCode::from(2);
    }
    let update = rest.first().is_some_and(|word| word == "--update");
    if known == "budget" && rest.len() != usize::from(update) {
        say(format_args!(
            "error: `cargo xtask budget` takes --update or nothing.\n\n{USAGE}"
        ));
        return ExitCode::from(2);
    }
    let seconds = fuzz_seconds(&rest);
    if known == "fuzz" && seconds.is_none() {
        say(format_args!(
            "error: `cargo xtask fuzz` takes --seconds and a number, or nothing.\n\n{USAGE}"
        ));
        return ExitCode::from(2);
    }
    let shard = match &rest[..] {
        [option, shard] if option == "--shard" => shard.to_str(),
        _ => None,
    };
    if known == "mutants" && shard.is_none() && !rest.is_empty() {
        say(format_args!(
            "error: `cargo xtask mutants` takes --shard and K/N, from 0, or nothing.\n\n{USAGE}"
        ));
        return ExitCode::from(2);
    }
    let project = Project::new();
    let result = match known {
        "demo" => project.demo(&rest),
        "test" => project.test(),
        "docs" => project.docs(),
        "miri" => project.miri(),
        "fuzz" => project.fuzz(seconds.unwrap_or(fuzz::SECONDS)),
        "mutants" => project.mutants(shard),
        "budget" => project.budget(update),
        "study" => project.study(&rest),
        "districts" => project.districts(),
        "lines" => project.lines(rest.first()),
        "firmware" => project.firmware(),
        "setup" => project.setup(),
        "help" | "--help" | "-h" => print(USAGE),
        _ => {
            let command = command.to_string_lossy();
            say(format_args!(
                "error: there is no command \"{command}\".\n\n{USAGE}"
            ));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(failure);
            ExitCode::FAILURE
        }
    }
}

/// `--seconds N`, or the default.
fn fuzz_seconds(arguments: &[OsString]) -> Option<u32> {
    match arguments {
        [] => Some(fuzz::SECONDS),
        [option, number] if option == "--seconds" => number.to_str()?.parse().ok(),
        _ => None,
    }
}

/// Writes a result; a reader that has gone away needs none.
fn print(text: impl std::fmt::Display) -> Result<(), Failure> {
    let _ = writeln!(io::stdout(), "{text}");
    Ok(())
}

/// The repository, and where its builds go.
struct Project {
    root: PathBuf,
    target_directory: PathBuf,
    /// Set when the caller chose `target_directory`: children must agree on it,
    /// though they start in `root`.
    chosen: bool,
    /// Where commands write that run beside others; else to the terminal.
    log: Option<PathBuf>,
}

impl Project {
    fn new() -> Self {
        let here = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = here.parent().map_or_else(|| here.clone(), Path::to_owned);
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
    fn beside(&self) -> Self {
        Self {
            root: self.root.clone(),
            target_directory: self.target_directory.clone(),
            chosen: self.chosen,
            log: Some(self.target_directory.join("beside.log")),
        }
    }

    /// Shows the line and makes it agree with the target directory.
    fn prepared(&self, line: CommandLine) -> CommandLine {
        say(format_args!("$ {line}"));
        if self.chosen {
            line.with("CARGO_TARGET_DIR", &self.target_directory)
        } else {
            line
        }
    }

    fn run(&self, line: CommandLine) -> Result<(), Problem> {
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

    fn must_fail(&self, line: CommandLine, because: &str) -> Result<(), Problem> {
        self.prepared(line).must_fail(&self.root, because)
    }

    fn toolchain(
        &self,
        provide: fn(&mut dyn Machine, Option<&str>) -> Result<Toolchain, Problem>,
    ) -> Result<Toolchain, Problem> {
        let wanted = env::var("HAMBO_TOOLCHAIN").ok();
        provide(&mut ThisMachine, wanted.as_deref())
    }

    fn firmware_of(&self, toolchain: Toolchain) -> Firmware {
        let rustflags = env::var_os("RUSTFLAGS");
        Firmware::new(toolchain, &self.target_directory, rustflags.as_deref())
    }

    fn setup(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
        say(format_args!(
            "Ready. The firmware is built with {toolchain:?}'s core library."
        ));
        Ok(())
    }

    fn firmware(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::toolchain))?;
        let firmware = self.firmware_of(toolchain);
        steps.step("firmware", || self.run(firmware.build()))?;
        print(firmware.elf().display())
    }

    fn budget(&self, update: bool) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
        let firmware = self.firmware_of(toolchain);
        steps.step("firmware", || self.run(firmware.build_all()))?;
        steps.step("budgets", || self.hold_budgets(&firmware, update))
    }

    /// Measures the firmware, prints the table and, unless it is to become the
    /// committed one, holds it against the committed one.
    fn hold_budgets(&self, firmware: &Firmware, update: bool) -> Result<(), Problem> {
        let budgets = Budgets::read(&self.root)?;
        self.run(example_build().words("--example budget"))?;
        let program = self.target_directory.join("release/examples/budget");
        let line = CommandLine::program(program)
            .argument(firmware.elf())
            .argument(firmware.budget_elf());
        let measured = budget::parse_figures(&self.prepared(line).read(&self.root)?)?;
        let compiler = firmware.compiler().output().unwrap_or_default();
        let comparison = budgets.compare(&measured, &compiler);
        let _ = write!(io::stdout(), "{comparison}");
        if update {
            budget::update(&self.root, &measured, &compiler)
        } else {
            comparison.verdict()
        }
    }

    fn docs(&self) -> Result<(), Failure> {
        Steps::default().step(DOCS, || self.hold_documentation())
    }

    /// Builds the core's documentation; a link that leads nowhere is an error.
    fn hold_documentation(&self) -> Result<(), Problem> {
        let line = CommandLine::new("cargo doc --release --no-deps -p hambo-core");
        self.run(line.with("RUSTDOCFLAGS", "-D warnings"))
    }

    /// Builds the studies' program and hands it the arguments.
    fn study(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("build of the studies", || {
            self.run(example_build().words("--example study"))
        })?;
        let program = self.target_directory.join("release/examples/study");
        let line = arguments
            .iter()
            .fold(CommandLine::program(program), CommandLine::argument);
        steps.step("study", || self.run(line))
    }

    fn districts(&self) -> Result<(), Failure> {
        Steps::default().step("picture of the districts", || picture::update(&self.root))?;
        print(picture::FILE)
    }

    fn lines(&self, commit: Option<&OsString>) -> Result<(), Failure> {
        let count = Steps::default().step("lines", || match commit {
            None => lines::count(&self.root),
            Some(commit) => {
                let folder = self.target_directory.join("lines");
                lines::count_at(&self.root, &commit.to_string_lossy(), &folder)
            }
        })?;
        print(count)
    }

    fn miri(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("set-up", || setup::miri(&mut ThisMachine))?;
        steps.step("core under Miri", || self.run(miri_line()))
    }

    fn fuzz(&self, seconds: u32) -> Result<(), Failure> {
        let mut steps = Steps::default();
        self.fuzz_steps(&mut steps, seconds)
    }

    /// Both targets side by side, for so many seconds.
    fn fuzz_steps(&self, steps: &mut Steps, seconds: u32) -> Result<(), Failure> {
        let fuzz = steps.step("fuzz targets", || {
            setup::cpp(&mut ThisMachine)?;
            let fuzz = Fuzz::new(&self.target_directory)?;
            self.run(fuzz.build())?;
            Ok(fuzz)
        })?;
        steps.step("fuzzing", || {
            for target in fuzz::TARGETS {
                say(format_args!("$ {}", fuzz.run(target, seconds)));
            }
            for summary in fuzz.run_all(&self.root, seconds)? {
                say(summary);
            }
            Ok(())
        })
    }

    /// Takes hours for all, and is no part of the tests.
    fn mutants(&self, shard: Option<&str>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("set-up", mutants::require_tool)?;
        let output = mutants::output(&self.target_directory);
        let line = mutants::line(&self.target_directory, shard);
        let ran = steps.step("mutations", || {
            // It fails where something survives; what, is judged below.
            let ran = self.run(line);
            let table = std::fs::read_to_string(self.root.join(mutants::TABLE)).unwrap_or_default();
            mutants::judge(&output, &table).map_err(|problem| ran.err().unwrap_or(problem))
        })?;
        say(format_args!(
            "{} caught, {} do not compile, {} survive, {} of these unexplained",
            ran.caught,
            ran.unviable,
            ran.survivors,
            ran.unexplained.len()
        ));
        steps.step("survivors", || ran.verdict())
    }

    fn demo(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
        let firmware = self.firmware_of(toolchain);
        steps.step("firmware", || self.run(firmware.build()))?;
        let demo = demo_line(&firmware.elf(), arguments);
        steps.step("demo", || self.run(demo))?;
        say(format_args!("\n{steps}"));
        Ok(())
    }

    /// Everything that must hold. What is built apart from the workspace (the
    /// firmware, Miri's and the fuzz targets' builds) goes on beside the rest,
    /// because linking, emulation and many tests keep one core idle.
    fn test(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
        let firmware = self.firmware_of(toolchain);
        let has = |tool: &str| CommandLine::new(tool).words("--version").output().is_some();
        let has_clippy = has("cargo clippy");
        if has("cargo fmt") {
            steps.step("format", || self.hold_format())?;
        } else {
            steps.skip("format", "no rustfmt here; rustup component add rustfmt");
        }
        let beside = self.beside();
        let (built, wait_for_firmware) = mpsc::channel();
        let (done, done_beside) = thread::scope(|scope| {
            let apart = scope.spawn(|| beside.test_apart(&firmware, has_clippy, built));
            let done = self.test_workspace(&mut steps, &firmware, has_clippy, &wait_for_firmware);
            if done.is_err() {
                say("The steps beside are being finished.");
            }
            (done, apart.join())
        });
        let done_beside = done_beside.unwrap_or_else(|_| {
            let problem = Problem::Advice("A thread of xtask has died.".to_owned());
            Steps::default().step("steps beside", || Err(problem))
        });
        done?;
        let steps_beside = done_beside?;
        let words = closing_words(&[&steps, &steps_beside]);
        say(format_args!(
            "\n{words}\n\n{steps}\n\nbeside these:\n\n{steps_beside}"
        ));
        Ok(())
    }

    fn hold_format(&self) -> Result<(), Problem> {
        self.run(CommandLine::new("cargo fmt --all --check"))?;
        for own in ["hambo-firmware", "fuzz"] {
            let manifest = format!("--manifest-path {own}/Cargo.toml");
            self.run(CommandLine::new("cargo fmt --check").words(&manifest))?;
        }
        Ok(())
    }

    /// What is built in the workspace's own folder, in turn.
    fn test_workspace(
        &self,
        steps: &mut Steps,
        firmware: &Firmware,
        has_clippy: bool,
        wait_for_firmware: &mpsc::Receiver<()>,
    ) -> Result<(), Failure> {
        // Without the examples of `tests/`: clippy compiles them, nobody runs them here.
        let test = "cargo test --release --workspace --features hambo-tests/qemu";
        let tests = || CommandLine::new(test).words("--lib --bins --tests");
        if has_clippy {
            steps.step("clippy", || {
                let line = "cargo clippy --release --workspace --all-targets --all-features";
                self.run(CommandLine::new(line).words("-- -D warnings"))
            })?;
        } else {
            steps.skip("clippy", NO_CLIPPY);
        }
        steps.step(DOCS, || self.hold_documentation())?;
        steps.step("build of the tests", || self.run(tests().words("--no-run")))?;
        steps.step("tests", || {
            wait_for_firmware.recv().map_err(|_| {
                Problem::Advice("There is no firmware to test; see the steps beside.".to_owned())
            })?;
            self.run(tests().with("HAMBO_FIRMWARE", firmware.elf()))
        })?;
        steps.step("examples of the documentation", || {
            self.run(CommandLine::new(test).words("--doc"))
        })?;
        steps.step("budgets", || self.hold_budgets(firmware, false))
    }

    /// What is built elsewhere. Says `built` as soon as the firmware is.
    fn test_apart(
        &self,
        firmware: &Firmware,
        has_clippy: bool,
        built: mpsc::Sender<()>,
    ) -> Result<Steps, Failure> {
        let mut steps = Steps::lettered("b");
        steps.step("firmware", || self.run(firmware.build_all()))?;
        let _ = built.send(());
        steps.step("a firmware with a panic does not link", || {
            self.must_fail(firmware.build_with_planted_panic(), firmware::PANIC_SYMBOL)
        })?;
        steps.step("core alone on the Cortex-M", || {
            self.run(firmware.core_alone())
        })?;
        match firmware.clippy() {
            Some(line) if has_clippy => {
                steps.step("clippy of the firmware", || self.run(line))?;
            }
            Some(_) => steps.skip("clippy of the firmware", NO_CLIPPY),
            None => steps.skip(
                "clippy of the firmware",
                "needs the target from rustup; rustup target add thumbv7em-none-eabihf",
            ),
        }
        self.fuzz_steps(&mut steps, fuzz::SECONDS)?;
        match setup::miri(&mut ThisMachine) {
            Ok(()) => steps.step("core under Miri", || self.run(miri_line()))?,
            Err(Problem::Advice(why)) => steps.skip("core under Miri", &why),
            Err(Problem::Command { line, outcome }) => {
                steps.skip("core under Miri", &format!("{line} {outcome}"));
            }
        }
        Ok(steps)
    }
}

/// With the whole workspace's features, as the tests are built: `cargo run` would build the
/// host's library once more.
fn example_build() -> CommandLine {
    CommandLine::new("cargo build --release --workspace --features hambo-tests/qemu")
}

/// The core forbids `unsafe`, so Miri looks at what leans on that of other crates: bytes that
/// are read as numbers, and vectors. It knows no assembly, which `libm` uses for square roots
/// otherwise.
fn miri_line() -> CommandLine {
    CommandLine::new(
        "cargo +nightly miri test -p hambo-core --lib --features libm/force-soft-floats \
         -- image:: arithmetic::",
    )
}

/// `hambo demo` with our defaults where the caller has not chosen.
fn demo_line(elf: &Path, arguments: &[OsString]) -> CommandLine {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    let chosen = |option: &str| {
        let with_value = format!("{option}=");
        arguments.iter().map(OsString::as_os_str).any(|argument| {
            argument == option || argument.to_string_lossy().starts_with(&with_value)
        })
    };
    let mut line = CommandLine::new(
        "cargo run --release -p hambo-host --no-default-features --bin hambo -- demo",
    );
    if !chosen("--firmware") {
        line = line.words("--firmware").argument(elf);
    }
    if !chosen("--output") && !chosen("-o") {
        line = line.words("--output demo-output");
    }
    arguments.iter().fold(line, CommandLine::argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &[&str]) -> String {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        demo_line(Path::new("/f.elf"), &arguments).to_string()
    }

    #[test]
    fn the_time_of_fuzzing_can_be_chosen() {
        let seconds = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            fuzz_seconds(&words)
        };
        assert_eq!(seconds(&[]), Some(fuzz::SECONDS));
        assert_eq!(seconds(&["--seconds", "5"]), Some(5));
        assert_eq!(seconds(&["--seconds"]), None);
        assert_eq!(seconds(&["--seconds", "-1"]), None);
        assert_eq!(seconds(&["5"]), None);
    }

    #[test]
    fn the_demo_has_defaults() {
        let expected = "cargo run --release -p hambo-host --no-default-features --bin hambo -- \
                        demo --firmware /f.elf --output demo-output";
        assert_eq!(shown(&[]), expected);
        assert_eq!(shown(&["--"]), expected);
        let seeded = format!("{expected} --seed 3");
        assert_eq!(shown(&["--seed", "3"]), seeded);
        assert_eq!(shown(&["--", "--seed", "3"]), seeded);
    }

    #[test]
    fn the_caller_overrides_them() {
        assert!(shown(&["-o", "x"]).ends_with("demo --firmware /f.elf -o x"));
        assert!(shown(&["--output=x"]).ends_with("demo --firmware /f.elf --output=x"));
        assert!(
            shown(&["--firmware", "g.elf"]).ends_with("demo --output demo-output --firmware g.elf")
        );
    }
}
