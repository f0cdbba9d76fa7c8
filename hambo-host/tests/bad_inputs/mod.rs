//! Bad inputs as a user meets them: each is refused with exit code 2 and a message that
//! says what is wrong and where; none panics, takes long, takes much memory or leaves a
//! file behind.
//!
//! `cargo test --release -p hambo-host --test program bad_inputs:: -- --nocapture` prints the table.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

mod bytes;
mod logs;
mod models;
mod policies;
mod tasks;
mod usage;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bytes::{onnx, tensor};

/// A second, and four more for a machine that has other work to do, as `cargo xtask test` gives it.
const PATIENCE: Duration = Duration::from_secs(5);
/// In KiB, of addresses.
const MEMORY: u32 = 4 << 20;

const TASK: &str = "name = 'cart'\nhorizon = 20\ndelta = 0.1\nthreshold = -50\n\
    [state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
    [reward]\nexpr = '-x^2'\n[initial]\nkind = 'point'\nvalue = [1, 0]\n";
const POLICY: &str = "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]\n";

/// One row: what is wrong, the file to make, the command (`@` is that file), and words
/// that the message must have.
struct Case {
    name: &'static str,
    file: &'static str,
    bytes: Vec<u8>,
    line: String,
    words: Vec<&'static str>,
}

/// A row with a file.
fn with(
    name: &'static str,
    file: &'static str,
    bytes: impl AsRef<[u8]>,
    line: &str,
    words: &[&'static str],
) -> Case {
    Case {
        name,
        file,
        bytes: bytes.as_ref().to_vec(),
        line: line.to_owned(),
        words: words.to_vec(),
    }
}

/// A row that needs no file of its own.
fn plain(name: &'static str, line: &str, words: &[&'static str]) -> Case {
    with(name, "", "", line, words)
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    std::fs::read(folder.join(name)).unwrap()
}

const FIT: &str = "fit task.toml --data @ -o out.hambo";

/// A cart pushed at random.
fn log() -> String {
    let mut text = "x,v,u,next.x,next.v,episode\n".to_owned();
    for episode in 0..40_u32 {
        let (mut x, mut v) = (
            0.08 * episode as f32 - 1.5,
            0.2 * (episode % 5) as f32 - 0.4,
        );
        for step in 0..25_u32 {
            let u = ((episode * 25 + step) * 37 % 41) as f32 / 20.0 - 1.0;
            let (next_x, next_v) = (x + 0.1 * v, 0.95 * v + 0.1 * u);
            let _ = writeln!(text, "{x},{v},{u},{next_x},{next_v},{episode}");
            (x, v) = (next_x, next_v);
        }
    }
    text
}

/// A folder with a good file of every kind.
fn folder() -> PathBuf {
    let path = std::env::temp_dir().join(format!("hambo-bad-inputs-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(path.join("folder.csv")).unwrap();
    let pipe = Command::new("mkfifo").arg(path.join("pipe.csv")).status();
    assert!(pipe.unwrap().success());
    std::fs::write(path.join("task.toml"), TASK).unwrap();
    std::fs::write(path.join("pd.toml"), POLICY).unwrap();
    std::fs::write(path.join("log.csv"), log()).unwrap();
    let good = onnx("MatMul", tensor(&[2, 1], |t| t.bytes(9, [0; 8])));
    std::fs::write(path.join("good.onnx"), good).unwrap();
    for line in [
        "fit task.toml --data log.csv --hidden 16,16 --steps 600 --learning-rate 0.01 -o m.hambo",
        "fit task.toml --data log.csv --model gp --points 20 -o gp.hambo",
        "export m.hambo --task task.toml --policy good.onnx -o i.hmb",
    ] {
        let (code, message, _) = run(&path, line);
        assert_eq!(code, Some(0), "{line}: {message}");
    }
    path
}

/// Exit code, message and time of a command in little memory.
fn run(folder: &Path, line: &str) -> (Option<i32>, String, Duration) {
    let script = format!("ulimit -v {MEMORY} && exec \"$0\" \"$@\"");
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_hambo")])
        .args(line.split(' ').filter(|word| !word.is_empty()))
        .current_dir(folder)
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), message, start.elapsed())
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    entries
        .map(|entry| name(entry).to_string_lossy().into_owned())
        .collect()
}

#[test]
fn bad_inputs_are_refused_with_a_clear_message() {
    let folder = folder();
    let model = std::fs::read(folder.join("m.hambo")).unwrap();
    let good = names(&folder);
    let mut cases = logs::cases();
    cases.extend(tasks::cases());
    cases.extend(policies::cases());
    cases.extend(models::cases(&model));
    cases.extend(usage::cases());
    let mut failures = Vec::new();
    for case in &cases {
        let file = folder.join(case.file);
        if !case.file.is_empty() {
            assert!(!good.contains(case.file), "{}", case.file);
            std::fs::write(&file, &case.bytes).unwrap();
        }
        let line = case.line.replace('@', case.file);
        let (code, message, time) = run(&folder, &line);
        if !case.file.is_empty() {
            std::fs::remove_file(&file).unwrap();
        }
        let first = message.lines().next().unwrap_or_default();
        println!("{:>5} ms  {:38} → {first}", time.as_millis(), case.name);
        let mut fail = |what: String| failures.push(format!("{}: {what}: {message}", case.name));
        if code != Some(2) {
            fail(format!("exit code {code:?}"));
        }
        if message.contains("panicked") || message.contains("allocation of") {
            fail("crash".to_owned());
        }
        // Every message ends somewhere, and shows no more of a file than a reader wants. The longest
        // is the list of all subcommands, a line each.
        if message.len() > 2100 {
            fail(format!("{} bytes", message.len()));
        }
        if time > PATIENCE {
            fail(format!("{time:?}"));
        }
        for word in case.words.iter().filter(|word| !message.contains(**word)) {
            fail(format!("no {word:?}"));
        }
        let left = names(&folder);
        for name in left.difference(&good) {
            fail(format!("leaves {name}"));
            let _ = std::fs::remove_file(folder.join(name));
        }
    }
    println!("{} bad inputs", cases.len());
    let _ = std::fs::remove_dir_all(&folder);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(cases.len() >= 40);
}
