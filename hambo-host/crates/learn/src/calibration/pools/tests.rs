//! What counts as noise and what does not, on residuals made for it: 1,500 rows of 50
//! episodes of two states.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::drawn::Drawn;
use super::found::{Found, Shown};
use super::judged::agrees;
use crate::calibration::withheld::{Withheld, WithheldDimension};
use hambo_base::Held;
use hambo_base::random::Random;
use hambo_core::model::{Extremes, Offsets};

const EPISODES: u32 = 50;
const STEPS: u32 = 30;
/// The model's own uncertainty, in standard deviations of the noise.
const EPISTEMIC: f32 = 0.1;

struct Rows {
    residuals: [Vec<f32>; 2],
    inputs: Vec<f32>,
    groups: Vec<u32>,
    follows: Vec<bool>,
    zeros: Vec<f32>,
    ones: Vec<f32>,
    epistemic: Vec<f32>,
}

/// What a row's residuals are made from.
struct Step<'a> {
    random: &'a mut Random,
    step: u32,
    /// Two numbers of the episode.
    own: [f32; 2],
    /// The row's inputs: a slow path and an action.
    inputs: [f32; 2],
    /// What the step before left.
    memory: &'a mut [f32; 2],
}

impl Step<'_> {
    fn normal(&mut self) -> f32 {
        self.random.normal()
    }

    fn heavy(&mut self) -> f32 {
        let squares: f32 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

impl Rows {
    fn of(seed: u64, mut residual: impl FnMut(&mut Step<'_>) -> [f32; 2]) -> Self {
        let mut random = Random::new(seed, 0x1501);
        let count = (EPISODES * STEPS) as usize;
        let mut rows = Self {
            residuals: [Vec::new(), Vec::new()],
            inputs: Vec::new(),
            groups: Vec::new(),
            follows: Vec::new(),
            zeros: vec![0.0; count],
            ones: vec![1.0; count],
            epistemic: vec![EPISTEMIC; count],
        };
        for episode in 0..EPISODES {
            let own = [0; 2].map(|_| random.normal());
            let mut memory = [0; 2].map(|_| random.normal());
            let mut place = random.normal();
            for step in 0..STEPS {
                place = 0.95 * place + 0.3 * random.normal();
                let inputs = [place, random.normal()];
                let mut step = Step {
                    random: &mut random,
                    step,
                    own,
                    inputs,
                    memory: &mut memory,
                };
                let found = residual(&mut step);
                let (inputs, step) = (step.inputs, step.step);
                for (column, x) in rows.residuals.iter_mut().zip(found) {
                    column.push(x);
                }
                rows.inputs.extend(inputs);
                rows.groups.push(episode);
                rows.follows.push(step > 0);
            }
        }
        rows
    }

    fn withheld(&self) -> Withheld<'_> {
        let of = |observed| WithheldDimension {
            mean: &self.zeros,
            epistemic_std: &self.epistemic,
            aleatoric_std: &self.ones,
            observed,
            held: Held::NONE,
        };
        Withheld {
            dimensions: self.residuals.iter().map(|column| of(column)).collect(),
            groups: &self.groups,
            follows: &self.follows,
        }
    }

    fn shown(&self) -> Shown<'_> {
        Shown {
            rows: self.withheld(),
            inputs: &self.inputs,
            columns: 2,
        }
    }

    fn found(&self) -> Option<Found> {
        Found::of(&self.shown(), false)
    }

    fn drawn(&self) -> Option<Drawn> {
        Drawn::of(&self.shown(), &self.withheld())
    }
}

