//! Drafts that parse, and reviews that find what was planted.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use super::{LoggedRows, Review, draft, review};
use hambo_task::task::{Initial, TaskFile};

const TASK: &str = "name = 'cart'\nhorizon = 2\n\
    [state]\nnames = ['x', 'v']\nlow = [-5, -2]\nhigh = [5, 2]\n\
    [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
    [reward]\nexpr = '-x^2 + next.v'\n[termination]\nexpr = 'x > 3'\n\
    [[constraint]]\nname = 'slow'\nexpr = '1 - abs(v)'\n\
    [initial]\nkind = 'uniform'\nlow = [0, 0]\nhigh = [1, 0]\n";

/// Two episodes that fit the task: rewards are -x² + v′, and x > 3 ends the second.
const LOG: &str = "x,v,u,next.x,next.v,reward,terminal,episode\n\
    0,0,1,1,0.5,0.5,0,0\n1,0.5,-1,2,0.25,-0.75,0,0\n\
    1,0,1,3.5,1,0,0,1\n3.5,1,0,4,1.5,-10.75,1,1\n";

struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-draft-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn reviewed(name: &str, task: &str, log: &str) -> Review {
    let file = File::new(name, log);
    let task = TaskFile::parse(task, "task.toml").unwrap();
    let log = LoggedRows::read(std::slice::from_ref(&file.0), &task.names()).unwrap();
    review(&task, &log).unwrap()
}

#[test]
fn a_draft_parses_once_the_reward_is_there() {
    let file = File::new("draft.csv", LOG);
    let log = LoggedRows::discover(std::slice::from_ref(&file.0), &[]).unwrap();
    assert_eq!(
        (log.states.join(" "), log.actions.join(" ")),
        ("x v".to_owned(), "u".to_owned())
    );
    let text = draft(&log, "my \"cart\"");
    let error = TaskFile::parse(&text, "t.toml").unwrap_err().to_string();
    assert!(error.contains("reward.expr"), "{error}");
    let task = TaskFile::parse(
        &text.replace("# expr = \"\"", "expr = \"-x^2 + next.v\""),
        "t.toml",
    )
    .unwrap();
    assert_eq!(task.name, "my \"cart\"");
    assert_eq!(
        (task.horizon, task.action_low, task.action_high),
        (2, vec![-1.0], vec![1.0])
    );
    assert_eq!(task.initial, Initial::Data { always: false });
    for part in [
        "x: 0 to 3.5",
        "rewards run from -10.75 to 0.5",
        "1 terminals",
        "return -10.75 to -0.25",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // Every commented key is good once the hash is gone.
    let all = text
        .replace("# expr = \"\"", "expr = \"-x\"")
        .replace("kind = \"data\"\n", "");
    let keys = [
        "threshold",
        "low",
        "high",
        "[termination]",
        "[[constraint]]",
        "name",
        "expr",
        "kind",
    ];
    let all: Vec<&str> = all
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if keys.iter().any(|key| rest.starts_with(key)) => rest,
            _ => line,
        })
        .collect();
    let task = TaskFile::parse(&all.join("\n"), "t.toml").unwrap();
    assert!(task.termination.is_some() && task.constraints.len() == 1);
    assert_eq!(task.state_high, Some(vec![3.5, 1.0]));
    assert!(matches!(task.initial, Initial::Uniform { .. }));
}

#[test]
fn drafts_need_to_know_the_actions() {
    let plain = "x,u,run\n0,1,a\n1,1,a\n2,1,a\n";
    let file = File::new("plain.csv", plain);
    let error = LoggedRows::discover(std::slice::from_ref(&file.0), &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("--actions u"), "{error}");
    let log = LoggedRows::discover(std::slice::from_ref(&file.0), &["u".to_owned()]).unwrap();
    assert_eq!(log.episode_lengths(), [2]);
    let text = draft(&log, "plain").replace("# expr = \"\"", "expr = \"x\"");
    let task = TaskFile::parse(&text, "t.toml").unwrap();
    // A constant action still has room, and one start is a point.
    assert_eq!((task.action_low, task.action_high), (vec![0.0], vec![2.0]));
    assert_eq!(task.initial, Initial::Point(vec![0.0]));
    for (name, text, wanted) in [
        (
            "unmarked.csv",
            "obs_0,action_0\n0,0\n1,1\n",
            "where an episode ends",
        ),
        ("lone.csv", "x,next.x\n0,0\n", "no action"),
        ("what.dat", "\u{1}x", "not known"),
    ] {
        let file = File::new(name, text);
        let error = LoggedRows::discover(std::slice::from_ref(&file.0), &[])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(wanted) && error.contains("help: "),
            "{name}: {error}"
        );
    }
}

#[test]
fn a_log_that_starts_more_widely_is_good_practice() {
    let narrow = TASK.replace("high = [1, 0]", "high = [0.5, 0]");
    let review = reviewed("wide.csv", &narrow, LOG);
    assert!(review.ok, "{}", review.text());
    assert!(review.text().contains("good practice"), "{}", review.text());
}

