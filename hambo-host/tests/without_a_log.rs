//! A check without a log: the model file keeps what the search needs of it.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{Folder, POLICY, QUICK, TASK, log};
use hambo_check::CheckOptions;
use hambo_check::case::Case;
use hambo_data::read_task_logs;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// The widths of a task's comparisons in the image of a check, with the log or without.
fn widths(folder: &Folder, task: &str, with_log: bool) -> Vec<f32> {
    let task = TaskFile::parse(task, "task.toml").unwrap();
    let model = ModelFile::read(&folder.path("m.hambo")).unwrap();
    let policy = HostPolicy::parse(POLICY, "pd.toml", &task).unwrap();
    let log = read_task_logs(&[folder.path("log.csv")], &task).unwrap();
    let options = CheckOptions {
        log: with_log.then_some(&log),
        ..CheckOptions::default()
    };
    let case = Case::new(&task, &model, &policy, &options).unwrap();
    let widths = case.task.ops.iter().filter_map(|op| op.comparison_width());
    widths.collect()
}

/// The task may be written after the model was fitted.
#[test]
fn comparisons_are_as_wide_as_with_the_log() {
    let folder = Folder::new("widths");
    folder.done(QUICK);
    let task = TASK.replace("'-x^2'", "'-(1000 * x > 300) - 5 * (next.v < -0.001 * u)'");
    let [with, without] = [true, false].map(|with| widths(&folder, &task, with));
    assert_eq!(with.len(), 2);
    assert!(with[0] > 100.0 && with[1] < 0.5, "{with:?}");
    for (with, without) in with.iter().zip(&without) {
        assert!((with - without).abs() < 0.1 * with, "{with} {without}");
    }
}

#[test]
fn a_learned_reward_has_its_extra_state_there_too() {
    let folder = Folder::new("widths-learned");
    let rewarded = log(40, 25);
    let rewarded = rewarded.lines().enumerate().map(|(number, line)| {
        let reward = match number {
            0 => "reward".to_owned(),
            _ => crate::common::scatter(number as u32).to_string(),
        };
        format!("{line},{reward}\n")
    });
    folder.write("log.csv", &rewarded.collect::<String>());
    let task = TASK.replace("expr = '-x^2'", "learned = true");
    let task = task.replace("[initial]", "[termination]\nexpr = 'x > 30'\n[initial]");
    folder.write("task.toml", &task);
    folder.done(QUICK);
    let [with, without] = [true, false].map(|with| widths(&folder, &task, with));
    assert!((with[0] - 30.0).abs() < 1.0, "{with:?}");
    assert!((with[0] - without[0]).abs() < 0.1, "{with:?} {without:?}");
}
