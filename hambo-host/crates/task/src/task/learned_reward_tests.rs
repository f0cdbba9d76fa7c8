//! What becomes of a task, and what is refused.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::task::expression::{Comparison, Inputs};

use super::learned_reward::RETURN_SO_FAR;
use super::task_file::{Initial, TaskFile};
use hambo_base::random::Random;

fn parse(reward: &str, initial: &str) -> Result<TaskFile, String> {
    let text = format!(
        "name = 'cart'\nhorizon = 5\n[state]\nnames = ['x', 'v']\nlow = [-1, -2]\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\n{reward}\n\
         [[constraint]]\nname = 'slow'\nexpr = '1 - abs(v)'\n[initial]\n{initial}\n"
    );
    TaskFile::parse(&text, "cart.toml").map_err(|error| error.to_string())
}

/// The reward of a step in which the return so far goes from 2 to this.
fn reward(task: &TaskFile, after: f32) -> f32 {
    let program = task.program().unwrap();
    let mut values = vec![[0.0]; program.len()];
    let inputs = Inputs {
        state: &[[0.5], [0.25], [2.0]],
        action: &[[0.0]],
        next: &[[0.5], [0.25], [after]],
        step: 0.0,
    };
    program.evaluate(Comparison::Exact, inputs, &mut values);
    values[usize::from(task.reward.slot())][0]
}

#[test]
fn the_task_gets_a_state_that_starts_at_nothing() {
    let task = parse("learned = true", "kind = 'point'\nvalue = [0.5, 0]").unwrap();
    assert_eq!(task.state_names, ["x", "v", RETURN_SO_FAR]);
    assert_eq!(task.names().states, ["x", "v"]);
    assert_eq!(task.state_low, Some(vec![-1.0, -2.0, f32::NEG_INFINITY]));
    assert_eq!(task.state_high, None);
    assert_eq!(task.initial, Initial::Point(vec![0.5, 0.0, 0.0]));
    assert_eq!(reward(&task, 1.5), -0.5);
    // The constraint is the same expression as before.
    assert_eq!(task.constraints.len(), 1);
    let uniform = parse(
        "learned = true",
        "kind = 'uniform'\nlow = [0, 0]\nhigh = [1, 1]",
    );
    let expected = Initial::Uniform {
        low: vec![0.0; 3],
        high: vec![1.0, 1.0, 0.0],
    };
    assert_eq!(uniform.unwrap().initial, expected);
    let gaussian = parse(
        "learned = true",
        "kind = 'gaussian'\nmean = [1, 1]\nstd = [1, 1]",
    );
    let expected = Initial::Gaussian {
        mean: vec![1.0, 1.0, 0.0],
        std: vec![1.0, 1.0, 0.0],
    };
    assert_eq!(gaussian.unwrap().initial, expected);
}

#[test]
fn bounds_of_the_reward_hold_for_the_learned_one() {
    let task = parse("learned = true\nlow = -1\nhigh = 0", "kind = 'data'").unwrap();
    // With as much room again below, for the noise.
    assert_eq!(task.reward_bounds, Some([-2.0, 0.0]));
    assert_eq!(
        [1.5, -7.0, 3.0].map(|after| reward(&task, after)),
        [-0.5, -2.0, 0.0]
    );
}

/// Symmetric noise around any reward within the stated bounds never raises the mean.
#[test]
fn noise_does_not_raise_a_reward_near_its_lower_bound() {
    let task = parse("learned = true\nlow = -1\nhigh = 0", "kind = 'data'").unwrap();
    for mean in [-1.0, -0.9, -0.5, 0.0] {
        for std in [0.01, 0.1, 0.5, 2.0] {
            let random = &mut Random::new(3, 0);
            let pairs = 20_000;
            let sum: f64 = (0..pairs)
                .map(|_| {
                    let noise = std * random.normal();
                    let [above, below] =
                        [noise, -noise].map(|noise| reward(&task, 2.0 + mean + noise));
                    f64::from(above) + f64::from(below)
                })
                .sum();
            let found = sum / (2.0 * f64::from(pairs));
            assert!(found <= f64::from(mean) + 1e-5, "{mean} ± {std}: {found}");
        }
    }
}

#[test]
fn it_is_learned_or_computed() {
    let error = parse("learned = true\nexpr = '-x'", "kind = 'data'").unwrap_err();
    assert!(error.contains("cart.toml: `reward.learned`"), "{error}");
    assert!(error.contains("remove one of them"), "{error}");
    let error = parse("learned = false", "kind = 'data'").unwrap_err();
    assert!(error.contains("`reward.expr` is missing"), "{error}");
    let task = parse("learned = false\nexpr = '-x'", "kind = 'data'").unwrap();
    assert!(!task.learns_reward());
    assert_eq!(task, parse("expr = '-x'", "kind = 'data'").unwrap());
    // Nobody can name the state.
    let error = parse(
        "learned = true\n[termination]\nexpr = 'return > 1'",
        "kind = 'data'",
    );
    assert!(error.is_err());
}

#[test]
fn a_full_tape_has_no_room_for_it() {
    // Each term is one operation more; three are needed at the end.
    let errors: Vec<String> = (100..140)
        .filter_map(|terms| {
            let sum = vec!["x"; terms].join(" + ");
            let reward = format!("learned = true\n[termination]\nexpr = '{sum} > 0'");
            parse(&reward, "kind = 'data'").err()
        })
        .collect();
    let own = |error: &&String| error.contains("`reward.learned` finds no room");
    assert_eq!(errors.iter().filter(own).count(), 3, "{errors:?}");
    assert!(own(&&errors[0]) && errors.len() < 30, "{errors:?}");
}
