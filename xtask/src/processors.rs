//! The check's bits on another processor: an example of the core is built for 64-bit ARM, run
//! under QEMU's user mode, and must print what the same example prints on this machine.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};
use crate::lint::linted;
use crate::project::Project;
use crate::target::{ARM64, ARM64_QEMU};
use crate::workspace::example_build;

/// Images of every kind that the project has at hand.
const IMAGES: &str = "fuzz/corpus/image";

/// The example, built with the host's vectors as `hambo check` has them.
const EXAMPLE: &str = "--example bits";

impl Project {
    /// Compares both processors on the images of a folder; says how many agree.
    pub fn compare_processors(
        &self,
        folder: Option<&OsString>,
        driver: Option<&Path>,
    ) -> Result<String, Problem> {
        let folder = folder.map_or_else(|| self.root.join(IMAGES), PathBuf::from);
        let images = files(&folder)?;
        self.run(linted(example_build().words(EXAMPLE), driver))?;
        let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", upper(ARM64));
        let linker = "-Clinker=rust-lld -Clink-self-contained=yes";
        // A variable's name that is not known when this is compiled.
        let setting = format!("{flags}={linker}");
        let arm = CommandLine::new("env")
            .argument(setting)
            .words("cargo build --release -p hambo-core --features host-simd")
            .words(EXAMPLE)
            .words("--target")
            .words(ARM64);
        self.run(arm)?;
        let here = self.target_directory.join("release/examples/bits");
        let there = self
            .target_directory
            .join(ARM64)
            .join("release/examples/bits");
        let of = |line: CommandLine| images.iter().fold(line, CommandLine::argument);
        let ours = of(CommandLine::program(here)).read(&self.root)?;
        let theirs = of(CommandLine::new(ARM64_QEMU).argument(there)).read(&self.root)?;
        compared(&ours, &theirs)
    }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let failed = |error| Problem::Advice(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    Ok(files)
}

fn upper(target: &str) -> String {
    target.replace('-', "_").to_uppercase()
}

/// Holds the lines of both against each other.
fn compared(ours: &str, theirs: &str) -> Result<String, Problem> {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let differ = ours.iter().zip(&theirs).find(|(one, other)| one != other);
    if let Some((one, other)) = differ {
        return Err(Problem::Advice(format!(
            "The processors disagree: \"{one}\" here, \"{other}\" on {ARM64}."
        )));
    }
    if ours.is_empty() || ours.len() != theirs.len() {
        return Err(Problem::Advice(format!(
            "{} lines here, {} on {ARM64}.",
            ours.len(),
            theirs.len()
        )));
    }
    Ok(format!("{} images: equal bits on {ARM64}", ours.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_other_bit_or_line_is_told() {
        let text = "bf800000 12345678 a\n00000000 00000000 b\n";
        let told = compared(text, text).unwrap_or_default();
        assert!(told.starts_with("2 images"), "{told}");
        assert!(compared(text, &text.replace('8', "9")).is_err());
        assert!(compared(text, "bf800000 12345678 a\n").is_err());
        assert!(compared("", "").is_err());
        assert_eq!(upper(ARM64), "AARCH64_UNKNOWN_LINUX_MUSL");
    }
}
