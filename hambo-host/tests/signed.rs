//! Keys and signatures from outside: `hambo key`, `--sign`, `hambo bundle verify`.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{EXPORT, Folder, QUICK, TASK};

/// Exit code and what is printed.
fn verified(folder: &Folder, line: &str) -> (i32, String) {
    let output = folder
        .command(&format!("bundle verify {line}"))
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{line}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn a_bundle_and_a_floor_are_signed_and_verified() {
    let folder = Folder::new("signed");
    folder.write(
        "bounded.toml",
        &TASK.replace("delta", "threshold = -1000\ndelta"),
    );
    folder.done(QUICK);
    for line in [
        "key new controllers",
        "key new owner --floor",
        "key new others",
    ] {
        let text = folder.done(line);
        assert!(text.contains(".key: it signs; keep it secret"), "{text}");
        // Neither half is ever overwritten.
        let before = folder.read("controllers.key");
        let error = folder.refused(line);
        assert!(
            error.contains("is there already") && error.contains("help: "),
            "{error}"
        );
        assert_eq!(folder.read("controllers.key"), before);
    }
    let export = format!("{EXPORT} --counter 7");
    folder.done(&export);
    let unsigned = folder.read("i.hmb");
    folder.done(&format!("{export} --sign controllers.key"));
    let signed = folder.read("i.hmb");
    assert_eq!(signed[..unsigned.len()], unsigned);
    assert_eq!(signed.len(), unsigned.len() + 160);
    let json = folder.json(&format!("{export} --sign controllers.key --json"));
    let public = String::from_utf8(folder.read("controllers.pub")).unwrap();
    assert!(
        public.contains(json["signed_with"].as_str().unwrap()),
        "{json}"
    );
    assert_eq!(json["flash_bytes"], signed.len());
    let floor = "floor bounded.toml --model m.hambo --data log.csv -o r.floor";
    let text = folder.done(&format!("{floor} --sign owner.key"));
    assert!(text.contains("signed with owner.key"), "{text}");
    // What was decided about the key is said before any work.
    for (line, key, role) in [
        (
            export.as_str(),
            "owner.key",
            "a key for floor, not for controllers",
        ),
        (
            floor,
            "controllers.key",
            "a key for controllers, not for floor",
        ),
        (
            floor,
            "controllers.pub",
            "line 1 is not `hambo secret key 1`",
        ),
        (floor, "none.key", "none.key"),
    ] {
        let error = folder.refused(&format!("{line} --sign {key}"));
        assert!(error.contains(key) && error.contains(role), "{error}");
        assert!(error.contains("help: "), "{error}");
    }
    let mut changed = signed.clone();
    changed[100] ^= 1;
    let path = |name: &str| folder.path(name);
    std::fs::write(path("changed.hmb"), &changed).unwrap();
    std::fs::write(path("plain.hmb"), &unsigned).unwrap();
    for (line, code, said) in [
        ("i.hmb --key controllers.pub", 0, "counter 7"),
        (
            "r.floor --key owner.pub",
            0,
            "a floor signed with owner.pub",
        ),
        ("i.hmb --key controllers.pub --counter 7", 0, "verified: "),
        (
            "i.hmb --key controllers.pub --counter 8",
            1,
            "its counter is 7",
        ),
        ("i.hmb --key others.pub", 1, "signed with another key"),
        ("i.hmb --key owner.pub", 1, "the key is one for floors"),
        (
            "r.floor --key controllers.pub",
            1,
            "for controllers' bundles, and this is a floor",
        ),
        (
            "plain.hmb --key controllers.pub",
            1,
            "nobody signed this file",
        ),
        (
            "changed.hmb --key controllers.pub",
            1,
            "changed after it was signed",
        ),
        (
            "m.hambo --key controllers.pub",
            1,
            "refused: m.hambo: the bundle: ",
        ),
    ] {
        let (found, text) = verified(&folder, line);
        assert_eq!(found, code, "{line}: {text}");
        assert!(text.contains(said), "{line}: {text}");
        let (found, text) = verified(&folder, &format!("{line} --json"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (found, &json["verified"]),
            (code, &(code == 0).into()),
            "{json}"
        );
        assert_eq!(json["refused"].is_null(), code == 0, "{json}");
    }
    for line in [
        "i.hmb --key controllers.key",
        "i.hmb --key none.pub",
        "none.hmb --key controllers.pub",
        "r.floor --key owner.pub --counter 1",
    ] {
        let error = folder.refused(&format!("bundle verify {line}"));
        assert!(error.contains("help: "), "{error}");
    }
    // No key is no question.
    let output = folder.command("bundle verify i.hmb").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
