//! Rust sources, read far enough to know what they import, which of their
//! lines are tests and which are comments.
//!
//! The compiler's own parser would be a heavy dependency. Words, strings and
//! brackets are enough for the shapes that rustfmt leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::command::Problem;

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

/// An identifier, a number, `::`, one other sign, or `"` for each line of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    line: usize,
    text: String,
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

/// Splits a text into tokens, without comments.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => 1 + end_of_string(rest.split_at(1).1),
            '\'' => end_of_character(rest),
            'r' | 'b' if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            ':' if rest.starts_with("::") => 2,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        let is_comment = word.starts_with("//") || word.starts_with("/*");
        let is_string = word.len() > 1 && word.contains('"') && !is_comment;
        if is_string {
            let spanned = line..=line + word.matches('\n').count();
            tokens.extend(spanned.map(|line| Token {
                line,
                text: "\"".to_owned(),
            }));
        } else if !is_comment && !first.is_whitespace() && !word.starts_with('\'') {
            tokens.push(Token {
                line,
                text: word.to_owned(),
            });
        }
        line += word.matches('\n').count();
        rest = after;
    }
    tokens
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes up to and with the quote that ends a string.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Bytes of a character in quotes, or of a lifetime's quote alone.
fn end_of_character(text: &str) -> usize {
    let inner = text.split_at(1).1;
    let mut characters = inner.char_indices();
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, next))) => {
            let rest = inner.split_at(at + next.len_utf8()).1;
            rest.find('\'')
                .map_or(1, |end| 1 + at + next.len_utf8() + end + 1)
        }
        (Some(_), Some((end, '\''))) => 1 + end + 1,
        _ => 1,
    }
}

/// Bytes of `r"…"`, `r#"…"#` or `b"…"`.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["br", "r", "b"]
        .into_iter()
        .find(|prefix| text.starts_with(prefix))?;
    let after = text.strip_prefix(prefix)?;
    let hashes = after.chars().take_while(|c| *c == '#').count();
    let body = after.get(hashes..)?.strip_prefix('"')?;
    let start = prefix.len() + hashes + 1;
    if !prefix.contains('r') {
        return (hashes == 0).then(|| start + end_of_string(body));
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(start + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The index after the bracket that closes the one at `open`.
fn after_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The code without items under `#[cfg(test)]`, the lines of those, and the
/// modules among them that are files of their own.
fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<(usize, usize)>, Vec<String>) {
    let (mut code, mut ranges, mut modules) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if !is_test_attribute(&tokens, at) {
            code.push(token.clone());
            at += 1;
            continue;
        }
        let start = token.line;
        while text_at(&tokens, at) == "#" {
            at = after_group(&tokens, at + 1);
        }
        let item = at;
        let ends_with_block = text_at(&tokens, item) != "use";
        at = loop {
            match text_at(&tokens, at) {
                "" => break at,
                ";" => break at + 1,
                "{" if ends_with_block => break after_group(&tokens, at),
                "(" | "[" | "{" => at = after_group(&tokens, at),
                _ => at += 1,
            }
        };
        let words: Vec<&str> = (item..at).map(|at| text_at(&tokens, at)).collect();
        if let [.., "mod", name, ";"] = words.as_slice() {
            modules.push((*name).to_owned());
        }
        let last = tokens
            .get(at.saturating_sub(1))
            .map_or(start, |token| token.line);
        ranges.push((start, last));
    }
    (code, ranges, modules)
}

fn is_test_attribute(tokens: &[Token], at: usize) -> bool {
    let starts = ["#", "[", "cfg", "("];
    let is_cfg = starts
        .iter()
        .enumerate()
        .all(|(i, word)| text_at(tokens, at + i) == *word);
    let inside = at + 3..after_group(tokens, at + 1);
    let has = |word: &str| inside.clone().any(|at| text_at(tokens, at) == word);
    is_cfg && has("test") && !has("not") && !has("any")
}

fn declared_modules(code: &[Token]) -> BTreeSet<String> {
    let names = code.windows(3).filter_map(|window| match window {
        [keyword, name, end] if keyword.text == "mod" && matches!(end.text.as_str(), ";" | "{") => {
            Some(name.text.clone())
        }
        _ => None,
    });
    names.collect()
}

