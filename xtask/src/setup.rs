//! What must be installed: a core library for the Cortex-M, and QEMU; for
//! some steps Miri, or a C++ compiler.
//!
//! Looks first and installs only what is missing, so that a second run needs
//! neither rights nor a network. It never removes a package. Where it may not
//! install, it unpacks QEMU into `target/tools`, or says the line.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem, project_root, search_path};
use crate::firmware::{TARGET, Toolchain};
use crate::steps::say;
use crate::target::{ARM64, ARM64_QEMU, STATIC};

/// The oldest compiler that builds the workspace (`rust-version`).
const MINIMUM_RUST: (u32, u32) = (1, 89);
const DEBIAN_PACKAGES: &str = "rustc-web cargo-web rust-web-src lld";
const DEBIAN_CORE_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/core/Cargo.toml";
const QEMU: &str = "qemu-system-arm";
const MIRI_VERSION: &str = "cargo +nightly miri --version";
const LIBRARY_SOURCE: &str = "lib/rustlib/src/rust/library/core/Cargo.toml";

/// The computer, as far as set-up asks it and changes it.
pub trait Machine {
    /// Whether a program is on the path.
    fn finds(&self, program: &str) -> bool;
    fn exists(&self, path: &Path) -> bool;
    /// What a quiet command that changes nothing prints, if it succeeds.
    fn ask(&self, line: &CommandLine) -> Option<String>;
    /// Runs a command that may change something.
    fn run(&mut self, line: &CommandLine) -> Result<(), Problem>;
    fn is_macos(&self) -> bool;
}

/// The computer that xtask runs on.
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn finds(&self, program: &str) -> bool {
        let file = format!("{program}{}", env::consts::EXE_SUFFIX);
        let path = search_path().or(env::var_os("PATH")).unwrap_or_default();
        env::split_paths(&path).any(|directory| directory.join(&file).is_file())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn ask(&self, line: &CommandLine) -> Option<String> {
        line.output()
    }

    fn run(&mut self, line: &CommandLine) -> Result<(), Problem> {
        say(format_args!("$ {line}"));
        line.run(Path::new("."))
    }

    fn is_macos(&self) -> bool {
        env::consts::OS == "macos"
    }
}

/// Provides the toolchain and QEMU.
pub fn everything(machine: &mut dyn Machine, wanted: Option<&str>) -> Result<Toolchain, Problem> {
    let toolchain = toolchain(machine, wanted)?;
    qemu(machine)?;
    Ok(toolchain)
}

/// Provides a core library for the target. `wanted` is `HAMBO_TOOLCHAIN`.
pub fn toolchain(machine: &mut dyn Machine, wanted: Option<&str>) -> Result<Toolchain, Problem> {
    match wanted {
        None | Some("rustup" | "") => {}
        Some("debian") => return debian(machine),
        Some(other) => {
            return Err(Problem::Advice(format!(
                "HAMBO_TOOLCHAIN is \"{other}\": use \"rustup\" or \"debian\", or unset it."
            )));
        }
    }
    if has_target(machine) {
        return Ok(Toolchain::Rustup);
    }
    let may_fall_back = wanted != Some("rustup");
    if may_fall_back && debian_is_ready(machine) {
        return Ok(Toolchain::Debian);
    }
    let add = CommandLine::new("rustup target add").words(TARGET);
    if machine.finds("rustup") && machine.run(&add).is_ok() && has_target(machine) {
        return Ok(Toolchain::Rustup);
    }
    if may_fall_back && machine.finds("apt-get") {
        say("The target cannot be had from rustup; trying Debian's compiler.");
        return debian(machine).map_err(|problem| match problem {
            Problem::Advice(text) => {
                Problem::Advice(format!("{text}\nOr, with rustup:\n\n    {add}\n"))
            }
            failed @ Problem::Command { .. } => failed,
        });
    }
    Err(Problem::Advice(format!(
        "The Rust target {TARGET} is missing. Install it, then start again:\n\n    {add}\n"
    )))
}

fn has_target(machine: &dyn Machine) -> bool {
    let sysroot = machine.ask(&CommandLine::new("rustc --print sysroot"));
    sysroot.is_some_and(|sysroot| {
        let library = ["lib", "rustlib", TARGET, "lib"];
        machine.exists(
            &library
                .iter()
                .fold(PathBuf::from(sysroot), |p, d| p.join(d)),
        )
    })
}

fn debian(machine: &mut dyn Machine) -> Result<Toolchain, Problem> {
    if debian_is_ready(machine) {
        return Ok(Toolchain::Debian);
    }
    apt_install(machine, DEBIAN_PACKAGES)?;
    if debian_is_ready(machine) {
        return Ok(Toolchain::Debian);
    }
    let (major, minor) = MINIMUM_RUST;
    Err(Problem::Advice(format!(
        "Debian's packages {DEBIAN_PACKAGES} are installed, but /usr/bin/rustc is older than \
         {major}.{minor} or its source is missing."
    )))
}

fn debian_is_ready(machine: &dyn Machine) -> bool {
    machine.finds("ld.lld")
        && ["/usr/bin/cargo", DEBIAN_CORE_SOURCE]
            .iter()
            .all(|path| machine.exists(Path::new(path)))
        && machine
            .ask(&CommandLine::new("/usr/bin/rustc --version").without("LD_LIBRARY_PATH"))
            .and_then(|text| rust_version(&text))
            .is_some_and(|version| version >= MINIMUM_RUST)
}

/// `rustc 1.96.0 (…)` is (1, 96).
fn rust_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().nth(1)?.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}

