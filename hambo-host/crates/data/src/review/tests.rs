//! Reviews that find what was planted.

#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_task::task::TaskFile;

use super::compare::review;
use super::finding::Review;
use crate::draft::{File, LOG, LoggedRows};

const TASK: &str = "name = 'cart'\nhorizon = 2\n\
    [state]\nnames = ['x', 'v']\nlow = [-5, -2]\nhigh = [5, 2]\n\
    [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
    [reward]\nexpr = '-x^2 + next.v'\n[termination]\nexpr = 'x > 3'\n\
    [[constraint]]\nname = 'slow'\nexpr = '1 - abs(v)'\n\
    [initial]\nkind = 'uniform'\nlow = [0, 0]\nhigh = [1, 0]\n";

fn reviewed(name: &str, task: &str, log: &str) -> Review {
    let file = File::new(name, log);
    let task = TaskFile::parse(task, "task.toml").unwrap();
    let log = LoggedRows::read(std::slice::from_ref(&file.0), &task.names()).unwrap();
    review(&task, &log).unwrap()
}

#[test]
fn a_log_that_starts_more_widely_is_good_practice() {
    let narrow = TASK.replace("high = [1, 0]", "high = [0.5, 0]");
    let review = reviewed("wide.csv", &narrow, LOG);
    assert!(review.ok, "{}", review.text());
    assert!(review.text().contains("good practice"), "{}", review.text());
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
    // What is replaced by what in the task, the key of the problem, its rows, the worst of them.
    let reward = "-x^2 + next.v";
    let none = "[termination]\nexpr = 'x > 3'\n";
    let cases = [
        (reward, "-x^2 + v", "reward.expr", 4, Some((2, 0.0, -1.0))),
        (
            reward,
            "sqrt(-x)",
            "reward.expr",
            4,
            Some((1, -0.75, f32::NAN)),
        ),
        (
            "high = [5, 2]",
            "high = [3, 2]",
            "state.low",
            2,
            Some((3, 4.0, 3.0)),
        ),
        (
            "low = [-1]",
            "low = [-0.5]",
            "action.low",
            1,
            Some((1, -1.0, -0.5)),
        ),
        (
            "x > 3",
            "x > 0.5",
            "termination.expr",
            2,
            Some((1, 0.0, 1.0)),
        ),
        ("x > 3", "x > 9", "termination.expr", 1, Some((3, 1.0, 0.0))),
        (none, "", "termination", 0, None),
        ("low = [0, 0]", "low = [-4, 0]", "initial", 0, None),
    ];
    for (number, (from, to, key, rows, worst)) in cases.into_iter().enumerate() {
        let name = format!("{number}.csv");
        assert!(TASK.contains(from), "{from}");
        let review = reviewed(&name, &TASK.replace(from, to), LOG);
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
