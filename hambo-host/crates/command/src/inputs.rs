//! What went into a check or a ranking: the files with their hashes, and the command.

use std::path::Path;
use std::time::SystemTime;

use hambo_base::Error;
use hambo_check::model_summary::hexadecimal;
use hambo_check::saved_run::{InputFile, Inputs};
use hambo_task::image::encode_policy;
use hambo_task::policy::HostPolicy;
use sha2::{Digest, Sha256};

use crate::words;

/// What went in: files by what they are, and controllers as the core sees them, one after the
/// other.
pub(crate) fn inputs(files: &[(&str, &Path)], policies: &[&HostPolicy]) -> Result<Inputs, Error> {
    let task = files.iter().find(|(what, _)| *what == "task");
    let text = task.map(|(_, path)| read(path)).transpose()?;
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let each = files.iter().map(|(what, path)| input(what, path));
    let files = each.collect::<Result<_, Error>>()?;
    described(text, files, policies, command_line(words::kept()))
}

/// The same of what a caller describes: the task's text, the files, and what it was that ran.
///
/// # Errors
/// If a controller cannot be written as the core sees it.
pub fn described(
    task_text: String,
    files: Vec<InputFile>,
    policies: &[&HostPolicy],
    command: String,
) -> Result<Inputs, Error> {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let mut parts = Sha256::new();
    for policy in policies {
        parts.update(encode_policy(policy)?);
    }
    Ok(Inputs {
        hambo_version: env!("CARGO_PKG_VERSION").to_owned(),
        time: time.map_or(0, |time| time.as_secs()),
        command,
        task_text,
        files,
        policy_part: hexadecimal(&parts.finalize()),
    })
}

/// A file that went in.
///
/// # Errors
/// If the file cannot be read.
pub fn input(what: &str, path: &Path) -> Result<InputFile, Error> {
    Ok(held(what, &path.display().to_string(), &read(path)?))
}

/// Bytes that a caller holds under a name.
#[must_use]
pub fn held(what: &str, name: &str, bytes: &[u8]) -> InputFile {
    InputFile {
        what: what.to_owned(),
        path: name.to_owned(),
        sha256: hexadecimal(&Sha256::digest(bytes)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let named = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    Ok(std::fs::read(path).map_err(named)?)
}

/// The words of a command line, quoted where a shell would split them.
fn command_line(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    let quoted = words.enumerate().map(|(place, word)| {
        // The program's own name, without the folder it happened to lie in.
        let name = Path::new(&word).file_name().filter(|_| place == 0);
        let word = name.map_or(word.clone(), |name| name.to_string_lossy().into_owned());
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["/opt/bin/hambo", "check", "my task.toml", "it's", ""];
        let line = command_line(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(line, r"hambo check 'my task.toml' 'it'\''s' ''");
    }
}
