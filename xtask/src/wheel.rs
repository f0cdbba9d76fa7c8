//! `cargo xtask wheel`: what `pip install` takes, with the command and the module.
//!
//! maturin, and zig for a wheel that runs on old Linux too, come from PyPI into an environment of
//! their own in `tools/wheel` of the target folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};
use crate::project::Project;
use crate::steps::{Failure, Steps, say};

/// What builds the wheel.
const MATURIN: &str = "maturin>=1.9.4,<2";
/// Links against an old C library.
const ZIG: &str = "ziglang>=0.13,<0.16";
/// The oldest C library that such a wheel asks for: Linux distributions since 2014.
const MANYLINUX: &str = "manylinux2014";

/// Whether a wheel for old Linux is asked for; `None` where the words make no sense.
pub fn wants_zig(words: &[OsString]) -> Option<bool> {
    match words {
        [] => Some(false),
        [word] if word == "--zig" => Some(true),
        _ => None,
    }
}

fn environment(folder: &Path) -> CommandLine {
    CommandLine::new("python3 -m venv").argument(folder)
}

fn install(python: &Path, zig: bool) -> CommandLine {
    let line = CommandLine::program(python)
        .words("-m pip install --quiet --disable-pip-version-check")
        .argument(MATURIN);
    if zig { line.argument(ZIG) } else { line }
}

/// The build, without the engine of MuJoCo: it is a feature of the command's own crate.
fn build(python: &Path, wheels: &Path, zig: bool) -> CommandLine {
    let line = CommandLine::program(python)
        .words("-m maturin build --release --locked --manifest-path hambo-python/Cargo.toml --out")
        .argument(wheels);
    if zig {
        // Where `python3` is another one, it has no zig.
        line.words("--zig --compatibility")
            .words(MANYLINUX)
            .with("CARGO_ZIGBUILD_PYTHON_PATH", python)
    } else {
        line
    }
}

impl Project {
    /// Builds the wheel; prints where it is, and its size on the error stream.
    pub fn wheel(&self, zig: bool) -> Result<PathBuf, Failure> {
        let mut steps = Steps::default();
        let folder = self.target_directory.join("tools/wheel");
        let python = folder.join("bin/python3");
        steps.step("maturin", || {
            if !python.exists() {
                self.run(environment(&folder))?;
            }
            self.run(install(&python, zig))
        })?;
        let wheels = self.target_directory.join("wheels");
        let wheel = steps.step("wheel", || {
            // One of another version would be taken for this one.
            let _ = fs::remove_dir_all(&wheels);
            self.run(build(&python, &wheels, zig))?;
            only_wheel(&wheels)
        })?;
        let size = fs::metadata(&wheel).map_or(0, |file| file.len());
        say(format_args!("{:.1} MB", size as f64 / 1e6));
        Ok(wheel)
    }
}

/// The one wheel of a folder.
fn only_wheel(folder: &Path) -> Result<PathBuf, Problem> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut wheels = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "whl"));
    match (wheels.next(), wheels.next()) {
        (Some(wheel), None) => Ok(wheel),
        _ => Err(Problem::Advice(format!(
            "{}: there is not exactly one wheel",
            folder.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zig_is_taken_where_it_is_asked_for() {
        let words = |words: &[&str]| -> Vec<OsString> { words.iter().map(Into::into).collect() };
        assert_eq!(wants_zig(&words(&[])), Some(false));
        assert_eq!(wants_zig(&words(&["--zig"])), Some(true));
        assert_eq!(wants_zig(&words(&["--zag"])), None);
        let line = |zig| build(Path::new("p"), Path::new("w"), zig).to_string();
        assert!(line(true).contains("--zig") && line(true).contains(MANYLINUX));
        assert!(!line(false).contains("--zig"), "{}", line(false));
        assert!(
            !install(Path::new("p"), false)
                .to_string()
                .contains("ziglang")
        );
    }
}
