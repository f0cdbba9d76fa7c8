//! `cargo xtask mujoco`: the engine of Hopper and HalfCheetah, and `hambo` built with it.
//!
//! The engine is the library inside the wheel `mujoco` of PyPI. It lies in `tools/mujoco` of the
//! target folder, where cargo finds it for tests too.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};
use crate::project::Project;
use crate::steps::{Failure, Steps, say};

/// The version that the crate `mujoco-rs` is made for.
const VERSION: &str = "3.17.0";
/// Wheels are made for versions of Python; the library inside is the same.
const PYTHON: &str = "3.12";
/// Tells the crate where to link.
const FOLDER: &str = "MUJOCO_DYNAMIC_LINK_DIR";

/// The library's names on Linux and on macOS: in the wheel, and for the linker.
fn names(macos: bool) -> [String; 2] {
    if macos {
        [
            format!("libmujoco.{VERSION}.dylib"),
            "libmujoco.dylib".to_owned(),
        ]
    } else {
        [format!("libmujoco.so.{VERSION}"), "libmujoco.so".to_owned()]
    }
}

/// Fetches the wheel; nothing is installed.
fn download(folder: &Path) -> CommandLine {
    CommandLine::new("python3 -m pip download --no-deps --only-binary :all: --python-version")
        .words(PYTHON)
        .argument(format!("mujoco=={VERSION}"))
        .words("--dest")
        .argument(folder)
}

fn unpack(wheel: &Path, folder: &Path) -> CommandLine {
    CommandLine::new("python3 -m zipfile -e")
        .argument(wheel)
        .argument(folder)
}

/// Cargo's line for this crate with the engine.
fn with_engine(words: &str, folder: &Path) -> CommandLine {
    CommandLine::new(words)
        .words("--release -p hambo-host --features mujoco")
        .with(FOLDER, folder)
}

impl Project {
    /// Fetches the engine where it is missing, builds `hambo` with it, and tests it.
    pub fn mujoco(&self) -> Result<(), Failure> {
        let mut steps = Steps::default();
        let folder = self.target_directory.join("tools/mujoco");
        steps.step("engine", || self.fetch_engine(&folder))?;
        steps.step("hambo with it", || {
            self.run(with_engine("cargo build --bin hambo", &folder))
        })?;
        steps.step("its systems against Gymnasium", || {
            self.run(with_engine("cargo test --lib", &folder).words("environment"))
        })?;
        if CommandLine::new("cargo clippy --version")
            .output()
            .is_some()
        {
            steps.step("clippy", || {
                let line = with_engine("cargo clippy --all-targets", &folder);
                self.run(line.words("-- -D warnings"))
            })?;
        } else {
            steps.skip("clippy", crate::lint::NO_CLIPPY);
        }
        let program = self.target_directory.join("release/hambo");
        say(format_args!(
            "\n{steps}\n\n{} has them: {} env list\nFor a build of your own: {FOLDER}={}",
            program.display(),
            program.display(),
            folder.display()
        ));
        Ok(())
    }

    fn fetch_engine(&self, folder: &Path) -> Result<(), Problem> {
        let [file, linked] = names(cfg!(target_os = "macos"));
        if folder.join(&file).is_file() && folder.join(&linked).is_file() {
            return Ok(());
        }
        let failed =
            |error: std::io::Error| Problem::Advice(format!("{}: {error}", folder.display()));
        let wheel = folder.join("wheel");
        fs::create_dir_all(&wheel).map_err(failed)?;
        self.run(download(&wheel))?;
        let found = fs::read_dir(&wheel).map_err(failed)?;
        let files: Vec<PathBuf> = found.flatten().map(|entry| entry.path()).collect();
        let is_wheel = |path: &&PathBuf| path.extension().is_some_and(|end| end == "whl");
        let Some(packed) = files.iter().find(is_wheel) else {
            return Err(Problem::Advice(format!(
                "There is no wheel in {}.",
                wheel.display()
            )));
        };
        self.run(unpack(packed, &wheel))?;
        let inside = wheel.join("mujoco").join(&file);
        for name in [&file, &linked] {
            fs::copy(&inside, folder.join(name)).map_err(failed)?;
        }
        fs::remove_dir_all(&wheel).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_as_a_person_would_type_them() {
        assert_eq!(
            download(Path::new("/t/wheel")).to_string(),
            "python3 -m pip download --no-deps --only-binary :all: --python-version 3.12 \
             mujoco==3.17.0 --dest /t/wheel"
        );
        assert_eq!(
            with_engine("cargo build --bin hambo", Path::new("/t")).to_string(),
            "MUJOCO_DYNAMIC_LINK_DIR=/t cargo build --bin hambo --release -p hambo-host \
             --features mujoco"
        );
        assert_eq!(names(false), ["libmujoco.so.3.17.0", "libmujoco.so"]);
        assert_eq!(names(true), ["libmujoco.3.17.0.dylib", "libmujoco.dylib"]);
    }

    /// The wheel is that of the crate: its version names the engine's.
    #[test]
    fn the_engine_is_the_one_that_the_crate_is_made_for() {
        let lock = crate::command::project_root().join("Cargo.lock");
        let text = fs::read_to_string(lock).unwrap_or_default();
        assert!(text.contains(&format!("+mj-{VERSION}\"")));
    }
}
