//! A state that never changes, from its log to a verdict.

use super::logs::with_goal;
use super::{FIT, QUICK, run};
use crate::common::{Folder, POLICY};

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
        let draft = draft.replace("# threshold = 0.0", "threshold = -2000");
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
        assert!((-1000.0..0.0).contains(&neutral), "{neutral}");
        let assumes = found["assumes"].as_str().unwrap();
        let said = "the dynamics depend on the state through x, v alone";
        assert_eq!(assumes.contains(said), inputs, "{assumes}");
    }
    // No flag keeps such a column.
    let help = folder.done("fit --help");
    assert!(!help.contains("constant"), "{help}");
}
