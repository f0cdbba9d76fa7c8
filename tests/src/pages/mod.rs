//! Tables and figures of the pages, written from what is kept: `studies/*.csv`,
//! `results/*.csv` and `budgets.toml`.
//!
//! A generated part stands between `<!-- table: NAME -->` or `<!-- figure: NAME -->` and
//! `<!-- end -->`; all else in a page is prose. `cargo xtask pages` writes the parts, and a
//! test fails if a page differs. Prose that tells of rows stands below `<!-- prose: FILE HASH -->`:
//! when the file changes somebody has to read it again. Figures that only a test measures are kept in
//! `results/measured.csv`; the test that measures one calls [`ensure_kept`].

mod kept;
mod markdown;
mod parts;
mod peers;
mod results;
mod studies;

use std::fs;

pub use kept::{ensure_kept, ensure_rows};
pub use parts::Parts;
pub use peers::{Quality, quality};

use kept::{MEASURED, csv, read, root};
use markdown::grouped;

/// The pages, from the root of the repository.
pub const PAGES: [&str; 4] = [
    "README.md",
    "docs/evidence.md",
    "docs/results.md",
    "hambo-core/README.md",
];

/// Every part, made from the kept rows.
///
/// # Errors
/// If a file cannot be read or lacks a row.
pub fn parts() -> Result<Parts, String> {
    let mut parts = Parts::default();
    studies::add(&mut parts)?;
    results::add(&mut parts)?;
    peers::add(&mut parts)?;
    for row in csv(MEASURED)? {
        parts.add(&row["name"], &row["value"]);
    }
    budgets(&mut parts)?;
    Ok(parts)
}

/// The pages that differ from the kept rows, with the text that they should have.
///
/// # Errors
/// If a page has a wrong mark, or no page shows a part.
pub fn stale() -> Result<Vec<(&'static str, String)>, String> {
    let parts = parts()?;
    let mut unused = parts.names();
    let mut stale = Vec::new();
    for page in PAGES {
        let old = read(page)?;
        let (new, used) = parts
            .fill(&old)
            .map_err(|error| format!("{page}: {error}"))?;
        unused.retain(|name| !used.contains(name.as_str()));
        if new != old {
            stale.push((page, new));
        }
    }
    match unused.first() {
        None => Ok(stale),
        Some(_) => Err(format!("no page shows {unused:?}")),
    }
}

/// Writes the pages that differ; returns their names.
///
/// # Errors
/// As [`stale`], or if a page cannot be written.
pub fn write() -> Result<Vec<&'static str>, String> {
    let write = |(page, text): (&'static str, String)| match fs::write(root().join(page), text) {
        Ok(()) => Ok(page),
        Err(error) => Err(format!("{page}: {error}")),
    };
    stale()?.into_iter().map(write).collect()
}

/// The device's figures that are committed, in the units of the pages.
fn budgets(parts: &mut Parts) -> Result<(), String> {
    let text = read("budgets.toml")?;
    let committed = text.split_once("[committed]").map_or("", |(_, text)| text);
    for line in committed.lines() {
        let Some((name, Ok(value))) = line
            .split_once(" = ")
            .map(|(name, value)| (name, value.parse::<f64>()))
        else {
            continue;
        };
        let text = match name {
            "ensemble_forward" | "ensemble_adjoint" | "gp_variance" => format!("{value:.2}"),
            "check_instructions" => format!("{:.0} million", value / 1e6),
            "check_workspace_bytes" => grouped(value),
            "monitor_instructions" => format!("{:.0} thousand", value / 1e3),
            "flash_bytes" | "stack_bytes" => format!("{:.0} KiB", value / 1024.0),
            _ => continue,
        };
        parts.add(name, text);
    }
    Ok(())
}
