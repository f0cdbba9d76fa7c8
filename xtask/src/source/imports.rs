//! What a source names in its own crate.

use std::collections::BTreeSet;

use super::tokens::{Token, is_word, text_at};
use super::{Import, ModulePath, joined};

pub(super) fn declared_modules(code: &[Token]) -> BTreeSet<String> {
    let names = code.windows(3).filter_map(|window| match window {
        [keyword, name, end] if keyword.text == "mod" && matches!(end.text.as_str(), ";" | "{") => {
            Some(name.text.clone())
        }
        _ => None,
    });
    names.collect()
}

/// All paths that start in this crate, and `use` of the file's own modules.
pub(super) fn imports(code: &[Token], file: &[String], modules: &BTreeSet<String>) -> Vec<Import> {
    let mut found = Vec::new();
    // The modules written inside the file that we stand in, with their depth.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut in_use = false;
    let mut at = 0;
    while let Some(token) = code.get(at) {
        let next = text_at(code, at + 1);
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inside.pop_if(|(_, outer)| *outer == depth);
            }
            ";" => in_use = false,
            "use" => in_use = true,
            "mod" if text_at(code, at + 2) == "{" => inside.push((next.to_owned(), depth)),
            word if next == "::" && text_at(code, at.wrapping_sub(1)) != "::" => {
                let mut base = file.to_vec();
                base.extend(inside.iter().map(|(name, _)| name.clone()));
                let start = match word {
                    "crate" => Some(Vec::new()),
                    "self" => Some(base),
                    "super" => {
                        base.pop();
                        Some(base)
                    }
                    child if in_use && inside.is_empty() && modules.contains(child) => {
                        Some(joined(file, &[child.to_owned()]))
                    }
                    _ => None,
                };
                if let Some(start) = start {
                    let first = found.len();
                    at = tree(code, at + 2, start, &mut found);
                    let names_stay = in_use && inside.is_empty();
                    for import in found.iter_mut().skip(first).filter(|_| !names_stay) {
                        import.name = None;
                    }
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads `a::{b, c::*}` and gives the index after it.
fn tree(code: &[Token], mut at: usize, mut path: ModulePath, found: &mut Vec<Import>) -> usize {
    loop {
        let line = code.get(at).map_or(0, |token| token.line);
        match text_at(code, at) {
            "{" => {
                at += 1;
                while !matches!(text_at(code, at), "}" | "") {
                    at = tree(code, at, path.clone(), found);
                    at += usize::from(text_at(code, at) == ",");
                }
                return at + 1;
            }
            "super" => {
                path.pop();
            }
            "self" => {
                let name = path.last().cloned();
                found.push(Import {
                    line,
                    to: path,
                    name,
                });
                return at + 1;
            }
            word if word.chars().all(is_word) && !word.is_empty() => {
                path.push(word.to_owned());
                if text_at(code, at + 1) != "::" {
                    let alias = text_at(code, at + 1) == "as";
                    let name = text_at(code, if alias { at + 2 } else { at }).to_owned();
                    found.push(Import {
                        line,
                        to: path,
                        name: Some(name),
                    });
                    return at + if alias { 3 } else { 1 };
                }
            }
            // `*`, or the `<` of type arguments.
            other => {
                found.push(Import {
                    line,
                    to: path,
                    name: None,
                });
                return at + usize::from(other == "*");
            }
        }
        at += 2;
    }
}
