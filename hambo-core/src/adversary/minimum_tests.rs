//! The least of all candidates on each trajectory, level by level.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::estimate::Margin;

/// Two constants and a network.
const STARTS: Starts = Starts {
    constants: 2,
    members: 0,
    turns: 0,
    found: 0,
    networks: 1,
};

fn begun() -> Minimum {
    let mut minimum = Minimum::default();
    minimum.begin(STARTS, None, (None, false), false);
    minimum
}

/// Adds a trajectory: value and least of each start.
fn add(minimum: &mut Minimum, level: Level, trajectory: [(f32, f32); 3], last: Ends) {
    for (start, (value, least)) in trajectory.into_iter().enumerate() {
        let ends = if start == 2 { last } else { Ends::Nothing };
        minimum.add(&SearchResult::found(start, value, least), level, ends);
    }
}

/// Two trajectories; the network finds the least on both.
fn searched() -> Minimum {
    let mut minimum = begun();
    for trajectory in [
        [(5.0, 3.0), (4.0, 2.0), (6.0, 1.0)],
        [(7.0, 7.0), (9.0, 6.0), (8.0, 5.0)],
    ] {
        add(&mut minimum, Level::Searched, trajectory, Ends::Block);
    }
    minimum
}

#[test]
fn the_correction_is_what_the_search_finds_beyond_the_starts() {
    let minimum = searched();
    // From 4 to 1, and from 7 to 5.
    assert_eq!(minimum.correction.count(), 2);
    assert_eq!(minimum.correction.mean(), -2.5);
    assert_eq!(minimum.sampled.count(), 0);
    // Without the network it is 2 and 6.
    assert_eq!(minimum.untrained_mean(), 4.0);
    assert_eq!(minimum.course(), [5.5, 3.0, 3.0, 3.0, 3.0, 2.5]);
}

#[test]
fn the_worst_start_has_the_least_mean() {
    let minimum = searched();
    let of = |wanted: fn(Start) -> bool| minimum.worst_start(wanted);
    assert_eq!(of(|_| true), Some((Start::Constant(0), 6.0)));
    assert_eq!(
        of(|start| start == Start::Network),
        Some((Start::Network, 7.0))
    );
    let second = Start::Constant(1);
    assert_eq!(of(|start| start != Start::Constant(0)), Some((second, 6.5)));
    assert_eq!(of(|_| false), None);
    // The first of equals.
    let mut minimum = begun();
    add(&mut minimum, Level::Sampled, [(1.0, 1.0); 3], Ends::Block);
    assert_eq!(
        minimum.worst_start(|_| true),
        Some((Start::Constant(0), 1.0))
    );
}

#[test]
fn the_first_level_is_the_least_of_all_starts_and_blocks_are_one_value() {
    let mut minimum = begun();
    for (values, last) in [
        ([3.0, 1.0, 2.0], Ends::Trajectory),
        ([5.0, 6.0, 4.0], Ends::Block),
    ] {
        add(&mut minimum, Level::Sampled, values.map(|x| (x, x)), last);
    }
    assert_eq!(minimum.sampled.count(), 1);
    assert_eq!(minimum.sampled.mean(), 2.5);
    assert_eq!(minimum.correction.count(), 0);
    // The next level has sums of its own and keeps the first.
    minimum.begin_level();
    add(
        &mut minimum,
        Level::Searched,
        [(-1.0, -1.0); 3],
        Ends::Block,
    );
    assert_eq!(
        minimum.worst_start(|_| true),
        Some((Start::Constant(0), -1.0))
    );
    assert_eq!(
        (minimum.untrained_mean(), minimum.sampled.mean()),
        (-1.0, 2.5)
    );
    // Another estimate knows nothing of it.
    minimum.begin(STARTS, None, (None, false), false);
    assert_eq!(
        (minimum.sampled.count(), minimum.correction.count()),
        (0, 0)
    );
}

#[test]
fn minus_infinity_needs_no_correction() {
    let mut minimum = begun();
    let worst = [(f32::NEG_INFINITY, f32::NEG_INFINITY); 3];
    add(&mut minimum, Level::Searched, worst, Ends::Block);
    assert_eq!(minimum.correction.mean(), 0.0);
}

