//! What a command is about to write, held against what is there: a report must not take the
//! place of a model, nor a model that of a log.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::files::ensure_writable;

/// The kinds of files that commands write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A model of `hambo fit`.
    Model,
    /// A device image.
    Image,
    /// A page of `hambo report`.
    Page,
    /// A saved run.
    Run,
    /// A controller in ONNX.
    Network,
    /// A log in any format.
    Log,
    /// Other text.
    Text,
}

impl OutputKind {
    fn name(self) -> &'static str {
        match self {
            Self::Model => "a model",
            Self::Image => "a device image",
            Self::Page => "a page",
            Self::Run => "a saved run or other JSON",
            Self::Network => "an ONNX file",
            Self::Log => "a log",
            Self::Text => "text",
        }
    }

    /// By a file's first bytes; none of an empty or an unknown one.
    fn of(start: &[u8]) -> Option<Self> {
        // The part's number follows the mark and the version.
        match start {
            [b'H', b'M', b'B', b'O', rest @ ..] => {
                let provenance = rest.get(2) == Some(&PROVENANCE);
                return Some(if provenance { Self::Model } else { Self::Image });
            }
            [b'{', ..] => return Some(Self::Run),
            [b'[', ..] if is_list(start) => return Some(Self::Run),
            [b'P', b'A', b'R', b'1', ..]
            | [0x89, b'H', b'D', b'F', ..]
            | [b'P', b'K', 3, 4, ..] => return Some(Self::Log),
            [0x08, ..] => return Some(Self::Network),
            [] => return None,
            _ => {}
        }
        let text = String::from_utf8_lossy(start);
        if text.to_ascii_lowercase().starts_with("<!doctype html") {
            return Some(Self::Page);
        }
        let plain = |c: char| !c.is_control() || c.is_ascii_whitespace();
        text.chars().all(plain).then_some(Self::Text)
    }
}

/// Whether a text that begins with a bracket is a list of JSON, not a table of TOML.
fn is_list(start: &[u8]) -> bool {
    let mut inside = start.iter();
    let first = inside.find(|byte| **byte != b'[' && !byte.is_ascii_whitespace());
    first.is_some_and(|byte| byte.is_ascii_digit() || b"{\"-]".contains(byte))
}

/// The number of the part that a model file begins with.
const PROVENANCE: u8 = hambo_core::image::Part::Provenance as u8;

/// Ensures before the work that its result can be saved, and does not replace another kind of
/// file.
///
/// # Errors
/// If it cannot be written, or something else is there; the message says what.
pub fn ensure_output(path: &Path, kind: OutputKind) -> io::Result<()> {
    ensure_writable(path)?;
    // What is no plain file is written into.
    if !fs::metadata(path).is_ok_and(|there| there.is_file()) {
        return Ok(());
    }
    let mut start = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut start)?;
    match OutputKind::of(&start) {
        None => Ok(()),
        Some(found) if found == kind => Ok(()),
        // A log may be text.
        Some(OutputKind::Text) if kind == OutputKind::Log => Ok(()),
        Some(found) => Err(io::Error::other(format!(
            "{}: {} is there, and {} would take its place\nhelp: choose another name, or remove \
             that file first",
            path.display(),
            found.name(),
            kind.name()
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn nothing_takes_the_place_of_another_kind() {
        let name = format!("hambo-output-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        let kinds: [(&[u8], OutputKind); 10] = [
            (b"[state]\nnames = ['x']", OutputKind::Text),
            (b"[[constraint]]\n", OutputKind::Text),
            (b"[\n  {\"bound\": 1}]", OutputKind::Run),
            (b"[[-1, 2]]", OutputKind::Run),
            (b"{\"task\": 1}", OutputKind::Run),
            (b"<!DOCTYPE html><p>", OutputKind::Page),
            (b"PAR1\x15\x00", OutputKind::Log),
            (b"\x08\x08\x12\x05hambo", OutputKind::Network),
            (b"x,v,u\n0,0,0\n", OutputKind::Text),
            (b"HMBO\x08\x00\x02\x00", OutputKind::Image),
        ];
        for (bytes, kind) in kinds {
            fs::write(&file, bytes).unwrap();
            ensure_output(&file, kind).unwrap();
            let error = ensure_output(&file, OutputKind::Model)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(kind.name()) && error.contains("help: "),
                "{error}"
            );
        }
        fs::write(&file, "x,v\n").unwrap();
        ensure_output(&file, OutputKind::Log).unwrap();
        fs::write(&file, "").unwrap();
        ensure_output(&file, OutputKind::Model).unwrap();
        fs::remove_file(&file).unwrap();
        ensure_output(&file, OutputKind::Model).unwrap();
    }
}