/// In how many of some logs something is found.
fn found_in(seeds: u64, residual: impl Fn(&mut Step<'_>) -> [f32; 2]) -> usize {
    let found = |seed: &u64| Rows::of(*seed, &residual).found().is_some();
    (0..seeds).filter(found).count()
}

fn gaussian(step: &mut Step<'_>) -> [f32; 2] {
    [step.normal(), step.normal()]
}

fn heavy(step: &mut Step<'_>) -> [f32; 2] {
    [step.heavy(), step.heavy()]
}

/// A push of both states in one step of fifty.
fn pushed(step: &mut Step<'_>) -> [f32; 2] {
    let [x, y] = gaussian(step);
    if step.random.uniform() < 0.02 {
        [x + 5.0, y - 20.0]
    } else {
        [x, y]
    }
}

/// A load that stays for an episode in the second state.
fn loaded(step: &mut Step<'_>) -> [f32; 2] {
    let [x, y] = gaussian(step);
    [x, y + 3.0 * step.own[1]]
}

#[test]
fn gaussian_noise_is_drawn_as_before() {
    let found = found_in(200, gaussian);
    assert!(found <= 4, "{found} of 200");
}

#[test]
fn heavy_tails_are_drawn_as_the_log_has_them() {
    let rows = Rows::of(1, heavy);
    let drawn = rows.drawn().unwrap();
    assert!(drawn.stays.is_empty());
    // Of Student's t with three degrees of freedom 6.5 % lie beyond 3.3 robust deviations in
    // one state of two, and the limit is somewhat above the share.
    let share = drawn.extreme_share();
    assert!((0.05..0.10).contains(&share), "{share}");
    let pools = &drawn.pools;
    assert!(Extremes::new(&pools.centre, &pools.ends, &pools.extremes, 2).is_ok());
    // The bulk is no wider than all, and all together have about the variance of the log.
    let events = pools.extremes.chunks_exact(2).count() as f64;
    let mut variance = (1.0 - share) * drawn.noise[0].powi(2);
    for event in pools.extremes.chunks_exact(2) {
        variance += share / events * (drawn.noise[0] * f64::from(event[0])).powi(2);
    }
    let observed: f64 = rows.residuals[0].iter().map(|x| f64::from(x * x)).sum();
    let observed = observed / f64::from(EPISODES * STEPS);
    assert!(
        (0.9..1.4).contains(&(variance / observed)),
        "{variance} {observed}"
    );
}

#[test]
fn a_push_in_one_step_of_fifty_is_drawn_as_one() {
    let mut noise = 0.0;
    for seed in 0..20 {
        let rows = Rows::of(seed, pushed);
        let drawn = rows.drawn().unwrap();
        let share = drawn.extreme_share();
        assert!((0.018..0.045).contains(&share), "{seed}: {share}");
        // Of 1,500 pairs, with a standard error of 2.2 %.
        assert!((drawn.noise[1] - 1.0).abs() < 0.08, "{:?}", drawn.noise);
        noise += drawn.noise[1] / 20.0;
        let pushes = drawn.pools.extremes.chunks_exact(2);
        // Beside them rows of ordinary noise that lie beyond its interval, one in a hundred.
        let whole = pushes.filter(|row| row[0] > 1.0 && row[1] < -15.0).count();
        let all = drawn.pools.ends.len();
        assert!(whole >= 15 && all - whole <= 30, "{seed}: {whole} of {all}");
        assert!(drawn.stays.is_empty(), "{seed}");
    }
    assert!((noise - 1.0).abs() < 0.015, "{noise}");
}

#[test]
fn a_load_is_drawn_once_for_an_episode() {
    let mut found = 0;
    for seed in 0..20 {
        let rows = Rows::of(seed, loaded);
        // What is left of white noise passes for coloured in one log of twenty.
        let Some(drawn) = rows.drawn() else {
            continue;
        };
        found += 1;
        let [none, stays] = drawn.stays[..] else {
            panic!("{:?}", drawn.stays);
        };
        assert_eq!(none, 0.0);
        // Nine, and what 50 episodes leave open.
        assert!((5.0..22.0).contains(&stays), "{seed}: {stays}");
        assert!((drawn.noise[1] - 1.0).abs() < 0.06, "{:?}", drawn.noise);
        assert!(drawn.pools.ends.is_empty(), "{seed}");
        let offsets = &drawn.pools.offsets;
        assert!(Offsets::new(offsets, 2).is_ok() && offsets.len() == 100);
    }
    assert!(found >= 17, "{found}");
}

#[test]
fn pushes_of_a_loaded_robot_are_both() {
    let rows = Rows::of(3, |step: &mut Step<'_>| {
        let [x, y] = pushed(step);
        [x, y + 3.0 * step.own[0]]
    });
    let drawn = rows.drawn().unwrap();
    assert!((0.018..0.045).contains(&drawn.extreme_share()));
    assert!(drawn.stays[1] > 4.0, "{:?}", drawn.stays);
}

#[test]
fn coloured_noise_is_neither() {
    for lag in [3.0_f32, 10.0, 30.0] {
        let keeps = (-1.0 / lag).exp();
        let found = found_in(20, |step: &mut Step<'_>| {
            let fresh = [step.normal(), step.normal()];
            for (memory, fresh) in step.memory.iter_mut().zip(fresh) {
                *memory = keeps * *memory + (1.0 - keeps * keeps).sqrt() * fresh;
            }
            *step.memory
        });
        assert_eq!(found, 0, "a lag of {lag}");
        // As much of it again is white.
        let found = found_in(20, |step: &mut Step<'_>| {
            let [x, y] = gaussian(step);
            let fresh = [step.normal(), step.normal()];
            for (memory, fresh) in step.memory.iter_mut().zip(fresh) {
                *memory = keeps * *memory + (1.0 - keeps * keeps).sqrt() * fresh;
            }
            [x + 2.0 * step.memory[0], y + 2.0 * step.memory[1]]
        });
        assert_eq!(found, 0, "a lag of {lag} and white noise");
    }
}

