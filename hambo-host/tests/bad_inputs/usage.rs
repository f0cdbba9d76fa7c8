//! Command lines that contradict themselves, or ask for what cannot be.

use super::{Case, FIT, TASK, plain, with};

pub fn cases() -> Vec<Case> {
    let fit = |name, more: &str, words: &[&'static str]| {
        plain(
            name,
            &format!("{} {more}", FIT.replace('@', "log.csv")),
            words,
        )
    };
    let check = |name, more: &str, words: &[&'static str]| {
        let line = "check task.toml --model m.hambo --policy pd.toml --effort quick";
        plain(name, &format!("{line} {more}"), words)
    };
    // Lipschitz constants of the reward and of the policy, and the horizon.
    let constants = |name, values: &str, words: &[&'static str]| {
        let names = ["--reward-lipschitz", "--policy-lipschitz", "--horizon"];
        let pairs = names.iter().zip(values.split(' '));
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        plain(
            name,
            &format!("model info gp.hambo {}", pairs.join(" ")),
            words,
        )
    };
    vec![
        plain("no command", "", &["Usage"]),
        plain(
            "two controllers and one page",
            "check task.toml --model m.hambo --policy pd.toml good.onnx --report page.html",
            &["--report", "one controller"],
        ),
        plain(
            "two controllers and one run",
            "check task.toml --model m.hambo --policy pd.toml good.onnx --save run.json",
            &["--save", "one controller"],
        ),
        plain(
            "one of two controllers is missing",
            "check task.toml --model m.hambo --policy pd.toml none.toml",
            &["none.toml", "check the path"],
        ),
        plain(
            "a time for no firmware",
            "export m.hambo --task task.toml --policy pd.toml -o out.hmb --firmware-timeout 9",
            &["--firmware"],
        ),
        plain(
            "an image of two controllers",
            "export m.hambo --task task.toml --policy pd.toml good.onnx -o out.hmb",
            &["good.onnx"],
        ),
        plain(
            "a monitor that always stops",
            "monitor task.toml --model m.hambo --data log.csv --alpha 1",
            &["--alpha", "between 0 and 1"],
        ),
        plain(
            "a floor without noise",
            "floor task.toml --model m.hambo --data log.csv -o r.floor --noise-factor 0",
            &["--noise-factor", "above 0"],
        ),
        plain(
            "a floor for a monitor that never stops",
            "floor task.toml --model m.hambo --data log.csv -o r.floor --alpha 0",
            &["--alpha", "between 0 and 1"],
        ),
        with(
            "a monitor of another robot",
            "other.toml",
            TASK.replace("'x', 'v'", "'x', 'w'"),
            "monitor @ --model m.hambo --data log.csv",
            &["x, v", "x, w"],
        ),
        plain("an unknown command", "chekc task.toml", &["chekc", "check"]),
        plain("an unknown option", "env list --loud", &["--loud"]),
        plain(
            "an option is missing",
            "fit task.toml -o out.hambo",
            &["--data"],
        ),
        plain(
            "an output in no folder",
            "fit task.toml --data log.csv -o no/such/m.hambo",
            &["no/such/m.hambo", "folder"],
        ),
        plain(
            "a folder as an output",
            "fit task.toml --data log.csv -o folder.csv",
            &["folder.csv"],
        ),
        fit(
            "options that contradict",
            "--model gp --hidden 8",
            &["--hidden", "does not belong"],
        ),
        fit("a kernel for networks", "--kernel rbf", &["--kernel"]),
        fit(
            "an unknown kernel",
            "--model gp --kernel cubic",
            &["cubic", "matern32"],
        ),
        fit("an unknown board", "--board z80", &["z80", "stm32f405"]),
        fit("a share above 1", "--withhold 1.5", &["--withhold 1.5"]),
        fit("a share that is NaN", "--withhold nan", &["--withhold"]),
        fit("no members", "--members 0", &["`members`", "at least 1"]),
        fit(
            "100 million members",
            "--members 100000000 --hidden 1",
            &["`members`", "at most"],
        ),
        fit(
            "a layer of nothing",
            "--hidden 8,0",
            &["`hidden`", "at least 1"],
        ),
        fit(
            "a negative layer",
            "--hidden -8,8",
            &["--hidden", "'-8'", "negative"],
        ),
        fit(
            "a layer of 4 billion",
            "--hidden 4000000000",
            &["`hidden`", "narrower"],
        ),
        fit(
            "no rows in a batch",
            "--batch 0",
            &["`batch`", "at least 1"],
        ),
        fit(
            "a negative beta",
            "--beta -1",
            &["--beta", "-1", "a positive number or `theory`"],
        ),
        fit(
            "a learning rate that is NaN",
            "--learning-rate nan",
            &["learning"],
        ),
        fit("no points", "--model gp --points 0", &["--points 0"]),
        fit("delta of the set", "--model gp --delta 7", &["--delta 7"]),
        fit(
            "a share below 0",
            "--validation -0.5",
            &["--validation -0.5", "share"],
        ),
        fit(
            "a negative count",
            "--members -1",
            &["--members", "'-1'", "negative"],
        ),
        fit(
            "half a network",
            "--members 1.5",
            &["--members", "whole number"],
        ),
        fit("no updates", "--steps 0", &["`steps`", "at least 1"]),
        fit(
            "a cap of the noise below its floor",
            "--noise-cap 0.001",
            &["`noise_cap`", "above `std_floor`"],
        ),
        fit(
            "a prior that is NaN",
            "--prior-weight nan",
            &["`prior_weight`"],
        ),
        fit("a negative prior", "--prior-weight -1", &["`prior_weight`"]),
        fit(
            "a bandwidth of 0",
            "--bandwidth 0",
            &["`bandwidth`", "positive"],
        ),
        fit(
            "a bandwidth that is NaN",
            "--bandwidth nan",
            &["`bandwidth`"],
        ),
        fit(
            "an endless beta",
            "--beta inf",
            &["--beta", "inf", "a positive number or `theory`"],
        ),
        fit(
            "no descents",
            "--model gp --starts 0",
            &["--starts", "at least 1"],
        ),
        fit(
            "a norm that is NaN",
            "--model gp --norm nan,1",
            &["--norm", "finite"],
        ),
        fit(
            "too few norms",
            "--model gp --norm 1",
            &["--norm has 1 of 2 bounds", "x, v"],
        ),
        fit(
            "a negative norm",
            "--model gp --norm -1,1",
            &["--norm", "negative"],
        ),
        fit(
            "a negative seed",
            "--seed -1",
            &["'-1'", "--seed", "not negative"],
        ),
        fit(
            "a seed that is too large",
            "--seed 18446744073709551616",
            &["--seed", "too large"],
        ),
        fit(
            "100 million threads",
            "--threads 100000000",
            &["--threads 100000000", "1024"],
        ),
        fit("no threads", "--threads 0", &["--threads", "at least 1"]),
        fit(
            "nothing to resume",
            "--resume",
            &["out.hambo.checkpoint", "--resume"],
        ),
        check("delta 0 on the line", "--delta 0", &["--delta 0"]),
        check("delta 2 on the line", "--delta 2", &["--delta 2"]),
        check("delta that is NaN", "--delta NaN", &["--delta NaN"]),
        check("horizon 0 on the line", "--horizon 0", &["--horizon 0"]),
        check("4 billion steps", "--horizon 4294967295", &["horizon"]),
        check(
            "a threshold that is NaN on the line",
            "--threshold NaN",
            &["--threshold"],
        ),
        check("no trajectories", "--trajectories 0", &["--trajectories 0"]),
        check(
            "4 billion trajectories",
            "--trajectories 4294967295",
            &["--trajectories 4294967295"],
        ),
        plain(
            "an image without trajectories",
            "export m.hambo --task task.toml --policy pd.toml --trajectories 0 -o out.hmb",
            &["--trajectories 0"],
        ),
        check("negative sweeps", "--sweeps -1", &["--sweeps", "negative"]),
        check("a negative horizon", "--horizon -3", &["--horizon", "'-3'"]),
        check(
            "negative trajectories",
            "--trajectories -16",
            &["--trajectories", "'-16'", "negative"],
        ),
        check(
            "an endless threshold",
            "--threshold inf",
            &["--threshold", "finite"],
        ),
        check(
            "a negative seed of a check",
            "--seed -1",
            &["--seed", "'-1'"],
        ),
        check("an unknown variant", "--variant best", &["best", "dainf"]),
        plain(
            "members of a Gaussian process",
            "check task.toml --model gp.hambo --policy pd.toml --variant da1",
            &["needs networks"],
        ),
        plain(
            "an image in no folder",
            "export m.hambo --task task.toml --policy pd.toml -o no/i.hmb",
            &["no/i.hmb"],
        ),
        plain(
            "a firmware that is no firmware",
            "export m.hambo --task task.toml --policy pd.toml --firmware log.csv -o out.hmb",
            &["log.csv"],
        ),
        plain(
            "an unknown system",
            "env rollout moon --policy pd.toml",
            &["moon", "pendulum"],
        ),
        plain(
            "no episodes",
            "env rollout point_safety --policy pd.toml --episodes 0",
            &["--episodes 0"],
        ),
        plain(
            "negative noise",
            "env rollout point_safety --policy pd.toml --action-noise -1",
            &["--action-noise", "negative"],
        ),
        plain(
            "noise that is NaN",
            "env rollout point_safety --policy pd.toml --action-noise nan",
            &["--action-noise"],
        ),
        plain(
            "no episodes after the training",
            "env train pendulum --episodes 0 -o out.onnx",
            &["--episodes", "at least 1"],
        ),
        plain(
            "a policy for another system",
            "env rollout pendulum --policy pd.toml",
            &["gain[0]", "length 2"],
        ),
        plain(
            "no steps of training",
            "env train pendulum --steps 0 -o out.onnx",
            &["--steps"],
        ),
        plain(
            "no rounds",
            "improve task.toml --data log.csv --rounds 0 -o out.onnx",
            &["--rounds 0"],
        ),
        plain(
            "no steps of a rollout",
            "improve task.toml --data log.csv --rollout 0 -o out.onnx",
            &["--rollout 0"],
        ),
        plain(
            "an improvement without trajectories",
            "improve task.toml --data log.csv --trajectories 0 -o out.onnx",
            &["--trajectories 0"],
        ),
        plain(
            "an improvement by 4 billion trajectories",
            "improve task.toml --data log.csv --trajectories 4294967295 -o out.onnx",
            &["--trajectories 4294967295"],
        ),
        constants(
            "a constant that is NaN",
            "nan 1 20",
            &["--reward-lipschitz", "finite"],
        ),
        constants(
            "a constant that is infinite",
            "1 inf 20",
            &["--policy-lipschitz", "finite"],
        ),
        constants(
            "a negative constant",
            "-1 1 20",
            &["--reward-lipschitz", "'-1'"],
        ),
        constants(
            "a theorem about no step",
            "1 1 0",
            &["--horizon", "at least 1"],
        ),
        plain(
            "a bench without rounds",
            "bench --rounds 0",
            &["--rounds", "at least 1"],
        ),
        plain(
            "a bench of nothing",
            "bench --only walks",
            &["\"walks\"", "rollouts with random weights"],
        ),
        with(
            "starts from a log that is not given",
            "data.toml",
            TASK.replace("'point'\nvalue = [1, 0]", "'data'"),
            "check @ --model m.hambo --policy pd.toml",
            &["--data"],
        ),
    ]
}