fn qemu(machine: &mut dyn Machine) -> Result<(), Problem> {
    if machine.finds(QEMU) {
        return Ok(());
    }
    if machine.is_macos() {
        return Err(Problem::Advice(format!(
            "{QEMU} is missing. Install it, then start again:\n\n    brew install qemu\n"
        )));
    }
    install_or_unpack(machine, QEMU, QEMU)?;
    if machine.finds(QEMU) {
        return Ok(());
    }
    Err(Problem::Advice(format!(
        "{QEMU} was installed but is not on the PATH. Add its directory, then start again."
    )))
}

/// Installs a package, or unpacks it: without the rights, or where another package would have
/// to go.
fn install_or_unpack(
    machine: &mut dyn Machine,
    package: &str,
    program: &str,
) -> Result<(), Problem> {
    let Err(problem) = apt_install(machine, package) else {
        return Ok(());
    };
    if !(machine.finds("apt-get") && machine.finds("dpkg-deb")) {
        return Err(problem);
    }
    say("It is not installed; unpacking it into target/tools, which changes nothing else.");
    let unpack = CommandLine::new("sh")
        .argument(project_root().join("xtask/src/setup/unpack.sh"))
        .argument(project_root().join("target/tools"))
        .words(package)
        .words(program);
    machine.run(&unpack).map_err(|_| problem)
}

/// Provides what runs programs of 64-bit ARM: the target, and QEMU's user mode.
pub fn processors(machine: &mut dyn Machine) -> Result<(), Problem> {
    let (target, qemu) = (ARM64, ARM64_QEMU);
    let add = CommandLine::new("rustup target add").words(target);
    if !machine.finds("rustup") || machine.run(&add).is_err() {
        return Err(Problem::Advice(format!(
            "The Rust target {target} is missing, and rustup cannot fetch it:\n\n    {add}\n"
        )));
    }
    if machine.finds(qemu) {
        Ok(())
    } else {
        install_or_unpack(machine, "qemu-user", qemu)
    }
}

/// Provides Miri, which only the nightly compiler has, with the library's
/// source that it runs on.
pub fn miri(machine: &mut dyn Machine) -> Result<(), Problem> {
    let has_miri = |machine: &dyn Machine| machine.ask(&CommandLine::new(MIRI_VERSION)).is_some();
    let has_source = |machine: &dyn Machine| {
        let sysroot = machine.ask(&CommandLine::new("rustc +nightly --print sysroot"));
        sysroot.is_some_and(|sysroot| machine.exists(&Path::new(&sysroot).join(LIBRARY_SOURCE)))
    };
    let ready = |machine: &dyn Machine| has_miri(machine) && has_source(machine);
    if ready(machine) {
        return Ok(());
    }
    let install = CommandLine::new(
        "rustup toolchain install nightly --profile minimal --component miri,rust-src",
    );
    let missing = if !machine.finds("rustup") {
        "there is no rustup here, and Miri comes with rustup alone"
    } else if machine.run(&install).is_err() {
        "rustup cannot fetch it"
    } else if !ready(machine) {
        "rustup has installed it, but `cargo +nightly miri` does not start"
    } else {
        return Ok(());
    };
    Err(Problem::Advice(format!(
        "Miri is missing: {missing}. With rustup and a network:\n\n    {install}\n"
    )))
}

/// Provides what links a program without libraries of this machine: the target, and a C
/// compiler for it.
pub fn musl(machine: &mut dyn Machine) -> Result<(), Problem> {
    let target = STATIC;
    let add = CommandLine::new("rustup target add").words(target);
    if !machine.finds("rustup") || machine.run(&add).is_err() {
        return Err(Problem::Advice(format!(
            "The Rust target {target} is missing, and rustup cannot fetch it:\n\n    {add}\n"
        )));
    }
    if machine.finds("musl-gcc") {
        Ok(())
    } else {
        apt_install(machine, "musl-tools")
    }
}

/// Provides a C++ compiler, which builds libFuzzer.
pub fn cpp(machine: &mut dyn Machine) -> Result<(), Problem> {
    let ready = |machine: &dyn Machine| ["c++", "g++", "clang++"].iter().any(|p| machine.finds(p));
    if ready(machine) {
        return Ok(());
    }
    if machine.is_macos() {
        return Err(Problem::Advice(
            "A C++ compiler is missing. Install it, then start again:\n\n    \
             xcode-select --install\n"
                .to_owned(),
        ));
    }
    apt_install(machine, "g++")
}

/// Installs Debian packages as root or by sudo, or says the line to type.
fn apt_install(machine: &mut dyn Machine, packages: &str) -> Result<(), Problem> {
    if !machine.finds("apt-get") {
        return Err(Problem::Advice(format!(
            "Missing, by Debian's names: {packages}. There is no apt-get here; install that with \
             this system's package manager, then start again."
        )));
    }
    let prefix = if machine.ask(&CommandLine::new("id -u")).as_deref() == Some("0") {
        ""
    } else if machine.ask(&CommandLine::new("sudo -n true")).is_some() {
        "sudo -n "
    } else {
        return Err(Problem::Advice(format!(
            "Missing: {packages}. Installing needs root. Type this, then start again:\n\n    \
             sudo apt-get update && sudo apt-get install --no-install-recommends {packages}\n"
        )));
    };
    let install = CommandLine::new(&format!(
        "{prefix}apt-get install -y --no-remove --no-install-recommends {packages}"
    ));
    say(format_args!(
        "Missing: {packages}. Installing it with what it needs; no package is removed. To do it \
         by hand, stop here and type: apt-get install --no-install-recommends {packages}"
    ));
    if machine.run(&install).is_ok() {
        return Ok(());
    }
    say("Perhaps the package lists are missing or old; fetching them.");
    machine.run(&CommandLine::new(&format!("{prefix}apt-get update")))?;
    machine.run(&install)
}

#[cfg(test)]
mod tests;
