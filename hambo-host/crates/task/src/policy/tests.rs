//! Good and bad policy files.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::host_policy::HostPolicy;
use crate::task::task_file::TaskFile;
use hambo_core::policy::{Leg, Waypoints};

const CART: &str = r#"
name = "cart"
horizon = 20
[state]
names = ["x", "v"]
[action]
names = ["u"]
low = [-1]
high = [1]
[reward]
expr = "-x^2"
[initial]
kind = "point"
value = [1, 0]
"#;

const PLANE: &str = r#"
name = "plane"
horizon = 20
[state]
names = ["x", "y"]
[action]
names = ["dx", "dy"]
low = [-1, -1]
high = [1, 1]
[reward]
expr = "-x^2"
[initial]
kind = "point"
value = [1, 0]
"#;

const PD: &str = "kind = \"pd\"\nposition = [\"x\"]\nvelocity = [1]\ntarget = [0.5]\nkp = [2]\nkd = [0.25]\nstd = [0.5]";
const LINEAR: &str = "kind = \"linear\"\ngain = [[-2, -0.25]]\nbias = [1]\nstd = [0.5]";
const WAYPOINTS: &str = "kind = \"waypoints\"\nspeed = 0.5\nlegs = [{ target = [0, 1.6], while = \"x\", below = 0 }, { target = [2, 0] }]";

fn task(text: &str) -> TaskFile {
    TaskFile::parse(text, "task.toml").unwrap()
}

#[test]
fn waypoint_files_are_the_papers_controller() {
    let leg = |target, below| Leg {
        target,
        axis: 0,
        below,
    };
    let legs = [leg([0.0, 1.6, 0.0], 0.0), leg([2.0, 0.0, 0.0], f32::MAX)];
    let wanted = Waypoints::new(2, 0.5, &legs).unwrap();
    assert_eq!(
        HostPolicy::parse(WAYPOINTS, "p.toml", &task(PLANE)).unwrap(),
        HostPolicy::Waypoints(wanted)
    );
}

