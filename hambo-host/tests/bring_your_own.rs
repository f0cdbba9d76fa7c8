//! A robot of one's own: a task from a log, a controller from an ONNX file.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use hambo_base::network::Layer;
use hambo_core::image::Bundle;
use hambo_data::{LoggedRows, draft, review};
use hambo_task::column_names::ColumnNames;
use hambo_task::image::AlignedBytes;
use hambo_task::policy::{ActionMap, PerceptronPolicy, onnx};
use hambo_task::task::TaskFile;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-own-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    /// Exit code, what it prints and what it complains about.
    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hambo"));
        command.args(line.split(' ')).current_dir(&self.0);
        // Nothing of the user who runs the tests.
        command
            .env("XDG_CONFIG_HOME", &self.0)
            .env_remove("RUST_LOG");
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn done(&self, line: &str) -> String {
        let (code, out, error) = self.run(line);
        assert_eq!((code, error.as_str()), (0, ""), "{line}: {out}");
        out
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// gain · state, as a network without a hidden layer.
fn linear(gain: &[f32]) -> PerceptronPolicy {
    PerceptronPolicy {
        layers: vec![Layer {
            inputs: gain.len(),
            outputs: 1,
            weights: gain.to_vec(),
            bias: vec![0.0],
        }],
        activations: Vec::new(),
        observation_mean: vec![0.0; gain.len()],
        observation_scale: vec![1.0; gain.len()],
        actions: ActionMap::plain(1),
    }
}

#[test]
fn a_task_is_drafted_and_held_against_its_log() {
    let folder = Folder::new("task");
    onnx::write(folder.0.join("p.onnx"), &linear(&[0.0, -8.0, -2.0]), &[]).unwrap();
    folder.write(
        "p.toml",
        "kind = 'linear'\ngain = [[0, -8, -2]]\nbias = [0]\n",
    );
    let rollout = "env rollout pendulum --episodes 4 --action-noise 0.3 -o log.csv --policy";
    let text = folder.done(&format!("{rollout} p.onnx"));
    let log = std::fs::read(folder.0.join("log.csv")).unwrap();
    // The same controller in TOML drives to the same bits.
    assert_eq!(folder.done(&format!("{rollout} p.toml")), text);
    assert_eq!(std::fs::read(folder.0.join("log.csv")).unwrap(), log);

    folder.done("task new --from log.csv -o task.toml");
    let (code, _, error) = folder.run("task new --from log.csv -o task.toml");
    assert!(code == 2 && error.contains("never overwritten"), "{error}");
    let (code, _, error) = folder.run("task check task.toml --data log.csv");
    assert!(code == 2 && error.contains("reward.expr"), "{error}");
    let draft = std::fs::read_to_string(folder.0.join("task.toml")).unwrap();
    let fill = |reward: &str| draft.replace("# expr = \"\"", &format!("expr = \"{reward}\""));
    let reward = "-(atan2(s, c)^2 + 0.1 * omega^2 + 0.001 * torque^2)";
    folder.write("task.toml", &fill(reward));
    let text = folder.done("task check task.toml --data log.csv");
    assert!(
        text.contains("gives the logged reward in all 800 rows"),
        "{text}"
    );
    // A forgotten factor is found, with the rows.
    folder.write("task.toml", &fill(&reward.replace("0.1 * ", "")));
    let (code, out, _) = folder.run("task check task.toml --data log.csv --json");
    let object: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &object["ok"]), (1, &serde_json::json!(false)));
    let finding = &object["findings"][0];
    assert_eq!(finding["key"], "reward.expr");
    let worst = finding["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 5);
    let gap = |row: &serde_json::Value| {
        (row["logged"].as_f64().unwrap() - row["task"].as_f64().unwrap()).abs()
    };
    assert!(
        gap(&worst[0]) >= gap(&worst[4]) && gap(&worst[4]) > 1.0,
        "{finding}"
    );
}

