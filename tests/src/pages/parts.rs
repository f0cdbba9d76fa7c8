//! The generated parts of the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::kept::ensure_read;
use super::markdown::with_minus_signs;

const END: &str = "<!-- end -->";

/// The generated parts by name.
#[derive(Default)]
pub struct Parts(BTreeMap<String, String>);

impl Parts {
    pub fn add(&mut self, name: &str, text: impl Display) {
        let text = with_minus_signs(text.to_string().trim_end());
        self.0.insert(name.to_owned(), text);
    }

    /// Adds text whose hyphens stay.
    pub fn add_verbatim(&mut self, name: &str, text: String) {
        self.0.insert(name.to_owned(), text);
    }

    pub fn names(&self) -> BTreeSet<String> {
        self.0.keys().cloned().collect()
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