#[test]
fn a_trial_and_the_search_after_it_are_one_search() {
    let mut minimum = begun();
    for values in [
        [(5.0, 3.0), (4.0, 2.5), (6.0, 4.0)],
        [(7.0, 6.5), (3.0, 3.0), (8.0, 8.0)],
    ] {
        for (start, (value, least)) in values.into_iter().enumerate() {
            let ends = [Ends::Nothing, Ends::Nothing, Ends::Block][start];
            minimum.add_trial(&SearchResult::found(start, value, least), ends);
        }
    }
    // On the first trajectory the search goes below the trial, on the second it does not.
    minimum.add_kept(&SearchResult::found(1, 4.0, 1.0), 0, Ends::Block);
    minimum.add_kept(&SearchResult::found(1, 3.0, 5.0), 1, Ends::Block);
    // From 4 to 1, and nowhere: the least of all starts is 3.
    assert_eq!(minimum.correction.count(), 2);
    assert_eq!(minimum.correction.mean(), -1.5);
    let [first, .., last] = minimum.course();
    assert_eq!((first, last), (3.5, 1.75));
    // The means of single starts are over all of them, once.
    assert_eq!(
        minimum.worst_start(|_| true),
        Some((Start::Constant(1), 3.5))
    );
    // Without a trial there is no number.
    minimum.begin_block();
    minimum.add_kept(&SearchResult::found(1, 3.0, 5.0), 0, Ends::Block);
    assert!(!minimum.correction.mean().is_finite());
}

/// Adds complete trajectories, of whose starts the pilot kept the second.
fn add_complete(minimum: &mut Minimum, trajectories: &[[f32; 3]]) {
    let kept = Shortlist::of_bits(0b010);
    for values in trajectories {
        for (start, value) in values.iter().enumerate() {
            let ends = [Ends::Nothing, Ends::Nothing, Ends::Block][start];
            minimum.add_complete(&SearchResult::found(start, *value, *value), kept, ends);
        }
    }
}

#[test]
fn what_was_left_out_is_counted_on_complete_trajectories() {
    let mut minimum = begun();
    assert!(minimum.left_out().is_none());
    add_complete(&mut minimum, &[[5.0, 4.0, 6.0], [7.0, 8.0, 2.0]]);
    minimum.end_complete(0.05);
    // Of the others only the start that was kept is walked.
    let only = SearchResult::found(1, 3.0, 3.0);
    minimum.add(&only, Level::Sampled, Ends::Block);
    assert_eq!((minimum.sampled.count(), minimum.sampled.mean()), (3, 5.0));
    // Nothing on the first, from 8 to 2 on the second; nobody knows how far it may go.
    let left_out = minimum.left_out().unwrap();
    assert_eq!((left_out.count, left_out.mean), (2, -3.0));
    // The search has a sample of its own.
    assert_eq!(minimum.correction.count(), 0);
    assert_eq!(left_out.margin, Margin::StudentT);
    assert!(left_out.distribution_free.is_nan());
    // What overflows already is no lower for the others.
    let mut minimum = begun();
    add_complete(&mut minimum, &[[f32::NEG_INFINITY, f32::NEG_INFINITY, 0.0]]);
    minimum.end_complete(0.05);
    assert_eq!(minimum.left_out().unwrap().mean, 0.0);
    let mut minimum = begun();
    add_complete(&mut minimum, &[[f32::NEG_INFINITY, 1.0, 0.0]]);
    minimum.end_complete(0.05);
    assert_eq!(minimum.left_out().unwrap().lower, f32::NEG_INFINITY);
}

#[test]
fn what_was_left_out_is_bounded_for_any_distribution() {
    let mut minimum = Minimum::default();
    minimum.begin(STARTS, None, (Some([-3.0, 1.0]), false), false);
    add_complete(&mut minimum, &[[1.0; 3]; 1000]);
    // Nothing was met, and 0.6 % of the range may be there.
    minimum.end_complete(0.008);
    let none = minimum.left_out().unwrap();
    assert_eq!((none.mean, none.margin), (0.0, Margin::Betting));
    assert!((-0.0240..-0.0225).contains(&none.lower), "{}", none.lower);
    assert_eq!(none.lower, none.distribution_free);
    // The next estimate knows nothing of it.
    minimum.begin(STARTS, None, (None, false), false);
    assert!(minimum.left_out().is_none());
}