#[test]
fn onnx_controllers_are_checked_and_exported() {
    let folder = Folder::new("check");
    folder.write(
        "task.toml",
        "name = 'cart'\nhorizon = 20\ndelta = 0.1\n[state]\nnames = ['x', 'v']\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
         [initial]\nkind = 'point'\nvalue = [0.4, 0]\n",
    );
    let mut log = "x,v,u,next.x,next.v,episode\n".to_owned();
    for episode in 0..40_u32 {
        let (mut x, mut v) = (
            0.06 * episode as f32 - 1.2,
            0.2 * (episode % 5) as f32 - 0.4,
        );
        for step in 0..25_u32 {
            let scatter = ((episode * 25 + step) * 37 % 41) as f32 / 20.0 - 1.0;
            let (next_x, next_v) = (x + 0.1 * v, 0.95 * v + 0.1 * scatter);
            let _ = writeln!(log, "{x},{v},{scatter},{next_x},{next_v},{episode}");
            (x, v) = (next_x, next_v);
        }
    }
    folder.write("log.csv", &log);
    folder.write("p.toml", "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]\n");
    onnx::write(folder.0.join("p.onnx"), &linear(&[-1.0, -1.0]), &[]).unwrap();
    folder.done(
        "fit task.toml --data log.csv --hidden 16,16 --steps 600 --learning-rate 0.01 -o m.hambo",
    );
    let bound = |policy: &str| {
        let line =
            format!("check task.toml --model m.hambo --policy {policy} --effort quick --json");
        let (_, out, error) = folder.run(&line);
        let object: serde_json::Value = serde_json::from_str(&out).unwrap_or_default();
        assert!(object["bound"].is_number(), "{out}{error}");
        object["bound"].clone()
    };
    assert_eq!(bound("p.onnx"), bound("p.toml"));
    // The task has no threshold, so nothing can pass; an image by force never deploys.
    let export = "export m.hambo --task task.toml --policy p.onnx --effort quick -o i.hmb";
    let (code, _, error) = folder.run(export);
    assert!(
        code == 2 && error.contains("the task states no threshold"),
        "{error}"
    );
    assert!(!folder.0.join("i.hmb").exists());
    folder.done(&format!("{export} --force"));
    let bytes = AlignedBytes::new(&std::fs::read(folder.0.join("i.hmb")).unwrap());
    assert!(
        Bundle::parse(bytes.as_bytes())
            .unwrap()
            .image()
            .task()
            .plan
            .refused_by_host
    );
    assert!(folder.0.join("i.hmb").exists());
    // A controller of another robot.
    onnx::write(folder.0.join("other.onnx"), &linear(&[1.0; 5]), &[]).unwrap();
    let (code, _, error) = folder.run("check task.toml --model m.hambo --policy other.onnx");
    assert!(code == 2 && error.contains("observes 5 numbers"), "{error}");
}

fn fixture(name: &str) -> PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(name)
}

/// The same log in every format; `make_fixtures.py` says what is in it.
const NAMED: [&str; 3] = ["expected.csv", "pandas.csv", "pandas_snappy.parquet"];
const NAMELESS: [&str; 4] = [
    "numpy_f32.npz",
    "numpy_f64_compressed.npz",
    "h5py_f32.hdf5",
    "minari.hdf5",
];

#[test]
fn every_format_drafts_the_same_task() {
    let folder = Folder::new("formats");
    let text = |path: PathBuf, actions: &[String]| {
        let log = LoggedRows::discover(&[path], actions).unwrap();
        draft(&log, "cart")
    };
    let named = text(fixture(NAMED[0]), &[]);
    for part in [
        "15 transitions in 3 episodes",
        "horizon = 6",
        "names = [\"x\", \"v\"]",
        "low = [-0.25]",
        "high = [0.75]",
        "1 terminals",
    ] {
        assert!(named.contains(part), "no {part} in {named}");
    }
    for name in NAMED {
        assert_eq!(text(fixture(name), &[]), named, "{name}");
    }
    // Arrays have no names: as a table with numbered ones.
    let csv = std::fs::read_to_string(fixture(NAMED[0])).unwrap();
    let (_, rows) = csv.split_once('\n').unwrap();
    let header = "s0,s1,a0,next.s0,next.s1,reward,terminal,timeout,episode";
    folder.write("numbered.csv", &format!("{header}\n{rows}"));
    let numbered = text(folder.0.join("numbered.csv"), &[]);
    assert!(numbered.contains("names = [\"s0\", \"s1\"]"), "{numbered}");
    for name in NAMELESS {
        assert_eq!(text(fixture(name), &[]), numbered, "{name}");
        let renamed = text(fixture(name), &["push".to_owned()]);
        assert!(renamed.contains("names = [\"push\"]"), "{renamed}");
    }

    // All of them at once, as the task names them.
    let task = named.replace("# expr = \"\"", "expr = \"-x\"");
    let task = TaskFile::parse(&task, "cart.toml").unwrap();
    let files: Vec<PathBuf> = NAMED
        .iter()
        .chain(&NAMELESS)
        .map(|name| fixture(name))
        .collect();
    let log = LoggedRows::read(&files, &task.names()).unwrap();
    assert_eq!((log.rows.len(), log.episodes()), (15 * 7, 3 * 7));
    let review = review(&task, &log).unwrap();
    let text = review.text();
    assert!(
        text.contains("gives the logged reward in all 105 rows"),
        "{text}"
    );
    let other = ColumnNames {
        states: vec!["x".to_owned()],
        actions: vec!["u".to_owned()],
    };
    let error = LoggedRows::read(&files, &other).unwrap_err().to_string();
    assert!(
        error.contains("numpy_f32.npz") || error.contains("next.v"),
        "{error}"
    );
}

