//! Every public item of the core has an example: a type, a trait and a
//! function its own, a method one that calls it.
//!
//! The compiler's own lint for this is unstable, sees nothing behind a
//! re-export and asks for examples of `impl` blocks. So the source is read, by
//! the shape that rustfmt gives it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::command::Problem;

/// The source files of a folder, without those of tests.
pub fn read_sources(folder: &Path) -> Result<Vec<Source>, Problem> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let unreadable =
            |error| Problem::Advice(format!("{} cannot be read: {error}", folder.display()));
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).map_err(unreadable)?;
                sources.push(Source { path, text });
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources.retain(|source| !source.is_for_tests());
    Ok(sources)
}

/// One file.
pub struct Source {
    path: PathBuf,
    text: String,
}

/// A public item and whether an example stands above it.
struct Item {
    line: usize,
    /// The type that a method belongs to.
    owner: Option<String>,
    name: String,
    has_example: bool,
}

impl Source {
    fn is_for_tests(&self) -> bool {
        let name = self.path.file_stem().and_then(|name| name.to_str());
        matches!(name, Some("tests" | "oracle"))
    }

    /// The lines before `mod tests`.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().take_while(|line| *line != "mod tests {")
    }

    fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut owner = None;
        let mut has_example = false;
        for (index, line) in self.lines().enumerate() {
            let code = line.trim_start();
            if let Some(comment) = code.strip_prefix("///") {
                has_example |= comment.trim_start().starts_with("```");
                continue;
            }
            if line.starts_with("impl") {
                owner = implemented_type(line);
            } else if line == "}" {
                owner = None;
            }
            if let Some(name) = public_name(code) {
                let is_method = code.len() < line.len();
                if !is_method || owner.is_some() {
                    items.push(Item {
                        line: index + 1,
                        owner: owner.clone().filter(|_| is_method),
                        name,
                        has_example,
                    });
                }
            }
            // Attributes may stand between a comment and its item.
            if !(code.starts_with('#') || is_inside_attribute(code)) {
                has_example = false;
            }
        }
        items
    }

    /// The code of all examples.
    fn examples(&self) -> String {
        let mut code = String::new();
        let mut inside = false;
        for line in self.lines().map(str::trim_start) {
            let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
            let Some(comment) = comment else {
                inside = false;
                continue;
            };
            if comment.trim_start().starts_with("```") {
                inside = !inside;
            } else if inside {
                code += comment;
                code.push('\n');
            }
        }
        code
    }
}

fn is_inside_attribute(code: &str) -> bool {
    ["clippy::", "reason =", ")]"]
        .iter()
        .any(|start| code.starts_with(start))
}

/// `Name` of `impl<'a> Name<'a> {`; none for the implementation of a trait,
/// which is documented there.
fn implemented_type(line: &str) -> Option<String> {
    let mut rest = line.strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            depth == 0
        })?;
        rest = rest.split_at(end + 1).1;
    }
    if rest.contains(" for ") {
        return None;
    }
    Some(identifier(rest.trim_start()))
}

fn identifier(text: &str) -> String {
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    text.chars().take_while(word).collect()
}

fn public_name(code: &str) -> Option<String> {
    let item = code.strip_prefix("pub ")?;
    let item = item.strip_prefix("const fn ").or_else(|| {
        let kinds = ["fn ", "struct ", "enum ", "trait ", "type "];
        kinds.iter().find_map(|kind| item.strip_prefix(kind))
    })?;
    Some(identifier(item))
}

/// Says what lacks an example, if something does; gives the number of items.
pub fn check(root: &Path, sources: &[Source]) -> Result<usize, Problem> {
    let found: Vec<(&Source, Item)> = sources
        .iter()
        .flat_map(|source| source.items().into_iter().map(move |item| (source, item)))
        .collect();
    let types: BTreeSet<&str> = found
        .iter()
        .filter(|(_, item)| item.owner.is_none())
        .map(|(_, item)| item.name.as_str())
        .collect();
    let examples: String = sources.iter().map(Source::examples).collect();
    let calls = |name: &str| {
        [".", "::"].iter().any(|before| {
            examples.contains(&format!("{before}{name}("))
                || examples.contains(&format!("{before}{name}::<"))
        })
    };
    let mut count = 0;
    let mut missing = Vec::new();
    for (source, item) in &found {
        let shown = match &item.owner {
            // A method of a type that nobody outside sees.
            Some(owner) if !types.contains(owner.as_str()) => continue,
            Some(owner) => format!("{owner}::{}", item.name),
            None => item.name.clone(),
        };
        count += 1;
        let shown_by_call = item.owner.is_some() && calls(&item.name);
        if !item.has_example && !shown_by_call {
            let path = source.path.strip_prefix(root).unwrap_or(&source.path);
            missing.push(format!("{}:{}: {shown}", path.display(), item.line));
        }
    }
    if missing.is_empty() {
        return Ok(count);
    }
    Err(Problem::Advice(format!(
        "These public items have no example. Give each a short one that runs, or make it \
         private:\n\n{}\n",
        missing.join("\n")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<usize, String> {
        let source = Source {
            path: "/root/a.rs".into(),
            text: text.to_owned(),
        };
        check(Path::new("/root"), &[source]).map_err(|problem| match problem {
            Problem::Advice(text) => text,
            Problem::Command { line, .. } => line,
        })
    }

    const GOOD: &str = "\
//! A file.

/// A type.
///
/// ```
/// assert_eq!(a::Type::new(1).size(), 1);
/// ```
#[derive(Clone)]
#[expect(
    clippy::x,
    reason = \"why\"
)]
pub struct Type<'a, const B: usize> {
    pub field: u8,
}

impl<'a, const B: usize> Type<'a, B> {
    /// Makes one.
    #[must_use]
    pub fn new(size: usize) -> Self {}

    /// Its size.
    pub const fn size(&self) -> usize {}
}

impl<'a> Clone for Type<'a, 1> {}

struct Hidden;

impl Hidden {
    pub fn of_no_concern() {}
}

pub(crate) fn neither() {}

mod tests {
    pub fn nor_this() {}
";

    #[test]
    fn examples_and_calls_count() {
        assert_eq!(checked(GOOD), Ok(3));
    }

    #[test]
    fn a_missing_example_is_named_with_its_place() {
        let without = GOOD.replace("/// ```\n", "");
        let text = checked(&without).unwrap_err();
        assert!(text.contains("\na.rs:11: Type\n"), "{text}");
        assert!(text.contains("Type::new\n"), "{text}");
        let function = format!("/// Free.\npub fn new() {{}}\n{GOOD}");
        // Another's call is no example of a function.
        let text = checked(&function).unwrap_err();
        assert!(text.contains("\na.rs:2: new\n"), "{text}");
    }

    #[test]
    fn a_method_that_nothing_calls_is_named() {
        let uncalled = GOOD.replace(".size()", ".sizes()");
        let text = checked(&uncalled).unwrap_err();
        assert!(text.contains(": Type::size\n"), "{text}");
    }

    #[test]
    fn types_are_read_from_their_implementations() {
        let of = |line| implemented_type(line);
        assert_eq!(of("impl Op {").as_deref(), Some("Op"));
        assert_eq!(
            of("impl<'a, P: Policy<X>> Check<'a, P> {").as_deref(),
            Some("Check")
        );
        assert_eq!(of("impl<P> Clone for Rollout<'_, P> {"), None);
    }
}
