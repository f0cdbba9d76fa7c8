//! `[known]`, `circle` and `[model]` as users write them, well and badly.

#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::task::{KnownState, ModelInputs};

use super::task_file::{Initial, TaskFile};

/// A cart with what is given after `[state]` names, after the actions and as the reward.
fn parse(state: &str, sections: &str) -> Result<TaskFile, String> {
    let text = format!(
        "name = 'cart'\nhorizon = 5\n[state]\nnames = ['x', 'v', 'c', 's', 'i', 'last']\n{state}\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n{sections}\n\
         [reward]\nexpr = '-x^2 - next.i'\n[initial]\nkind = 'uniform'\n"
    );
    let starts = match sections.matches("initial =").count() {
        0 => "low = [0, 0, 0, 0, 0, 0]\nhigh = [1, 1, 1, 1, 1, 1]\n",
        1 => "low = [0, 0, 0, 0, 0]\nhigh = [1, 1, 1, 1, 1]\n",
        _ => "low = [0, 0, 0, 0]\nhigh = [1, 1, 1, 1]\n",
    };
    TaskFile::parse(&(text + starts), "cart.toml").map_err(|error| error.to_string())
}

#[test]
fn known_states_stand_in_an_order_in_which_they_can_be_computed() {
    // x reads next.i, which reads next.last.
    let task = parse(
        "circle = [['c', 's']]",
        "[known]\nx = 'x + next.i'\nlast = 'u'\ni = 'i + next.last * next.v'",
    )
    .unwrap();
    let states: Vec<u16> = task.physics.known.iter().map(|known| known.state).collect();
    assert_eq!(states, [5, 4, 0]);
    assert_eq!(task.physics.circles, [[2, 3]]);
    assert_eq!(task.physics.inputs, ModelInputs::States(6));
    assert!(task.memory.is_empty());
    assert_eq!(task.model_view().moved, [1, 2, 3]);
    let written = task.known.iter().map(|line| line.state.as_str());
    assert_eq!(written.collect::<Vec<_>>(), ["x", "i", "last"]);
}

#[test]
fn what_the_log_does_not_have_starts_where_the_task_says() {
    let known = "[known]\ni = { next = 'clamp(i + x, -1, 1)', initial = 0.5 }\n\
                 last = { next = 'u', initial = -1 }";
    let task = parse("", known).unwrap();
    assert_eq!(task.memory, [0.5, -1.0]);
    assert_eq!(task.logged_states(), ["x", "v", "c", "s"]);
    assert_eq!(task.names().states.len(), 4);
    // The model does not see a controller's memory unless it is asked to.
    assert_eq!(task.physics.inputs, ModelInputs::States(4));
    let low = vec![0.0, 0.0, 0.0, 0.0, 0.5, -1.0];
    let high = vec![1.0, 1.0, 1.0, 1.0, 0.5, -1.0];
    assert_eq!(task.initial, Initial::Uniform { low, high });
    let delayed = format!("{known}\n[model]\ninputs = ['v', 'last']");
    assert_eq!(parse("", &delayed).unwrap().features, ["v", "last"]);
}

#[test]
fn a_line_that_reads_its_own_learned_value_corrects_it() {
    let task = parse(
        "circle = [['c', 's']]",
        "[known]\nv = 'if(next.x <= 0, 0, learned.v)'\nx = 'max(learned.x, 0)'\ni = 'u'",
    )
    .unwrap();
    let known: Vec<(u16, bool)> = (task.physics.known.iter())
        .map(|known| (known.state, known.corrects))
        .collect();
    // x before v, which reads it; the model moves both.
    assert_eq!(known, [(0, true), (1, true), (4, false)]);
    let view = task.model_view();
    assert_eq!(view.moved, [0, 1, 2, 3, 5]);
    assert!(task.physics.corrects(1) && !task.physics.knows(1));
    // All of them may be corrected.
    let all = ["x", "v", "c", "s", "i", "last"].map(|name| format!("{name} = 'learned.{name}'"));
    let all = parse("", &format!("[known]\n{}", all.join("\n"))).unwrap();
    assert_eq!(all.model_view().moved.len(), 6);
}

