//! `cargo xtask`: set-up, firmware builds and everything that runs on them.
//!
//! `demo` shows what hambo does, `test` proves that it does it.

mod budget;
mod command;
mod dist;
mod documentation;
mod firmware;
#[cfg(test)]
mod formulas;
mod fuzz;
mod graph;
mod lint;
mod miri;
mod mujoco;
mod mutants;
mod processors;
mod project;
mod setup;
mod steps;
mod target;
mod test;
mod wheel;
mod workspace;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use command::{CommandLine, Problem};
use firmware::Firmware;
use project::Project;
use setup::ThisMachine;
use steps::{Failure, Steps, say};
use workspace::example_build;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo [ARGUMENTS]  build everything and run `hambo demo` with ARGUMENTS
  test              format, lints, builds for the Cortex-M, all tests incl. QEMU
  docs              the core's documentation, with all its links
  miri              the core's tests under Miri
  fuzz [--seconds N] hostile images and expressions, 15 s without N
  mutants [--shard K/N] break the safety path line by line: do its tests notice?
  budget [--update] what the firmware takes, against budgets.toml, or into it
  pages             write tables and figures of README, evidence and results from kept rows
  study NAME [...]  work off a study into studies/NAME.csv, with --engine also on Ray and Slurm;
                    --summary says what it says
  graph             draw the crates in docs/architecture.md from `cargo metadata`
  mujoco            fetch the MuJoCo engine, build and test `hambo` with Hopper and HalfCheetah
  processors [FOLDER] the check's bits on 64-bit ARM, on the images of FOLDER
  dist              what users install: a static program with its pages and checksums
  wheel [--zig]     what `pip install` takes; with zig one for older Linux too
  firmware          build the firmware and print the path of its ELF file
  setup             install what is missing: the Cortex-M target and QEMU
  help              show this

Examples: cargo xtask demo
          cargo xtask demo -- --output elsewhere

HAMBO_TOOLCHAIN=rustup|debian chooses who builds the firmware; without it rustup
does, or Debian's compiler where rustup cannot. CARGO_TARGET_DIR is honoured.";

fn main() -> ExitCode {
    if let Some(code) = lint::compile() {
        return code;
    }
    let mut arguments = env::args_os().skip(1);
    let command = arguments.next().unwrap_or_else(|| "help".into());
    let rest: Vec<OsString> = arguments.collect();
    let known = command.to_str().unwrap_or_default();
    if !rest.is_empty()
        && matches!(
            known,
            "test" | "pages" | "firmware" | "setup" | "miri" | "docs" | "graph" | "dist" | "mujoco"
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
    let zig = wheel::wants_zig(&rest);
    if known == "wheel" && zig.is_none() {
        say(format_args!(
            "error: `cargo xtask wheel` takes --zig or nothing.\n\n{USAGE}"
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
        "pages" => project.pages(),
        "study" => project.study(&rest),
        "graph" => project.graph(),
        "wheel" => project
            .wheel(zig == Some(true))
            .and_then(|wheel| print(wheel.display())),
        "dist" => project.dist(),
        "mujoco" => project.mujoco(),
        "processors" => project.processors(rest.first()),
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

impl Project {
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
        steps.step("firmware behind a verifier, and the verifier", || {
            self.build_verified(&firmware)
        })?;
        steps.step("firmware", || self.run(firmware.build_all()))?;
        steps.step("budgets", || self.ensure_budgets(&firmware, None, update))
    }

    /// The gate behind a verifier, and the verifier with the keys of the tests.
    fn build_verified(&self, firmware: &Firmware) -> Result<(), Problem> {
        self.run(firmware.build_verified())?;
        firmware.keep_verified()?;
        self.run(firmware.build_verifier(&self.root))
    }

    fn docs(&self) -> Result<(), Failure> {
        Steps::default().step(documentation::NAME, || self.ensure_documentation())
    }

    /// Builds the program that writes the pages, and runs it.
    fn pages(&self) -> Result<(), Failure> {
        let program = self.target_directory.join("release/examples/pages");
        Steps::default().step("pages", || {
            self.run(example_build().words("--example pages"))?;
            self.run(CommandLine::program(program))
        })
    }

    /// Builds the studies' program and hands it the arguments.
    fn study(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("build of the studies", || {
            self.run(example_build().words("--example study"))
        })?;
        let program = self.target_directory.join("release/examples/study");
        let mut line = arguments
            .iter()
            .fold(CommandLine::program(program), CommandLine::argument);
        // The studies that attack a firmware, unless its file is named.
        let is = |name: &str| arguments.first().is_some_and(|first| first == name);
        let named = |variable: &str| std::env::var_os(variable).is_some();
        let gate = is("glitches") && !named("HAMBO_FIRMWARE");
        let on_ast1030 = ["drive_flips", "stop_in_reply", "unplugged"]
            .into_iter()
            .any(is);
        let drive = on_ast1030 && !named("HAMBO_FIRMWARE_WATCHDOG");
        if gate || drive {
            let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
            let firmware = self.firmware_of(toolchain);
            if gate {
                steps.step("firmware", || self.run(firmware.build()))?;
                line = line.with("HAMBO_FIRMWARE", firmware.elf());
            } else {
                steps.step("firmware", || {
                    self.run(firmware.build_with_watchdog())?;
                    firmware.keep_watchdog()
                })?;
                line = line.with("HAMBO_FIRMWARE_WATCHDOG", firmware.watchdog_elf());
            }
        }
        steps.step("study", || self.run(line))
    }

    fn processors(&self, folder: Option<&OsString>) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("set-up", || setup::processors(&mut ThisMachine))?;
        let told = steps.step("bits on two processors", || {
            self.compare_processors(folder, None)
        })?;
        print(told)
    }

    fn dist(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("set-up", || setup::musl(&mut ThisMachine))?;
        steps.step("build", || self.run(dist::build()))?;
        let archive = steps.step("distribution", || self.gather())?;
        print(archive.display())
    }

    fn graph(&self) -> Result<(), Failure> {
        Steps::default().step("graph of the crates", || graph::update(&self.root))?;
        print(graph::PAGE)
    }

    fn miri(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        steps.step("set-up", || setup::miri(&mut ThisMachine))?;
        steps.step("core under Miri", || self.run(miri::line()))
    }

    fn fuzz(&self, seconds: u32) -> Result<(), Failure> {
        let mut steps = Steps::default();
        self.fuzz_steps(&mut steps, seconds)
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
