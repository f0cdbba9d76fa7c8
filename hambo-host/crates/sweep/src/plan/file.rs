//! The plan as it is written.

use std::path::{Path, PathBuf};

use hambo_base::Error;
use hambo_base::files::read_at_most;
use serde::Deserialize;

/// No plan is longer.
const MOST_BYTES: u64 = 1 << 20;

/// The keys of a plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanFile {
    pub name: Option<String>,
    pub task: PathBuf,
    pub data: OneOrMore,
    pub policies: OneOrMore,
    #[serde(default)]
    pub seeds: Seeds,
    pub episodes: Option<Vec<u32>>,
    pub horizons: Option<Vec<u32>>,
    #[serde(default)]
    pub check: String,
    #[serde(default)]
    pub model: Vec<ModelText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ModelText {
    pub name: String,
    #[serde(default)]
    pub fit: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a path, or a list of paths")]
pub(super) enum OneOrMore {
    One(PathBuf),
    More(Vec<PathBuf>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a list of seeds, or how many")]
pub(super) enum Seeds {
    Count(u32),
    List(Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl OneOrMore {
    pub fn paths(self) -> Vec<PathBuf> {
        match self {
            Self::One(path) => vec![path],
            Self::More(paths) => paths,
        }
    }
}

impl Seeds {
    pub fn list(self) -> Vec<u64> {
        match self {
            Self::Count(count) => (0..u64::from(count)).collect(),
            Self::List(list) => list,
        }
    }
}

/// Reads the file.
///
/// # Errors
/// If it cannot be read, or a key is wrong.
pub(super) fn read(path: &Path) -> Result<PlanFile, Error> {
    let wrong = |problem: String| {
        Error::Usage(format!(
            "{}: {}\nhelp: correct this line; the keys of a plan are task, data, policies, seeds, \
             episodes, horizons, check, name and [[model]] with name and fit",
            path.display(),
            problem.trim_end()
        ))
    };
    let bytes = read_at_most(path, MOST_BYTES).map_err(|problem| {
        Error::Usage(format!(
            "{}: {problem}\nhelp: give the plan of the sweep, a TOML file",
            path.display()
        ))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text".to_owned()))?;
    toml::from_str(&text).map_err(|problem| wrong(problem.to_string()))
}
