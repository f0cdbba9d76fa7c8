//! Mutation testing as a study: cargo-mutants breaks one line of the safety path
//! after the other, and the own tests of the core, or of the crate that fits
//! models, must notice. What they do not notice stands in `studies/mutants.csv`
//! with the reason, or is an error.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::{CommandLine, Problem};

/// The survivors that are known, one a line: file, function, mutation, verdict, why.
pub const TABLE: &str = "studies/mutants.csv";

/// The verdict on a survivor that a test has killed since.
const KILLED: &str = "killed";

/// From a rollout's step to the permit, what a robot asks before and what looks on afterwards,
/// and from a log to a model that may decide.
const FILES: [&str; 10] = [
    "hambo-core/src/gate/permit.rs",
    "hambo-core/src/gate/verdict.rs",
    "hambo-core/src/estimate/**/*.rs",
    "hambo-core/src/check/**/*.rs",
    "hambo-core/src/adversary/**/*.rs",
    "hambo-core/src/rollout/**/*.rs",
    "hambo-core/src/floor/**/*.rs",
    "hambo-core/src/drive/**/*.rs",
    "hambo-host/crates/learn/src/fit/**/*.rs",
    "hambo-host/crates/learn/src/calibration/**/*.rs",
];

/// Where cargo-mutants writes.
pub fn output(target_directory: &Path) -> PathBuf {
    target_directory.join("mutants")
}

/// Whether the tool is there, and if not, how it comes.
pub fn require_tool() -> Result<(), Problem> {
    match CommandLine::new("cargo mutants --version").output() {
        Some(_) => Ok(()),
        None => Err(Problem::Advice(
            "`cargo mutants` is not installed. Do this first: cargo install cargo-mutants --locked"
                .to_owned(),
        )),
    }
}

/// One part of the mutations (`k/n`, from 0), or all of them. Survivors make the
/// command itself fail with 2; they are judged by [`judge`].
pub fn line(target_directory: &Path, shard: Option<&str>) -> CommandLine {
    // The test profile: a build takes half of the time that the optimised one takes.
    // Each package's own tests judge its mutations.
    let mut line =
        CommandLine::new("cargo mutants --package hambo-core --package hambo-learn --jobs 1");
    for file in FILES {
        line = line.words("--file").argument(file);
    }
    line = line
        .words("--minimum-test-timeout 20 --no-shuffle --output")
        .argument(output(target_directory));
    if let Some(shard) = shard {
        line = line.words("--shard").argument(shard);
    }
    line.words("-- --lib")
}

/// What a run left: counts, and the survivors that no line of the table explains.
#[derive(Debug, PartialEq, Eq)]
pub struct Judgement {
    pub caught: usize,
    pub unviable: usize,
    pub survivors: usize,
    pub unexplained: Vec<String>,
}

/// Reads what a run left below `output`, and holds it against the table's text.
pub fn judge(output: &Path, table: &str) -> Result<Judgement, Problem> {
    let folder = output.join("mutants.out");
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|error| {
            Problem::Advice(format!("{}: {error}. Did the run end?", path.display()))
        })
    };
    let missed = read("missed.txt")?;
    Ok(Judgement {
        // A test that never ends is noticed too.
        caught: read("caught.txt")?.lines().count() + read("timeout.txt")?.lines().count(),
        unviable: read("unviable.txt")?.lines().count(),
        survivors: missed.lines().count(),
        unexplained: unexplained(&missed, table),
    })
}

impl Judgement {
    pub fn verdict(&self) -> Result<(), Problem> {
        if self.unexplained.is_empty() {
            return Ok(());
        }
        Err(Problem::Advice(format!(
            "{} mutations survive the tests of their crate and are not explained:\n  {}\n\
             Write a test that fails with them, or a line of {TABLE} that says why none can.",
            self.unexplained.len(),
            self.unexplained.join("\n  ")
        )))
    }
}

/// Survivors that the table does not hold. Lines move, so that a survivor is its
/// file and its mutation; where several are the same in both, each needs a line.
fn unexplained(missed: &str, table: &str) -> Vec<String> {
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let cells = cells(line);
        let [file, _, mutation, verdict, ..] = cells.as_slice() else {
            continue;
        };
        // What was killed must stay so.
        if verdict != KILLED {
            let places = known.entry((file.clone(), mutation.clone())).or_default();
            *places = places.saturating_add(1);
        }
    }
    let missed = missed.lines().filter(|line| {
        let places = survivor(line).and_then(|survivor| known.get_mut(&survivor));
        match places {
            Some(places) if *places > 0 => {
                *places = places.saturating_sub(1);
                false
            }
            _ => true,
        }
    });
    missed.map(str::to_owned).collect()
}

/// The file and the mutation of `path:line:column: mutation`.
fn survivor(line: &str) -> Option<(String, String)> {
    let (place, mutation) = line.split_once(": ")?;
    let (file, _) = place.split_once(':')?;
    Some((file.to_owned(), mutation.to_owned()))
}

/// The cells of a line of CSV; a quoted one may hold commas, and quotes twice.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let Some(cell) = cells.last_mut() else {
            return cells;
        };
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                cell.push('"');
                characters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# counts\nfile,function,mutation,verdict,why\n\
        a.rs,f,\"replace f -> [u8; 2] with [0, 1]\",same,it is never read\n\
        a.rs,g,replace < with > in g,killed,by a test\n";

    #[test]
    fn a_survivor_is_known_wherever_its_line_went() {
        let known = "a.rs:12:5: replace f -> [u8; 2] with [0, 1]";
        assert_eq!(unexplained(known, TABLE), Vec::<String>::new());
        for other in [
            "b.rs:12:5: replace f -> [u8; 2] with [0, 1]",
            "a.rs:12:5: replace f -> [u8; 2] with [1, 1]",
            "a.rs:12:5: replace < with > in g",
            "nonsense",
        ] {
            assert_eq!(unexplained(other, TABLE), [other]);
        }
    }

    #[test]
    fn a_second_survivor_of_the_same_kind_needs_a_line_of_its_own() {
        let two = "a.rs:12:5: replace f -> [u8; 2] with [0, 1]\n\
            a.rs:19:5: replace f -> [u8; 2] with [0, 1]";
        let second = "a.rs:19:5: replace f -> [u8; 2] with [0, 1]";
        assert_eq!(unexplained(two, TABLE), [second]);
        let line = TABLE.lines().nth(2).unwrap_or_default();
        let both = format!("{TABLE}{line}\n");
        assert_eq!(unexplained(two, &both), Vec::<String>::new());
    }

    #[test]
    fn quotes_keep_their_commas() {
        assert_eq!(cells("a,\"b, \"\"c\"\"\",d"), ["a", "b, \"c\"", "d"]);
    }

    #[test]
    fn the_safety_path_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for pattern in FILES {
            let place = pattern.split("/**").next().unwrap_or_default();
            assert!(root.join(place).exists(), "{pattern}");
        }
    }

    #[test]
    fn a_shard_is_passed_on() {
        let line = line(Path::new("target"), Some("1/4")).to_string();
        assert!(line.contains("--shard 1/4"), "{line}");
        assert!(line.ends_with("-- --lib"), "{line}");
    }
}
