//! How many trajectories a task asks for, and which numbers are refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::adversary::complete_trajectories;
use hambo_core::estimate::{charge_of_nothing_found, probability_limit};
use hambo_core::task::{Allocation, Effort, Method};
use hambo_task::task::TaskFile;

use super::*;
use crate::case::amounts::{Usual, Wanted};

/// Half of delta 0.1 is the model's; of two objectives each has two levels.
const LEVEL: f32 = 0.0125;

/// A task with a requirement, more keys at its top and in its reward, and its starts.
fn task(share: Option<f32>, top: &str, reward: &str, initial: &str) -> TaskFile {
    let requirement = share.map(|share| {
        format!(
            "[[constraint]]\nname = 'wall'\nexpr = 'x < 2'\nkind = 'always'\n\
             probability = {share}\n"
        )
    });
    let text = format!(
        "name = 'cart'\nhorizon = 50\ndelta = 0.1\n{top}\n[state]\nnames = ['x']\n\
         low = [-9]\nhigh = [9]\n[action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
         [reward]\nexpr = '-abs(x)'\n{reward}\n[initial]\n{initial}\n{}",
        requirement.unwrap_or_default()
    );
    TaskFile::parse(&text, "cart.toml").unwrap()
}

const POINT: &str = "kind = 'point'\nvalue = [0]";

fn asking(share: f32) -> TaskFile {
    task(Some(share), "", "", POINT)
}

fn chosen(task: &TaskFile, wanted: Wanted) -> Effort {
    Demand::of(task, &Method::default(), &[]).effort(wanted, Usual::HOST)
}

fn refused(task: &TaskFile, wanted: Wanted, listed: &[f32]) -> Option<String> {
    let method = Method::default();
    let demand = Demand::of(task, &method, listed);
    let effort = demand.effort(wanted, Usual::HOST);
    let answer = demand.ensure_certifiable(&effort, Flags::HOST);
    answer.err().map(|error| error.to_string())
}

fn numbers(trajectories: u32, searched: u32) -> Wanted {
    Wanted {
        trajectories: Some(trajectories),
        searched: Some(searched),
        allocation: None,
    }
}

#[test]
fn the_number_of_searches_follows_from_what_the_task_states() {
    let open = Wanted::default();
    let of = |task: &TaskFile| chosen(task, open).searched;
    let stated = "low = -9\nhigh = 0";
    // Student's t.
    let plain = chosen(&task(None, "", "", POINT), open);
    assert_eq!((plain.trajectories, plain.searched), (4000, 16));
    assert_eq!(plain.allocation, Allocation::Even);
    // Bounds of the reward, or a share.
    let bounded = chosen(&task(None, "", stated, POINT), open);
    assert_eq!(
        (bounded.searched, bounded.allocation),
        (128, Allocation::Tried)
    );
    assert_eq!(of(&task(None, "", "return_low = -90", POINT)), 128);
    assert_eq!(of(&asking(0.9)), 128);
    // The task's word goes before.
    assert_eq!(
        of(&task(Some(0.9), "distribution_free = false", stated, POINT)),
        16
    );
    assert_eq!(of(&task(None, "distribution_free = true", "", POINT)), 128);
    // Four of the worst states are searched from.
    let worst = "kind = 'worst'\nlow = [-1]\nhigh = [1]";
    assert_eq!(of(&task(None, "", stated, worst)), 512);
    // Whoever gives a number keeps it.
    let given = Wanted {
        searched: Some(20),
        ..open
    };
    assert_eq!(chosen(&task(None, "", stated, POINT), given).searched, 20);
    // Thirty first states show no more than thirty values.
    let data = task(None, "", stated, "kind = 'data'");
    let listed = [0.5; 30];
    let demand = Demand::of(&data, &Method::default(), &listed);
    assert_eq!(demand.effort(open, Usual::HOST).searched, 30);
}

