//! `hambo.toml`: defaults for the flags that repeat.
//!
//! A key is the default of every flag of its name, so a flag that is given wins, and
//! `--help` shows what the file says.

use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hambo_base::Error;
use hambo_check::adversary::EffortLevel;
use serde::de::{Deserialize, Deserializer, Error as _};

/// For the command's help.
pub const HELP: &str = "\
Defaults: hambo.toml in the current folder, else hambo/hambo.toml in the user's
configuration folder ($XDG_CONFIG_HOME, ~/.config or %APPDATA%), else none; or
the file of --config. Flags win over it. Its keys, each for all flags of that name:
  seed = 0            effort = \"normal\"    trajectories = 16    sweeps = 40
  delta = 0.05        threads = 2          python = \"python3\"

Exit codes: 0 deploy or success, 1 reject, 2 bad usage or bad input, 3 abstain,
130 interrupted.";

const FILE: &str = "hambo.toml";

/// The file's keys.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    seed: Option<u64>,
    #[serde(default, deserialize_with = "effort")]
    effort: Option<EffortLevel>,
    trajectories: Option<NonZeroU32>,
    sweeps: Option<u32>,
    #[serde(default, deserialize_with = "probability")]
    delta: Option<f64>,
    threads: Option<NonZeroUsize>,
    python: Option<String>,
}

fn effort<'de, D: Deserializer<'de>>(value: D) -> Result<Option<EffortLevel>, D::Error> {
    let text = String::deserialize(value)?;
    let known = EffortLevel::from_str(&text, false);
    let wrong = |_| D::Error::custom(format!("`{text}` is not quick, normal or thorough"));
    known.map(Some).map_err(wrong)
}

fn probability<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(value)?;
    if number > 0.0 && number < 1.0 {
        return Ok(Some(number));
    }
    Err(D::Error::custom(format!(
        "{number} is not a probability between 0 and 1"
    )))
}

impl Settings {
    /// The settings for these arguments: of the file they name, or of one that lies where
    /// it is looked for.
    ///
    /// # Errors
    /// If the file cannot be read or a key is wrong; the message names file, line and key.
    pub fn find(arguments: &[OsString]) -> Result<Self, Error> {
        let found = named(arguments).or_else(|| {
            let here = PathBuf::from(FILE);
            let own = configuration_folder().map(|folder| folder.join("hambo").join(FILE));
            let mut places = [Some(here), own].into_iter().flatten();
            places.find(|path| path.is_file())
        });
        found.map_or_else(|| Ok(Self::default()), |path| Self::read(&path))
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|problem| {
            Error::Usage(format!(
                "{}: {problem}\nhelp: check the path of --config and its permissions",
                path.display()
            ))
        })?;
        toml::from_str(&text).map_err(|problem| {
            Error::Usage(format!(
                "{}: {}\nhelp: correct this line; hambo --help lists the keys",
                path.display(),
                problem.to_string().trim_end()
            ))
        })
    }

    /// Every flag of a key's name gets the key's value as its default.
    pub fn apply(&self, command: clap::Command) -> clap::Command {
        with_defaults(command, &self.defaults())
    }

    fn defaults(&self) -> Vec<(&'static str, String)> {
        let effort = self.effort.map(EffortLevel::name);
        let defaults = [
            ("seed", self.seed.map(|value| value.to_string())),
            ("effort", effort.map(str::to_owned)),
            ("trajectories", self.trajectories.map(|n| n.to_string())),
            ("sweeps", self.sweeps.map(|value| value.to_string())),
            ("delta", self.delta.map(|value| value.to_string())),
            ("threads", self.threads.map(|value| value.to_string())),
            ("python", self.python.clone()),
        ];
        let given = defaults.into_iter();
        given
            .filter_map(|(key, value)| Some((key, value?)))
            .collect()
    }
}

fn with_defaults(command: clap::Command, defaults: &[(&str, String)]) -> clap::Command {
    let command = command.mut_args(|argument| {
        let mut defaults = defaults.iter();
        match defaults.find(|(key, _)| argument.get_id() == *key) {
            Some((_, value)) => argument.default_value(value.clone()),
            None => argument,
        }
    });
    command.mut_subcommands(|subcommand| with_defaults(subcommand, defaults))
}

/// The file of `--config`. Defaults are needed before the flags can be parsed, so this one
/// is looked for by hand; no value of another flag can look like it.
fn named(arguments: &[OsString]) -> Option<PathBuf> {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--" {
            return None;
        }
        if argument == "--config" {
            return rest.next().map(PathBuf::from);
        }
        let text = argument.as_os_str().to_str();
        if let Some(path) = text.and_then(|text| text.strip_prefix("--config=")) {
            return Some(PathBuf::from(path));
        }
    }
    None
}

fn configuration_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || variable("HOME").map(|home| Path::new(&home).join(OsStr::new(".config")));
    let folder = variable("XDG_CONFIG_HOME").or_else(|| variable("APPDATA"));
    folder.map(PathBuf::from).or_else(home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_once() {
        let find = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            named(&words)
        };
        assert_eq!(find("hambo check --config a.toml"), Some("a.toml".into()));
        assert_eq!(find("hambo --config=b.toml check"), Some("b.toml".into()));
        assert_eq!(find("hambo check -- --config c.toml"), None);
        assert_eq!(find("hambo check"), None);
    }

    #[test]
    fn every_key_of_the_help_is_a_key_and_a_default() {
        let lines = HELP.lines().filter(|line| line.starts_with("  "));
        let keys: Vec<&str> = lines.flat_map(|line| line.split("  ")).collect();
        let text: Vec<&str> = keys.into_iter().filter(|key| !key.is_empty()).collect();
        let settings: Settings = toml::from_str(&text.join("\n")).unwrap();
        assert_eq!(settings.defaults().len(), 7);
        assert_eq!(text.len(), 7);
    }

    #[test]
    fn what_is_wrong_is_shown_with_its_line() {
        for (text, wanted) in [
            ("seed = 1\nsead = 2\n", "unknown field `sead`"),
            ("\nseed = 'x'\n", "invalid type"),
            ("\neffort = 'hard'\n", "`hard` is not quick"),
            ("\ndelta = 1\n", "not a probability"),
            ("\nthreads = 0\n", "nonzero"),
            ("\nseed = -1\n", "-1"),
        ] {
            let error = toml::from_str::<Settings>(text).unwrap_err().to_string();
            assert!(
                error.contains(wanted) && error.contains("line 2") && error.contains('^'),
                "{error}"
            );
        }
    }
}