#[test]
fn tasks_come_from_files_of_every_format_on_the_command_line() {
    let folder = Folder::new("several");
    for name in NAMED.iter().chain(&NAMELESS) {
        std::fs::copy(fixture(name), folder.0.join(name)).unwrap();
    }
    let text = folder.done("task new --from numpy_f32.npz minari.hdf5 --name cart");
    assert!(text.contains("30 transitions in 6 episodes"), "{text}");
    let text = folder.done("task new --from expected.csv pandas_snappy.parquet -o task.toml");
    assert!(text.contains("saved task.toml"), "{text}");
    let task = std::fs::read_to_string(folder.0.join("task.toml")).unwrap();
    folder.write("task.toml", &task.replace("# expr = \"\"", "expr = \"-x\""));
    let (code, out, error) = folder.run("task check task.toml --data minari.hdf5 pandas.csv");
    // The log has terminals, the draft no termination.
    assert!(code == 1 && out.contains("2 terminals"), "{out}{error}");
    assert!(
        out.contains("gives the logged reward in all 30 rows"),
        "{out}"
    );
    // Arrays have no names: they come in the order of the columns.
    let text = folder.done("task new --from expected.csv numpy_f32.npz --name cart");
    assert!(text.contains("30 transitions in 6 episodes"), "{text}");
}

/// A carriage whose place follows from its speed; `wrong` is added to one place.
fn carriage_log(wrong: f64) -> String {
    let mut text = "x,v,u,next.x,next.v,episode\n".to_owned();
    let mut place: u32 = 1;
    let mut draw = || {
        place = place.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(place) / f64::from(u32::MAX) - 0.5
    };
    for episode in 0..40 {
        let (mut x, mut v) = (draw(), draw());
        for step in 0..20 {
            let u = 4.0 * draw() - x - v;
            let next_v = v + 0.05 * (u - 0.5 * v) + 0.02 * draw();
            let mut next_x = x + 0.05 * next_v;
            if (episode, step) == (7, 3) {
                next_x += wrong;
            }
            let _ = writeln!(text, "{x},{v},{u},{next_x},{next_v},{episode}");
            (x, v) = (next_x, next_v);
        }
    }
    text
}

#[test]
fn what_is_known_is_held_against_the_log_and_the_model() {
    let folder = Folder::new("known");
    folder.write("log.csv", &carriage_log(0.0));
    folder.write("wrong.csv", &carriage_log(0.01));
    let task = |names: &str, known: &str| {
        format!(
            "name = 'carriage'\nhorizon = 5\nthreshold = -100\n[state]\nnames = [{names}]\n\
             [action]\nnames = ['u']\nlow = [-3]\nhigh = [3]\n{known}\n\
             [reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'\n"
        )
    };
    let known = "[known]\nx = 'x + 0.05 * next.v'";
    folder.write("task.toml", &task("'x', 'v'", known));
    let fit = "fit task.toml --hidden 8 --steps 50 -o m.hambo --data log.csv";
    let text = folder.done(fit);
    assert!(text.contains("known: x = x + 0.05 * next.v"), "{text}");
    assert!(text.contains("and learns v\n"), "{text}");
    // The row of the file that it is in.
    let (code, _, error) = folder.run(&format!("{fit} wrong.csv"));
    let named = "wrong.csv, line 145: [known] says that `x` becomes";
    assert!(code == 2 && error.contains(named), "{error}");

    folder.write("two.toml", "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]");
    folder.write(
        "three.toml",
        "kind = 'linear'\ngain = [[-1, -1, -0.1]]\nbias = [0]",
    );
    let check = |name: &str, names: &str, sections: &str, policy: &str| {
        folder.write(name, &task(names, sections));
        folder.run(&format!(
            "check {name} --model m.hambo --policy {policy} --data log.csv --effort quick \
             --trajectories 48 --searched 2"
        ))
    };
    // Another spelling, and a controller with a memory of its own.
    let (code, text, error) = check(
        "a.toml",
        "'x', 'v'",
        "[known]\nx = 'x+0.05*next.v'",
        "two.toml",
    );
    assert!(code != 2, "{text} {error}");
    assert!(
        text.contains("what the task says of x holds exactly"),
        "{text}"
    );
    let memory = format!("{known}\ni = {{ next = 'i + 0.05 * x', initial = 0 }}");
    let (code, text, error) = check("b.toml", "'x', 'v', 'i'", &memory, "three.toml");
    assert!(code != 2, "{text} {error}");
    // What the model did not learn must be computed, and computed as it was.
    for (sections, words) in [
        (
            "",
            "the known states: x = x + 0.05 * next.v; the task says: none",
        ),
        (
            "[known]\nx = 'x + 0.06 * next.v'",
            "the task says: x = x + 0.06 * next.v",
        ),
        (
            "[known]\nx = 'x + 0.05 * next.v'\n[model]\ninputs = ['v']",
            "the inputs: x, v; the task says: v",
        ),
    ] {
        let (code, _, error) = check("c.toml", "'x', 'v'", sections, "two.toml");
        assert!(code == 2 && error.contains(words), "{error}");
    }
    folder.done("predict m.hambo --data log.csv -o out.csv");
    let table = std::fs::read_to_string(folder.0.join("out.csv")).unwrap();
    let header = table.lines().next().unwrap();
    assert!(
        header.ends_with("episode,mean.v,epistemic_std.v,aleatoric_std.v"),
        "{header}"
    );
}

