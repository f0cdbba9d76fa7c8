//! What `hambo check` complains about, with models that are there.

use super::logs::{WITHOUT_GOAL, task};
use super::{Advice, FIT, QUICK, advice};
use crate::common::{TASK, log};

pub fn of_check() -> Vec<Advice> {
    let check = |rest: &str| {
        let few = if rest.contains("--trajectories") {
            ""
        } else {
            "--trajectories 400"
        };
        let quick = if rest.contains("--searched") {
            QUICK.replace("--searched 4 ", "")
        } else {
            QUICK.to_owned()
        };
        format!("check t.toml --policy pd.toml {rest} {quick} {few}")
    };
    let own = |rest: &str, says: &[&'static str], again: &[&str]| {
        let again: Vec<String> = again.iter().map(|rest| check(rest)).collect();
        let again: Vec<&str> = again.iter().map(String::as_str).collect();
        advice(&check(rest), says, &again).with("t.toml", TASK)
    };
    let refit = |options: &str, mut one: Advice| {
        let line = format!("fit t.toml --data log.csv -o new.hambo {options}");
        one.again.insert(0, line);
        one
    };
    let data = task(&[("'point'\nvalue = [1, 0]", "'data'")]);
    let always = data.clone() + "always = true\n";
    let required =
        "[[constraint]]\nname = 'wall'\nexpr = 'x < 9'\nkind = 'always'\nprobability = 0.9\n";
    let with_input = TASK.to_owned() + WITHOUT_GOAL;
    let bounds = |low: &str| task(&[("'-x^2'", &format!("'-x^2'\nlow = {low}\nhigh = 0"))]);
    let stationary = format!("stationary = true\n{TASK}");
    vec![
        refit(
            "--model gp --points 20 --delta 0.01",
            own(
                "--model gp.hambo --delta 0.01",
                &["for delta 0.1", "fit again with --delta 0.01"],
                &["--model new.hambo --delta 0.01"],
            ),
        ),
        refit(
            FIT,
            own(
                "--model m.hambo",
                &["the task says", "fit the model again"],
                &["--model new.hambo"],
            )
            .with("t.toml", with_input.replace("\"v\"", "\"sin(v)\"")),
        ),
        own(
            "--model one.hambo",
            &[
                "calibrated on 1 recording because",
                "write stationary = true before [state]",
            ],
            &["--model one.hambo"],
        )
        .change("t.toml", stationary),
        own(
            "--model gp.hambo --variant da1",
            &[
                "needs networks",
                "choose ca, ds or mean, or fit with --model bnn",
            ],
            &[
                "--model gp.hambo --variant ca",
                "--model gp.hambo --variant ds",
                "--model gp.hambo --variant mean",
                "--model m.hambo --variant da1",
            ],
        ),
        own(
            "--model m.hambo",
            &["starts from its data", "give the log with --data"],
            &["--model m.hambo --data log.csv"],
        )
        .with("t.toml", data.clone()),
        own(
            "--model m.hambo --trajectories 10 --searched 100",
            &[
                "10 trajectories with 100 searched cannot show that",
                "give --trajectories 75 or more",
            ],
            &["--model m.hambo --trajectories 75 --searched 100"],
        )
        .with("t.toml", TASK.to_owned() + required),
        own(
            "--model m.hambo --trajectories 400 --searched 4",
            &[
                "400 trajectories with 4 searched cannot show that",
                "give --searched 47 or more",
            ],
            &["--model m.hambo --trajectories 400 --searched 47"],
        )
        .with("t.toml", TASK.to_owned() + required),
        own(
            "--model m.hambo --trajectories 10 --searched 100",
            &[
                "10 trajectories with 100 searched cannot show that",
                "ask for less in the task file",
            ],
            &["--model m.hambo --trajectories 10 --searched 100"],
        )
        .with("t.toml", TASK.to_owned() + required)
        .change("t.toml", TASK.to_owned() + &required.replace("0.9", "0.5")),
        own(
            "--model m.hambo --data twelve.csv --searched 100",
            &[
                "12 first states of the log cannot show that",
                "kind = \"uniform\", \"gaussian\" or \"point\"",
            ],
            &["--model m.hambo --data log.csv --searched 100"],
        )
        .with("twelve.csv", log(12, 25))
        .with("t.toml", data.clone() + required)
        .change("t.toml", TASK.to_owned() + required),
        own(
            "--model m.hambo --policy other.toml --save run.json",
            &["--save, --report and --plan-csv", "check that one alone"],
            &["--model m.hambo --save run.json"],
        ),
        own(
            "--model m.hambo --policy other.toml",
            &["hold together", "--each judges each by itself"],
            &["--model m.hambo --policy other.toml --each"],
        )
        .shows("each bound by itself"),
        own(
            "--model m.hambo",
            &["no verdict", "give --threshold"],
            &["--model m.hambo --threshold -50"],
        )
        .with("t.toml", task(&[("threshold = -50\n", "")]))
        .shows("threshold -50"),
        own(
            "--model m.hambo",
            &["no verdict", "set one in the task"],
            &["--model m.hambo"],
        )
        .with("t.toml", task(&[("threshold = -50\n", "")]))
        .change("t.toml", TASK)
        .shows("threshold -50"),
        own(
            "--model m.hambo",
            &["Student\u{2019}s t: give bounds of the reward"],
            &["--model m.hambo --trajectories 4000"],
        )
        .change("t.toml", bounds("-4"))
        .shows("margin by betting"),
        own(
            "--model m.hambo",
            &["outside the bounds that the task states", "correct them"],
            &["--model m.hambo"],
        )
        .with("t.toml", bounds("-0.5"))
        .change("t.toml", bounds("-4")),
        own(
            "--model m.hambo --data few.csv",
            &["3 different first states", "initial.always = true"],
            &["--model m.hambo --data few.csv"],
        )
        .with("t.toml", data)
        .change("t.toml", always),
        own(
            "--model m.hambo --variant mean",
            &["bound nothing", "choose --variant ca, da1 or dainf"],
            &[
                "--model m.hambo --variant ca",
                "--model m.hambo --variant da1",
                "--model m.hambo --variant dainf",
            ],
        ),
        own(
            "--model narrow.hambo",
            &[
                "certain of everything",
                "fit at least two networks, or a Gaussian process",
            ],
            &["--model m.hambo", "--model gp.hambo"],
        ),
        own(
            "--model m.hambo",
            &["every estimate and adversary: --details"],
            &["--model m.hambo --details"],
        )
        .shows("what adversaries found"),
        own(
            "--model m.hambo --exact --variant da1",
            &["--exact: a grid", "--variant ca"],
            &["--model m.hambo --exact --variant ca --details"],
        )
        .shows("worst return on a grid"),
        own(
            "--model m.hambo --exact --variant da1",
            &["--exact: a grid", "leave it out"],
            &["--model m.hambo --variant da1"],
        ),
    ]
}
