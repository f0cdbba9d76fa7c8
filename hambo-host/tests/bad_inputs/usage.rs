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
    vec![
        plain("no command", "", &["Usage"]),
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
            "a layer of 4 billion",
            "--hidden 4000000000",
            &["`hidden`", "narrower"],
        ),
        fit(
            "no rows in a batch",
            "--batch 0",
            &["`batch`", "at least 1"],
        ),
        fit("a negative beta", "--beta -1", &["--beta -1"]),
        fit(
            "a learning rate that is NaN",
            "--learning-rate nan",
            &["learning"],
        ),
        fit("no points", "--model gp --points 0", &["--points 0"]),
        fit("delta of the set", "--model gp --delta 7", &["--delta 7"]),
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
        with(
            "starts from a log that is not given",
            "data.toml",
            TASK.replace("'point'\nvalue = [1, 0]", "'data'"),
            "check @ --model m.hambo --policy pd.toml",
            &["--data"],
        ),
    ]
}
