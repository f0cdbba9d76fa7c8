//! The layers of a crate: which module may use which, as the table in its
//! `lib.rs` says, and what the sources really import.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::command::Problem;
use crate::source::{self, Source};

/// A crate's modules in their order, the lowest first, and its sources.
pub struct Layers {
    pub order: Vec<String>,
    pub sources: Vec<Source>,
}

impl Layers {
    /// Reads a crate's `src`.
    pub fn read(folder: &Path) -> Result<Self, Problem> {
        let lib = folder.join("lib.rs");
        let text = std::fs::read_to_string(&lib).map_err(|error| {
            Problem::Advice(format!("{} cannot be read: {error}", lib.display()))
        })?;
        Ok(Self {
            order: table(&text),
            sources: source::read(folder)?,
        })
    }

    fn rank(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|name| name == module)
    }

    /// Each import from one layer into another: file, line, from, to.
    fn crossings(&self) -> impl Iterator<Item = (&Source, usize, usize, usize)> {
        self.sources.iter().flat_map(move |source| {
            let from = source.module.first().and_then(|name| self.rank(name));
            source.imports().iter().filter_map(move |import| {
                let to = self.rank(import.to.first()?)?;
                from.filter(|from| *from != to)
                    .map(|from| (source, import.line, from, to))
            })
        })
    }

    /// How many files of one layer import from another, by their ranks.
    pub fn edges(&self) -> BTreeMap<(usize, usize), usize> {
        let files: BTreeSet<_> = self
            .crossings()
            .map(|(source, _, from, to)| ((from, to), &source.path))
            .collect();
        let mut edges = BTreeMap::new();
        for (edge, _) in files {
            *edges.entry(edge).or_insert(0) += 1;
        }
        edges
    }
}

/// The names in the first column of the table in a crate's documentation,
/// links or, for modules that are private, plain code.
fn table(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| {
        let cell = line.strip_prefix("//! | ")?.trim_start_matches('[');
        cell.strip_prefix('`')?.split_once('`')
    });
    rows.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod rules;