#[test]
fn trajectories_that_only_the_starts_left_out_break_are_counted() {
    let constraint = Constraint {
        probability: Some(0.9),
        ..Constraint::mean(0)
    };
    let mut minimum = Minimum::default();
    minimum.begin(STARTS, Some(&constraint), (None, false), false);
    add_complete(&mut minimum, &[[1.0; 3]; 995]);
    add_complete(&mut minimum, &[[-1.0, 1.0, 1.0]; 3]);
    // These the start that was kept breaks as well.
    add_complete(&mut minimum, &[[-1.0, -1.0, 1.0]; 2]);
    minimum.end_complete(0.01);
    let left_out = minimum.left_out().unwrap();
    assert_eq!((left_out.count, left_out.mean), (1000, -0.003));
    assert_eq!(left_out.margin, Margin::ClopperPearson);
    let limit = crate::estimate::probability_limit(1000, 3, 0.01) - 1.0;
    assert_eq!(left_out.lower, limit);
    assert_eq!(minimum.sampled.mean(), 0.998);
}

#[test]
fn whole_members_have_their_own_means() {
    let starts = Starts {
        members: 3,
        ..Starts::default()
    };
    let budget = ErrorBudget {
        delta: 0.1,
        objectives: 1,
    };
    let mut minimum = Minimum::default();
    minimum.begin(starts, None, (None, false), true);
    let values = [[-1.0, -3.0], [-4.0, -8.0], [-5.0, -5.5]];
    for (member, values) in values.into_iter().enumerate() {
        for value in values {
            let result = SearchResult::found(member, value, value);
            minimum.add(&result, Level::Sampled, Ends::Block);
        }
        minimum.end_member(&budget, u32::MAX);
    }
    let (mean, lower) = minimum.member_quantile(&budget);
    assert_eq!(mean, -6.0);
    assert!(lower < -8.0, "{lower}");
    // The last one's sample stays.
    assert_eq!(
        (minimum.sampled.count(), minimum.sampled.mean()),
        (2, -5.25)
    );
    assert_eq!(
        minimum.worst_start(|_| true),
        Some((Start::Member(1), -6.0))
    );
    let first = minimum.worst_start(|start| start == Start::Member(0));
    assert_eq!(first, Some((Start::Member(0), -2.0)));
}

#[test]
fn the_worst_initial_state_counts() {
    let mut minimum = begun();
    for level in [Level::Sampled, Level::Searched] {
        // On average 2, −1 and 4.
        for values in [[1.0_f32, 3.0], [-3.0, 1.0], [4.0, 4.0]] {
            for value in values {
                let found = [(value, value - 0.5 * value.abs()); 3];
                add(&mut minimum, level, found, Ends::Block);
            }
            minimum.end_initial_state(level, 0.05, u32::MAX);
        }
        minimum.begin_level();
    }
    let sampled = minimum.sampled(0.05, u32::MAX);
    assert_eq!((sampled.count, sampled.mean), (2, -1.0));
    // The one whose values differ most has the least bound, here too.
    assert!(sampled.lower < -10.0);
    // The search finds −0.5 and −1.5, −1.5 and −0.5, −2 and −2.
    let correction = minimum.correction(0.05, u32::MAX).map(|one| one.mean);
    assert_eq!(correction, Some(-2.0));
}

#[test]
fn several_trajectories_of_a_member_may_be_one_value() {
    let starts = Starts {
        members: 1,
        ..Starts::default()
    };
    let mut minimum = Minimum::default();
    minimum.begin(starts, None, (None, false), true);
    for (value, ends) in [
        (1.0, Ends::Trajectory),
        (2.0, Ends::Block),
        (4.0, Ends::Block),
    ] {
        minimum.add(&SearchResult::found(0, value, value), Level::Sampled, ends);
    }
    assert_eq!((minimum.sampled.count(), minimum.sampled.mean()), (2, 2.75));
}
