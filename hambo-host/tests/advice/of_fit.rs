//! What `hambo fit` complains about.

use super::logs::{
    KNOWN_GOAL, WITHOUT_GOAL, column, goal_task, task, unmarked, wheel, wheel_task, with_goal,
};
use super::{Advice, FIT, advice};
use crate::common::{TASK, log};

pub fn of_fit() -> Vec<Advice> {
    let fit = |rest: &str| format!("fit t.toml --data l.csv -o out.hambo {rest}");
    let networks = fit(FIT);
    let process = fit("--model gp --points 40");
    let constant: &[&'static str] = &[
        "`goal` is always 1",
        "under [known]",
        "goal = \"goal\"",
        "under [model]",
        "inputs = [\"x\", \"v\"]",
    ];
    let stays: &[&'static str] = &["the change of `goal`", "always 0", "goal = \"goal\""];
    let known = format!("{KNOWN_GOAL}{WITHOUT_GOAL}");
    let of_goal = |line: &str| {
        advice(line, constant, &[line])
            .with("t.toml", goal_task(""))
            .with("l.csv", with_goal(|_| 1.0))
            .change("t.toml", goal_task(&known))
            .shows("calibrated: judged")
    };
    let of_goals = |line: &str| {
        advice(line, stays, &[line])
            .with("t.toml", goal_task(""))
            .with("l.csv", with_goal(|episode| 0.1 * episode as f32))
            .change("t.toml", goal_task(KNOWN_GOAL))
            .shows("calibrated: judged")
    };
    let own = |line: &str, says: &[&'static str], again: &[&str]| {
        advice(line, says, again)
            .with("t.toml", TASK)
            .with("l.csv", log(40, 25))
    };
    let wrong = "[known]\nx = 'x + 0.2 * v'\n";
    let circle = |line: &str| {
        task(&[(
            "names = ['x', 'v']\n",
            &format!("names = ['x', 'v']\n{line}"),
        )])
    };
    let learned = task(&[("expr = '-x^2'", "learned = true")]);
    let rewarded = column(0, |x| format!("{x},-2")).replacen("x,v", "x,reward,v", 1);
    let few = log(1, 300);
    let less = fit(&format!("{FIT} --withhold 0.2"));
    vec![
        of_goal(&networks),
        of_goal(&process),
        of_goals(&networks),
        of_goals(&process),
        own(
            &networks,
            &["`u` is always 0.5", "log other values of `u`"],
            &[&networks],
        )
        .with("l.csv", column(2, |_| "0.5".to_owned()))
        .change("l.csv", log(40, 25)),
        own(
            &networks,
            &["[known] says that `x`", "leave `x` to the model"],
            &[&networks],
        )
        .with("t.toml", TASK.to_owned() + wrong)
        .change("t.toml", TASK),
        own(
            &networks,
            &["length 1", "take the pair out of `state.circle`"],
            &[&networks],
        )
        .with("t.toml", circle("circle = [['x', 'v']]\n"))
        .change("t.toml", circle("")),
        own(
            &networks,
            &["the reward is always -2", "expr = \"-2\" under [reward]"],
            &[&networks],
        )
        .with("t.toml", learned.clone())
        .with("l.csv", rewarded)
        .change("t.toml", task(&[("'-x^2'", "\"-2\"")])),
        own(
            &networks,
            &["no rewards", "write the reward as `reward.expr`"],
            &[&networks],
        )
        .with("t.toml", learned)
        .change("t.toml", TASK),
        // Of few recordings nothing is shown, but by the task's word.
        own(
            &networks,
            &["has 1 recording,", "stationary = true before [state]"],
            &[&networks],
        )
        .with("l.csv", few.clone())
        .change("t.toml", format!("stationary = true\n{TASK}"))
        .shows("calibrated: judged"),
        own(
            &networks,
            &["has 1 recording,", "log 38 or more recordings"],
            &[&networks],
        )
        .with("l.csv", few)
        .change("l.csv", log(40, 25))
        .shows("calibrated: judged"),
        own(
            &fit(&format!("{FIT} --withhold 0.97")),
            &["are left for training", "withhold less (--withhold)"],
            &[&less],
        )
        .with("l.csv", log(10, 20)),
        own(
            &networks,
            &["too few", "log 38 or more recordings"],
            &[&networks],
        )
        .with("l.csv", log(12, 25))
        .change("l.csv", log(40, 25))
        .shows("calibrated: judged"),
        own(
            &networks,
            &["warning: ", "wrap = [\"theta\"]"],
            &[&networks],
        )
        .with("t.toml", wheel_task(""))
        .with("l.csv", wheel())
        .change("t.toml", wheel_task("wrap = [\"theta\"]"))
        .shows("calibrated: judged"),
        own(
            &fit("--model gp --norm 1"),
            &["--norm has 1 of 2", "give one for each of x, v"],
            &[&fit("--model gp --norm 1,1 --points 40")],
        ),
        own(
            &fit("--model gp --points 100000 --board stm32f405"),
            &["does not fit", "leave --points out"],
            &[&fit("--model gp --board stm32f405")],
        ),
        own(
            &fit("--board moon"),
            &["moon", "stm32f405"],
            &[&fit(&format!("{FIT} --board stm32f405"))],
        ),
        own(
            &fit(&format!("{FIT} --members 1")),
            &[
                "around one network has no width",
                "give at least 2, or a width with --beta",
            ],
            &[
                &fit(&format!("{FIT} --members 2")),
                &fit(&format!("{FIT} --members 1 --beta 2")),
            ],
        ),
        own(
            &fit("--model bnn --beta theory"),
            &["--beta theory", "give a number, or none"],
            &[&fit(&format!("{FIT} --beta 2")), &networks],
        ),
        own(
            &fit(&format!("{FIT} --withhold 1.5")),
            &["--withhold 1.5", "from 0 to below 1"],
            &[&less],
        ),
        own(
            &fit(&format!("{FIT} --resume")),
            &["no run to resume", "without --resume"],
            &[&networks],
        ),
        own(
            &fit("--steps 300"),
            &["--hidden changes it"],
            &[&fit("--steps 300 --hidden 8,8")],
        ),
        own(
            &fit("--model gp"),
            &["--points changes it"],
            &[&fit("--model gp --points 30")],
        )
        .with("l.csv", log(40, 30)),
        own(
            &networks,
            &[
                "where an episode ends",
                "hambo data convert FILE... log.csv --episode-per-file",
            ],
            &[
                "data convert l.csv l.csv whole.csv --episode-per-file --task t.toml",
                &networks.replace("l.csv", "whole.csv"),
            ],
        )
        .with("l.csv", unmarked()),
        own(
            &networks,
            &["where an episode ends", "add a column `episode`"],
            &[&networks],
        )
        .with("l.csv", unmarked())
        .change("l.csv", log(40, 25)),
        own(
            &fit("--model gp --points 40"),
            &["end at a limit of `x`", "fit networks"],
            &[&networks],
        )
        .with(
            "t.toml",
            task(&[(
                "names = ['x', 'v']",
                "names = ['x', 'v']\nlow = [-9, -9]\nhigh = [1, 9]",
            )]),
        ),
    ]
}
