//! `cargo xtask test`: everything that must hold, step by step.

use std::sync::mpsc;
use std::thread;

use crate::command::{CommandLine, Problem};
use crate::firmware::{self, Firmware};
use crate::project::Project;
use crate::setup::{self, ThisMachine};
use crate::steps::{Failure, Steps, closing_words, say};
use crate::{DOCS, fuzz, miri_line};

/// The whole workspace in one choice of features, so that no crate is built twice. Tests read
/// a few rows of Parquet and HDF5; optimised, these two take three minutes to build.
const WORKSPACE: &str = "--release --workspace --features hambo-tests/qemu \
     --config profile.release.package.parquet.opt-level=0 \
     --config profile.release.package.hdf5-pure.opt-level=0";

/// An example of `tests/`, built as the tests are.
pub fn example_build() -> CommandLine {
    CommandLine::new("cargo build").words(WORKSPACE)
}

pub const NO_CLIPPY: &str = "no clippy here; rustup component add clippy";

impl Project {
    /// Everything that must hold. What is built apart from the workspace (the
    /// firmware, Miri's and the fuzz targets' builds) goes on beside the rest,
    /// because linking, emulation and many tests keep one core idle.
    pub fn test(&self) -> Result<(), Failure> {
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
        steps.step("dependencies", || {
            self.hold_dependencies()?;
            // What a registry would get; its build is one of the steps below.
            self.run(CommandLine::new(
                "cargo package -p hambo-core --no-verify --allow-dirty --quiet",
            ))
        })?;
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
        let test = || CommandLine::new("cargo test").words(WORKSPACE);
        let tests = || test().words("--lib --bins --tests");
        if has_clippy {
            steps.step("clippy", || {
                // All features but `mujoco`, which `cargo xtask mujoco` builds.
                let line = "cargo clippy --release --workspace --all-targets \
                     --features hambo-tests/qemu,hambo-core/defmt,hambo-core/embedded-hal";
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
            self.run(
                tests()
                    .with("HAMBO_FIRMWARE", firmware.elf())
                    .with("HAMBO_FIRMWARE_WATCHDOG", firmware.watchdog_elf()),
            )
        })?;
        steps.step("examples of the documentation", || {
            self.run(test().words("--doc"))
        })?;
        steps.step("budgets", || self.hold_budgets(firmware, false))?;
        match setup::processors(&mut ThisMachine) {
            Ok(()) => steps.step("bits on 64-bit ARM", || {
                let told = self.compare_processors(None)?;
                say(told);
                Ok(())
            }),
            Err(Problem::Advice(why)) => {
                steps.skip("bits on 64-bit ARM", &why);
                Ok(())
            }
            Err(Problem::Command { line, outcome }) => {
                steps.skip("bits on 64-bit ARM", &format!("{line} {outcome}"));
                Ok(())
            }
        }
    }

    /// What is built elsewhere. Says `built` as soon as the firmware is.
    fn test_apart(
        &self,
        firmware: &Firmware,
        has_clippy: bool,
        built: mpsc::Sender<()>,
    ) -> Result<Steps, Failure> {
        let mut steps = Steps::lettered("b");
        steps.step("firmware for a board", || {
            self.run(firmware.build_for_a_board())
        })?;
        steps.step("firmware for a board with a watchdog", || {
            self.run(firmware.build_with_watchdog())?;
            firmware.keep_watchdog()
        })?;
        // The last one stays in the place that all of them take.
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
