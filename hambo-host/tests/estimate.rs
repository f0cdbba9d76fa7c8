//! Long work says on a terminal how long it will take; in a pipe it says nothing, since what
//! goes there does not depend on how fast a machine is.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const TASK: &str = "name = 'cart'\nhorizon = 10\n[state]\nnames = ['x', 'v']\n\
    [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
    [initial]\nkind = 'point'\nvalue = [0.4, 0]\n";
/// Hours of work; two updates are looked at.
const FIT: &str = "fit task.toml --data log.csv --validation 0 --hidden 8,8 \
                   --steps 1000000000 -o m.hambo";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hambo-estimate-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut log = "x,v,u,next.x,next.v,episode\n".to_owned();
    for row in 0..400 {
        let t = f64::from(row);
        let (x, v, u) = (t.sin(), (0.7 * t).cos(), (1.3 * t).sin());
        let (next_x, next_v) = (x + 0.1 * v, 0.9 * v + 0.1 * u);
        let _ = writeln!(log, "{x},{v},{u},{next_x},{next_v},{}", row / 20);
    }
    std::fs::write(folder.join("task.toml"), TASK).unwrap();
    std::fs::write(folder.join("log.csv"), log).unwrap();
    folder
}

/// What a stream says, piece by piece.
fn pieces(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if send.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

/// All that is said until a word comes, or the time is over.
fn until(word: &str, seconds: u64, from: &Receiver<Vec<u8>>) -> String {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut text = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match from.recv_timeout(left) {
            Ok(piece) => text.extend(piece),
            Err(_) => return String::from_utf8_lossy(&text).into_owned(),
        }
        let all = String::from_utf8_lossy(&text);
        if !word.is_empty() && all.contains(word) {
            return all.into_owned();
        }
    }
}

fn end(mut child: Child, folder: &Path) {
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_terminal_is_told_how_long_it_takes() {
    let folder = folder("terminal");
    let line = format!("{} {FIT}", env!("CARGO_BIN_EXE_hambo"));
    // A terminal of its own, as `script` makes one.
    let child = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let said = until(
        "on this machine",
        120,
        &pieces(child.stdout.take().unwrap()),
    );
    end(child, &folder);
    let (before, _) = said.split_once("on this machine").unwrap_or_default();
    let (_, time) = before.rsplit_once("training: about ").unwrap_or_default();
    assert!(time.ends_with(" h "), "{said}");
}

#[test]
fn a_pipe_is_told_nothing() {
    let folder = folder("no-terminal");
    let child = Command::new(env!("CARGO_BIN_EXE_hambo"))
        .args(FIT.split_whitespace())
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let said = until("", 4, &pieces(child.stderr.take().unwrap()));
    // It is still at work.
    assert!(child.try_wait().unwrap().is_none(), "{said}");
    end(child, &folder);
    assert_eq!(said, "");
}
