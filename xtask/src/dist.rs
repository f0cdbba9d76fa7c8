//! What users install: a stripped program that needs no library of the machine it runs on, with
//! completions, manual pages, licences and checksums.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};
use crate::project::Project;
use crate::target::STATIC;

/// Shells with completions, and the names that they look for.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "hambo.bash"),
    ("zsh", "_hambo"),
    ("fish", "hambo.fish"),
];

/// What lies beside the program.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The build: the release profile, stripped.
pub fn build() -> CommandLine {
    CommandLine::new("cargo build --release --locked -p hambo-host --bin hambo --target")
        .words(STATIC)
        .words("--config profile.release.strip=true")
}

/// Where a distribution is put together, and the archive of it.
struct Places {
    folder: PathBuf,
    name: String,
}

impl Places {
    fn new(target_directory: &Path, version: &str) -> Self {
        let processor = STATIC.split('-').next().unwrap_or_default();
        let name = format!("hambo-{version}-{processor}-linux");
        Self {
            folder: target_directory.join("dist").join(&name),
            name,
        }
    }
}

impl Project {
    /// Gathers what was built; returns the archive.
    pub fn gather(&self) -> Result<PathBuf, Problem> {
        let program = self.target_directory.join(STATIC).join("release/hambo");
        let version = CommandLine::program(&program)
            .argument("--version")
            .read(&self.root)?;
        // `hambo 0.1.0`
        let version = version.split_whitespace().nth(1).unwrap_or("0");
        let places = Places::new(&self.target_directory, version);
        let _ = fs::remove_dir_all(&places.folder);
        let completions = places.folder.join("completions");
        made(&completions, fs::create_dir_all(&completions))?;
        let installed = places.folder.join("hambo");
        made(&installed, fs::copy(&program, &installed))?;
        for file in BESIDE {
            let to = places.folder.join(file);
            made(&to, fs::copy(self.root.join(file), &to))?;
        }
        for (shell, file) in SHELLS {
            let script = CommandLine::program(&installed)
                .words("completions")
                .argument(shell)
                .read(&self.root)?;
            let to = completions.join(file);
            made(&to, fs::write(&to, script))?;
        }
        let pages = CommandLine::program(&installed)
            .words("man --output")
            .argument(places.folder.join("man"));
        pages.read(&self.root)?;
        let dist = self.target_directory.join("dist");
        let archive = format!("{}.tar.gz", places.name);
        let pack = CommandLine::new("tar --sort=name --owner=0 --group=0 --mtime=@0 -czf")
            .words(&archive)
            .words(&places.name);
        pack.run(&dist)?;
        let sums = CommandLine::new("sha256sum")
            .words(&archive)
            .words(&format!("{}/hambo", places.name))
            .read(&dist)?;
        let to = dist.join("SHA256SUMS");
        made(&to, fs::write(&to, sums))?;
        Ok(dist.join(archive))
    }
}

fn made<T>(path: &Path, result: std::io::Result<T>) -> Result<(), Problem> {
    match result {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::Advice(format!("{}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_is_named_by_version_and_processor() {
        let places = Places::new(Path::new("target"), "0.1.0");
        assert_eq!(places.name, "hambo-0.1.0-x86_64-linux");
        assert!(places.folder.ends_with("dist/hambo-0.1.0-x86_64-linux"));
        let line = build().to_string();
        assert!(
            line.contains(STATIC) && line.contains("strip=true"),
            "{line}"
        );
    }
}
