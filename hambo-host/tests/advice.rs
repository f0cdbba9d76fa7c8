//! What a message advises is done, and helps: each row makes a command complain, does what the
//! complaint says of a flag or a key, and runs the command again. It must succeed, or get further.
//!
//! `cargo test --release -p hambo-host --test program advice:: -- --nocapture` prints the table.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;

use crate::common::{Folder, POLICY, TASK, log, scatter};

/// Too short to be good, and long enough to be calibrated.
const FIT: &str = "--hidden 16,16 --steps 600 --learning-rate 0.01";
const QUICK: &str = "--effort quick --searched 4 --sweeps 8";

/// One complaint, and what it advises.
struct Advice {
    /// Files that are there when it complains.
    files: Vec<(&'static str, String)>,
    /// What complains.
    line: String,
    /// Words of the complaint; the last ones are the advice.
    says: Vec<&'static str>,
    /// Files as the advice has them.
    changed: Vec<(&'static str, String)>,
    /// Commands by the advice, the last one that which complained.
    again: Vec<String>,
    /// A word that says that it helped.
    shows: &'static str,
}

fn advice(line: &str, says: &[&'static str], again: &[&str]) -> Advice {
    Advice {
        files: Vec::new(),
        line: line.to_owned(),
        says: says.to_vec(),
        changed: Vec::new(),
        again: again.iter().map(|line| (*line).to_owned()).collect(),
        shows: "",
    }
}

impl Advice {
    fn with(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    fn change(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.changed.push((name, text.into()));
        self
    }

    fn shows(mut self, word: &'static str) -> Self {
        self.shows = word;
        self
    }
}

/// Exit code, and all that is printed.
fn run(folder: &Folder, line: &str) -> (Option<i32>, String) {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let output = folder.command(&words.join(" ")).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn task(change: &[(&str, &str)]) -> String {
    let mut text = TASK.to_owned();
    for (from, to) in change {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// The cart with one more state: a goal, the same in all rows, or by the episode.
fn with_goal(goal: impl Fn(u32) -> f32) -> String {
    let mut text = "x,v,goal,u,next.x,next.v,next.goal,episode\n".to_owned();
    for line in log(12, 25).lines().skip(1) {
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

fn goal_task(more: &str) -> String {
    let changes = [
        ("['x', 'v']", "['x', 'v', 'goal']"),
        ("[1, 0]", "[1, 0, 1]"),
    ];
    task(&changes).replace("'-x^2'", "'-((x - goal)^2)'") + more
}

const KNOWN_GOAL: &str = "[known]\ngoal = \"goal\"\n";
const WITHOUT_GOAL: &str = "[model]\ninputs = [\"x\", \"v\"]\n";

/// One column of the cart's log, changed.
fn column(place: usize, change: impl Fn(&str) -> String) -> String {
    let text = log(12, 25);
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
fn wheel() -> String {
    let (turn, half) = (std::f32::consts::TAU, std::f32::consts::PI);
    let wrap = |x: f32| x - turn * ((x + half) / turn).floor();
    let mut text = "theta,omega,u,next.theta,next.omega,episode\n".to_owned();
    for episode in 0..12 {
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

fn wheel_task(line: &str) -> String {
    let names = format!("names = ['theta', 'omega']\n{line}");
    task(&[("names = ['x', 'v']", &names), ("'-x^2'", "'-omega^2'")])
}

/// Complaints of `hambo fit`.
fn of_fit() -> Vec<Advice> {
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
            .with("l.csv", log(12, 25))
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
    let more = fit(&format!("{FIT} --withhold 0.4"));
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
        .change("l.csv", log(12, 25)),
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
            &["has 1 recording,", "log 5 or more recordings"],
            &[&networks],
        )
        .with("l.csv", few)
        .change("l.csv", log(12, 25))
        .shows("calibrated: judged"),
        own(
            &fit(&format!("{FIT} --withhold 0.97")),
            &["are left for training", "withhold less (--withhold)"],
            &[&less],
        ),
        own(
            &fit(&format!("{FIT} --withhold 0.05")),
            &["too few", "withhold a larger share (--withhold)"],
            &[&more],
        )
        .with("l.csv", log(10, 25))
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
        .with("l.csv", log(16, 30)),
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
        .change("l.csv", log(12, 25)),
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

/// One recording without a word of where it ends.
fn unmarked() -> String {
    let text = log(1, 150);
    let rows = text.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        cells[..3].join(",") + "\n"
    });
    rows.collect()
}

/// Complaints of `hambo check`, of models that are there.
fn of_check() -> Vec<Advice> {
    let check = |rest: &str| {
        let few = if rest.contains("--trajectories") {
            ""
        } else {
            "--trajectories 400"
        };
        format!("check t.toml --policy pd.toml {rest} {QUICK} {few}")
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
            "--model m.hambo --trajectories 10",
            &[
                "10 trajectories cannot show that",
                "give --trajectories 42 or more",
            ],
            &["--model m.hambo --trajectories 42"],
        )
        .with("t.toml", TASK.to_owned() + required),
        own(
            "--model m.hambo --trajectories 10",
            &[
                "10 trajectories cannot show that",
                "ask for less in the task file",
            ],
            &["--model m.hambo --trajectories 10"],
        )
        .with("t.toml", TASK.to_owned() + required)
        .change("t.toml", TASK.to_owned() + &required.replace("0.9", "0.5")),
        own(
            "--model m.hambo --data log.csv",
            &[
                "12 first states of the log cannot show that",
                "kind = \"uniform\", \"gaussian\" or \"point\"",
            ],
            &["--model m.hambo --data log.csv"],
        )
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
            &["--exact: a grid", "and --variant ca"],
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

/// Complaints about logs, and of other commands.
fn of_others() -> Vec<Advice> {
    let plain = |text: &str| {
        let rows = text.lines().map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{},{},{}\n", cells[0], cells[1], cells[2], cells[5])
        });
        rows.collect::<String>()
    };
    let discover = "task new --from l.csv -o new.toml";
    let worst = task(&[(
        "'point'\nvalue = [1, 0]",
        "'worst'\nlow = [0, 0]\nhigh = [1, 1]",
    )]);
    let improve = "improve t.toml --data log.csv --rounds 1 --rollout 2 --trajectories 50 --effort quick -o c.onnx";
    vec![
        advice(
            discover,
            &[
                "no column says which names are states",
                "for example --actions u",
            ],
            &[&format!("{discover} --actions u")],
        )
        .with("l.csv", plain(&log(3, 30))),
        advice(
            discover,
            &["there is no action in it", "give --actions"],
            &[&format!("{discover} --actions v")],
        )
        .with(
            "l.csv",
            "x,v,next.x,next.v,episode\n0,1,1,2,0\n1,2,3,4,0\n3,4,5,6,0\n",
        ),
        advice(
            "data info l.csv",
            &["nothing tells states from actions", "give --task TASK"],
            &["data info l.csv --task task.toml"],
        )
        .with("l.csv", plain(&log(3, 30))),
        advice(
            "data convert l.csv out.npz",
            &["nothing tells its states", "name them with --task TASK"],
            &["data convert l.csv out.npz --task task.toml"],
        )
        .with("l.csv", plain(&log(3, 30))),
        advice(
            "task check t.toml --data wheel.csv",
            &["if it is an angle, write into [state]: wrap = [\"theta\"]"],
            &["task check t.toml --data wheel.csv"],
        )
        .with("wheel.csv", wheel())
        .with("t.toml", wheel_task(""))
        .change("t.toml", wheel_task("wrap = [\"theta\"]")),
        advice(
            "task check t.toml --data few.csv",
            &["always starts there: initial.always = true"],
            &["task check t.toml --data few.csv"],
        )
        .with("t.toml", task(&[("'point'\nvalue = [1, 0]", "'data'")]))
        .change(
            "t.toml",
            task(&[("'point'\nvalue = [1, 0]", "'data'\nalways = true")]),
        ),
        advice(
            "backtest task.toml --model m.hambo --data log.csv",
            &["too few episodes", "give another log with --data"],
            &["backtest task.toml --model m.hambo --data more.csv"],
        )
        .with("more.csv", log(40, 25))
        .shows("passed"),
        advice(
            improve,
            &[
                "starts that are drawn",
                "take kind = \"uniform\" with the same low and high",
            ],
            &[improve],
        )
        .with("t.toml", worst.clone())
        .change("t.toml", worst.replace("worst", "uniform")),
        advice(
            &format!("{improve} --model gp.hambo --variant da1"),
            &["picks among networks", "give --variant ca"],
            &[&format!("{improve} --model gp.hambo --variant ca")],
        )
        .with("t.toml", TASK),
        advice(
            "model info m.hambo --reward-lipschitz 1 --policy-lipschitz 1 --horizon 20",
            &["or fit with --model gp"],
            &["model info gp.hambo --reward-lipschitz 1 --policy-lipschitz 1 --horizon 20"],
        ),
    ]
}

fn folder() -> Folder {
    let folder = Folder::new("advice");
    folder.write("other.toml", &POLICY.replace("-1, -1", "-0.8, -1"));
    folder.write("few.csv", &log(3, 25));
    folder.write("one.csv", &log(1, 300));
    folder.write("one.toml", &format!("stationary = true\n{TASK}"));
    for line in [
        format!("fit task.toml --data log.csv -o m.hambo {FIT}"),
        format!("fit one.toml --data one.csv -o one.hambo {FIT}"),
        format!("fit task.toml --data log.csv -o narrow.hambo {FIT} --members 1 --beta 2"),
        "fit task.toml --data log.csv -o gp.hambo --model gp --points 20".to_owned(),
    ] {
        folder.done(&line);
    }
    folder
}

#[test]
fn what_a_message_advises_helps() {
    let folder = folder();
    let all = [of_fit(), of_check(), of_others()];
    let mut failures = Vec::new();
    let mut count = 0;
    for one in all.iter().flatten() {
        count += 1;
        for (name, text) in &one.files {
            folder.write(name, text);
        }
        let _ = std::fs::remove_file(folder.path("new.toml"));
        let complains = |text: &str| one.says.iter().all(|words| text.contains(words));
        let (code, text) = run(&folder, &one.line);
        println!("{code:?} {}\n    {}", one.line, one.says.last().unwrap());
        if !complains(&text) {
            failures.push(format!(
                "{}\ndoes not say {:?}:\n{text}",
                one.line, one.says
            ));
            continue;
        }
        for (name, text) in &one.changed {
            folder.write(name, text);
        }
        let mut shown = String::new();
        for line in &one.again {
            let (code, text) = run(&folder, line);
            println!("    {code:?} {line}");
            if code == Some(2) || complains(&text) {
                failures.push(format!("{line}\ngets no further:\n{text}"));
            }
            shown = text;
        }
        if !shown.contains(one.shows) {
            failures.push(format!(
                "{:?} shows no {:?}:\n{shown}",
                one.again, one.shows
            ));
        }
    }
    println!("{count} advices");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(count >= 50, "{count}");
}

/// What `hambo task new` writes of a state that never changes is enough: the model is calibrated,
/// and a check of it is about the cart. With the goal among its inputs it walked off to −1e6.
#[test]
fn a_goal_that_never_changes_is_drafted_as_known() {
    let folder = Folder::new("goal");
    folder.write("goal.csv", &with_goal(|_| 1.0));
    folder.write("goals.csv", &with_goal(|episode| 0.1 * episode as f32));
    folder.write("pd3.toml", &POLICY.replace("[[-1, -1]]", "[[-1, -1, 1]]"));
    for (data, inputs) in [("goal.csv", true), ("goals.csv", false)] {
        let task = format!("{data}.toml");
        folder.done(&format!("task new --from {data} -o {task}"));
        let draft = String::from_utf8(folder.read(&task)).unwrap();
        assert!(draft.contains("\ngoal = \"goal\"\n"), "{draft}");
        let written = draft.contains("\ninputs = [\"x\", \"v\"]\n");
        assert_eq!(written, inputs, "{draft}");
        let draft = draft.replace("# expr = \"\"", "expr = \"-((x - goal)^2)\"");
        let draft = draft.replace("# threshold = 0.0", "threshold = -200");
        // The limits that it proposes can be taken.
        let draft = draft.replacen("# low = ", "low = ", 1);
        folder.write(&task, &draft.replacen("# high = ", "high = ", 1));
        let fitted = folder.done(&format!("fit {task} --data {data} -o goal.hambo {FIT}"));
        assert!(fitted.contains("calibrated: judged"), "{fitted}");
        let check = format!(
            "check {task} --model goal.hambo --data {data} --policy pd3.toml --horizon 15 --trajectories 400 --json {QUICK}"
        );
        let (_, text) = run(&folder, &check);
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["verdict"], "deploy", "{found}");
        let neutral = found["neutral"].as_f64().unwrap();
        assert!((-100.0..0.0).contains(&neutral), "{neutral}");
        let assumes = found["assumes"].as_str().unwrap();
        let said = "the dynamics depend on the state through x, v alone";
        assert_eq!(assumes.contains(said), inputs, "{assumes}");
    }
    // No flag keeps such a column.
    let help = folder.done("fit --help");
    assert!(!help.contains("constant"), "{help}");
}
