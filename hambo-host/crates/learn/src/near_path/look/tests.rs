//! Rows of two inputs, a state that decays and an action that was explored; the path is gentle.

use super::*;
use hambo_base::random::Random;

const WIDTH: f64 = 0.1;
const STEPS_OF_EPISODE: usize = 40;

const SUPPORT: Support<'_> = Support {
    centre: &[0.0, 0.0],
    scale: &[1.0, 1.0],
    whitening: &[1.0, 0.0, 1.0],
    rows: &[0.0, 0.0],
    limit: 0.5,
    gaps: &[],
    exit_rate: 0.0,
};

/// A normal number, nearly.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| f64::from(random.uniform())).sum::<f64>() - 6.0
}

/// Rows whose residuals are noise and a bias in half widths of the set, of state and action.
fn rows(seed: u64, episodes: u32, noise: f64, bias: impl Fn(f64, f64) -> f64) -> JudgingRows {
    let mut random = Random::new(seed, 4);
    let mut rows = JudgingRows::default();
    for episode in 0..episodes {
        let mut state = normal(&mut random);
        for _ in 0..STEPS_OF_EPISODE {
            let action = normal(&mut random);
            let residual = WIDTH * bias(state, action) + noise * normal(&mut random);
            rows.episodes.push(episode);
            rows.inputs.extend([state as f32, action as f32]);
            rows.residuals.push(residual as f32);
            rows.epistemic_std.push(0.5 * WIDTH as f32);
            rows.noise_std.push(noise as f32);
            state = 0.9 * state + 0.44 * normal(&mut random);
        }
    }
    rows
}

/// From one side and from the other, with an action of half the state.
fn path() -> Vec<f32> {
    let states = [-1.0_f32, -0.5, 0.5, 1.0].into_iter();
    let steps = states.flat_map(|first| (0..30).map(move |step| first * 0.92_f32.powi(step)));
    steps.flat_map(|state| [state, -0.5 * state]).collect()
}

fn looked(rows: &JudgingRows) -> NearPath {
    look(rows, &SUPPORT, &[2.0], &path())
}

#[test]
fn a_right_model_stays_as_it_is() {
    // A bias of half the set's width that wanders.
    let bias = |state: f64, action: f64| 0.5 * (3.0 * state).sin() * (2.0 * action).cos();
    let found = looked(&rows(1, 20, 0.1, bias));
    assert!(found.tells() && found.rows > 100, "{found:?}");
    assert_eq!((found.episodes, found.judging_episodes), (20, 20));
    assert_eq!((found.widest(), found.found), (1.0, None));
}

/// What a dead zone does to networks that go straight through it: an error that has the sign of
/// the action. Along the path it cancels in the mean.
#[test]
fn an_error_with_the_sign_of_the_action_is_found() {
    let biased = rows(2, 20, 0.1, |_, action| (6.0 * action).clamp(-3.0, 3.0));
    let found = looked(&biased);
    assert!((1.2..3.2).contains(&found.widest()), "{found:?}");
    assert!(matches!(found.found, Some(Found::Mean { state: 0, .. })));
    let all: Vec<Signed> = (0..biased.episodes.len())
        .map(|row| signed(&biased, row, 0, 1.0, &[2.0]))
        .collect();
    let mean = MeanResidual::of(&all).and_then(|mean| mean.required_widening(0.05));
    assert_eq!(mean, None);
}

/// An error in one place that the path crosses, and nowhere else.
#[test]
fn an_error_in_one_place_is_found() {
    let here = |state: f64, _: f64| if (state - 0.7).abs() < 0.25 { 4.0 } else { 0.0 };
    let found = looked(&rows(3, 25, 0.1, here));
    assert!((2.0..5.0).contains(&found.widest()), "{found:?}");
    // Where the path does not go it is not looked for.
    let there = |state: f64, _: f64| if (state - 2.0).abs() < 0.25 { 4.0 } else { 0.0 };
    assert_eq!(looked(&rows(3, 25, 0.1, there)).widest(), 1.0);
}

#[test]
fn rows_outside_of_set_and_noise_are_found() {
    // An error of random sign, which no mean shows, where the state is small.
    let mut random = Random::new(9, 9);
    let mut rows = rows(4, 20, 0.01, |_, _| 0.0);
    for residual in &mut rows.residuals {
        let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        *residual += (5.0 * WIDTH * sign) as f32;
    }
    let found = looked(&rows);
    assert_eq!(found.found, Some(Found::Share(0.0)));
    assert!((4.5..5.5).contains(&found.widest()), "{found:?}");
}

#[test]
fn too_few_rows_say_nothing() {
    let wrong = |_: f64, _: f64| 9.0;
    let few = looked(&rows(5, 3, 0.1, wrong));
    assert_eq!((few.tells(), few.widest()), (false, 1.0));
    let mut far = rows(5, 20, 0.1, wrong);
    for input in &mut far.inputs {
        *input += 20.0;
    }
    let far = looked(&far);
    assert_eq!((far.rows, far.tells(), far.widest()), (0, false, 1.0));
    assert_eq!(looked(&JudgingRows::default()).rows, 0);
}

#[test]
fn what_is_no_number_is_held_by_no_width() {
    let mut bad = rows(6, 20, 0.1, |_, _| 0.0);
    bad.residuals.fill(f32::NAN);
    assert_eq!(looked(&bad).widest(), f32::INFINITY);
}

/// A bias as large as the set's width with any sign: the set holds it, and may be widened in one
/// of twenty logs.
#[test]
fn a_set_that_just_holds_is_seldom_widened() {
    let logs = if cfg!(debug_assertions) { 20 } else { 100 };
    let widened = (0..logs).filter(|seed| {
        let turn = *seed as f64;
        let bias =
            move |state: f64, action: f64| (2.0 * state + 1.5 * action + turn).sin().signum();
        looked(&rows(100 + seed, 19, 0.1, bias)).widest() > 1.0
    });
    let widened = widened.count();
    assert!(widened * 10 <= logs as usize, "{widened} of {logs}");
}

#[test]
fn rows_that_say_nothing_widen_nothing() {
    let mut held = rows(6, 20, 0.1, |_, _| 0.0);
    let usual = looked(&held);
    held.held = vec![false; held.residuals.len()];
    for row in (0..held.residuals.len()).step_by(5) {
        held.residuals[row] = 1e3;
        held.held[row] = true;
    }
    let found = looked(&held);
    assert!(found.tells() && found.rows < usual.rows, "{found:?}");
    assert_eq!(found.widest(), 1.0);
    // A number that is broken is no mark: no width is enough.
    let mut broken = held.clone();
    broken.held.clear();
    broken.residuals.fill(f32::NAN);
    assert_eq!(looked(&broken).widest(), f32::INFINITY);
    // If none says anything, nothing is known of the path.
    held.held.fill(true);
    assert_eq!(looked(&held).rows, 0);
}