/// All paths that start in this crate, and `use` of the file's own modules.
fn imports(code: &[Token], file: &[String], modules: &BTreeSet<String>) -> Vec<Import> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[(&str, &str)]) -> Vec<Source> {
        parse(texts.iter().map(|(path, text)| (Path::new(*path), *text)))
    }

    fn paths(texts: &[(&str, &str)], path: &str) -> Vec<String> {
        let sources = of(texts);
        let source = sources.iter().find(|source| source.path == Path::new(path));
        let imports = source.map(Source::imports).unwrap_or_default();
        imports.iter().map(|import| import.to.join("::")).collect()
    }

    fn paths_of(text: &str) -> Vec<String> {
        paths(&[("learn/fit/mod.rs", text)], "learn/fit/mod.rs")
    }

    #[test]
    fn imports_have_many_forms() {
        assert_eq!(paths_of("use crate::a::B;"), ["a::B"]);
        assert_eq!(
            paths_of("pub(crate) use crate::{a::B as C, b::{self, c::*}, D};"),
            ["a::B", "b", "b::c", "D"]
        );
        assert_eq!(paths_of("use super::x::Y;"), ["learn::x::Y"]);
        assert_eq!(paths_of("use super::super::x::{Y, Z};"), ["x::Y", "x::Z"]);
        assert_eq!(
            paths_of("fn f(x: &'a crate::a::B<T>) { super::g() }"),
            ["a::B", "learn::g"]
        );
        assert_eq!(
            paths_of("Vec::<crate::a::B>::new(); x::y::<crate::c::D>()"),
            ["a::B", "c::D"]
        );
        assert_eq!(
            paths_of("mod part; use part::X; use std::fmt;"),
            ["learn::fit::part::X"]
        );
        assert_eq!(
            paths_of("mod m { use super::x::Y; } use super::Z;"),
            ["learn::fit::x::Y", "learn::Z"]
        );
    }

    #[test]
    fn comments_strings_and_tests_import_nothing() {
        let text = "//! crate::a::B\n/* crate::a::B */ #[error(\"crate::a::B {}\", crate::c::d(.0))]\n\
                    const C: [char; 2] = ['\"', '\\''];\nconst R: &str = r#\"\"crate::a::B\"#;\n\
                    #[cfg(test)]\nmod tests {\n    use crate::a::B;\n}\n\
                    #[cfg(all(test, unix))]\n#[allow(x)]\nuse crate::a::{B};\n\
                    #[cfg(feature = \"test\")]\nuse crate::e::F;\n";
        assert_eq!(paths_of(text), ["c::d", "e::F"]);
    }

    #[test]
    fn a_file_of_tests_imports_nothing() {
        let texts = [
            (
                "learn/mod.rs",
                "#[cfg(test)]\npub(crate) mod reference;\nmod a;",
            ),
            ("learn/reference.rs", "use crate::a::B;\n"),
            ("learn/reference/inner.rs", "use crate::a::B;\n"),
            ("learn/a.rs", "use crate::a::B;\n"),
        ];
        assert!(paths(&texts, "learn/reference.rs").is_empty());
        assert!(paths(&texts, "learn/reference/inner.rs").is_empty());
        assert_eq!(paths(&texts, "learn/a.rs"), ["a::B"]);
        assert!(of(&texts).iter().any(|source| source.is_test));
    }

    #[test]
    fn a_name_is_followed_to_where_it_is_defined() {
        let texts = [
            ("lib.rs", "pub mod foundation; pub use foundation::Error;"),
            ("foundation/mod.rs", "mod error; pub use error::Error;"),
            (
                "foundation/place.rs",
                "use super::Error; use crate::Error as E;",
            ),
        ];
        assert_eq!(
            paths(&texts, "foundation/place.rs"),
            ["foundation::error::Error", "foundation::error::Error"]
        );
    }

    #[test]
    fn lines_are_told_apart() {
        let text = "//! Doc.\n\nuse a;\nconst S: &str = \"x\n\n  y\";\n// Why.\n\
                    #[cfg(test)]\nmod tests {\n    // Why.\n\n    fn f() {}\n}\n";
        let sources = of(&[("a.rs", text)]);
        let lines = sources.first().map(|source| source.lines);
        assert_eq!(
            lines,
            Some(Lines {
                code: 4,
                comments: 2,
                tests: 5
            })
        );
    }
}
