//! Bad controllers: TOML, ONNX and the wrapper around it.

use super::bytes::{external, onnx, tensor};
use super::{Case, POLICY, fixture, plain, with};

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
