//! How the firmware, and the core alone, are built for a Cortex-M.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};

/// Defined nowhere: the firmware's panic handler calls it.
pub const PANIC_SYMBOL: &str = "hambo_a_panic_is_reachable";

/// Cortex-M4F and M7F with hardware floating point.
pub const TARGET: &str = "thumbv7em-none-eabihf";

/// Where the target's core library comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolchain {
    /// It lies compiled in the sysroot, where `rustup target add` puts it.
    Rustup,
    /// Debian's compiler builds it from Debian's copy of its source.
    Debian,
}

/// The gate as it runs without a debugger.
const ON_A_BOARD: &str =
    "--manifest-path hambo-firmware/Cargo.toml --no-default-features --bin hambo-gate";

/// A program that a build leaves in a target directory.
fn program(directory: &Path, name: &str) -> PathBuf {
    directory.join(TARGET).join("release").join(name)
}

/// The firmware's builds, as command lines to run from the root.
pub struct Firmware {
    toolchain: Toolchain,
    target_directory: PathBuf,
    /// Flags meant for the host's processor would break the device's build.
    drop_rustflags: bool,
}

impl Firmware {
    /// `target_directory` is the workspace's; the firmware gets its own inside.
    pub fn new(toolchain: Toolchain, target_directory: &Path, rustflags: Option<&OsStr>) -> Self {
        Self {
            toolchain,
            target_directory: target_directory.join("firmware"),
            drop_rustflags: rustflags.is_some(),
        }
    }

    /// The gate that a build leaves behind.
    pub fn elf(&self) -> PathBuf {
        program(&self.target_directory, "hambo-gate")
    }

    /// The program that counts what models cost, as a build leaves it behind.
    pub fn budget_elf(&self) -> PathBuf {
        program(&self.target_directory, "hambo-budget")
    }

    /// Tells which compiler builds the firmware.
    pub fn compiler(&self) -> CommandLine {
        match self.toolchain {
            Toolchain::Rustup => CommandLine::new("rustc --version"),
            Toolchain::Debian => {
                CommandLine::new("/usr/bin/rustc --version").without("LD_LIBRARY_PATH")
            }
        }
    }

    /// The gate alone.
    pub fn build(&self) -> CommandLine {
        self.build_all().words("--bin hambo-gate")
    }

    /// The gate and the program that counts what models cost.
    pub fn build_all(&self) -> CommandLine {
        self.cargo("build", "--manifest-path hambo-firmware/Cargo.toml")
    }

    /// A build with a panic in it, which must not link.
    pub fn build_with_planted_panic(&self) -> CommandLine {
        self.build().words("--features planted-panic")
    }

    /// The gate for a board of one's own, with its log in RAM (RTT). It lies where
    /// [`Self::build`] puts its own, which comes after it: all share what they depend on.
    pub fn build_for_a_board(&self) -> CommandLine {
        self.cargo("build", ON_A_BOARD)
    }

    /// The gate for the emulated board with a watchdog, with its log in RAM.
    pub fn build_with_watchdog(&self) -> CommandLine {
        self.build_for_a_board()
            .words("--features ast1030-evb,development")
    }

    /// Where that one is kept.
    pub fn watchdog_elf(&self) -> PathBuf {
        program(&self.target_directory, "hambo-gate-watchdog")
    }

    /// Keeps the gate that was built last as the one with a watchdog.
    pub fn keep_watchdog(&self) -> Result<(), Problem> {
        self.keep(self.watchdog_elf())
    }

    /// Keeps the gate that was built last as the one behind a verifier.
    pub fn keep_verified(&self) -> Result<(), Problem> {
        self.keep(self.verified_elf())
    }

    fn keep(&self, to: PathBuf) -> Result<(), Problem> {
        let from = self.elf();
        let kept = std::fs::copy(&from, &to);
        kept.map(|_| ()).map_err(|error| {
            Problem::Advice(format!("{} to {}: {error}", from.display(), to.display()))
        })
    }

    /// The gate behind a verifier, under QEMU.
    pub fn build_verified(&self) -> CommandLine {
        let what =
            "--manifest-path hambo-firmware/Cargo.toml --no-default-features --bin hambo-gate";
        self.cargo("build", what)
            .words("--features semihosting,level")
    }