/// A wheel that turns on, its angle logged from −pi to pi.
fn wheel_log() -> String {
    let mut text = "theta,omega,u,next.theta,next.omega,episode\n".to_owned();
    let wrap = |x: f32| {
        (x + std::f32::consts::PI).rem_euclid(std::f32::consts::TAU) - std::f32::consts::PI
    };
    for episode in 0..40_u32 {
        let (mut theta, mut omega) = (0.5 * (episode % 12) as f32 - 3.0, 2.0);
        for step in 0..25_u32 {
            let u = ((7 * episode + 13 * step) % 11) as f32 / 5.0 - 1.0;
            let next_omega = omega + 0.1 * u;
            let next = wrap(theta + 0.1 * next_omega);
            let _ = writeln!(text, "{theta},{omega},{u},{next},{next_omega},{episode}");
            (theta, omega) = (next, next_omega);
        }
    }
    text
}

/// Every command that sees the log names the state and the line to write, until the task
/// has it.
#[test]
fn an_angle_that_wraps_is_named_until_the_task_says_so() {
    let folder = Folder::new("wheel");
    folder.write("log.csv", &wheel_log());
    let seen = "`theta` jumps by about 2 pi in ";
    let line = "wrap = [\"theta\"]";
    let named = |text: &str| assert!(text.contains(seen) && text.contains(line), "{text}");
    named(&folder.done("data info log.csv"));
    let draft = folder.done("task new --from log.csv");
    named(&draft);
    let task = draft.replace("# expr = \"\"", "expr = \"cos(theta)\"");
    assert!(TaskFile::parse(&task, "task.toml").is_ok());
    let fit = "fit task.toml --data log.csv --hidden 8 --steps 50 -o m.hambo";
    let check = "task check task.toml --data log.csv";
    // The draft found that the angle follows from its speed, which is not so at a jump.
    folder.write("task.toml", &task);
    assert!(folder.done(check).contains("note: `known.theta` holds"));
    folder.write("task.toml", &task.replace(line, ""));
    let (code, text, _) = folder.run(check);
    assert!(
        code == 1 && text.contains("problem: `known.theta`"),
        "{text}"
    );
    let (code, _, error) = folder.run(fit);
    assert!(
        code == 2 && error.contains("[known] says that `theta`"),
        "{error}"
    );

    // A model that has to learn the angle.
    let lines = task.lines().filter(|line| !line.starts_with("theta = "));
    let task = lines.collect::<Vec<_>>().join("\n");
    folder.write("said.toml", &task);
    folder.write("task.toml", &task.replace(line, ""));
    let text = folder.done(check);
    named(&text);
    assert!(text.contains("warning: `state.wrap`"), "{text}");
    named(&folder.done(fit));
    for json in [check, fit] {
        let text = folder.done(&format!("{json} --json"));
        let text = text.replace("\\\"", "\"");
        named(&text);
    }
    // The model learnt the jumps, and the task that says they are none gets no verdict of it.
    folder.write(
        "law.toml",
        "kind = 'linear'\ngain = [[0, -1]]\nbias = [2]\n",
    );
    let judged = "check said.toml --model m.hambo --policy law.toml --data log.csv --effort quick";
    let (code, _, error) = folder.run(judged);
    assert!(
        code == 2 && error.contains("the task says that theta wraps"),
        "{error}"
    );
    for command in [check, fit, "data info log.csv --task task.toml"] {
        let text = folder.done(&command.replace("task.toml", "said.toml"));
        assert!(!text.contains("jumps by"), "{text}");
    }
    let (code, text, error) = folder.run(judged);
    assert!(code != 2, "{text} {error}");
    // Predictions are on the log's side of the seam.
    folder.done("predict m.hambo --data log.csv -o out.csv");
    let table = std::fs::read_to_string(folder.0.join("out.csv")).unwrap();
    let column = table
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == "mean.theta");
    for row in table.lines().skip(1) {
        let mean: f32 = row
            .split(',')
            .nth(column.unwrap())
            .unwrap()
            .parse()
            .unwrap();
        assert!(mean.abs() < 3.15, "{row}");
    }
}
