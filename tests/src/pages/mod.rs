//! Tables and figures of the pages, written from what is kept: `studies/*.csv`,
//! `results/*.csv` and `budgets.toml`.
//!
//! A generated part stands between `<!-- table: NAME -->` or `<!-- figure: NAME -->` and
//! `<!-- end -->`; all else in a page is prose. `cargo xtask pages` writes the parts, and a
//! test fails if a page differs. Prose that tells of rows stands below `<!-- prose: FILE HASH -->`:
//! when the file changes somebody has to read it again. Figures that only a test measures are kept in
//! `results/measured.csv`; the test that measures one calls [`ensure_kept`].

mod peers;
mod results;
mod studies;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

pub use peers::{Quality, quality};

/// The pages, from the root of the repository.
pub const PAGES: [&str; 4] = [
    "README.md",
    "docs/evidence.md",
    "docs/results.md",
    "hambo-core/README.md",
];

const MEASURED: &str = "results/measured.csv";
const END: &str = "<!-- end -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
}

/// A kept row: its fields by the names of the columns.
type Kept = BTreeMap<String, String>;

/// The rows of a small file without quotes.
fn csv(name: &str) -> Result<Vec<Kept>, String> {
    let text = read(name)?;
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let pairs = columns.iter().zip(&fields);
        if fields.len() == columns.len() {
            Ok(pairs
                .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
                .collect())
        } else {
            Err(format!("{name}: {line} has not the fields of its header"))
        }
    };
    lines.map(row).collect()
}

/// The generated parts by name.
#[derive(Default)]
pub struct Parts(BTreeMap<String, String>);

impl Parts {
    /// Every part, made from the kept rows.
    ///
    /// # Errors
    /// If a file cannot be read or lacks a row.
    pub fn new() -> Result<Self, String> {
        let mut parts = Self::default();
        studies::add(&mut parts)?;
        results::add(&mut parts)?;
        peers::add(&mut parts)?;
        for row in csv(MEASURED)? {
            parts.add(&row["name"], &row["value"]);
        }
        budgets(&mut parts)?;
        Ok(parts)
    }

    fn add(&mut self, name: &str, text: impl Display) {
        let text = with_minus_signs(text.to_string().trim_end());
        self.0.insert(name.to_owned(), text);
    }

    /// A page with its parts written anew, and their names.
    ///
    /// # Errors
    /// If it names a part that there is not, or one has no end.
    pub fn fill<'p>(&self, page: &'p str) -> Result<(String, BTreeSet<&'p str>), String> {
        let (mut text, mut used, mut rest) = (String::new(), BTreeSet::new(), page);
        while let Some((before, marked)) = rest.split_once("<!-- ") {
            let (mark, after) = marked.split_once(" -->").ok_or("a comment has no end")?;
            text += &format!("{before}<!-- {mark} -->");
            rest = after;
            let (kind, name) = mark.split_once(": ").unwrap_or((mark, ""));
            match kind {
                "table" | "figure" => {}
                "prose" => {
                    ensure_read(name)?;
                    continue;
                }
                _ => continue,
            }
            let part = self.0.get(name).ok_or(format!("there is no {mark}"))?;
            let (_, after) = rest.split_once(END).ok_or(format!("{mark} has no {END}"))?;
            text += &match kind {
                "table" => format!("\n{part}\n{END}"),
                _ => format!("{part}{END}"),
            };
            used.insert(name);
            rest = after;
        }
        Ok((text + rest, used))
    }
}

/// The pages that differ from the kept rows, with the text that they should have.
///
/// # Errors
/// If a page has a wrong mark, or no page shows a part.
pub fn stale() -> Result<Vec<(&'static str, String)>, String> {
    let parts = Parts::new()?;
    let mut unused: BTreeSet<String> = parts.0.keys().cloned().collect();
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

/// Compares what a test measured with the figure of that name in the pages: equal when rounded
/// as that is, or different by less than the share `tolerance`.
///
/// # Errors
/// If it differs by more, or is not kept.
pub fn ensure_kept(name: &str, measured: f64, tolerance: f64) -> Result<(), String> {
    let rows = csv(MEASURED)?;
    let row = rows.iter().find(|row| row["name"] == name);
    let kept = row.map_or("nothing", |row| row["value"].as_str());
    let (digits, scientific) = match kept.split_once('e') {
        Some((digits, _)) => (digits, true),
        None => (kept, false),
    };
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let rounded = if scientific {
        format!("{measured:.places$e}")
    } else {
        format!("{measured:.places$}")
    };
    let near = |kept: f64| (measured - kept).abs() < tolerance * kept.abs();
    if rounded == kept || kept.parse::<f64>().is_ok_and(near) {
        Ok(())
    } else {
        Err(format!(
            "the program gives {name} = {measured}, {MEASURED} has {kept}: \
             change it there and run `cargo xtask pages`"
        ))
    }
}

/// Compares the rows that a test made with a kept file.
///
/// # Errors
/// If they differ.
pub fn ensure_rows(name: &str, rows: &str) -> Result<(), String> {
    if read(name)?.trim_end() == rows {
        Ok(())
    } else {
        Err(format!(
            "the program gives\n{rows}\nwrite that to {name} and run `cargo xtask pages`"
        ))
    }
}

/// Compares the hash (FNV-1a) of a file with the one that the prose below was written from.
fn ensure_read(mark: &str) -> Result<(), String> {
    let (name, kept) = mark.split_once(' ').unwrap_or((mark, ""));
    let bytes = read(name)?.into_bytes();
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = format!("{:08x}", bytes.iter().fold(0x811c_9dc5, mix));
    if hash == kept {
        Ok(())
    } else {
        Err(format!(
            "{name} has changed: read the prose below `<!-- prose: {mark} -->` again, then write \
             {hash} there"
        ))
    }
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

/// A whole number with commas between thousands.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let place = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    let comma = |at: usize| if place(at) { "," } else { "" };
    let parts = digits.char_indices();
    parts
        .map(|(at, digit)| format!("{}{digit}", comma(at)))
        .collect()
}

/// A table in Markdown.
fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut text = format!("| {} |\n{}|\n", header.join(" | "), "|---".repeat(N));
    for row in rows {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

/// The tables in a summary's text.
fn tables_of(text: &str) -> Vec<String> {
    let parts = text.split("\n\n");
    let tables = parts.filter(|part| part.starts_with('|'));
    tables.map(str::to_owned).collect()
}

/// Hyphens before digits as minus signs.
fn with_minus_signs(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = out.ends_with([' ', '(']) || out.is_empty();
        let number = letters.peek().is_some_and(char::is_ascii_digit);
        out.push(if letter == '-' && begins && number {
            '−'
        } else {
            letter
        });
    }
    out
}
