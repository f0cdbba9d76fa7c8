//! The `hambo` command as a user meets it: good input, bad input, Ctrl-C.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{EXPORT, Folder, POLICY, QUICK, TASK, log};

/// The start of an older model file.
const OLD: &str = "HMBO\u{7}\u{0}\u{4}\u{0}what was there";

#[test]
fn every_kind_of_model_is_fitted_shown_and_exported() {
    let folder = Folder::new("kinds");
    let process = "fit task.toml --data log.csv --model gp --points 60 -o m.hambo";
    let board = process.replace("--points 60", "--board stm32f405");
    let text = folder.done(&board);
    // As the board has room for.
    assert!(text.contains("processes on 340 of 450 rows"), "{text}");
    for fit in [QUICK, &QUICK.replace("bnn", "ensemble"), process] {
        let text = folder.done(fit);
        assert!(
            text.contains("calibrated: judged by") && text.contains("saved m.hambo"),
            "{text}"
        );

        let info = folder.json("model info m.hambo --json");
        assert_eq!(
            info["metadata"]["state_names"],
            serde_json::json!(["x", "v"])
        );
        assert_eq!(info["metadata"]["data"]["rows"], 1000);
        let plain = folder.done("model info m.hambo");
        assert!(plain.contains("claimed"), "{plain}");
        if fit == process {
            for part in [
                "processes on 60 of",
                "information gain g_1",
                "points     bytes",
                "assuming",
            ] {
                assert!(plain.contains(part), "no {part} in {plain}");
            }
            let constants = "--reward-lipschitz 1 --policy-lipschitz 1 --horizon 20";
            assert!(
                folder
                    .done(&format!("model info m.hambo {constants}"))
                    .contains("C_n")
            );
        }
        folder.done("predict m.hambo --data log.csv -o p.csv");
        let table = String::from_utf8(folder.read("p.csv")).unwrap();
        assert_eq!(table.lines().count(), 1001);
        let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let cells: Vec<&str> = table.lines().nth(7).unwrap().split(',').collect();
        let cell = |name: &str| -> f32 {
            let place = header.iter().position(|other| *other == name).unwrap();
            cells[place].parse().unwrap()
        };
        let far = (cell("mean.v") - cell("next.v")).abs();
        assert!(far < 6.0 * cell("epistemic_std.v").hypot(cell("aleatoric_std.v")) + 1e-6);
        let budget = folder.json(&format!("{EXPORT} --json"));
        assert_eq!(budget["flash_bytes"], folder.read("i.hmb").len());
    }
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let folder = Folder::new("seed");
    let fit = |seed: &str, threads: &str| {
        let line = format!("{QUICK} --seed {seed}");
        let output = folder
            .command(&line)
            .env("RAYON_NUM_THREADS", threads)
            .output();
        assert!(output.unwrap().status.success());
        folder.read("m.hambo")
    };
    let one = fit("5", "1");
    assert_eq!(one, fit("5", "2"));
    assert_ne!(one, fit("6", "2"));
}

