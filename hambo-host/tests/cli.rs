//! The command around its work: exit codes, contradictions, settings, traces, pages.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::process::Output;

use crate::common::{EXPORT, Folder, QUICK, TASK};

const PROCESS: &str = "fit task.toml --data log.csv --model gp --points 40 -o gp.hambo";
const CHECK: &str = "check task.toml --model m.hambo --policy pd.toml --horizon 4 --effort quick";

/// Exit code, what it prints and what it says beside.
fn run(folder: &Folder, line: &str) -> (i32, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = folder.command(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// As with `| head`: no message, and no code that means a verdict.
#[test]
fn a_reader_who_has_gone_is_not_told() {
    let folder = Folder::new("pipe");
    for line in ["env list", "data info log.csv"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = folder.command(line).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{line}");
        assert!(output.stderr.is_empty(), "{line}");
    }
}

/// 130 is in `command.rs`, with what an interrupted fit leaves.
#[test]
fn every_exit_code_means_one_thing() {
    let folder = Folder::new("codes");
    folder.done(QUICK);
    folder.write("far.toml", &TASK.replace("[1, 0]", "[90, 0]"));
    folder.write("wrong.toml", &TASK.replace("-x^2", "-x^"));
    let with_rewards = |value: &str| {
        let log = String::from_utf8(folder.read("log.csv")).unwrap();
        let lines = log.lines().enumerate().map(|(number, line)| match number {
            0 => format!("{line},reward\n"),
            _ => format!("{line},{value}\n"),
        });
        lines.collect::<String>()
    };
    folder.write("rewarded.csv", &with_rewards("7"));
    let check = |more: &str| format!("{CHECK} {more}");
    let cases = [
        (check("--threshold -1000"), 0, "deploy: "),
        (check("--threshold 1000"), 1, "reject: "),
        (CHECK.replace("task.toml", "far.toml"), 3, "abstain: "),
        (
            "task check task.toml --data log.csv".to_owned(),
            0,
            "good practice",
        ),
        (
            "task check task.toml --data rewarded.csv".to_owned(),
            1,
            "another reward",
        ),
        ("--version".to_owned(), 0, "hambo 0"),
        ("fit --help".to_owned(), 0, "Example: hambo fit"),
        (CHECK.replace("task.toml", "wrong.toml"), 2, "reward.expr"),
        (CHECK.replace("m.hambo", "none.hambo"), 2, "none.hambo"),
        (check("--no-such-flag"), 2, "--no-such-flag"),
        ("frobnicate".to_owned(), 2, "frobnicate"),
        (EXPORT.replace("i.hmb", "no/i.hmb"), 2, "no/i.hmb"),
    ];
    for (line, code, part) in cases {
        let (found, out, error) = run(&folder, &line);
        assert_eq!(found, code, "{line}: {out}{error}");
        // Results go to stdout, complaints to stderr, never both.
        let (told, silent) = if code == 2 {
            (error, out)
        } else {
            (out, error)
        };
        assert!(told.contains(part), "{line}: no {part} in: {told}");
        assert_eq!(silent, "", "{line}");
        assert!(!told.contains('\x1b'), "{line}: colours in a pipe: {told}");
    }
}

#[test]
fn contradictions_are_refused_with_a_remedy() {
    let folder = Folder::new("contradictions");
    folder.done(QUICK);
    folder.done(PROCESS);
    let fit = |more: &str| format!("{QUICK} {more}");
    let process = |more: &str| format!("{} {more}", PROCESS.replace("--points 40", ""));
    let process = |more: &str| process(more).replace("  ", " ");
    let gp = CHECK.replace("m.hambo", "gp.hambo");
    let improve = "improve task.toml --data log.csv -o better.onnx";
    let cases: [(String, &[&str]); 16] = [
        (
            format!("--quiet --verbose {CHECK}"),
            &["--quiet and --verbose"],
        ),
        // Before and after the subcommand, too.
        (format!("-q {CHECK} -v"), &["--quiet and --verbose"]),
        (fit("--resume"), &["m.hambo.checkpoint", "without --resume"]),
        (format!("{improve} --resume"), &["better.onnx.checkpoint"]),
        (process("--resume"), &["--resume", "does not belong"]),
        (process("--hidden 8"), &["--hidden", "does not belong"]),
        (fit("--points 10"), &["--points", "does not belong"]),
        (fit("--norm 1,1"), &["--norm", "does not belong"]),
        (
            process("--board stm32f405 --points 5000"),
            &["--points 5000", "--board stm32f405", "room for"],
        ),
        (process("--board z80"), &["z80", "stm32f405"]),
        (
            format!("{gp} --variant da1"),
            &["--variant", "needs networks"],
        ),
        (
            format!("{improve} --variant da1 --model gp.hambo"),
            &["--variant da1", "gp.hambo"],
        ),
        (
            "model info m.hambo --reward-lipschitz 1 --policy-lipschitz 1 --horizon 5".to_owned(),
            &["C_n", "--model gp"],
        ),
        (
            "model info gp.hambo --policy-lipschitz 1".to_owned(),
            &["--reward-lipschitz"],
        ),
        (
            "data convert log.csv log.npz --layout minari".to_owned(),
            &["--layout minari", ".hdf5"],
        ),
        (format!("{CHECK} --threads 0"), &["--threads", "0"]),
    ];
    for (line, parts) in cases {
        let text = folder.refused(&line);
        for part in parts {
            assert!(text.contains(part), "{line}: no {part} in: {text}");
        }
    }
}

#[test]
fn settings_are_defaults_and_flags_win() {
    let folder = Folder::new("settings");
    folder.done(QUICK);
    let seed = |line: &str| folder.json(&format!("{line} --json"));
    folder.write("task.toml", &TASK.replace("threshold = -50\n", ""));
    assert_eq!(seed(CHECK)["seed"], 0);
    // The user's folder, then the current one, then the named one.
    std::fs::create_dir_all(folder.path("configuration/hambo")).unwrap();
    folder.write("configuration/hambo/hambo.toml", "seed = 3\n");
    assert_eq!(seed(CHECK)["seed"], 3);
    folder.write(
        "hambo.toml",
        "seed = 4\ntrajectories = 8\ndelta = 0.25\nthreads = 1\n",
    );
    let found = seed(CHECK);
    assert_eq!(
        (&found["seed"], &found["trajectories"]),
        (&4.into(), &8.into())
    );
    assert_eq!(found["delta"], 0.25);
    folder.write("other.toml", "seed = 5\neffort = \"quick\"\n");
    let found = seed(&format!(
        "{} --config other.toml",
        CHECK.replace(" --effort quick", "")
    ));
    assert_eq!(
        (&found["seed"], &found["trajectories"]),
        (&5.into(), &4000.into())
    );
    assert_eq!(found["effort"], "quick");
    // Flags win, and the help tells the default.
    let found = seed(&format!("{CHECK} --seed 6 --delta 0.5"));
    assert_eq!((&found["seed"], &found["delta"]), (&6.into(), &0.5.into()));
    assert!(folder.done("fit --help").contains("[default: 4]"));

    // What is wrong is shown where it is; help still comes.
    for (text, parts) in [
        (
            "seed = 1\nsead = 2\n",
            ["hambo.toml", "line 2", "`sead`", "^"],
        ),
        ("effort = 3\n", ["hambo.toml", "line 1", "effort = 3", "^"]),
        (
            "\ntrajectories = 0\n",
            ["hambo.toml", "line 2", "trajectories = 0", "^"],
        ),
    ] {
        folder.write("hambo.toml", text);
        let error = folder.refused(CHECK);
        for part in parts.into_iter().chain(["help: "]) {
            assert!(error.contains(part), "no {part} in: {error}");
        }
        assert!(folder.done("check --help").contains("Example: "));
    }
    let error = folder.refused(&format!("{CHECK} --config none.toml"));
    assert!(
        error.contains("none.toml") && error.contains("help: "),
        "{error}"
    );
}

/// In the settings, the task and on the command line alike; half of it is the model's.
#[test]
fn delta_is_the_total_wherever_it_is_given() {
    let folder = Folder::new("delta");
    let fitted = |more: &str| {
        let object = folder.json(&format!("{PROCESS} --starts 1 --json{more}"));
        let metadata = &object["metadata"];
        let theory = &metadata["training"]["GaussianProcess"]["theory"];
        [&metadata["delta"], &theory["delta"]].map(|delta| delta.as_f64())
    };
    // The task's is 0.1.
    assert_eq!(fitted(""), [Some(0.1), Some(0.05)]);
    assert_eq!(fitted(" --delta 0.2"), [Some(0.2), Some(0.1)]);
    folder.write("hambo.toml", "delta = 0.04\n");
    assert_eq!(fitted(""), [Some(0.04), Some(0.02)]);
    assert_eq!(fitted(" --delta 0.3"), [Some(0.3), Some(0.15)]);
    // A beta that is given depends on no delta.
    assert_eq!(fitted(" --beta 3")[0], None);
    std::fs::remove_file(folder.path("hambo.toml")).unwrap();

    // A check may ask for as much as the set was made for, and for less than that of none.
    fitted("");
    let check = CHECK.replace("m.hambo", "gp.hambo");
    let delta = |more: &str| {
        folder.json(&format!("{check} --threshold -1e9 --json{more}"))["delta"].clone()
    };
    assert_eq!(delta(""), 0.1);
    assert_eq!(delta(" --delta 0.1"), 0.1);
    assert_eq!(delta(" --delta 0.25"), 0.25);
    folder.write("strict.toml", &TASK.replace("delta = 0.1", "delta = 0.05"));
    let export = EXPORT.replace("m.hambo", "gp.hambo");
    for line in [
        format!("{check} --delta 0.05"),
        check.replace("task.toml", "strict.toml"),
        export.replace("task.toml", "strict.toml"),
        "improve strict.toml --data log.csv --model gp.hambo --rounds 1 -o p.onnx".to_owned(),
    ] {
        let error = folder.refused(&line);
        for part in [
            "fitted for delta 0.1",
            "delta 0.05",
            "help: fit again with --delta 0.05",
        ] {
            assert!(error.contains(part), "{line}: no {part} in: {error}");
        }
    }
    // The set of networks is as wide for every delta.
    folder.done(QUICK);
    let found = folder.json(&format!("{CHECK} --threshold -1e9 --delta 0.01 --json"));
    assert_eq!(found["delta"], 0.01);
}

#[test]
fn a_trace_goes_to_stderr_and_only_when_asked_for() {
    let folder = Folder::new("trace");
    let plain = folder.done(QUICK);
    let (code, out, trace) = run(&folder, &format!("{QUICK} --verbose"));
    assert_eq!((code, out), (0, plain.clone()));
    for part in [
        "task.toml",
        "log.csv",
        "rows=1000",
        "train",
        "calibrate",
        "time.busy",
    ] {
        assert!(trace.contains(part), "no {part} in: {trace}");
    }
    assert!(!trace.contains('\x1b'), "{trace}");
    let mut chosen = folder.command(QUICK);
    let output = chosen.env("RUST_LOG", "hambo_data=info").output();
    let trace = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(
        trace.contains("log.csv") && !trace.contains("calibrate"),
        "{trace}"
    );
    assert_eq!(folder.done(&format!("{QUICK} --quiet --threads 2")), plain);
}

#[test]
fn errors_of_task_and_policy_point_at_the_place() {
    let folder = Folder::new("carets");
    folder.done(QUICK);
    for (file, text, parts) in [
        (
            "task.toml",
            TASK.replace("horizon = 20", "horizon = 'long'"),
            ["task.toml", "line 2", "horizon = 'long'"],
        ),
        (
            "task.toml",
            TASK.replace("delta", "dleta"),
            ["task.toml", "line 3", "`dleta`"],
        ),
        (
            "task.toml",
            TASK.replace("-x^2", "-y^2"),
            ["task.toml", "reward.expr", "-y^2"],
        ),
        (
            "pd.toml",
            "kind = 'linear'\ngain = [[-1, 'one']]\nbias = [0]\n".to_owned(),
            ["pd.toml", "line 2", "'one'"],
        ),
    ] {
        let good = String::from_utf8(folder.read(file)).unwrap();
        folder.write(file, &text);
        let error = folder.refused(CHECK);
        for part in parts.into_iter().chain(["^", "help: "]) {
            assert!(error.contains(part), "no {part} in: {error}");
        }
        folder.write(file, &good);
    }
}

#[test]
fn shells_and_man_know_every_subcommand() {
    let folder = Folder::new("manual");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.done(&format!("completions {shell}"));
        for word in ["trajectories", "convert"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    assert!(folder.refused("completions tcsh").contains("powershell"));
    assert!(folder.done("man -o pages/man1").contains("pages in"));
    for page in ["hambo", "hambo-check", "hambo-task-new", "hambo-env-train"] {
        let page = folder.read(&format!("pages/man1/{page}.1"));
        assert!(String::from_utf8(page).unwrap().contains("Example: hambo"));
    }
    assert!(folder.refused("man -o task.toml").contains("folder"));
}

/// The terminal is that of `script`, which util-linux brings.
#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_terminals_without_no_color() {
    let folder = Folder::new("colours");
    let program = env!("CARGO_BIN_EXE_hambo");
    let on_a_terminal = |no_color: &str| {
        let mut script = std::process::Command::new("script");
        let line = format!("{program} model info none.hambo");
        let script = script.args(["-qec", &line, "/dev/null"]);
        let script = script.current_dir(&folder.0).env("TERM", "xterm");
        let output = script.env("NO_COLOR", no_color).output();
        let output = output.expect("`script` of util-linux gives a terminal: install it");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // The command's own exit code.
        assert_eq!(output.status.code(), Some(2), "{text}");
        text
    };
    let coloured = on_a_terminal("");
    assert!(
        coloured.contains("\x1b[") && coloured.contains("none.hambo"),
        "{coloured}"
    );
    let plain = on_a_terminal("1");
    assert!(
        !plain.contains('\x1b') && plain.contains("none.hambo"),
        "{plain}"
    );
}

/// What no check changes the floor refuses before the check, which this controller does not pass.
#[test]
fn a_floor_refuses_effort_before_the_check() {
    let folder = Folder::new("floor-effort");
    folder.done(QUICK);
    let said = folder.done("floor task.toml --model m.hambo --data log.csv -o r.floor");
    // That of five networks, or wider: the square root of four.
    let width = said.split("its set must be at least ").nth(1);
    let width = width.and_then(|rest| rest.split(' ').next()?.parse::<f32>().ok());
    assert!(width.is_some_and(|width| width >= 2.0), "{said}");
    folder.write(
        "strict.toml",
        &TASK.replace("threshold = -50", "threshold = 5"),
    );
    let export = EXPORT.replace("task.toml", "strict.toml") + " --effort quick --floor r.floor";
    let error = folder.refused(&format!("{export} --device-trajectories 50"));
    assert!(error.contains("see --device-trajectories"), "{error}");
    // A longer horizon is another question.
    folder.write("longer.toml", &TASK.replace("horizon = 20", "horizon = 21"));
    let longer = EXPORT.replace("task.toml", "longer.toml") + " --effort quick --floor r.floor";
    let error = folder.refused(&longer);
    assert!(error.contains("its horizon is not the robot's"), "{error}");
    // With the robot's effort it is the check that refuses.
    let error = folder.refused(&export);
    assert!(!error.contains("see --device-trajectories"), "{error}");
}

/// What drives is watched: without a time step nothing drives.
#[test]
fn a_floor_asks_for_a_monitor_where_something_drives() {
    let folder = Folder::new("floor-monitor");
    folder.done(QUICK);
    let floor = "floor task.toml --model m.hambo --data log.csv -o r.floor";
    let said = folder.done(floor);
    assert!(!said.contains("its monitor may take"), "{said}");
    assert!(said.contains("its noise must be at most 2 times"), "{said}");
    folder.write(
        "task.toml",
        &TASK.replace("delta", "time_step = 0.05\ndelta"),
    );
    let said = folder.done(&format!("{floor} --alpha 0.02 --noise-factor 3"));
    assert!(said.contains("alpha at least 0.02 (--alpha)"), "{said}");
    assert!(said.contains("at most 3 times"), "{said}");
    // The default alpha of an export is 0.01.
    folder.write(
        "strict.toml",
        &TASK
            .replace("delta", "time_step = 0.05\ndelta")
            .replace("-50", "5"),
    );
    let export = EXPORT.replace("task.toml", "strict.toml") + " --effort quick --floor r.floor";
    let error = folder.refused(&export);
    assert!(error.contains("waits for more evidence"), "{error}");
    // Then it is the check that refuses.
    let error = folder.refused(&format!("{export} --alpha 0.02"));
    assert!(!error.contains("the robot's floor"), "{error}");
}
