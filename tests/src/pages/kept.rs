//! The kept files that the pages tell of, and figures that only tests measure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Figures that a test measures.
pub const MEASURED: &str = "results/measured.csv";

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file by its path from the root.
pub fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
}

/// A kept row: its fields by the names of the columns.
pub type Kept = BTreeMap<String, String>;

/// The rows of a small file without quotes.
pub fn csv(name: &str) -> Result<Vec<Kept>, String> {
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
pub fn ensure_read(mark: &str) -> Result<(), String> {
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