#[test]
fn bad_input_is_named_and_nothing_is_overwritten() {
    let folder = Folder::new("bad");
    folder.write("m.hambo", OLD);
    let whole = log(40, 25);
    let mut lines: Vec<&str> = whole.lines().collect();
    lines[39] = "0,NaN,0,0,0,1";
    folder.write("nan.csv", &lines.join("\n"));
    folder.write("one.csv", "x,v,u,next.x,next.v\n0,0,0,0.1,0\n");
    let still = whole.lines().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[2] = if cells[2] == "u" { "u" } else { "0.5" };
        cells.join(",")
    });
    folder.write("still.csv", &still.collect::<Vec<_>>().join("\n"));
    folder.write("narrow.csv", "x,u,next.x\n0,0,0\n");
    folder.write("log.dat", "\u{1}\u{2}");
    folder.write("other.toml", &TASK.replace("'x', 'v'", "'x', 'w'"));
    let instead = |from: &str, to: &str| QUICK.replace(from, to);
    let with = |more: &str| format!("{QUICK} {more}");
    let cases: [(String, &[&str]); 15] = [
        (
            instead("log.csv", "nan.csv"),
            &["nan.csv", "line 40", "`v`"],
        ),
        (
            instead("log.csv", "one.csv"),
            &["1 transitions", "at least 10"],
        ),
        (
            instead("log.csv", "still.csv"),
            &["`u`", "always 0.5", "log other values of `u`"],
        ),
        (
            instead("log.csv", "narrow.csv"),
            &["narrow.csv", "`v`", "missing"],
        ),
        (
            instead("log.csv", "none.csv"),
            &["none.csv", "check the path"],
        ),
        (instead("log.csv", "log.dat"), &["log.dat", "not known"]),
        (instead("task.toml", "other.toml"), &["`w`", "missing"]),
        (
            instead("m.hambo", "no/such/m.hambo"),
            &["no/such/m.hambo", "folder"],
        ),
        (instead("bnn", "gp"), &["--hidden", "does not belong"]),
        (with("--kernel rbf"), &["--kernel", "does not belong"]),
        (with("--withhold 1.5"), &["--withhold 1.5"]),
        (with("--validation 0.99"), &["training"]),
        (
            with("--resume"),
            &["m.hambo.checkpoint", "without --resume"],
        ),
        (with("--board z80"), &["z80", "stm32f405"]),
        (with("--bandwidth wide"), &["wide", "median"]),
    ];
    for (line, parts) in cases {
        let text = folder.refused(&line);
        for part in parts {
            assert!(text.contains(part), "{line}: no {part} in: {text}");
        }
        assert_eq!(folder.read("m.hambo"), OLD.as_bytes());
    }
    let text = folder.refused("model info m.hambo");
    assert!(
        text.contains("m.hambo") && text.contains("not a model"),
        "{text}"
    );
}

/// A limit on the size of files fails a write as a full disk does.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = Folder::new("full");
    folder.write("m.hambo", OLD);
    let program = env!("CARGO_BIN_EXE_hambo");
    let script = format!("trap '' XFSZ; ulimit -f 4; exec {program} {QUICK}");
    let mut bash = Command::new("bash");
    let output = bash
        .args(["-c", &script])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("m.hambo"), "{text}");
    assert_eq!(folder.read("m.hambo"), OLD.as_bytes());
    // Task, policy, log and model: nothing half written.
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 4);
}

#[cfg(unix)]
#[test]
fn an_interrupted_fit_resumes_to_the_same_file() {
    let folder = Folder::new("resume");
    let long = QUICK.replace("600", "10000 --validation 0");
    let mut child = folder
        .command(&long)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let deadline = Instant::now() + Duration::from_secs(60);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(Instant::now() < deadline),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(130));
    assert!(!folder.path("m.hambo").exists());
    assert!(folder.path("m.hambo.checkpoint").exists());

    // Of other options it is refused, and stays.
    let other = format!("{} --seed 1 --resume", long);
    assert!(folder.refused(&other).contains("other data or options"));

    folder.done(&format!("{long} --resume"));
    assert!(!folder.path("m.hambo.checkpoint").exists());
    let resumed = folder.read("m.hambo");
    folder.done(&long);
    assert!(resumed == folder.read("m.hambo"));
}

#[test]
fn an_image_that_does_not_fit_is_refused() {
    let folder = Folder::new("fit");
    // Whatever such a model of so few steps says is good enough.
    folder.write("task.toml", &TASK.replace("-50", "-1e9"));
    folder.done(&QUICK.replace("16,16", "200,200").replace("600", "20"));
    let text = folder.refused(EXPORT);
    assert!(
        text.contains("does not fit stm32f405") && text.contains("flash"),
        "{text}"
    );
    assert!(!folder.path("i.hmb").exists());
}

