//! `cargo xtask test`: everything that must hold, step by step.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use crate::command::{CommandLine, Problem};
use crate::firmware::{self, Firmware};
use crate::lint::{self, NO_CLIPPY, linted};
use crate::project::Project;
use crate::setup::{self, ThisMachine};
use crate::steps::{Failure, Steps, closing_words, say};
use crate::workspace::{WORKSPACE, example_build};
use crate::{documentation, fuzz, miri};

/// The tests beside the code. The host's are compiled without optimisation, which takes a sixth
/// of the time; what would then run for long stands in `tests/`.
const UNIT_TESTS: &str = "--lib --exclude hambo-python --bin xtask --example own_firmware \
     --config profile.release.package.hambo-base.opt-level=0 \
     --config profile.release.package.hambo-task.opt-level=0 \
     --config profile.release.package.hambo-data.opt-level=0 \
     --config profile.release.package.hambo-learn.opt-level=0 \
     --config profile.release.package.hambo-check.opt-level=0 \
     --config profile.release.package.hambo-lab.opt-level=0";

/// What the steps share.
struct Tested {
    firmware: Firmware,
    /// Clippy's, where it is installed: then what is built is linted.
    driver: Option<PathBuf>,
}

impl Tested {
    fn linted(&self, line: CommandLine) -> CommandLine {
        linted(line, self.driver.as_deref())
    }
}

impl Project {
    /// Everything that must hold. What is built apart from the workspace (the
    /// firmware, Miri's and the fuzz targets' builds) goes on beside the rest,
    /// because linking, emulation and many tests keep one core idle.
    pub fn test(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let toolchain = steps.step("set-up", || self.toolchain(setup::everything))?;
        let tested = Tested {
            firmware: self.firmware_of(toolchain),
            driver: lint::driver(),
        };
        if CommandLine::new("cargo fmt --version").output().is_some() {
            steps.step("format", || self.ensure_format())?;
        } else {
            steps.skip("format", "no rustfmt here; rustup component add rustfmt");
        }
        steps.step("package of the core", || {
            // What a registry would get; its build is one of the steps below.
            self.run(CommandLine::new(
                "cargo package -p hambo-core --no-verify --allow-dirty --quiet",
            ))
        })?;
        let beside = self.beside();
        let (built, wait_for_firmware) = mpsc::channel();
        let (done, done_beside) = thread::scope(|scope| {
            let apart = scope.spawn(|| beside.test_apart(&tested, built));
            let done = self.test_workspace(&mut steps, &tested, &wait_for_firmware);
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

    fn ensure_format(&self) -> Result<(), Problem> {
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
        tested: &Tested,
        wait_for_firmware: &mpsc::Receiver<()>,
    ) -> Result<(), Failure> {
        let tests = |which: &str| {
            let line = CommandLine::new("cargo test").words(WORKSPACE);
            tested.linted(line.words(which))
        };
        let of_files = || tests("--test all --test memory --test program");
        let of_units = || tests(UNIT_TESTS);
        if tested.driver.is_none() {
            steps.skip("lints", NO_CLIPPY);
        }
        steps.step("lints and build of the tests", || {
            // Both write the library that Python loads: the optimised one stays.
            self.run(of_units().words("--no-run"))?;
            self.run(of_files().words("--no-run"))
        })?;
        steps.step("lints and build of the examples", || {
            self.run(tested.linted(example_build().words("--examples")))
        })?;
        let firmware = &tested.firmware;
        steps.step("tests", || {
            wait_for_firmware.recv().map_err(|_| {
                Problem::Advice("There is no firmware to test; see the steps beside.".to_owned())
            })?;
            self.run(
                of_files()
                    .with("HAMBO_FIRMWARE", firmware.elf())
                    .with("HAMBO_FIRMWARE_WATCHDOG", firmware.watchdog_elf())
                    .with("HAMBO_FIRMWARE_VERIFIED", firmware.verified_elf())
                    .with("HAMBO_VERIFIER", firmware.verifier_elf()),
            )?;
            self.run(of_units())
        })?;
        steps.step("budgets", || {
            self.ensure_budgets(firmware, tested.driver.as_deref(), false)
        })
    }

    /// What is built elsewhere, and what waits for the workspace's folder or is short. Says
    /// `built` as soon as the firmware is.
    fn test_apart(&self, tested: &Tested, built: mpsc::Sender<()>) -> Result<Steps, Failure> {
        let mut steps = Steps::lettered("b");
        let firmware = &tested.firmware;
        steps.step("firmware for a board", || {
            self.run(firmware.build_for_a_board())
        })?;
        steps.step("firmware for a board with a watchdog", || {
            self.run(firmware.build_with_watchdog())?;
            firmware.keep_watchdog()
        })?;
        steps.step("firmware behind a verifier, and the verifier", || {
            self.build_verified(firmware)
        })?;
        // The last one stays in the place that all of them take.
        steps.step("firmware", || self.run(firmware.build_all()))?;
        let _ = built.send(());
        steps.step("a firmware with a panic does not link", || {
            self.must_fail(firmware.build_with_planted_panic(), firmware::PANIC_SYMBOL)
        })?;
        steps.step("core alone on the Cortex-M", || {
            let line = firmware.core_alone();
            self.run(match firmware.clippy() {
                Some(_) => tested.linted(line),
                // Another compiler's driver cannot stand for Debian's.
                None => line,
            })
        })?;
        match firmware.clippy() {
            Some(line) if tested.driver.is_some() => {
                steps.step("clippy of the firmware", || self.run(line))?;
            }
            Some(_) => steps.skip("clippy of the firmware", NO_CLIPPY),
            None => steps.skip(
                "clippy of the firmware",
                "needs the target from rustup; rustup target add thumbv7em-none-eabihf",
            ),
        }
        self.fuzz_steps(&mut steps, fuzz::SECONDS)?;
        let provided = setup::miri(&mut ThisMachine);
        where_possible(&mut steps, "core under Miri", provided, || {
            self.run(miri::line())
        })?;
        steps.step(documentation::NAME, || self.ensure_documentation())?;
        steps.step("examples of the documentation", || {
            let line = CommandLine::new("cargo test").words(WORKSPACE);
            self.run(tested.linted(line.words("--doc")))
        })?;
        let processors = setup::processors(&mut ThisMachine);
        where_possible(&mut steps, "bits on 64-bit ARM", processors, || {
            say(self.compare_processors(None, tested.driver.as_deref())?);
            Ok(())
        })?;
        Ok(steps)
    }
}

/// A step that is skipped where set-up could not provide for it.
fn where_possible(
    steps: &mut Steps,
    name: &str,
    provided: Result<(), Problem>,
    work: impl FnOnce() -> Result<(), Problem>,
) -> Result<(), Failure> {
    match provided {
        Ok(()) => steps.step(name, work)?,
        Err(Problem::Advice(why)) => steps.skip(name, &why),
        Err(Problem::Command { line, outcome }) => steps.skip(name, &format!("{line} {outcome}")),
    }
    Ok(())
}
