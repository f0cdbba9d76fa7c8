//! Files that people have in place of a controller, told by their content.

use std::path::Path;

use super::error::PolicyError;

/// What every zip archive starts with.
const ZIP: &[u8] = b"PK\x03\x04";
/// What files of old versions of PyTorch start with.
const PICKLE: &[u8] = b"\x80";
/// A part of every agent that Stable-Baselines3 saves.
const AGENT: &[u8] = b"policy.pth";
/// A part of every file that `torch.save` writes.
const TORCH: &[u8] = b"/data.pkl";

/// An error for an agent of Stable-Baselines3 or a file of PyTorch: how to export it.
pub(super) fn refuse(path: &Path, bytes: &[u8]) -> Result<(), PolicyError> {
    let extension = path.extension().unwrap_or_default();
    let named = |ends: &[&str]| ends.iter().any(|end| extension.eq_ignore_ascii_case(end));
    let zip = bytes.starts_with(ZIP);
    let origin = path.display().to_string();
    // The names of an archive's parts are not compressed.
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let agent = zip && holds(AGENT);
    if agent || (zip && named(&["zip"])) {
        let problem = if agent {
            "this is an agent of Stable-Baselines3, not an ONNX file"
        } else {
            "this is an archive, not an ONNX file"
        };
        let help = format!(
            "export the actor of an agent of Stable-Baselines3: \
             python hambo-host/scripts/export_sb3.py {origin} actor.onnx"
        );
        return Err(PolicyError::Foreign {
            origin,
            problem,
            help,
        });
    }
    let torch = if named(&["pt", "pth"]) {
        zip || bytes.starts_with(PICKLE)
    } else {
        zip && holds(TORCH)
    };
    if torch {
        return Err(PolicyError::Foreign {
            origin,
            problem: "this is a file of PyTorch, not an ONNX file",
            help: "export the actor with torch.onnx.export; for agents of Stable-Baselines3 \
                   there is hambo-host/scripts/export_sb3.py"
                .to_owned(),
        });
    }
    Ok(())
}
