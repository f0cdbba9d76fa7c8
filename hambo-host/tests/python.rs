//! The Python module, loaded from the library that cargo builds: `hambo-python/tests/module.py`
//! holds it against this command.
//!
//! It needs a `python3` (3.10 or later) with NumPy; where that has none, one is made in the target
//! folder with pip.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::common::Folder;

/// The module's library, beside this program or one folder up.
fn library() -> PathBuf {
    let name = format!(
        "{}_hambo{}",
        env::consts::DLL_PREFIX,
        env::consts::DLL_SUFFIX
    );
    let program = env::current_exe().unwrap();
    let places = program.ancestors().skip(1).take(2);
    let found = places
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| unreachable!("cargo has built no {name} beside {}", program.display()))
}

fn has_numpy(python: &Path) -> bool {
    let asked = Command::new(python).args(["-c", "import numpy"]).output();
    asked.is_ok_and(|output| output.status.success())
}

/// A Python with NumPy.
fn python() -> PathBuf {
    let system = PathBuf::from("python3");
    if has_numpy(&system) {
        return system;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let own = folder.join("bin/python3");
    if !has_numpy(&own) {
        let made = Command::new(&system)
            .args(["-m", "venv"])
            .arg(&folder)
            .status();
        assert!(
            made.is_ok_and(|made| made.success()),
            "install python3 and its venv"
        );
        let pip = Command::new(&own)
            .args(["-m", "pip", "install", "--quiet", "numpy"])
            .status();
        assert!(
            pip.is_ok_and(|pip| pip.success()),
            "install NumPy for python3"
        );
    }
    own
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

#[test]
fn the_module_says_what_the_command_says() {
    let folder = Folder::new("python");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let package = folder.path("packages/hambo");
    copy(&root.join("hambo-python/python/hambo"), &package);
    fs::copy(library(), package.join("_hambo.abi3.so")).unwrap();
    let run = Command::new(python())
        .arg(root.join("hambo-python/tests/module.py"))
        .current_dir(&folder.0)
        .env("PYTHONPATH", folder.path("packages"))
        .env("HAMBO", env!("CARGO_BIN_EXE_hambo"))
        .env("PAGE", root.join("docs/guide/python.md"))
        .env("README", root.join("README.md"))
        .env("XDG_CONFIG_HOME", folder.path("configuration"))
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{told}");
    // unittest counts what it has run; a file without tests would pass too.
    let ran = told.lines().find_map(|line| line.strip_prefix("Ran "));
    let ran = ran.and_then(|line| line.split(' ').next()?.parse::<u32>().ok());
    assert!(ran.is_some_and(|ran| ran >= 13), "{told}");
}