#[test]
fn a_check_says_deploy_reject_or_abstain() {
    let folder = Folder::new("check");
    folder.done(QUICK);
    let code = |line: &str| {
        let output = folder.command(line).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let check = "check task.toml --model m.hambo --policy pd.toml --horizon 8 --effort quick";
    let (status, text) = code(&format!("{check} --threshold -1000"));
    assert!(
        status == Some(0) && text.contains("deploy: lower bound"),
        "{text}"
    );
    let (status, text) = code(&format!("{check} --threshold 1000"));
    assert!(
        status == Some(1) && text.contains("reject: lower bound"),
        "{text}"
    );
    assert!(text.contains("lies below the threshold 1000"), "{text}");
    // The verdict and its reason come first, and no page of tables unless asked.
    assert!(text.starts_with("reject: lower bound"), "{text}");
    assert!(text.lines().count() <= 15, "{text}");
    assert!(!text.contains("what adversaries found"), "{text}");
    let (status, text) = code(&format!("{check} --threshold 1000 --details"));
    assert!(
        status == Some(1) && text.contains("what adversaries found"),
        "{text}"
    );

    // Far from the log.
    folder.write(
        "far.toml",
        &TASK.replace("value = [1, 0]", "value = [90, 0]"),
    );
    let (status, text) = code(&check.replace("task.toml", "far.toml"));
    assert!(status == Some(3) && text.contains("abstain"), "{text}");
    assert!(text.contains("where the log has no states"), "{text}");

    // Without a threshold there is no verdict.
    folder.write("open.toml", &TASK.replace("threshold = -50\n", ""));
    let open = folder.json(&format!(
        "{} --json",
        check.replace("task.toml", "open.toml")
    ));
    assert!(
        open["verdict"].is_null() && open["bound"].is_number(),
        "{open}"
    );

    // But evidence that is unfit is unfit all the same.
    let far = TASK.replace("value = [1, 0]", "value = [90, 0]");
    folder.write("far.toml", &far.replace("threshold = -50\n", ""));
    let far = check.replace("task.toml", "far.toml");
    let (status, text) = code(&format!("{far} --json"));
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &object["verdict"]), (Some(3), &"abstain".into()));
    assert!(object["threshold"].is_null(), "{object}");

    let all = folder.json(&format!("{check} --variant all --threshold -1000 --json"));
    assert_eq!(all["verdict"], "deploy");
    assert_eq!(all["estimates"].as_array().unwrap().len(), 8);
    let lowest = all["estimates"].as_array().unwrap().iter();
    let lowest = lowest.map(|estimate| estimate["lower"].as_f64().unwrap());
    assert_eq!(
        all["bound"].as_f64().unwrap(),
        lowest.fold(f64::INFINITY, f64::min)
    );

    // A focused search takes fewer steps for the same verdict.
    let focused = folder.json(&format!(
        "{check} --variant all --threshold -1000 --allocation focused --json"
    ));
    assert_eq!(
        (&focused["allocation"], &all["allocation"]),
        (&"focused".into(), &"even".into())
    );
    assert_eq!(focused["verdict"], "deploy");
    let steps = |result: &serde_json::Value| result["model_steps"].as_u64().unwrap();
    assert!(2 * steps(&focused) < steps(&all), "{focused}");
    let (_, text) = code(&format!("{check} --threshold -1000 --allocation focused"));
    assert!(text.contains("sweeps, focused"), "{text}");

    // What does not belong together.
    folder.write("other.toml", &TASK.replace("'x', 'v'", "'x', 'w'"));
    let text = folder.refused(&check.replace("task.toml", "other.toml"));
    assert!(text.contains("x, v") && text.contains("x, w"), "{text}");
    folder.done("fit task.toml --data log.csv --model gp --points 40 -o gp.hambo");
    let process = check.replace("m.hambo", "gp.hambo");
    assert!(
        folder
            .refused(&format!("{process} --variant da1"))
            .contains("needs networks")
    );
    let (status, text) = code(&format!("{process} --threshold -1e9"));
    assert!(
        status == Some(0) && text.contains("deploy: lower bound"),
        "{text}"
    );
}