/// Residuals are five deviations larger wherever the first input is beyond a wall.
#[test]
fn a_contact_in_a_place_is_an_error_of_the_model() {
    let found = found_in(20, |step: &mut Step<'_>| {
        let [x, y] = gaussian(step);
        let inside = step.inputs[0] > 1.9;
        [x, if inside { y + 8.0 } else { y }]
    });
    assert_eq!(found, 0);
}

/// Where only some steps at the wall are contacts, by an input that nobody measures.
#[test]
fn a_contact_of_a_part_of_the_steps_is_too() {
    let found = found_in(20, |step: &mut Step<'_>| {
        let [x, y] = gaussian(step);
        let hits = step.inputs[0] > 1.5 && step.random.uniform() < 0.3;
        [x, if hits { y + 8.0 } else { y }]
    });
    assert_eq!(found, 0);
}

#[test]
fn an_error_that_changes_smoothly_with_the_place_is_no_noise() {
    for size in [0.5, 2.0, 5.0] {
        let found = found_in(20, |step: &mut Step<'_>| {
            let [x, y] = gaussian(step);
            [x, y + size * (1.5 * step.inputs[0]).sin()]
        });
        assert!(found <= 1, "{found} with an error of {size}");
    }
}

/// Wind in one episode of five: what is extreme on a calm day is usual on a windy one.
#[test]
fn events_of_some_episodes_are_no_noise_of_all() {
    let found = found_in(20, |step: &mut Step<'_>| {
        let [x, y] = gaussian(step);
        let wind = if step.own[0] > 0.84 { 10.0 } else { 1.0 };
        [wind * x, wind * y]
    });
    assert_eq!(found, 0);
}

#[test]
fn pushes_that_last_are_no_white_noise() {
    let found = found_in(20, |step: &mut Step<'_>| {
        let [x, y] = gaussian(step);
        if step.step == 0 {
            step.memory[0] = 0.0;
        }
        if step.random.uniform() < 0.005 {
            step.memory[0] = 4.0;
        }
        let pushed = step.memory[0] > 0.0;
        step.memory[0] -= 1.0;
        [x, if pushed { y - 10.0 } else { y }]
    });
    assert_eq!(found, 0);
}

#[test]
fn rows_that_judge_may_disagree() {
    let agreement = |shown: &dyn Fn(&mut Step<'_>) -> [f32; 2],
                     judging: &dyn Fn(&mut Step<'_>) -> [f32; 2]| {
        let drawn = (0..).filter_map(|seed| Some((seed, Rows::of(seed, shown).drawn()?)));
        let agree = drawn
            .take(40)
            .filter(|(seed, drawn)| agrees(drawn, &Rows::of(1000 + seed, judging).withheld()));
        agree.count()
    };
    assert!(agreement(&heavy, &heavy) >= 36);
    assert!(agreement(&pushed, &pushed) >= 36);
    assert!(agreement(&loaded, &loaded) >= 36);
    // Twice as often, twice as far, twice the load.
    let often = |step: &mut Step<'_>| {
        let [x, y] = pushed(step);
        [
            x,
            if step.random.uniform() < 0.03 {
                y - 20.0
            } else {
                y
            },
        ]
    };
    assert!(agreement(&pushed, &often) <= 8);
    let far = |step: &mut Step<'_>| {
        let [x, y] = pushed(step);
        [x, if y < -10.0 { 2.0 * y } else { y }]
    };
    assert!(agreement(&pushed, &far) <= 4);
    let heavier = |step: &mut Step<'_>| {
        let [x, y] = loaded(step);
        [x, y + 3.0 * step.own[1]]
    };
    assert!(agreement(&loaded, &heavier) <= 4);
}

/// A model that guesses the load from where the robot has drifted to leaves less of it in an
/// episode, and what is left is not white; less the trend it is the load.
#[test]
fn what_a_model_has_learnt_of_a_load_comes_back() {
    let mut loads = Vec::new();
    let rows = Rows::of(5, |step: &mut Step<'_>| {
        let [x, y] = gaussian(step);
        if step.step == 0 {
            loads.push(5.0 * step.own[1]);
            step.memory[0] = 0.0;
        }
        // The place drifts with the load, and the model's guess follows the place.
        step.memory[0] += 0.2 * step.own[1];
        step.inputs[0] += step.memory[0];
        [x, y + 5.0 * step.own[1] - 0.6 * step.inputs[0]]
    });
    assert!(rows.found().is_none());
    let found = Found::of(&rows.shown(), true).unwrap();
    let pairs: Vec<[f64; 2]> = (0..EPISODES)
        .zip(&loads)
        .map(|(group, load)| [found.stays_in(group).unwrap()[1], f64::from(*load)])
        .collect();
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / 50.0;
    let (a, b) = (mean(&|pair| pair[0]), mean(&|pair| pair[1]));
    let slope = mean(&|pair| (pair[0] - a) * (pair[1] - b)) / mean(&|pair| (pair[1] - b).powi(2));
    assert!((slope - 1.0).abs() < 0.1, "{slope}");
}