#[test]
fn columns_get_names_that_a_task_can_use() {
    let text = "time,cos,my x,u,next.cos,next.my x\n0,1,0,1,1,0\n1,1,0,0,1,0\n";
    let file = File::new("names.csv", text);
    let log = LoggedRows::discover(std::slice::from_ref(&file.0), &[]).unwrap();
    assert_eq!(log.states, ["cos_1", "my_x"]);
    let draft = draft(&log, "named").replace("# expr = \"\"", "expr = \"cos_1\"");
    let task = TaskFile::parse(&draft, "t.toml").unwrap();
    // The task reads the log under its own names.
    let log = LoggedRows::read(std::slice::from_ref(&file.0), &task.names()).unwrap();
    assert_eq!(log.rows.len(), 2);
}

#[test]
fn a_good_task_fits() {
    let review = reviewed("good.csv", TASK, LOG);
    assert!(review.ok, "{}", review.text());
    assert_eq!((review.rows, review.episodes), (4, 2));
    let text = review.text();
    assert!(
        text.contains("gives the logged reward in all 4 rows"),
        "{text}"
    );
    assert!(
        text.contains("`constraint slow` is 0.625000 on average"),
        "{text}"
    );
}

#[test]
fn what_does_not_fit_is_found() {
    let cases = [
        (
            "reward",
            "-x^2 + next.v",
            "-x^2 + v",
            "reward.expr",
            4,
            Some((2, 0.0, -1.0)),
        ),
        (
            "root",
            "-x^2 + next.v",
            "sqrt(-x)",
            "reward.expr",
            4,
            Some((1, -0.75, f32::NAN)),
        ),
        (
            "state",
            "high = [5, 2]",
            "high = [3, 2]",
            "state.low",
            2,
            Some((3, 4.0, 3.0)),
        ),
        (
            "action",
            "low = [-1]",
            "low = [-0.5]",
            "action.low",
            1,
            Some((1, -1.0, -0.5)),
        ),
        (
            "early",
            "x > 3",
            "x > 0.5",
            "termination.expr",
            2,
            Some((1, 0.0, 1.0)),
        ),
        (
            "late",
            "x > 3",
            "x > 9",
            "termination.expr",
            1,
            Some((3, 1.0, 0.0)),
        ),
        (
            "none",
            "[termination]\nexpr = 'x > 3'\n",
            "",
            "termination",
            0,
            None,
        ),
        ("far", "low = [0, 0]", "low = [-4, 0]", "initial", 0, None),
    ];
    for (name, from, to, key, rows, worst) in cases {
        assert!(TASK.contains(from), "{name}");
        let review = reviewed(&format!("{name}.csv"), &TASK.replace(from, to), LOG);
        let problems: Vec<_> = review.findings.iter().filter(|f| f.problem).collect();
        assert_eq!(problems.len(), 1, "{name}: {}", review.text());
        assert!(
            !review.ok && problems[0].key.starts_with(key),
            "{name}: {}",
            review.text()
        );
        assert!(!problems[0].help.is_empty());
        let found = &problems[0].worst;
        assert_eq!(found.len(), rows, "{name}: {}", review.text());
        if let (Some(found), Some((row, logged, task))) = (found.first(), worst) {
            assert_eq!((found.row, found.logged), (row, logged), "{name}");
            assert!(
                found.task == task || task.is_nan() && found.task.is_nan(),
                "{name}"
            );
        }
    }
    // Without a column of terminals, stopping where the log goes on is still found.
    let log: String = LOG
        .lines()
        .map(|line| {
            let mut fields: Vec<&str> = line.split(',').collect();
            fields.remove(6);
            fields.join(",") + "\n"
        })
        .collect();
    assert!(reviewed("flagless.csv", TASK, &log).ok);
    let review = reviewed("early2.csv", &TASK.replace("x > 3", "x < 0.5"), &log);
    assert_eq!(
        review.findings.iter().filter(|f| f.problem).count(),
        1,
        "{}",
        review.text()
    );
}

/// A wheel that starts at 200 degrees, which the log calls -160.
#[test]
fn a_start_on_another_turn_is_the_same_start() {
    let task = |value: i32| {
        format!(
            "name = 'wheel'\nhorizon = 2\n[state]\nnames = ['yaw']\n\
             wrap = [{{ name = 'yaw', period = 360 }}]\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = 'yaw'\n\
             [initial]\nkind = 'point'\nvalue = [{value}]\n"
        )
    };
    let log = "yaw,u,next.yaw,episode\n-160,0,-150,0\n-150,1,-140,0\n";
    let review = reviewed("turn.csv", &task(200), log);
    assert!(review.ok, "{}", review.text());
    let review = reviewed("other.csv", &task(20), log);
    assert!(!review.ok, "{}", review.text());
}