#[test]
fn bad_files_name_the_file_the_key_and_what_to_do() {
    let (cart, plane) = (task(CART), task(PLANE));
    let on_cart = [
        (
            LINEAR,
            "kind = \"linear\"\n",
            "",
            "`kind` is missing",
            "choose",
        ),
        (
            LINEAR,
            "\"linear\"",
            "\"lineer\"",
            "`kind` is \"lineer\"",
            "choose",
        ),
        (LINEAR, "bias", "baias", "baias", "expected one of"),
        (LINEAR, "bias = [1]", "bias = ", "bias = ", "line 3"),
        (
            LINEAR,
            "bias = [1]\n",
            "",
            "`bias` is missing",
            "per action: u",
        ),
        (
            LINEAR,
            "bias = [1]",
            "bias = [1, 2]",
            "`bias` has length 2, not 1",
            "per action",
        ),
        (
            LINEAR,
            "bias = [1]",
            "bias = [nan]",
            "`bias` has NaN",
            "finite",
        ),
        (
            LINEAR,
            "gain = [[-2, -0.25]]\n",
            "",
            "`gain` is missing",
            "one row per action",
        ),
        (
            LINEAR,
            "[[-2, -0.25]]",
            "[[-2], [1]]",
            "`gain` has 2 rows, not 1",
            "row per action",
        ),
        (
            LINEAR,
            "[[-2, -0.25]]",
            "[[-2]]",
            "`gain[0]` has length 1, not 2",
            "x, v",
        ),
        (
            LINEAR,
            "[[-2, -0.25]]",
            "[[1e39, 0]]",
            "`gain[0]` has inf",
            "finite",
        ),
        (
            LINEAR,
            "[[-2, -0.25]]",
            "[-2, 1]",
            "gain",
            "correct this line",
        ),
        (
            LINEAR,
            "std = [0.5]",
            "std = [-1]",
            "`std` has -1",
            "0 or more",
        ),
        (
            LINEAR,
            "std = [0.5]",
            "std = [inf]",
            "`std` has inf",
            "finite",
        ),
        (
            LINEAR,
            "std = [0.5]",
            "std = []",
            "`std` has length 0",
            "per action",
        ),
        (
            LINEAR,
            "std = [0.5]",
            "kp = [1]",
            "`kp` does not belong",
            "remove",
        ),
        (
            PD,
            "\"pd\"",
            "\"constant\"",
            "`position` does not belong",
            "remove",
        ),
        (
            PD,
            "position = [\"x\"]\n",
            "",
            "`position` is missing",
            "by its name",
        ),
        (
            PD,
            "[\"x\"]",
            "[\"z\"]",
            "`position[0]` is \"z\"",
            "x (0), v (1)",
        ),
        (
            PD,
            "[\"x\"]",
            "[0.5]",
            "`position[0]` is 0.5",
            "x (0), v (1)",
        ),
        (PD, "[\"x\"]", "[]", "`position` has length 0", "per action"),
        (
            PD,
            "velocity = [1]",
            "velocity = [2]",
            "`velocity[0]` is 2",
            "v (1)",
        ),
        (
            PD,
            "velocity = [1]",
            "velocity = [-1]",
            "`velocity[0]` is -1",
            "v (1)",
        ),
        (
            PD,
            "velocity = [1]",
            "velocity = [0]",
            "`velocity[0]` is `x`",
            "rate of change",
        ),
        (PD, "kp = [2]\n", "", "`kp` is missing", "per action"),
        (
            PD,
            "kd = [0.25]",
            "kd = [1, 2]",
            "`kd` has length 2",
            "per action",
        ),
        (
            PD,
            "target = [0.5]\nkp = [2]",
            "target = [1e38]\nkp = [1e38]",
            "`target[0]`",
            "smaller",
        ),
        (WAYPOINTS, "", "", "`kind` is \"waypoints\"", "another kind"),
    ];
    let on_plane = [
        (WAYPOINTS, "speed = 0.5\n", "", "`speed` is missing", "step"),
        (
            WAYPOINTS,
            "speed = 0.5",
            "speed = 0",
            "`speed` is 0",
            "above 0",
        ),
        (
            WAYPOINTS,
            "speed = 0.5",
            "speed = inf",
            "`speed` is inf",
            "above 0",
        ),
        (
            WAYPOINTS,
            "speed = 0.5",
            "speed = 1\nstd = [1, 1]",
            "`std` does not",
            "remove",
        ),
        (WAYPOINTS, "legs", "legz", "legz", "expected one of"),
        (
            WAYPOINTS,
            ", while = \"x\"",
            "",
            "`legs[0].while` is missing",
            "while which",
        ),
        (
            WAYPOINTS,
            ", below = 0",
            "",
            "`legs[0].below` is missing",
            "below what",
        ),
        (
            WAYPOINTS,
            "below = 0",
            "below = nan",
            "`legs[0].below` is NaN",
            "finite",
        ),
        (
            WAYPOINTS,
            "\"x\"",
            "\"dx\"",
            "`legs[0].while` is \"dx\"",
            "x (0), y (1)",
        ),
        (
            WAYPOINTS,
            "[2, 0]",
            "[2]",
            "`legs[1].target` has length 1",
            "x, y",
        ),
        (
            WAYPOINTS,
            "[2, 0]",
            "[2, 0], below = 3",
            "`legs[1].below` is on the last",
            "remove",
        ),
        (
            WAYPOINTS,
            "{ target = [2, 0] }",
            "{ goal = 1 }",
            "goal",
            "expected",
        ),
    ];
    let cases = on_cart.iter().map(|case| (case, &cart));
    for ((text, from, to, key, help), task) in cases.chain(on_plane.iter().map(|c| (c, &plane))) {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let Err(error) = HostPolicy::parse(&changed, "robot/p.toml", task) else {
            panic!("{from} -> {to} is accepted");
        };
        let shown = error.to_string();
        for wanted in ["robot/p.toml: ", key, help] {
            assert!(shown.contains(wanted), "{from} -> {to}: {shown}");
        }
    }
    let legs = ["{ target = [0, 0], while = \"x\", below = 0 }"; 9].join(", ");
    for legs in ["", &legs] {
        let text = format!("kind = \"waypoints\"\nspeed = 1\nlegs = [{legs}]");
        let error = HostPolicy::parse(&text, "p.toml", &plane).unwrap_err();
        assert!(error.to_string().contains("give 1 to 8"), "{error}");
    }
    let error = HostPolicy::read("no/such/policy.toml", &plane).unwrap_err();
    assert!(error.to_string().contains("no/such/policy.toml"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}
