//! A folder to run the command in: a task, a log and a policy that go with their test.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub const TASK: &str = "name = 'cart'\nhorizon = 20\ndelta = 0.1\nthreshold = -50\n\
    [state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
    [reward]\nexpr = '-x^2'\n[initial]\nkind = 'point'\nvalue = [1, 0]\n";
pub const POLICY: &str = "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]\n";

/// A fit that takes a second.
pub const QUICK: &str = "fit task.toml --data log.csv --model bnn --hidden 16,16 --steps 600 \
     --learning-rate 0.01 -o m.hambo";
pub const EXPORT: &str = "export m.hambo --task task.toml --policy pd.toml -o i.hmb";

/// A folder with a task, a log and a policy that goes with its test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        // Tests of several files may choose the same name.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("hambo-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        folder.write("task.toml", TASK);
        folder.write("pd.toml", POLICY);
        folder.write("log.csv", &log(40, 25));
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hambo"));
        command.args(line.split(' ')).current_dir(&self.0);
        // Nothing of the user who runs the tests.
        command.env("XDG_CONFIG_HOME", self.path("configuration"));
        command.env_remove("RUST_LOG").env_remove("NO_COLOR");
        command
    }

    /// Runs what must succeed, and says nothing on the way, as in a pipe;
    /// returns what it prints.
    pub fn done(&self, line: &str) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(line).output().unwrap();
        assert_eq!(String::from_utf8(stderr).unwrap(), "", "{line}");
        assert!(status.success(), "{line}");
        String::from_utf8(stdout).unwrap()
    }

    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.done(line)).unwrap()
    }

    /// Runs what must fail with exit code 2; returns what it says.
    pub fn refused(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        text
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A number in −0.5 … 0.5 that looks random.
pub fn scatter(seed: u32) -> f32 {
    let hash = (seed ^ (seed >> 7)).wrapping_mul(0x9E37_79B9);
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x85EB_CA6B);
    (hash >> 8) as f32 / 16_777_216.0 - 0.5
}

/// A cart pushed at random.
pub fn log(episodes: u32, steps: u32) -> String {
    let mut text = "x,v,u,next.x,next.v,episode\n".to_owned();
    for episode in 0..episodes {
        let (mut x, mut v) = (3.0 * scatter(7 * episode), scatter(7 * episode + 3));
        for step in 0..steps {
            let u = 2.0 * scatter(1000 * episode + step + 1);
            let noise = 0.02 * scatter(77_777 + 1000 * episode + step);
            let (next_x, next_v) = (x + 0.1 * v + 0.3 * noise, 0.95 * v + 0.1 * u + noise);
            let _ = writeln!(text, "{x},{v},{u},{next_x},{next_v},{episode}");
            (x, v) = (next_x, next_v);
        }
    }
    text
}
