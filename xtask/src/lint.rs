//! Clippy's lints in the build of the tests, so that nothing is compiled for them alone.
//!
//! `cargo clippy` checks every dependency once more and compiles nothing that runs. Clippy's
//! driver is a compiler, though: cargo calls this program in the compiler's place for the crates
//! of the workspace (`RUSTC_WORKSPACE_WRAPPER`), which hands on what is tested and what starts
//! to Clippy's, and the libraries that these are linked to, where speed counts, to rustc. A
//! library's lines are linted in the build of its unit tests. A warning is an error in both.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::CommandLine;
use crate::firmware;

/// Why lints are skipped.
pub const NO_CLIPPY: &str = "no clippy here; rustup component add clippy";

/// Names Clippy's driver to this program where it stands for the compiler.
const DRIVER: &str = "HAMBO_CLIPPY_DRIVER";

/// Clippy's driver, beside the compiler that cargo uses; None where it is not installed.
pub fn driver() -> Option<PathBuf> {
    let sysroot = CommandLine::new("rustc --print sysroot").output()?;
    let name = format!("clippy-driver{}", env::consts::EXE_SUFFIX);
    let driver = Path::new(sysroot.trim()).join("bin").join(name);
    driver.is_file().then_some(driver)
}

/// A cargo command that lints what it builds, where there is a driver.
pub fn linted(line: CommandLine, driver: Option<&Path>) -> CommandLine {
    match (driver, env::current_exe()) {
        (Some(driver), Ok(program)) => line
            .with("RUSTC_WORKSPACE_WRAPPER", program)
            .with(DRIVER, driver),
        _ => line,
    }
}

/// Stands for the compiler, if cargo called this program as such.
pub fn compile() -> Option<ExitCode> {
    let driver = env::var_os(DRIVER)?;
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let (rustc, options) = arguments.split_first()?;
    let status = compiler(&driver, rustc, options).status();
    let code = status.ok().and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The compiler that a crate is handed to, with its options.
fn compiler(driver: &OsStr, rustc: &OsStr, options: &[OsString]) -> Command {
    let crate_type = options.iter().position(|option| option == "--crate-type");
    let is_library = crate_type
        .and_then(|place| options.get(place.checked_add(1)?))
        .is_some_and(|kind| kind == "lib");
    let has = |word: &str| options.iter().any(|option| option == word);
    // Fixtures have no unit tests, and what is built for a Cortex-M does not run here.
    let is_fast = is_library && !has("hambo_tests") && !has(firmware::TARGET);
    let asks = has("-vV") || has("--print");
    let mut command = if is_fast || asks {
        Command::new(rustc)
    } else {
        let mut command = Command::new(driver);
        command.arg(rustc);
        command
    };
    command.args(options);
    if !asks {
        command.arg("-Dwarnings");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(options: &str) -> String {
        let options: Vec<OsString> = options.split(' ').map(OsString::from).collect();
        let command = compiler(OsStr::new("clippy"), OsStr::new("rustc"), &options);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn libraries_are_rustcs_and_the_rest_is_clippys() {
        let library = "--crate-name hambo_host lib.rs --crate-type lib";
        assert_eq!(shown(library), format!("rustc {library} -Dwarnings"));
        for linted in [
            "--crate-name hambo_host lib.rs --test",
            "--crate-name hambo main.rs --crate-type bin",
            "--crate-name hambo_tests lib.rs --crate-type lib",
            "--crate-name hambo_core lib.rs --crate-type lib --target thumbv7em-none-eabihf",
        ] {
            assert_eq!(shown(linted), format!("clippy rustc {linted} -Dwarnings"));
        }
    }

    #[test]
    fn a_question_is_answered_by_rustc() {
        assert_eq!(shown("-vV"), "rustc -vV");
        let question = "- --crate-name ___ --print=file-names --crate-type bin --print cfg";
        assert_eq!(shown(question), format!("rustc {question}"));
    }

    #[test]
    fn nothing_is_linted_without_a_driver() {
        let line = CommandLine::new("cargo test");
        assert_eq!(linted(line.clone(), None), line);
        let linted = linted(line, Some(Path::new("/bin/clippy-driver"))).to_string();
        assert!(
            linted.contains("HAMBO_CLIPPY_DRIVER=/bin/clippy-driver"),
            "{linted}"
        );
    }
}
