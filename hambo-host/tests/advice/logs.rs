//! Logs and tasks about which commands complain.

use std::fmt::Write as _;

use crate::common::{TASK, log, scatter};

pub fn task(change: &[(&str, &str)]) -> String {
    let mut text = TASK.to_owned();
    for (from, to) in change {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// The cart with one more state: a goal, the same in all rows, or by the episode.
pub fn with_goal(goal: impl Fn(u32) -> f32) -> String {
    let mut text = "x,v,goal,u,next.x,next.v,next.goal,episode\n".to_owned();
    for line in log(60, 25).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [x, v, u, next_x, next_v, episode] = cells[..] else {
            continue;
        };
        let goal = goal(episode.parse().unwrap());
        let _ = writeln!(
            text,
            "{x},{v},{goal},{u},{next_x},{next_v},{goal},{episode}"
        );
    }
    text
}

pub fn goal_task(more: &str) -> String {
    let changes = [
        ("['x', 'v']", "['x', 'v', 'goal']"),
        ("[1, 0]", "[1, 0, 1]"),
    ];
    task(&changes).replace("'-x^2'", "'-((x - goal)^2)'") + more
}

pub const KNOWN_GOAL: &str = "[known]\ngoal = \"goal\"\n";
pub const WITHOUT_GOAL: &str = "[model]\ninputs = [\"x\", \"v\"]\n";

/// One column of the cart's log, changed.
pub fn column(place: usize, change: impl Fn(&str) -> String) -> String {
    let text = log(40, 25);
    let mut lines = text.lines();
    let mut changed = lines.next().unwrap().to_owned();
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[place] = change(&cells[place]);
        let _ = write!(changed, "\n{}", cells.join(","));
    }
    changed + "\n"
}

/// A wheel that turns by about 0.4 a step, between −pi and pi.
pub fn wheel() -> String {
    let (turn, half) = (std::f32::consts::TAU, std::f32::consts::PI);
    let wrap = |x: f32| x - turn * ((x + half) / turn).floor();
    let mut text = "theta,omega,u,next.theta,next.omega,episode\n".to_owned();
    for episode in 0..40 {
        let (mut theta, mut omega) = (6.0 * scatter(episode), 3.0 + scatter(episode + 99));
        for step in 0..25 {
            let u = 2.0 * scatter(1000 * episode + step + 1);
            let noise = 0.02 * scatter(77_777 + 1000 * episode + step);
            let (next, speed) = (
                wrap(theta + 0.1 * omega + 0.3 * noise),
                3.0 + 0.9 * (omega - 3.0) + 0.1 * u + noise,
            );
            let _ = writeln!(text, "{theta},{omega},{u},{next},{speed},{episode}");
            (theta, omega) = (next, speed);
        }
    }
    text
}

pub fn wheel_task(line: &str) -> String {
    let names = format!("names = ['theta', 'omega']\n{line}");
    task(&[("names = ['x', 'v']", &names), ("'-x^2'", "'-omega^2'")])
}

/// One recording without a word of where it ends.
pub fn unmarked() -> String {
    let text = log(1, 150);
    let rows = text.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        cells[..3].join(",") + "\n"
    });
    rows.collect()
}
