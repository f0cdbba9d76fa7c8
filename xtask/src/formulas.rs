//! Holds docs/formulas.md: every row of the index names a file that exists and
//! an item that this file defines: in Rust, or in Python for the benches.

use std::path::Path;

/// Symbol, path and item of every row whose last two cells are code.
fn rows(page: &str) -> Vec<(String, String, String)> {
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    page.lines()
        .filter(|line| line.starts_with('|') && (line.contains(".rs`") || line.contains(".py`")))
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
            let [symbol, .., path, item] = cells.as_slice() else {
                return None;
            };
            Some((cell(symbol), cell(path), cell(item)))
        })
        .collect()
}

/// Whether a source defines this item.
fn defines(source: &str, item: &str) -> bool {
    [
        "fn", "struct", "enum", "const", "trait", "type", "pub", "def",
    ]
    .iter()
    .any(|kind| {
        source
            .match_indices(&format!("{kind} {item}"))
            .any(|(start, found)| {
                let after = source[start + found.len()..].chars().next();
                !after.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
            })
    })
}

/// The rows that name nothing.
fn missing(root: &Path, page: &str) -> Vec<String> {
    rows(page)
        .into_iter()
        .filter(|(_, path, item)| {
            let source = std::fs::read_to_string(root.join(path)).unwrap_or_default();
            !defines(&source, item)
        })
        .map(|(symbol, path, item)| format!("{symbol}: `{item}` is not defined in {path}"))
        .collect()
}

#[test]
fn every_formula_of_the_index_is_where_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/formulas.md")).expect("docs/formulas.md");
    assert!(rows(&page).len() >= 25, "{} rows", rows(&page).len());
    let missing = missing(&root, &page);
    assert!(
        missing.is_empty(),
        "docs/formulas.md:\n{}",
        missing.join("\n")
    );
}

#[test]
fn a_wrong_row_is_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let row = |path: &str, item: &str| format!("| pi | a controller | `{path}` | `{item}` |\n");
    let good = row("xtask/src/formulas.rs", "defines");
    assert!(missing(&root, &good).is_empty());
    assert_eq!(
        missing(&root, &row("xtask/src/none.rs", "defines")).len(),
        1
    );
    // The beginning of a name is not the name.
    assert_eq!(
        missing(&root, &row("xtask/src/formulas.rs", "define")).len(),
        1
    );
}