#[test]
fn features_come_first_on_the_tape() {
    let task = parse(
        "",
        "[model]\ninputs = ['v', 'sin(x)', 'v * c']\n[known]\nx = 'x + sin(x) * next.v'",
    )
    .unwrap();
    let ModelInputs::Features(slots) = &task.physics.inputs else {
        panic!("features");
    };
    assert_eq!(slots, &[0, 2, 4]);
    // sin(x) is computed once.
    let known = KnownState {
        state: 0,
        slot: 7,
        corrects: false,
    };
    assert_eq!(task.physics.known, [known]);
    let view = task.model_view();
    assert_eq!(view.ops.len(), 8);
    let seen = view.see(&[0.5, 3.0, 0.25, 0.0, 0.0, 0.0]);
    assert_eq!([seen[0], seen[2]], [3.0, 0.75]);
    assert!((seen[1] - 0.5_f32.sin()).abs() < 1e-6);
}

#[test]
fn what_is_wrong_is_named() {
    for (state, sections, words) in [
        ("", "[known]\ny = 'x'", "`known.y` is no state"),
        ("", "[known]\nx = 3", "which is no expression"),
        ("", "[known]\nx = 'x + y'", "unknown name"),
        ("", "[known]\nx = 'next.i'\ni = 'next.x'", "need each other"),
        ("", "[known]\nx = 'next.x'", "the next values of x need"),
        (
            "",
            "[known]\nx = { next = 'x', initial = 0 }",
            "put such states last",
        ),
        (
            "",
            "[known]\nlast = { next = 'x', initial = inf }",
            "starts at inf",
        ),
        ("", "[known]\nlast = { next = 'x' }", "no number `initial`"),
        (
            "",
            "[known]\nlast = { initial = 0 }",
            "no expression `next`",
        ),
        ("", "[known]\nlast = { now = 'x' }", "the key `now`"),
        (
            "",
            "[known]\nx = '0'\nv = '0'\nc = '0'\ns = '0'\ni = '0'\nlast = '0'",
            "gives all states",
        ),
        ("", "[known]\nx = 'learned.y'", "no state `y`"),
        ("", "[known]\nx = 'learned.u'", "is an action"),
        ("", "[known]\nx = 'max(learned.v, 0)'", "write `next.v`"),
        (
            "",
            "[known]\nv = 'u'\nx = 'learned.x + learned.v'",
            "`learned.v`, which is not its own",
        ),
        (
            "",
            "[known]\nlast = { next = 'learned.last', initial = 0 }",
            "nothing is learned of it",
        ),
        ("", "[known]\nx = 'if(t < 3, 0, learned.x)'", "without t"),
        ("", "[model]\ninputs = ['learned.x']", "under [known] alone"),
        (
            "circle = [['c', 's']]",
            "[known]\nc = 'learned.c'",
            "which [known] gives as well",
        ),
        ("circle = [['c', 'q']]", "", "`q`, which is no state"),
        ("circle = [['c']]", "", "a list of 1 names"),
        ("circle = [['c', 'c']]", "", "a second time"),
        ("circle = [['c', 's'], ['x', 's']]", "", "a second time"),
        (
            "circle = [['c', 's']]\nlow = [-1, -1, -0.5, -1, -1, -1]",
            "",
            "give c the limits -1 and 1",
        ),
        ("wrap = ['c']\ncircle = [['c', 's']]", "", "which wraps"),
        (
            "circle = [['c', 's']]",
            "[known]\ns = '0'",
            "which [known] gives as well",
        ),
        ("", "[model]\ninputs = []", "is empty"),
        ("", "[model]\ninputs = ['u']", "reads an action"),
        ("", "[model]\ninputs = ['next.x']", "reads the next state"),
        ("", "[model]\ninputs = ['x + t']", "reads the step"),
        (
            "",
            "[model]\ninputs = ['2']",
            "does not depend on the state",
        ),
        ("", "[model]\ninputs = ['x', 'x']", "a second time"),
        ("", "[model]\nfeatures = ['x']", "unknown field `features`"),
    ] {
        let error = parse(state, sections).unwrap_err();
        assert!(error.contains(words), "{state} {sections}: {error}");
    }
}
