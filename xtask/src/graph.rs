//! The graph of the workspace's crates in docs/architecture.md, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::command::{CommandLine, Problem};

/// From the root of the repository.
pub const PAGE: &str = "docs/architecture.md";

/// The graph stands between these two lines.
const FENCES: [&str; 2] = ["```mermaid\n", "```\n"];

/// For each crate of the workspace those that it uses directly.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reads the JSON of `cargo metadata --no-deps`, in which a package begins with its name and
/// version, and a dependency with its name and source: `null` for one of the workspace.
fn read(metadata: &str) -> Graph {
    let mut graph = Graph::new();
    let mut package = String::new();
    for object in metadata.split("{\"name\":\"").skip(1) {
        let Some((name, rest)) = object.split_once('"') else {
            continue;
        };
        if rest.starts_with(",\"version\":") {
            name.clone_into(&mut package);
            graph.entry(package.clone()).or_default();
        } else if rest.starts_with(",\"source\":null,") && rest.contains("\"kind\":null") {
            let uses = graph.entry(package.clone()).or_default();
            uses.insert(name.to_owned());
        }
    }
    graph
}

/// Whether one crate stands on another, directly or not.
fn reaches(graph: &Graph, from: &str, to: &str) -> bool {
    let uses = graph.get(from).into_iter().flatten();
    uses.into_iter()
        .any(|next| next == to || reaches(graph, next, to))
}

/// An arrow for each use that does not follow from others.
fn draw(graph: &Graph) -> String {
    let mut text = "graph TD\n".to_owned();
    for (from, uses) in graph {
        for to in uses {
            let follows = uses.iter().any(|other| reaches(graph, other, to));
            if !follows {
                let _ = writeln!(text, "    {from} --> {to}");
            }
        }
    }
    text
}

/// The page with the graph of today.
fn page(root: &Path) -> Result<(String, String), Problem> {
    let metadata = CommandLine::new("cargo metadata --format-version 1 --no-deps").read(root)?;
    let path = root.join(PAGE);
    let old = fs::read_to_string(&path)
        .map_err(|error| Problem::Advice(format!("{}: {error}", path.display())))?;
    let split = old.split_once(FENCES[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(FENCES[1])?;
        Some((before, after))
    });
    let Some((before, after)) = split else {
        return Err(Problem::Advice(format!("{PAGE} has no block of mermaid")));
    };
    let [open, close] = FENCES;
    let new = format!("{before}{open}{}{close}{after}", draw(&read(&metadata)));
    Ok((old, new))
}

/// Draws the graph anew.
pub fn update(root: &Path) -> Result<(), Problem> {
    let (_, new) = page(root)?;
    fs::write(root.join(PAGE), new).map_err(|error| Problem::Advice(format!("{PAGE}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_crates_of_today() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (old, new) = page(&root).expect("cargo metadata");
        assert!(old == new, "cargo xtask graph draws {PAGE} anew:\n{new}");
    }

    #[test]
    fn uses_that_follow_from_others_are_left_out() {
        let metadata = r#"{"packages":[
            {"name":"top","version":"1","dependencies":[
                {"name":"low","source":null,"req":"*","kind":null},
                {"name":"mid","source":null,"req":"*","kind":null},
                {"name":"tool","source":null,"req":"*","kind":"dev"},
                {"name":"serde","source":"registry","req":"*","kind":null}]},
            {"name":"mid","version":"1","dependencies":[
                {"name":"low","source":null,"req":"*","kind":null}]},
            {"name":"low","version":"1","dependencies":[]}]}"#;
        assert_eq!(
            draw(&read(metadata)),
            "graph TD\n    mid --> low\n    top --> mid\n"
        );
    }
}
