//! Rust sources, read far enough to know what they import, which of their
//! lines are tests and which are comments.
//!
//! The compiler's own parser would be a heavy dependency. Words, strings and
//! brackets are enough for the shapes that rustfmt leaves.

mod imports;
mod test_items;
#[cfg(test)]
mod tests;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::command::Problem;
use imports::{declared_modules, imports};
use test_items::without_tests;
use tokens::tokens;

/// Names from the crate's root: `["learn", "fit"]` is `crate::learn::fit`.
pub type ModulePath = Vec<String>;

/// One file.
#[derive(Debug)]
pub struct Source {
    /// From the folder that was read.
    pub path: PathBuf,
    pub module: ModulePath,
    /// Whether the whole file is compiled for tests alone.
    pub is_test: bool,
    pub lines: Lines,
    /// What the code outside tests names in its own crate.
    imports: Vec<Import>,
    test_modules: Vec<String>,
}

/// Numbers of lines that are not empty, by what they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    pub code: usize,
    pub comments: usize,
    /// With the comments inside them.
    pub tests: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    pub line: usize,
    pub to: ModulePath,
    /// The name that it gets in the module that imports it, if it is a `use`.
    name: Option<String>,
}

/// Reads all sources below a crate's `src`.
pub fn read(folder: &Path) -> Result<Vec<Source>, Problem> {
    let mut texts = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(place) = folders.pop() {
        let unreadable =
            |error| Problem::Advice(format!("{} cannot be read: {error}", place.display()));
        for entry in std::fs::read_dir(&place).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).map_err(unreadable)?;
                let path = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                texts.push((path, text));
            }
        }
    }
    texts.sort();
    Ok(parse(
        texts
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str())),
    ))
}

/// Likewise from texts, each with its path below `src`.
pub fn parse<'a>(texts: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Vec<Source> {
    let mut sources: Vec<Source> = texts
        .into_iter()
        .map(|(path, text)| Source::parse(path, text))
        .collect();
    let tests: Vec<ModulePath> = sources
        .iter()
        .flat_map(|source| {
            let of = |name: &String| joined(&source.module, std::slice::from_ref(name));
            source.test_modules.iter().map(of)
        })
        .collect();
    for source in &mut sources {
        if tests.iter().any(|test| source.module.starts_with(test)) {
            let Lines {
                code,
                comments,
                tests,
            } = source.lines;
            source.is_test = true;
            source.lines = Lines {
                tests: code + comments + tests,
                ..Lines::default()
            };
            source.imports.clear();
        }
    }
    let names: BTreeMap<(ModulePath, String), ModulePath> = sources
        .iter()
        .flat_map(|source| {
            let named = |import: &Import| {
                Some((
                    (source.module.clone(), import.name.clone()?),
                    import.to.clone(),
                ))
            };
            source.imports.iter().filter_map(named)
        })
        .collect();
    for source in &mut sources {
        for import in &mut source.imports {
            follow(&mut import.to, &names);
        }
    }
    sources
}

/// Replaces a name by what it stands for where a module re-exports it.
fn follow(path: &mut ModulePath, names: &BTreeMap<(ModulePath, String), ModulePath>) {
    // Two modules that import from each other's globs must not keep us here.
    for _ in 0..8 {
        let target = (0..path.len()).find_map(|end| {
            let (module, rest) = path.split_at(end);
            let (name, rest) = rest.split_first()?;
            let target = names.get(&(module.to_vec(), name.clone()))?;
            (!path.starts_with(target)).then(|| joined(target, rest))
        });
        match target {
            Some(target) => *path = target,
            None => return,
        }
    }
}

fn joined(start: &[String], end: &[String]) -> ModulePath {
    [start, end].concat()
}

impl Source {
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    fn parse(path: &Path, text: &str) -> Self {
        let mut module: ModulePath = path
            .with_extension("")
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        if module
            .last()
            .is_some_and(|name| name == "mod" || name == "lib")
        {
            module.pop();
        }
        let tokens = tokens(text);
        let filled = text.lines().enumerate();
        let filled: BTreeSet<usize> = filled
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(index, _)| index + 1)
            .collect();
        let (code, tests, test_modules) = without_tests(tokens);
        let in_test = |line: &usize| {
            tests
                .iter()
                .any(|(first, last)| (first..=last).contains(&line))
        };
        let in_code: BTreeSet<usize> = code.iter().map(|token| token.line).collect();
        let lines = Lines {
            code: in_code.iter().filter(|line| !in_test(line)).count(),
            comments: filled
                .iter()
                .filter(|line| !in_code.contains(line) && !in_test(line))
                .count(),
            tests: filled.iter().filter(|line| in_test(line)).count(),
        };
        let modules = declared_modules(&code);
        Self {
            path: path.to_owned(),
            imports: imports(&code, &module, &modules),
            module,
            is_test: false,
            lines,
            test_modules,
        }
    }
}