    /// Where that one is kept.
    pub fn verified_elf(&self) -> PathBuf {
        program(&self.target_directory, "hambo-gate-verified")
    }

    /// The verifier with the two keys of the tests, whose secret halves are public.
    pub fn build_verifier(&self, root: &Path) -> CommandLine {
        let keys = root.join("tests/data/keys");
        self.cargo(
            "build",
            "--manifest-path hambo-firmware/Cargo.toml --package hambo-verifier",
        )
        .with(
            "HAMBO_CONTROLLERS_KEY",
            keys.join("test-only-controllers.pub"),
        )
        .with("HAMBO_FLOOR_KEY", keys.join("test-only-owner.pub"))
    }

    /// The verifier that a build leaves behind.
    pub fn verifier_elf(&self) -> PathBuf {
        program(&self.target_directory, "hambo-verifier")
    }

    /// None where the target's core library lies nowhere compiled.
    pub fn clippy(&self) -> Option<CommandLine> {
        let line = self.cargo("clippy", "--manifest-path hambo-firmware/Cargo.toml");
        (self.toolchain == Toolchain::Rustup).then(|| line.words("-- -D warnings"))
    }

    /// The core and its example without the firmware: nothing else can lend
    /// them `std`. They are built, not run, so they need no optimisation.
    pub fn core_alone(&self) -> CommandLine {
        let what = "--package hambo-core --features defmt,embedded-hal --example own_firmware \
                    --config profile.release.opt-level=0";
        self.cargo("build", what)
    }

    fn cargo(&self, command: &str, what: &str) -> CommandLine {
        let line = match self.toolchain {
            Toolchain::Rustup => CommandLine::new("cargo").words(command),
            // build-std is unstable, which RUSTC_BOOTSTRAP permits; Debian has
            // no rust-lld. Cargo's library path would mix two toolchains.
            Toolchain::Debian => CommandLine::new("/usr/bin/cargo")
                .words(command)
                .words("-Zbuild-std=core")
                .without("LD_LIBRARY_PATH")
                .with("RUSTC_BOOTSTRAP", "1")
                .with("RUSTC", "/usr/bin/rustc")
                .with("CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER", "ld.lld"),
        };
        let line = line
            .words("--release")
            .words(what)
            .words("--target")
            .words(TARGET)
            .words("--target-dir")
            .argument(&self.target_directory);
        if self.drop_rustflags {
            line.without("RUSTFLAGS")
        } else {
            line
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustup_needs_no_environment() {
        let firmware = Firmware::new(Toolchain::Rustup, Path::new("/r/target"), None);
        assert_eq!(
            firmware.build().to_string(),
            "cargo build --release --manifest-path hambo-firmware/Cargo.toml \
             --target thumbv7em-none-eabihf --target-dir /r/target/firmware --bin hambo-gate"
        );
        assert_eq!(
            firmware.elf(),
            Path::new("/r/target/firmware/thumbv7em-none-eabihf/release/hambo-gate")
        );
        let clippy = firmware.clippy().map(|line| line.to_string());
        let clippy = clippy.unwrap_or_default();
        assert!(clippy.ends_with("/r/target/firmware -- -D warnings"));
        assert!(!clippy.contains("--all-targets"));
    }

    #[test]
    fn debian_builds_the_core_library() {
        let firmware = Firmware::new(Toolchain::Debian, Path::new("/r/target"), None);
        assert_eq!(
            firmware.core_alone().to_string(),
            "env -u LD_LIBRARY_PATH RUSTC_BOOTSTRAP=1 RUSTC=/usr/bin/rustc \
             CARGO_TARGET_THUMBV7EM_NONE_EABIHF_LINKER=ld.lld \
             /usr/bin/cargo build -Zbuild-std=core --release \
             --package hambo-core --features defmt,embedded-hal --example own_firmware \
             --config profile.release.opt-level=0 --target thumbv7em-none-eabihf --target-dir /r/target/firmware"
        );
    }

    #[test]
    fn flags_for_the_host_stay_on_the_host() {
        let flags = Some(OsStr::new("-C target-cpu=native"));
        let firmware = Firmware::new(Toolchain::Rustup, Path::new("/t"), flags);
        let line = firmware.build().to_string();
        assert!(line.starts_with("env -u RUSTFLAGS cargo build"), "{line}");
    }
}
