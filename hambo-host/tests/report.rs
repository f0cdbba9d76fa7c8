//! From a log to a page, as a user goes: fit, check --save, report.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::scatter;
use hambo_base::observer::Unobserved;
use hambo_check::CheckOptions;
use hambo_check::adversary::EffortLevel;
use hambo_check::names::VARIANTS;
use hambo_data::read_task_logs;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

const TASK: &str = "name = 'cart <1>'\nhorizon = 12\ndelta = 0.1\nthreshold = -50\n\
    [state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
    [reward]\nexpr = '-x^2'\n[[constraint]]\nname = 'slow'\nexpr = '3 - abs(v)'\n\
    [initial]\nkind = 'point'\nvalue = [0.4, 0]\n";
const FIT: &str = "fit task.toml --data log.csv --model ensemble --hidden 16,16 --steps 600 --learning-rate 0.01 -o m.hambo";
const CHECK: &str = "check task.toml --model m.hambo --policy pd.toml --trajectories 4 --effort quick --data log.csv";

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-report-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        folder.write("task.toml", TASK);
        folder.write(
            "pd.toml",
            "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]\n",
        );
        folder.write("log.csv", &log());
        folder
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }

    /// Exit code, output and errors of a command.
    fn run(&self, line: &str) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hambo"));
        let output = command.args(line.split(' ')).current_dir(&self.0).output();
        let output = output.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A cart pushed this way and that.
fn log() -> String {
    let mut text = "x,v,u,next.x,next.v,episode\n".to_owned();
    for episode in 0..40 {
        let (mut x, mut v) = (0.03 * f64::from(episode) - 0.6, 0.0);
        for step in 0..25 {
            let u = 2.0 * f64::from(scatter(77_777 + 1000 * episode + step));
            let noise = 0.02 * f64::from(scatter(1000 * episode + step));
            let (next_x, next_v) = (x + 0.1 * v + 0.3 * noise, 0.95 * v + 0.1 * u + noise);
            let _ = writeln!(text, "{x},{v},{u},{next_x},{next_v},{episode}");
            (x, v) = (next_x, next_v);
        }
    }
    text
}

#[test]
fn a_check_is_saved_and_shown() {
    let folder = Folder::new("story");
    let (code, _, errors) = folder.run(FIT);
    assert_eq!((code, errors.as_str()), (Some(0), ""));

    let line = format!("{CHECK} --save run.json --report at-once.html");
    let (code, text, errors) = folder.run(&line);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{text}");
    for part in [
        "from the neutral return, half of it by step",
        "lost most",
        "outside what the log covers",
        "saved run.json",
        "saved at-once.html",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }

    let (code, text, errors) = folder.run("report run.json -o report.html");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(text.contains("saved report.html"), "{text}");
    let page = folder.read("report.html");
    assert_eq!(page, folder.read("at-once.html"));
    assert!(page.len() < 3_000_000);
    for part in [
        ">Deploy<",
        "cart &lt;1&gt;",
        "Where the adversary won",
        "constraint slow",
        "What was logged",
        "hambo check task.toml",
    ] {
        assert!(page.contains(part), "no `{part}` in the page");
    }
}

#[test]
fn the_object_says_where_the_adversary_won() {
    let folder = Folder::new("object");
    assert_eq!(folder.run(FIT).0, Some(0));
    let (code, text, _) = folder.run(&format!("{CHECK} --json --save run.json"));
    assert_eq!(code, Some(0));
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    // The steps' losses add up to all of them.
    let total = number(&object["loss"]["total"]);
    let steps = object["loss"]["by_step"].as_array().unwrap();
    let sum: f64 = steps.iter().map(number).sum();
    assert!(total > 0.0 && (total - sum).abs() < 1e-4, "{total} {sum}");
    assert_eq!(steps.len(), 12);
    assert!(object["loss"]["half_by_step"].as_u64().unwrap() < 12);
    let distance = number(&object["support"]["neutral"]["farthest"]["distance"]);
    assert!(distance > 0.0 && distance < 1.0, "{distance}");
    // A step of one trajectory in four at most, of those with noise.
    let outside = number(&object["support"]["neutral"]["steps_outside"]);
    assert!((0.0..0.03).contains(&outside), "{outside}");

    let saved: serde_json::Value = serde_json::from_str(&folder.read("run.json")).unwrap();
    assert_eq!(saved["result"]["bound_bits"], object["bound_bits"]);
    assert_eq!(saved["inputs"]["files"].as_array().unwrap().len(), 4);
}

/// A library user gets in one call what the command gives.
#[test]
fn the_library_finds_what_the_command_finds() {
    let folder = Folder::new("library");
    assert_eq!(folder.run(FIT).0, Some(0));
    let (_, text, _) = folder.run(&format!("{CHECK} --variant all --json"));
    let mut object: serde_json::Value = serde_json::from_str(&text).unwrap();
    let path = |name: &str| folder.0.join(name);
    let task = TaskFile::read(path("task.toml")).unwrap();
    let model = ModelFile::read(&path("m.hambo")).unwrap();
    let policy = HostPolicy::read(path("pd.toml"), &task).unwrap();
    let log = read_task_logs(&[path("log.csv")], &task).unwrap();
    let options = CheckOptions {
        log: Some(&log),
        variants: &VARIANTS.map(|(variant, _)| variant),
        effort: EffortLevel::Quick,
        trajectories: Some(4),
        ..CheckOptions::default()
    };
    let outcome = hambo_check::run(&task, &model, &policy, &options, &mut Unobserved).unwrap();
    let mut result = serde_json::to_value(outcome.result).unwrap();
    // Times differ, and the library knows no files.
    for object in [&mut object, &mut result] {
        for one in object["adversaries"].as_array_mut().unwrap() {
            one["seconds"] = 0.into();
        }
    }
    for key in ["policy", "model"] {
        assert!(object.as_object_mut().unwrap().remove(key).is_some());
    }
    assert_eq!(object, result);
}

#[test]
fn bad_runs_are_named_and_no_page_is_written() {
    let folder = Folder::new("bad");
    folder.write("other.json", "{\"format\": \"something\", \"version\": 1}");
    folder.write("later.json", "{\"format\": \"hambo run\", \"version\": 7}");
    folder.write("early.json", "{\"format\": \"hambo run\", \"version\": 1}");
    for (file, part) in [
        ("none.json", "none.json"),
        ("log.csv", "not a run of hambo"),
        ("other.json", "its format is `something`"),
        ("later.json", "a run of version 7"),
        ("early.json", "written by an earlier version: check again"),
    ] {
        let (code, _, errors) = folder.run(&format!("report {file} -o page.html"));
        assert_eq!(code, Some(2), "{file}");
        assert!(errors.contains(part), "{errors}");
    }
    assert!(!folder.0.join("page.html").exists());
}

#[test]
#[ignore = "needs a browser and packages: see tests/browser/README.md"]
fn the_page_is_accessible_in_a_browser() {
    let folder = Folder::new("browser");
    assert_eq!(folder.run(FIT).0, Some(0));
    let line = format!("{CHECK} --report report.html");
    assert_eq!(folder.run(&line).0, Some(0));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/browser/accessibility.mjs");
    let page = folder.0.join("report.html");
    let output = Command::new("node").arg(script).arg(page).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
}