#[test]
fn a_built_in_system_gives_a_log_that_can_be_fitted() {
    let folder = Folder::new("env");
    assert!(folder.done("env list").contains("pendulum"));
    folder.write(
        "swing.toml",
        "kind = 'linear'\ngain = [[0, -8, -2]]\nbias = [0]\n",
    );
    let rollout = "env rollout pendulum --policy swing.toml --episodes 40 --action-noise 0.3";
    let run = folder.json(&format!("{rollout} -o pendulum.csv --json"));
    assert_eq!(run["transitions"], 8000);
    folder.write("pendulum.toml", include_str!("../tasks/pendulum.toml"));
    let fit = QUICK
        .replace("task.toml", "pendulum.toml")
        .replace("log.csv", "pendulum.csv");
    assert!(folder.done(&fit).contains("8000 rows"));
    let check =
        "check pendulum.toml --model m.hambo --policy swing.toml --horizon 5 --effort quick";
    // The task starts from its data.
    assert!(folder.refused(check).contains("--data"));
    let found = folder.json(&format!("{check} --data pendulum.csv --json"));
    assert!(found["bound"].is_number(), "{found}");
    assert!(
        folder
            .refused(&rollout.replace("pendulum", "moon"))
            .contains("point_safety")
    );
}

/// Of its own log a model is held against the withheld episodes alone, of another against all.
#[test]
fn a_backtest_passes_fails_or_has_too_few_episodes() {
    let folder = Folder::new("backtest");
    // Four episodes judge.
    folder.write("log.csv", &log(12, 25));
    folder.done(QUICK);
    let backtest = |data: &str, code: i32| {
        let line = format!("backtest task.toml --model m.hambo --data {data} --json");
        let output = folder.command(&line).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        serde_json::from_str::<serde_json::Value>(&text).unwrap()
    };
    let own = backtest("log.csv", 3);
    assert_eq!(
        (own["withheld_only"].as_bool(), own["episodes"].as_u64()),
        (Some(true), Some(4))
    );
    assert!(
        own["verdict"]["TooFewEpisodes"]["needed"].as_u64() > Some(4),
        "{own}"
    );
    let text = folder
        .command("backtest task.toml --model m.hambo --data log.csv")
        .output();
    let text = String::from_utf8(text.unwrap().stdout).unwrap();
    assert!(text.contains("\nhelp: log more episodes"), "{text}");
    // What `fit` found is kept in the file.
    let info = folder.json("model info m.hambo --json");
    assert_eq!(info["metadata"]["backtest"]["episodes"], 4);
    assert!(
        folder
            .done("model info m.hambo")
            .contains("path in the tube")
    );

    folder.write("more.csv", &log(40, 25));
    let right = backtest("more.csv", 0);
    assert_eq!(
        (right["withheld_only"].as_bool(), &right["verdict"]),
        (Some(false), &"Passed".into())
    );
    // With a controller in the loop; and one that is none.
    folder.write("by.toml", "kind = 'linear'\ngain = [[0, 0]]\nbias = [0]");
    let closed = backtest("more.csv --behaviour by.toml", 0);
    assert_eq!(closed["behaviour"], "by.toml", "{closed}");
    assert!(right["behaviour"].is_null());
    let line = "backtest task.toml --model m.hambo --data more.csv --behaviour none.toml";
    assert!(folder.refused(line).contains("none.toml"));
    // A load in each episode that pushes all the way.
    let lines: Vec<String> = log(40, 25)
        .lines()
        .map(|line| {
            let cells: Vec<f32> = line
                .split(',')
                .filter_map(|cell| cell.parse().ok())
                .collect();
            let [x, v, u, next_x, next_v, episode] = cells[..] else {
                return line.to_owned();
            };
            let load = if episode % 2.0 == 0.0 { 0.1 } else { -0.1 };
            format!("{x},{v},{u},{next_x},{},{episode}", next_v + load)
        })
        .collect();
    folder.write("loaded.csv", &lines.join("\n"));
    let wrong = backtest("loaded.csv", 1);
    assert_eq!(wrong["verdict"]["Failed"]["length"], 1, "{wrong}");
    folder.write("narrow.csv", "x,u,next.x\n0,0,0\n");
    let refused = folder.refused("backtest task.toml --model m.hambo --data narrow.csv");
    assert!(refused.contains("narrow.csv"), "{refused}");
    let refused = folder.refused("backtest task.toml --model m.hambo --data log.csv --delta 2");
    assert!(refused.contains("--delta"), "{refused}");
    // A log that goes through a wall of the task.
    let stop = "[known]\nv = 'clamp(learned.v, -9, 9)'\n[reward]";
    folder.write("task.toml", &TASK.replace("[reward]", stop));
    folder.done(QUICK);
    folder.write("through.csv", &(log(40, 25) + "0,8,1,0.8,9.5,99\n"));
    let refused = folder.refused("backtest task.toml --model m.hambo --data through.csv");
    assert!(refused.contains("`v` becomes 9"), "{refused}");
}

