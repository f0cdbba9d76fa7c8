//! Drafts that parse.

#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_task::task::{Initial, TaskFile};

use super::rows::LoggedRows;
use super::simulated::{File, LOG};
use super::text::{DraftOptions, DraftReward, draft, draft_with};
use crate::read::{HeldArray, HeldNumbers};

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
fn what_a_caller_knows_stands_in_the_draft() {
    let file = File::new("draft_known.csv", LOG);
    let log = LoggedRows::discover(std::slice::from_ref(&file.0), &[]).unwrap();
    let options = DraftOptions {
        reward: DraftReward::Expression("-x^2".to_owned()),
        horizon: Some(50),
        state_limits: Some((vec![-9.0, f32::NEG_INFINITY], vec![9.0, f32::INFINITY])),
        action_limits: Some((vec![-3.0], vec![3.5])),
    };
    let task = TaskFile::parse(&draft_with(&log, "cart", &options), "t.toml").unwrap();
    assert!(!task.learns_reward());
    assert_eq!(
        (task.horizon, task.action_low, task.action_high),
        (50, vec![-3.0], vec![3.5])
    );
    assert_eq!(task.state_low, Some(vec![-9.0, f32::NEG_INFINITY]));
    let learned = DraftOptions {
        reward: DraftReward::Learned,
        ..DraftOptions::default()
    };
    let task = TaskFile::parse(&draft_with(&log, "cart", &learned), "t.toml").unwrap();
    assert!(task.learns_reward());
}

#[test]
fn held_arrays_draft_the_same_task_as_their_file() {
    let file = File::new("draft_held.csv", LOG);
    let of_file = LoggedRows::discover(std::slice::from_ref(&file.0), &[]).unwrap();
    let mut lines = LOG.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let columns: Vec<Vec<f64>> = (0..names.len())
        .map(|column| rows.iter().map(|row: &Vec<f64>| row[column]).collect())
        .collect();
    let arrays: Vec<HeldArray<'_>> = names
        .iter()
        .zip(&columns)
        .map(|(name, column)| HeldArray {
            name: (*name).to_owned(),
            shape: vec![column.len() as u64],
            numbers: HeldNumbers::Double(column),
        })
        .collect();
    let held = LoggedRows::discover_held(std::path::Path::new("data"), &arrays, &[]).unwrap();
    assert_eq!(draft(&held, "cart"), draft(&of_file, "cart"));
    // Without a column that tells the states apart the actions must be named.
    let told: Vec<HeldArray<'_>> = arrays
        .iter()
        .filter(|one| !one.name.starts_with("next."))
        .cloned()
        .collect();
    let origin = std::path::Path::new("data");
    let error = LoggedRows::discover_held(origin, &told, &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("--actions"), "{error}");
    let named = LoggedRows::discover_held(origin, &told, &["u".to_owned()]).unwrap();
    assert_eq!(named.states, ["x", "v"]);
}
