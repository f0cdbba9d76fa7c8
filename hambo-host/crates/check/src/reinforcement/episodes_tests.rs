//! Every episode is run once, whatever the lanes.

use super::episodes::run_episodes;
use super::options::InputUnits;
use super::toy_problems::Count;

/// Episodes of different lengths in any number of lanes: the same steps.
#[test]
fn every_episode_is_run_once_in_any_lanes() {
    let run = |lanes: usize| {
        let mut problem = Count::new(lanes, 6);
        let mut steps = Vec::new();
        let returns = run_episodes(
            &mut problem,
            &InputUnits::plain(2),
            3..20,
            &mut |_, actions| actions.fill(0.5),
            &mut |step| {
                let number = step.observation[0] as u32;
                assert_eq!(step.next[0], step.observation[0]);
                assert_eq!(step.observation[1], step.time as f32);
                assert_eq!(step.next[1], step.time as f32 + 1.0);
                assert_eq!(step.last, step.time == 5);
                steps.push((number, step.time, step.terminated));
            },
        )
        .unwrap();
        steps.sort_unstable();
        (returns, steps)
    };
    let (returns, steps) = run(1);
    assert_eq!(run(4), (returns.clone(), steps.clone()));
    assert_eq!(run(40), (returns.clone(), steps.clone()));
    assert_eq!(returns.len(), 17);
    // Episode e terminates after 1 + e mod 8 steps, or at the horizon of 6.
    let lengths = (3..20).map(|episode| (1 + episode % 8).min(6));
    assert_eq!(steps.len(), lengths.clone().sum::<usize>());
    for (found, length) in returns.iter().zip(lengths) {
        assert_eq!(*found, 0.5 * length as f64);
    }
}

#[test]
fn names_the_episode_that_leaves_the_finite_numbers() {
    let mut problem = Count::new(2, 6);
    let mut acts = 0;
    let error = run_episodes(
        &mut problem,
        &InputUnits::plain(2),
        5..9,
        &mut |_, actions| {
            acts += 1;
            actions.fill(if acts == 3 { f32::NAN } else { 0.0 });
        },
        &mut |_| (),
    )
    .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("reward in episode 5, step 2"), "{text}");
}
