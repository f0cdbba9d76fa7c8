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
