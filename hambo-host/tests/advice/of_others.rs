//! What other commands complain about, of logs above all.

use super::logs::{task, wheel, wheel_task};
use super::{Advice, advice};
use crate::common::log;

pub fn of_others() -> Vec<Advice> {
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
            "backtest one.toml --model one.hambo --data one.csv",
            &["too few episodes", "give another log with --data"],
            &["backtest one.toml --model one.hambo --data more.csv"],
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
        .with("t.toml", task(&[])),
        advice(
            "model info m.hambo --reward-lipschitz 1 --policy-lipschitz 1 --horizon 20",
            &["or fit with --model gp"],
            &["model info gp.hambo --reward-lipschitz 1 --policy-lipschitz 1 --horizon 20"],
        ),
    ]
}
