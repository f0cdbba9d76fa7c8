//! The guide in `docs/guide` and the program cannot drift apart: shell blocks marked
//! `sh run` are taken from the Markdown and run, commands and options that it names
//! exist, and its links lead somewhere.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HAMBO: &str = env!("CARGO_BIN_EXE_hambo");

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide")
}

/// Every page, by its name.
fn pages() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(guide()).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut pages: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

/// The text of the blocks that open with this line, in order.
fn blocks(page: &str, opening: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in page.lines() {
        open = match open {
            None if line.starts_with("```") => Some((line.trim_end() == opening, String::new())),
            None => None,
            Some((wanted, text)) if line.trim_end() == "```" => {
                if wanted {
                    found.push(text);
                }
                None
            }
            Some((wanted, text)) => Some((wanted, text + line + "\n")),
        };
    }
    assert!(open.is_none(), "a block is never closed");
    found
}

/// What `hambo WORDS --help` prints, if there is such a command.
fn help(words: &[&str]) -> Option<String> {
    let mut command = Command::new(HAMBO);
    let output = command.args(words).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    output.status.success().then_some(text)
}

fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("hambo-guide-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Runs a script in a folder, with our program on the path.
fn shell(folder: &Path, script: &str) -> Output {
    let path = format!(
        "{}:{}",
        Path::new(HAMBO).parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    Command::new("sh")
        .args(["-euc", script])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap()
}

/// Runs the page's blocks as a user would, one after the other in a folder that holds
/// the example's files; returns the folder and what was printed.
fn walk(name: &str) -> (PathBuf, String) {
    let folder = scratch(name);
    for file in ["log.csv", "controller.onnx"] {
        std::fs::copy(guide().join("example").join(file), folder.join(file)).unwrap();
    }
    let page = std::fs::read_to_string(guide().join(name)).unwrap();
    let script = blocks(&page, "```sh run").concat();
    assert!(!script.is_empty(), "{name} has no block to run");
    let output = shell(&folder, &script);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    println!("{name}:\n{text}");
    assert!(output.status.success(), "{name}:\n{script}\n{text}{errors}");
    assert_eq!(errors, "", "{name}");
    (folder, text.into_owned())
}

/// The README's first check, and the lines of it that the README shows.
#[test]
fn the_readme_shows_what_its_first_check_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("README.md")).unwrap();
    let folder = scratch("readme");
    std::fs::create_dir(folder.join("hambo-host")).unwrap();
    let tasks = folder.join("hambo-host/tasks");
    std::fs::create_dir(&tasks).unwrap();
    for file in ["point_safety.toml", "pi_1.6.toml", "pi_1.1.toml"] {
        let from = root.join("hambo-host/tasks").join(file);
        std::fs::copy(from, tasks.join(file)).unwrap();
    }
    let output = shell(&folder, &blocks(&page, "```sh run").concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let shown = blocks(&page, "```text").concat();
    assert!(!shown.is_empty() && text.contains(&shown), "{text}");
    let _ = std::fs::remove_dir_all(folder);
}

/// From a CSV log and an ONNX file to a verdict and a report.
#[test]
fn the_walk_ends_with_a_verdict_and_a_report() {
    let (folder, text) = walk("your-robot.md");
    assert!(text.contains("deploy: lower bound"), "{text}");
    let run = std::fs::read_to_string(folder.join("run.json")).unwrap();
    assert!(run.contains("deploy"), "{run}");
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("</html>") && report.contains("deploy"));
    // Five commands of ours, and one line by hand.
    let page = std::fs::read_to_string(guide().join("your-robot.md")).unwrap();
    let first = &blocks(&page, "```sh run")[0];
    let ours = first.lines().filter(|line| line.starts_with("hambo "));
    assert_eq!(ours.count(), 5, "{first}");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_other_blocks_run() {
    for (name, text) in pages() {
        if name != "your-robot.md" && !blocks(&text, "```sh run").is_empty() {
            let _ = std::fs::remove_dir_all(walk(&name).0);
        }
    }
}

/// The command lines of a page: those of its shell blocks, continued lines joined, and
/// those in the text.
fn command_lines(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for opening in ["```sh run", "```sh"] {
        for block in blocks(page, opening) {
            let joined = block.replace("\\\n", " ");
            lines.extend(joined.lines().map(|line| line.trim().to_owned()));
        }
    }
    let odd = page.split('`').skip(1).step_by(2);
    lines.extend(odd.map(str::to_owned));
    lines.retain(|line| line.starts_with("hambo "));
    lines
}

#[test]
fn every_command_and_option_exists() {
    let mut known: HashMap<Vec<String>, Option<String>> = HashMap::new();
    let mut count = 0;
    for (name, text) in pages() {
        for line in command_lines(&text) {
            let words: Vec<&str> = line.split_whitespace().skip(1).collect();
            let Some(first) = words.first().filter(|word| !word.starts_with('-')) else {
                continue;
            };
            let nested =
                ["bundle", "data", "device", "env", "key", "model", "task"].contains(first);
            let depth = if nested { 2 } else { 1 };
            let command: Vec<&str> = words.iter().take(depth).copied().collect();
            let key = command.iter().map(|word| (*word).to_owned()).collect();
            let text = known.entry(key).or_insert_with(|| help(&command));
            assert!(text.is_some(), "{name}: no such command: {line}");
            let text = text.as_deref().unwrap_or_default();
            let options = words.iter().filter(|word| word.starts_with("--"));
            for option in options.chain(words.iter().filter(|word| **word == "-o")) {
                let option = option.split(['=', ',', ']']).next().unwrap();
                let there = text.split([' ', ',', '\n']).any(|word| word == option);
                assert!(there, "{name}: `{line}` has no {option}");
            }
            count += 1;
        }
    }
    assert!(
        count > 30,
        "only {count} commands found: is the guide read?"
    );
}

#[test]
fn every_link_leads_somewhere() {
    let mut count = 0;
    for (name, text) in pages() {
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            if link.is_empty() || link.starts_with("https://") {
                continue;
            }
            assert!(guide().join(link).exists(), "{name}: {link}");
            count += 1;
        }
    }
    assert!(count > 10, "only {count} links found");
}