#[test]
fn several_files_count_as_one_log_in_every_command() {
    let folder = Folder::new("several");
    let whole = log(40, 25);
    let lines: Vec<&str> = whole.lines().collect();
    let (header, rows) = lines.split_first().unwrap();
    // Whole episodes, so that no row loses its next one.
    let (first, second) = rows.split_at(5 * 25);
    for (name, rows) in [("1.csv", first), ("2.csv", second)] {
        folder.write(name, &format!("{header}\n{}\n", rows.join("\n")));
    }
    folder.write(
        "task.toml",
        &TASK.replace("'point'\nvalue = [1, 0]", "'data'"),
    );
    folder.done(QUICK);
    let both = |line: &str, output: &str| {
        let mut made = [Vec::new(), Vec::new()];
        for (made, data) in made.iter_mut().zip(["log.csv", "1.csv 2.csv"]) {
            folder.done(&line.replace('@', data));
            *made = folder.read(output);
        }
        made
    };
    let [one, two] = both("predict m.hambo --data @ -o p.csv", "p.csv");
    assert_eq!(one, two);
    assert_eq!(one.split(|byte| *byte == b'\n').count(), 1 + 1000 + 1);
    let [one, two] = both(&format!("{EXPORT} --data @"), "i.hmb");
    assert_eq!(one, two);

    let check = "check task.toml --model m.hambo --policy pd.toml --effort quick --threshold -1e9";
    let runs = both(&format!("{check} --data @ --save run.json"), "run.json");
    let [one, two] = runs.map(|run| serde_json::from_slice::<serde_json::Value>(&run).unwrap());
    assert_eq!(one["result"]["digest"], two["result"]["digest"]);
    assert_eq!(one["paths"], two["paths"]);
    let files = two["inputs"]["files"].as_array().unwrap();
    let logs = files.iter().filter(|file| file["what"] == "log");
    let logs: Vec<&str> = logs.map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(logs, ["1.csv", "2.csv"]);
    // A second file that does not fit is refused by name.
    folder.write("narrow.csv", "x,u,next.x\n0,0,0\n");
    let refused = folder.refused("predict m.hambo --data 1.csv narrow.csv -o q.csv");
    assert!(refused.contains("narrow.csv"), "{refused}");
}

/// The best of bad candidates is not presented as if nothing were wrong.
#[test]
fn improve_says_what_speaks_against_every_controller() {
    let folder = Folder::new("unfit");
    folder.done(QUICK);
    let improve = "improve task.toml --data log.csv --model m.hambo --rounds 1 --rollout 3 \
                   --effort quick --trajectories 4 -o p.onnx";
    let improve = improve.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = |task: &str| {
        folder.write("other.toml", task);
        let line = improve.replace("task.toml", "other.toml");
        (folder.done(&line), folder.json(&format!("{line} --json")))
    };
    let (text, object) = told(&TASK.replace("value = [1, 0]", "value = [90, 0]"));
    assert!(text.contains("no controller can be relied on"), "{text}");
    assert!(text.contains("where the log has no states"), "{text}");
    assert_eq!(object["verdict"], "abstain", "{object}");
    assert_eq!(object["sound_on_the_way"], false, "{object}");

    let constraint = "[[constraint]]\nname = 'never'\nexpr = '-1 - x^2'\n[initial]";
    let short = TASK.replace("horizon = 20", "horizon = 2");
    let (text, object) = told(&short.replace("[initial]", constraint));
    assert!(
        text.contains("no controller keeps every constraint") && text.contains("never"),
        "{text}"
    );
    assert_eq!(object["verdict"], "reject", "{object}");

    let (text, object) = told(&short);
    assert!(!text.contains("no controller"), "{text}");
    assert_eq!(object["sound_on_the_way"], true, "{object}");
}

