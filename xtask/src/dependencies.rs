//! What the project depends on: licences that its users can live with, one source, and no crate
//! that was decided against.
//!
//! It reads what `cargo tree` prints and the lock file, so that it needs no program of its own.

use std::fs;
use std::path::Path;

use crate::command::{CommandLine, Problem};
use crate::project::Project;

/// Licences of which one must be offered, for every part of a dependency.
const LICENCES: [&str; 10] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "0BSD",
    "Unicode-3.0",
    "Unlicense",
    "BSL-1.0",
    // File by file: it asks nothing of a program that uses it unchanged.
    "MPL-2.0",
];

/// Crates that must not come in again, and why.
const BANNED: [(&str, &str); 2] = [
    ("openssl-sys", "nothing here speaks to a network"),
    ("hdf5-metno-sys", "HDF5 is read without its C library"),
];

/// One line for each dependency: `NAME VERSION|LICENCE`.
fn tree() -> CommandLine {
    CommandLine::new("cargo tree --workspace --locked --all-features -e normal,build")
        .words("--prefix none --no-dedupe --format")
        .argument("{p}|{l}")
}

/// What is wrong with a list of dependencies.
fn problems(tree: &str, lock: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let (package, licence) = line.split_once('|').unwrap_or((line, ""));
        let name = package.split_whitespace().next().unwrap_or_default();
        if !is_allowed(licence) {
            found.push(format!("{package} has the licence \"{licence}\""));
        }
        if let Some((_, why)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            found.push(format!("{package} was decided against: {why}"));
        }
    }
    let sources = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let mut sources: Vec<&str> = sources.collect();
    sources.sort_unstable();
    sources.dedup();
    let elsewhere = sources
        .iter()
        .filter(|source| !source.starts_with("\"registry+"));
    found.extend(elsewhere.map(|source| format!("a dependency comes from {source}")));
    if sources.len() > 1 {
        found.push(format!(
            "there are {} sources of dependencies",
            sources.len()
        ));
    }
    found.sort();
    found.dedup();
    found
}

/// Whether every part of an expression offers one of the [`LICENCES`].
fn is_allowed(expression: &str) -> bool {
    let bare = expression.replace(['(', ')'], " ").replace('/', " OR ");
    bare.split(" AND ").all(|part| {
        let mut choices = part.split(" OR ").map(str::trim);
        choices.any(|choice| LICENCES.contains(&choice))
    })
}

impl Project {
    /// Holds the dependencies against the lists above.
    pub fn hold_dependencies(&self) -> Result<(), Problem> {
        let lock = self.root.join("Cargo.lock");
        let text = |path: &Path| {
            fs::read_to_string(path)
                .map_err(|error| Problem::Advice(format!("{}: {error}", path.display())))
        };
        let tree = self.prepared(tree()).read(&self.root)?;
        let found = problems(&tree, &text(&lock)?);
        match found.is_empty() {
            true => Ok(()),
            false => Err(Problem::Advice(found.join("\n"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_read_as_alternatives_and_sums() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "(MIT OR Apache-2.0) AND OpenSSL"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn licences_bans_and_sources_are_held() {
        let good = "source = \"registry+index\"\nsource = \"registry+index\"\n";
        let tree = "serde v1.0.0|MIT OR Apache-2.0\nown v0.1.0 (/p)|MIT\n";
        assert_eq!(problems(tree, good), Vec::<String>::new());
        let bad = format!("{tree}viral v2.0.0|GPL-3.0\nopenssl-sys v0.9.0|MIT\n");
        let found = problems(&bad, &format!("{good}source = \"git+somewhere\"\n"));
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().any(|line| line.contains("viral")));
        assert!(found.iter().any(|line| line.contains("openssl-sys v0.9.0")));
        assert!(found.iter().any(|line| line.contains("git+somewhere")));
    }
}
