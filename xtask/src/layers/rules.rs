//! The rules: no layer looks up, the table in `lib.rs` names every module, and
//! the modules inside a district of the host import from each other in no circle.

use super::*;

/// An import of a module that stands higher.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Upward {
    /// From the crate's `src`.
    pub file: String,
    pub line: usize,
    pub to: String,
}

impl Layers {
    /// The imports that look up.
    fn upward(&self) -> BTreeSet<Upward> {
        let up = self.crossings().filter(|(_, _, from, to)| to > from);
        up.filter_map(|(source, line, _, to)| {
            let file = source.path.to_string_lossy().replace('\\', "/");
            Some(Upward {
                file,
                line,
                to: self.order.get(to)?.clone(),
            })
        })
        .collect()
    }

    /// Modules that `lib.rs` declares and its table lacks, or the other way round.
    fn unnamed(&self) -> Vec<String> {
        let modules = self
            .sources
            .iter()
            .filter_map(|source| source.module.first());
        let modules: BTreeSet<&String> = modules.collect();
        let missing = modules
            .iter()
            .copied()
            .filter(|name| *name != "main" && self.rank(name).is_none());
        let absent = self.order.iter().filter(|name| !modules.contains(name));
        let all: BTreeSet<&String> = missing.chain(absent).collect();
        all.into_iter().cloned().collect()
    }

    /// Modules directly inside one layer that import from each other in a
    /// circle, as `layer: a ⇄ b`. Its first page stands outside.
    fn circles(&self) -> BTreeSet<String> {
        let parts: BTreeSet<(&String, &String)> = self
            .sources
            .iter()
            .filter_map(|source| Some((source.module.first()?, source.module.get(1)?)))
            .collect();
        let mut reached: BTreeSet<(&String, &String, &String)> = BTreeSet::new();
        for source in &self.sources {
            for import in source.imports() {
                if let ([layer, part, ..], [to, other, ..]) = (&*source.module, &*import.to)
                    && layer == to
                    && part != other
                    && parts.contains(&(to, other))
                {
                    reached.insert((layer, part, other));
                }
            }
        }
        loop {
            let further: Vec<_> = reached
                .iter()
                .flat_map(|(layer, a, b)| {
                    let from_b = reached
                        .iter()
                        .filter(move |(l, from, _)| l == layer && from == b);
                    from_b.map(move |(_, _, c)| (*layer, *a, *c))
                })
                .collect();
            let before = reached.len();
            reached.extend(further);
            if reached.len() == before {
                break;
            }
        }
        let circles = reached
            .iter()
            .filter(|(l, a, b)| a < b && reached.contains(&(*l, *b, *a)));
        circles
            .map(|(layer, a, b)| format!("{layer}: {a} ⇄ {b}"))
            .collect()
    }
}

const LIB: &str = "//! | [`low`] | x |\n//! | [`middle`] | y |\n//! | [`high`] | z |\n\
                   pub mod high; pub mod low; pub mod middle;\npub use high::Promoted;\n";

/// `low`, `middle` and `high`, with a text for one file.
fn planted(path: &str, text: &str) -> Layers {
    let texts = [
        ("lib.rs", LIB),
        ("low/mod.rs", "pub mod a;\npub mod b;\npub use b::Shared;"),
        ("low/b.rs", "use super::a::X;"),
        ("middle/mod.rs", ""),
        ("high/mod.rs", "use crate::{low::a::X, middle};"),
        (path, text),
    ];
    Layers {
        order: table(LIB),
        sources: source::parse(texts.iter().map(|(path, text)| (Path::new(*path), *text))),
    }
}

#[test]
fn a_planted_upward_import_is_found() {
    for text in [
        "use crate::high::Thing;",
        "use crate::{\n    low::b::Y,\n    high::{self, Thing},\n};",
        "use super::super::high::Thing;",
        "fn f() -> crate::high::Thing {}",
        "use crate::Promoted;",
        "#[error(\"{}\", crate::high::words(.0))]",
    ] {
        let upward = planted("low/a.rs", text).upward();
        let found: Vec<_> = upward
            .iter()
            .map(|up| (up.file.as_str(), up.to.as_str()))
            .collect();
        assert!(
            found.iter().all(|up| *up == ("low/a.rs", "high")),
            "{text}: {found:?}"
        );
        assert!(!found.is_empty(), "{text}");
    }
}

#[test]
fn tests_and_comments_may_look_up_and_everybody_down() {
    for text in [
        "/// [`crate::high::Thing`]\nfn f() {}",
        "#[cfg(test)]\nmod tests {\n    use crate::high::Thing;\n}",
        "use crate::low::b::Y;",
    ] {
        assert!(planted("low/a.rs", text).upward().is_empty(), "{text}");
    }
    let edges = planted("low/a.rs", "").edges();
    assert_eq!(edges, BTreeMap::from([((2, 0), 1), ((2, 1), 1)]));
}

#[test]
fn circles_inside_a_layer_are_found_through_re_exports() {
    assert!(planted("low/a.rs", "").circles().is_empty());
    for text in [
        "use super::b::Y;",
        "use crate::low::Shared;",
        "use super::Shared;",
    ] {
        let circles = planted("low/a.rs", text).circles();
        assert_eq!(circles, BTreeSet::from(["low: a ⇄ b".to_owned()]), "{text}");
    }
}

#[test]
fn a_module_outside_the_table_is_named() {
    assert!(planted("low/a.rs", "").unnamed().is_empty());
    assert_eq!(planted("cellar/mod.rs", "").unnamed(), ["cellar"]);
    let mut layers = planted("low/a.rs", "");
    layers.order.push("attic".to_owned());
    assert_eq!(layers.unnamed(), ["attic"]);
}

fn read(krate: &str) -> Layers {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    Layers::read(&root.join(krate).join("src")).expect("the sources can be read")
}

fn hold(krate: &str) {
    let layers = read(krate);
    let upward = layers.upward();
    assert!(
        upward.is_empty(),
        "{krate}/src looks up: {upward:#?}\nMove what is shared down."
    );
    let unnamed = layers.unnamed();
    assert!(
        unnamed.is_empty(),
        "{krate}/src/lib.rs: table and modules differ in {unnamed:?}"
    );
}

#[test]
fn the_host_looks_down() {
    hold("hambo-host");
    let layers = read("hambo-host");
    assert!(layers.order.len() <= 10, "{:?}", layers.order);
    let root: Vec<_> = layers
        .sources
        .iter()
        .filter(|s| s.path.iter().count() == 1)
        .collect();
    assert!(
        root.iter()
            .all(|s| s.path == Path::new("lib.rs") || s.path == Path::new("main.rs"))
    );
}

#[test]
fn the_core_looks_down() {
    hold("hambo-core");
}

#[test]
fn no_district_of_the_host_has_a_circle() {
    let circles = read("hambo-host").circles();
    assert!(
        circles.is_empty(),
        "hambo-host/src has circles: {circles:#?}"
    );
}
