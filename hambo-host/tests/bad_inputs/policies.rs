//! Bad controllers: TOML, ONNX and the wrapper around it.

use super::bytes::{external, onnx, tensor};
use super::{Case, POLICY, fixture, plain, with};

/// The start of a zip archive with one empty part of this name.
fn archive(part: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04\x14\0".to_vec();
    bytes.extend([0; 20]);
    bytes.extend([part.len() as u8, 0, 0, 0]);
    bytes.extend(part.as_bytes());
    // What is no text.
    bytes.push(0xff);
    bytes
}

pub fn cases() -> Vec<Case> {
    let line = "check task.toml --model m.hambo --policy @ --effort quick";
    let toml = |name, text: &str, words: &[&'static str]| with(name, "bad.toml", text, line, words);
    let onnx_file =
        |name, bytes: Vec<u8>, words: &[&'static str]| with(name, "bad.onnx", bytes, line, words);
    let far = |path: &str| onnx("MatMul", external(&[2, 1], &[("location", path)]));
    let wrapper = |more: &str| format!("kind = 'onnx'\nfile = 'good.onnx'\n{more}");
    let relu = fixture("onnx/torchscript_relu.onnx");
    vec![
        plain(
            "no such policy",
            &line.replace('@', "none.toml"),
            &["none.toml", "check the path"],
        ),
        plain(
            "a folder as a policy",
            &line.replace('@', "folder.csv"),
            &["folder.csv", "directory"],
        ),
        plain(
            "a device as a policy",
            &line.replace('@', "/dev/zero"),
            &["/dev/zero", "more than"],
        ),
        toml(
            "nothing is observed",
            &format!("{POLICY}observes = []"),
            &["observes", "0 observations"],
        ),
        toml(
            "an observation that is no state",
            &format!("{POLICY}observes = ['x', 'speed']"),
            &["observes[1]", "speed"],
        ),
        toml(
            "an observation that does not close",
            &format!("{POLICY}observes = ['cos(x', 'v']"),
            &["observes[0]"],
        ),
        toml(
            "an action is observed",
            &format!("{POLICY}observes = ['x', 'u']"),
            &["observes", "an action"],
        ),
        toml(
            "the future is observed",
            &format!("{POLICY}observes = ['x', 'next.v']"),
            &["observes", "the next state"],
        ),
        toml(
            "the clock is observed",
            &format!("{POLICY}observes = ['x', 't']"),
            &["observes", "the step"],
        ),
        toml(
            "more is observed than the gain has",
            &format!("{POLICY}observes = ['x', 'v', 'x * v']"),
            &["gain[0]", "length 2"],
        ),
        toml(
            "waypoints observe",
            "kind = 'waypoints'\nobserves = ['x']\nspeed = 1\nlegs = [{ target = [1] }]",
            &["observes", "waypoints"],
        ),
        toml("empty policy", "", &["`kind`", "missing"]),
        toml("an unknown kind", "kind = 'magic'", &["magic", "linear"]),
        toml(
            "an unknown key of a policy",
            &format!("{POLICY}gian = 1"),
            &["gian"],
        ),
        toml(
            "a key of another kind",
            &format!("{POLICY}kp = [1]"),
            &["`kp`", "does not belong"],
        ),
        toml(
            "a gain of another robot",
            &POLICY.replace("-1, -1", "-1"),
            &["gain[0]", "length 1"],
        ),
        toml(
            "a gain that is infinite",
            &POLICY.replace("-1, -1", "-1, inf"),
            &["gain[0]", "inf"],
        ),
        with(
            "a policy that is not UTF-8",
            "bad.toml",
            b"kind = '\xff'",
            line,
            &["neither ONNX nor TOML"],
        ),
        with(
            "an agent of Stable-Baselines3 as a policy",
            "agent.zip",
            archive("policy.pth"),
            line,
            &["agent.zip", "Stable-Baselines3", "export_sb3.py agent.zip"],
        ),
        with(
            "an agent under another name",
            "bad.onnx",
            archive("policy.pth"),
            line,
            &["bad.onnx", "Stable-Baselines3", "export_sb3.py bad.onnx"],
        ),
        with(
            "an archive as a policy",
            "actor.zip",
            archive("actor.onnx"),
            line,
            &["actor.zip", "archive", "export_sb3.py actor.zip"],
        ),
        with(
            "weights of PyTorch as a policy",
            "actor.pth",
            archive("actor/data.pkl"),
            line,
            &["actor.pth", "PyTorch", "torch.onnx.export"],
        ),
        with(
            "old weights of PyTorch as a policy",
            "actor.pt",
            b"\x80\x02\x8a\x0al\xfc",
            line,
            &["actor.pt", "PyTorch", "torch.onnx.export"],
        ),
        with(
            "an archive of something else as a policy",
            "log.npz",
            archive("states.npy"),
            line,
            &["log.npz", "neither ONNX nor TOML"],
        ),
        plain(
            "a log as a policy",
            &line.replace('@', "log.csv"),
            &["log.csv"],
        ),
        toml(
            "a wrapper around nothing",
            "kind = 'onnx'\nfile = 'none.onnx'",
            &["none.onnx"],
        ),
        toml(
            "a wrapper that divides by 0",
            &wrapper("observation_std = [1, 0]"),
            &["observation_std", "0"],
        ),
        toml(
            "a wrapper of another robot",
            &wrapper("action_scale = [1, 1]"),
            &["action_scale", "length 2"],
        ),
        onnx_file("empty ONNX", Vec::new(), &["bad.onnx"]),
        onnx_file("text as ONNX", POLICY.into(), &["bad.onnx", "damaged"]),
        onnx_file(
            "ONNX cut short",
            relu[..relu.len() / 2].to_vec(),
            &["bad.onnx", "damaged"],
        ),
        onnx_file(
            "an unknown operator",
            onnx("Einsum", tensor(&[2, 1], |t| t.bytes(9, [0; 8]))),
            &["Einsum", "first"],
        ),
        onnx_file(
            "ONNX of another robot",
            onnx("MatMul", tensor(&[7, 1], |t| t.bytes(9, [0; 28]))),
            &["bad.onnx"],
        ),
        onnx_file(
            "weights that are missing",
            onnx("MatMul", tensor(&[2, 1], |t| t)),
            &["`W`"],
        ),
        onnx_file(
            "weights that are NaN",
            onnx("MatMul", tensor(&[2, 1], |t| t.bytes(9, [0xff; 8]))),
            &["`W`"],
        ),
        onnx_file(
            "weights that claim 4 TB",
            onnx("MatMul", tensor(&[2, 1 << 39], |t| t.bytes(9, [0; 8]))),
            &["`W`"],
        ),
        onnx_file(
            "weights whose size overflows",
            onnx("MatMul", tensor(&[1 << 62, 1 << 62], |t| t)),
            &["`W`"],
        ),
        onnx_file("weights from /etc", far("/etc/passwd"), &["/etc/passwd"]),
        onnx_file(
            "weights from above",
            far("../../../etc/passwd"),
            &["../../../etc/passwd"],
        ),
        onnx_file("weights that are nowhere", far("none.bin"), &["none.bin"]),
        onnx_file("weights from a folder", far("folder.csv"), &["folder.csv"]),
        onnx_file(
            "weights behind the end",
            onnx(
                "MatMul",
                external(
                    &[2, 1],
                    &[("location", "log.csv"), ("offset", "18446744073709551615")],
                ),
            ),
            &["log.csv", "bytes"],
        ),
    ]
}