/// Both levels together reach a requirement although three sampled trajectories break it, and
/// fewer searches would not do.
#[test]
fn both_levels_together_reach_a_requirement() {
    for share in [0.97, 0.99, 0.993] {
        let found = chosen(&asking(share), Wanted::default());
        let reached = |searched| {
            let sampled = probability_limit(found.trajectories, 3, LEVEL);
            sampled - (1.0 - probability_limit(searched, 0, LEVEL))
        };
        assert!(reached(found.searched) >= share, "{share}: {found:?}");
        let fewer = found.searched - 1;
        assert!(found.searched == 128 || reached(fewer) < share, "{share}");
        assert_eq!(refused(&asking(share), Wanted::default(), &[]), None);
    }
    // A given number of searches is made up for by sampled trajectories, where that is enough.
    let searched = Wanted {
        searched: Some(900),
        ..Wanted::default()
    };
    let found = chosen(&asking(0.994), searched);
    assert!(
        found.searched == 900 && found.trajectories > 4000,
        "{found:?}"
    );
    // By itself a check takes no more than about a thousand.
    let found = chosen(&asking(0.999), Wanted::default());
    assert_eq!(found.searched, 1024);
}

#[test]
fn a_focused_check_needs_more_where_it_leaves_starts_out() {
    let of = |allocation| {
        let wanted = Wanted {
            allocation: Some(allocation),
            ..Wanted::default()
        };
        chosen(&asking(0.98), wanted)
    };
    let [even, focused] = [Allocation::Even, Allocation::Focused].map(of);
    assert_eq!(even.allocation, Allocation::Even);
    let level = 0.05 / 6.0;
    let left_out = 1.0 - probability_limit(complete_trajectories(focused.trajectories), 0, level);
    let taken = 1.0 - probability_limit(focused.searched, 0, level);
    let reached = probability_limit(focused.trajectories, 3, level) - left_out - taken;
    assert!(reached >= 0.98, "{focused:?}");
    assert!(focused.searched > even.searched, "{focused:?} {even:?}");
}

/// What the message says is enough is enough, and what was refused could not pass.
#[test]
fn numbers_that_cannot_show_a_requirement_are_refused_and_the_advice_helps() {
    let number = |said: &str, flag: &str| -> Option<u32> {
        let (_, rest) = said.split_once(flag)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    for (share, wanted) in [
        (0.99, numbers(4000, 16)),
        (0.99, numbers(400, 2000)),
        (0.99, numbers(400, 16)),
        (0.999, Wanted::default()),
    ] {
        let task = asking(share);
        let said = refused(&task, wanted, &[]).unwrap();
        assert!(said.contains("wall") && said.contains("help:"), "{said}");
        let effort = chosen(&task, wanted);
        let more = numbers(
            number(&said, "--trajectories ").unwrap_or(effort.trajectories),
            number(&said, "--searched ").unwrap_or(effort.searched),
        );
        assert_eq!(refused(&task, more, &[]), None, "{said}");
    }
    // Without the search nothing but the sampled level counts.
    let unasked = task(Some(0.99), "distribution_free = false", "", POINT);
    assert_eq!(refused(&unasked, numbers(437, 8), &[]), None);
    let said = refused(&unasked, numbers(436, 8), &[]).unwrap();
    assert!(said.contains("436 trajectories cannot"), "{said}");
    // A log of few episodes.
    let data = task(Some(0.9), "", "", "kind = 'data'");
    let said = refused(&data, Wanted::default(), &[0.5; 20]).unwrap();
    assert!(said.contains("the 20 first states of the log"), "{said}");
}

#[test]
fn the_charge_is_said_before_the_work() {
    let method = Method::default();
    let said = |task: &TaskFile, wanted: Wanted| {
        let demand = Demand::of(task, &method, &[]);
        let effort = demand.effort(wanted, Usual::HOST);
        (
            demand.charge_of_search(&effort),
            demand.sentence(&effort, Flags::HOST),
        )
    };
    let open = Wanted::default();
    assert_eq!(said(&task(None, "", "", POINT), open), (None, None));
    let (charge, sentence) = said(&asking(0.9), open);
    assert_eq!(charge, Some(1.0 - probability_limit(128, 0, LEVEL)));
    let sentence = sentence.unwrap();
    assert!(
        sentence.contains("128 trajectories are searched"),
        "{sentence}"
    );
    assert!(sentence.contains("3.4 %"), "{sentence}");
    let (charge, _) = said(&task(None, "", "low = -9\nhigh = 0", POINT), open);
    assert_eq!(charge, Some(charge_of_nothing_found(128, 0.025)));
}
