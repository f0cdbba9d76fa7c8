//! What a message advises is done, and helps: each row makes a command complain, does what the
//! complaint says of a flag or a key, and runs the command again. It must succeed, or get further.
//!
//! `cargo test --release -p hambo-host --test program advice:: -- --nocapture` prints the table.
#![allow(clippy::unwrap_used, reason = "tests")]

mod known_goal;
mod logs;
mod of_check;
mod of_fit;
mod of_others;

use crate::common::{Folder, POLICY, TASK, log};

/// Too short to be good, and long enough to be calibrated.
const FIT: &str = "--hidden 16,16 --steps 600 --learning-rate 0.01";
const QUICK: &str = "--effort quick --searched 4 --sweeps 8";

/// One complaint, and what it advises.
struct Advice {
    /// Files that are there when it complains.
    files: Vec<(&'static str, String)>,
    /// What complains.
    line: String,
    /// Words of the complaint; the last ones are the advice.
    says: Vec<&'static str>,
    /// Files as the advice has them.
    changed: Vec<(&'static str, String)>,
    /// Commands by the advice, the last one that which complained.
    again: Vec<String>,
    /// A word that says that it helped.
    shows: &'static str,
}

fn advice(line: &str, says: &[&'static str], again: &[&str]) -> Advice {
    Advice {
        files: Vec::new(),
        line: line.to_owned(),
        says: says.to_vec(),
        changed: Vec::new(),
        again: again.iter().map(|line| (*line).to_owned()).collect(),
        shows: "",
    }
}

impl Advice {
    fn with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    fn change(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.changed.push((name, text.into()));
        self
    }

    fn shows(mut self, word: &'static str) -> Self {
        self.shows = word;
        self
    }
}

/// Exit code, and all that is printed.
fn run(folder: &Folder, line: &str) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let output = folder.command(&words.join(" ")).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// A folder with models of the cart.
fn with_models(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("other.toml", &POLICY.replace("-1, -1", "-0.8, -1"));
    folder.write("few.csv", &log(3, 25));
    folder.write("one.csv", &log(1, 300));
    folder.write("one.toml", &format!("stationary = true\n{TASK}"));
    for line in [
        format!("fit task.toml --data log.csv -o m.hambo {FIT}"),
        format!("fit one.toml --data one.csv -o one.hambo {FIT}"),
        format!("fit task.toml --data log.csv -o narrow.hambo {FIT} --members 1 --beta 2"),
        "fit task.toml --data log.csv -o gp.hambo --model gp --points 20".to_owned(),
    ] {
        folder.done(&line);
    }
    folder
}

/// Follows every advice of a table.
fn follow(folder: &Folder, all: &[Advice]) {
    let mut failures = Vec::new();
    for one in all {
        for (name, text) in &one.files {
            folder.write(name, text);
        }
        let _ = std::fs::remove_file(folder.path("new.toml"));
        let complains = |text: &str| one.says.iter().all(|words| text.contains(words));
        let (code, text) = run(folder, &one.line);
        println!("{code:?} {}\n    {}", one.line, one.says.last().unwrap());
        if !complains(&text) {
            failures.push(format!(
                "{}\ndoes not say {:?}:\n{text}",
                one.line, one.says
            ));
            continue;
        }
        for (name, text) in &one.changed {
            folder.write(name, text);
        }
        let mut shown = String::new();
        for line in &one.again {
            let (code, text) = run(folder, line);
            println!("    {code:?} {line}");
            if code == Some(2) || complains(&text) {
                failures.push(format!("{line}\ngets no further:\n{text}"));
            }
            shown = text;
        }
        if !shown.contains(one.shows) {
            failures.push(format!(
                "{:?} shows no {:?}:\n{shown}",
                one.again, one.shows
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn what_fit_advises_helps() {
    follow(&Folder::new("advice_of_fit"), &of_fit::of_fit());
}

#[test]
fn what_check_advises_helps() {
    follow(&with_models("advice_of_check"), &of_check::of_check());
}

#[test]
fn what_other_commands_advise_helps() {
    follow(&with_models("advice_of_others"), &of_others::of_others());
}

/// Nobody takes rows out of the tables unseen.
#[test]
fn fifty_messages_are_followed() {
    let tables = [
        of_fit::of_fit(),
        of_check::of_check(),
        of_others::of_others(),
    ];
    assert!(tables.iter().map(Vec::len).sum::<usize>() >= 50);
}