/// A model that `improve` fits by itself is tested as `fit` tests its own.
#[test]
fn improve_holds_its_own_model_against_withheld_windows() {
    let folder = Folder::new("own-model");
    let improve = "improve task.toml --data log.csv --rounds 1 --rollout 2 --effort quick \
                   --trajectories 4 -o p.onnx --json";
    let improve = improve.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = folder.json(&improve);
    assert_eq!(found["backtest"]["episodes"], 19, "{found}");
    let lengths = found["backtest"]["lengths"].as_array().unwrap();
    assert!(lengths.len() >= 4, "{found}");
    // As of a model that is given.
    folder.done(QUICK);
    let given = folder.json(&format!("{improve} --model m.hambo"));
    assert_eq!(given["backtest"]["episodes"], 19, "{given}");
}

/// All bounds of a table hold together: each controller's margin is that of its share of delta.
#[test]
fn controllers_that_are_compared_share_delta() {
    let folder = Folder::new("compared");
    folder.done(QUICK);
    folder.done("fit task.toml --data log.csv --model gp --points 20 -o gp.hambo");
    folder.write("slow.toml", &POLICY.replace("-1, -1", "-0.5, -1"));
    folder.write("fast.toml", &POLICY.replace("-1, -1", "-1.5, -1.5"));
    let check = |rest: &str| {
        format!("check task.toml --effort quick --trajectories 400 --searched 4 --sweeps 8 {rest}")
    };
    let bounds = |rest: &str| -> Vec<(String, String)> {
        let found = folder.command(&check(&format!("{rest} --json"))).output();
        let text = String::from_utf8(found.unwrap().stdout).unwrap();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let objects = match found {
            serde_json::Value::Array(objects) => objects,
            one => vec![one],
        };
        let bits = objects.iter().map(|one| {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            (text("policy"), text("bound_bits"))
        });
        let mut bits: Vec<_> = bits.collect();
        bits.sort();
        bits
    };
    let names = ["fast.toml", "pd.toml", "slow.toml"];
    let alone = |delta: &str| -> Vec<(String, String)> {
        let one = |name| bounds(&format!("--model m.hambo --policy {name}{delta}"));
        names.into_iter().flat_map(one).collect()
    };
    let all = format!("--model m.hambo --policy {}", names.join(" "));
    let together = bounds(&all);
    assert_eq!(together.len(), 3);
    // The f32 nearest to a third of 0.1.
    let share = format!(" --delta {}", 0.1_f32 / 3.0);
    assert_eq!(together, alone(&share));
    assert_eq!(bounds(&format!("{all} --each")), alone(""));
    assert_ne!(together, alone(""));

    let text = folder.command(&check(&all)).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("hold together with probability 1 \u{2212} 0.1")
            && text.contains("0.016666668 for each"),
        "{text}"
    );
    let object = folder.command(&check(&format!("{all} --json"))).output();
    let found: serde_json::Value = serde_json::from_slice(&object.unwrap().stdout).unwrap();
    assert_eq!(found[0]["controllers"], 3, "{found}");
    assert!((found[0]["delta"].as_f64().unwrap() - 0.1).abs() < 1e-7);
    // The set of a Gaussian process is one event for all: it need not be fitted again.
    let process = all.replace("m.hambo", "gp.hambo");
    assert_eq!(bounds(&process).len(), 3);
    let refused = folder.refused(&check(&format!("--model gp.hambo --policy pd.toml{share}")));
    assert!(refused.contains("fit again with --delta"), "{refused}");
}
