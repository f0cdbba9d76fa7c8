//! How many lines each crate has: code, comments and tests apart.

use std::fmt;
use std::path::Path;

use crate::command::{CommandLine, Problem};
use crate::source::{self, Lines};

/// Each crate's folders, and whether they hold nothing but tests.
const FOLDERS: [(&str, &str, bool); 12] = [
    ("hambo-core", "src", false),
    ("hambo-core", "examples", false),
    ("hambo-core", "tests", true),
    ("hambo-host", "src", false),
    ("hambo-host", "tests", true),
    ("hambo-firmware", "src", false),
    ("hambo-firmware", "tests", true),
    ("tests", "src", true),
    ("tests", "tests", true),
    ("tests", "examples", true),
    ("fuzz", "fuzz_targets", true),
    ("xtask", "src", false),
];

/// A row for each crate.
#[derive(Debug, PartialEq, Eq)]
pub struct Count {
    rows: Vec<(&'static str, Lines)>,
}

/// Counts what stands below `root`.
pub fn count(root: &Path) -> Result<Count, Problem> {
    let mut rows: Vec<(&'static str, Lines)> = Vec::new();
    for (name, folder, is_test) in FOLDERS {
        if rows.last().is_none_or(|(last, _)| *last != name) {
            rows.push((name, Lines::default()));
        }
        let place = root.join(name).join(folder);
        let Some((_, sum)) = rows.last_mut().filter(|_| place.is_dir()) else {
            continue;
        };
        for source in source::read(&place)? {
            let Lines {
                code,
                comments,
                tests,
            } = source.lines;
            if is_test {
                sum.tests += code + comments + tests;
            } else {
                sum.code += code;
                sum.comments += comments;
                sum.tests += tests;
            }
        }
    }
    Ok(Count { rows })
}

/// Counts a commit, by unpacking it into `folder` for a moment.
pub fn count_at(root: &Path, commit: &str, folder: &Path) -> Result<Count, Problem> {
    let unusable = |error| Problem::Advice(format!("{} cannot be used: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let packed = folder.join("commit.tar");
    CommandLine::new("git archive --output")
        .argument(&packed)
        .argument(commit)
        .run(root)?;
    CommandLine::new("tar -xf").argument(&packed).run(folder)?;
    let count = count(folder);
    std::fs::remove_dir_all(folder).map_err(unusable)?;
    count
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16}{:>8}{:>10}{:>8}{:>8}",
            "crate", "code", "comments", "tests", "all"
        )?;
        let mut total = Lines::default();
        for (name, lines) in &self.rows {
            row(f, name, lines)?;
            total.code += lines.code;
            total.comments += lines.comments;
            total.tests += lines.tests;
        }
        row(f, "all", &total)
    }
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, lines: &Lines) -> fmt::Result {
    let Lines {
        code,
        comments,
        tests,
    } = *lines;
    let all = code + comments + tests;
    writeln!(f, "{name:<16}{code:>8}{comments:>10}{tests:>8}{all:>8}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_has_more_code_than_nothing() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let count = count(&root).expect("the sources can be read");
        let all_in_tests = |lines: &Lines| lines.code == 0 && lines.tests > 0;
        for (name, lines) in &count.rows {
            assert_eq!(
                all_in_tests(lines),
                ["tests", "fuzz"].contains(name),
                "{name}: {lines:?}"
            );
        }
    }

    #[test]
    fn the_table_has_a_sum() {
        let lines = Lines {
            code: 10,
            comments: 5,
            tests: 2,
        };
        let text = Count {
            rows: vec![("a", lines), ("b", lines)],
        }
        .to_string();
        let last = text.lines().last().unwrap_or_default();
        assert_eq!(
            last.split_whitespace().collect::<Vec<_>>(),
            ["all", "20", "10", "4", "34"]
        );
    }
}
