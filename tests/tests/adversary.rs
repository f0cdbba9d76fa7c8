//! How strong the adversaries are, where the exact minimum is known.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::network::{Layer, Standardisation};
use hambo_core::adversary::{Level, Search};
use hambo_core::check::Adversary;
use hambo_core::image::Image;
use hambo_core::model::Calibration;
use hambo_core::numeric::network::Activation;
use hambo_core::policy::{Leg, Waypoints};
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::encode_ensemble;
use hambo_learn::ensemble::{Member, TrainedEnsemble};
use hambo_task::image::{
    Adversaries, AlignedBytes, LoggedRegion, NoisePools, TrainedAdversary, Uncertainty,
    encode_image_with, encode_policy,
};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture;
use hambo_tests::pages::ensure_kept;
use rayon::prelude::*;

/// A system on a line whose confidence set is known by construction: two
/// linear members at mu ± sigma, and a walk to `target` at a limited speed.
struct Line {
    name: &'static str,
    /// mu = drift + pull · s + a.
    drift: f64,
    pull: f64,
    /// sigma = |base + slope · s|.
    base: f64,
    slope: f64,
    start: f64,
    target: f64,
    reward: &'static str,
    value: fn(f64, f64) -> f64,
}

const HORIZON: usize = 12;
const SPEED: f64 = 0.3;
const LIMIT: f64 = 4.0;
const BETA: f64 = 1.5;

const LINES: [Line; 6] = [
    Line {
        name: "an unstable point that should stay at zero",
        drift: 0.0,
        pull: 0.1,
        base: 0.05,
        slope: 0.0,
        start: 0.4,
        target: 0.0,
        reward: "-(next.x^2)",
        value: |_, next| -next * next,
    },
    Line {
        name: "an oscillation that must be pushed in time",
        drift: 0.0,
        pull: -1.5,
        base: 0.06,
        slope: 0.02,
        start: 0.1,
        target: 0.0,
        reward: "-(next.x^2)",
        value: |_, next| -next * next,
    },
    Line {
        name: "a wall that only swinging reaches",
        drift: 0.0,
        pull: -0.9,
        base: 0.06,
        slope: 0.0,
        start: -0.1,
        target: 0.0,
        reward: "-abs(next.x) - 20 * (next.x > 0.42)",
        value: |_, next| -next.abs() - if next > 0.42 { 20.0 } else { 0.0 },
    },
    Line {
        name: "uncertainty that grows away from the data",
        drift: 0.02,
        pull: 0.05,
        base: 0.02,
        slope: 0.12,
        start: 0.8,
        target: 0.5,
        reward: "-((next.x - 0.5)^2) - 0.1 * abs(next.x - x)",
        value: |x, next| -(next - 0.5).powi(2) - 0.1 * (next - x).abs(),
    },
    Line {
        name: "a ride that should be smooth",
        drift: 0.0,
        pull: 0.0,
        base: 0.08,
        slope: 0.03,
        start: 0.2,
        target: 0.6,
        reward: "-5 * (next.x - x)^2 + cos(3 * next.x)",
        value: |x, next| -5.0 * (next - x).powi(2) + (3.0 * next).cos(),
    },
    Line {
        name: "a narrow band to be kept in",
        drift: -0.01,
        pull: -0.6,
        base: 0.05,
        slope: 0.05,
        start: 0.1,
        target: 0.3,
        reward: "2 * (abs(next.x - 0.15) < 0.12) - 0.2 * abs(next.x)",
        value: |_, next| {
            let inside = (next - 0.15).abs() < 0.12;
            (if inside { 2.0 } else { 0.0 }) - 0.2 * next.abs()
        },
    },
];

impl Line {
    fn image(&self, iterations: u32, networks: &[TrainedAdversary]) -> AlignedBytes {
        let member = |sign: f64| Member {
            layers: vec![Layer {
                inputs: 2,
                outputs: 2,
                weights: vec![(self.pull + sign * self.slope) as f32, 1.0, 0.0, 0.0],
                bias: vec![(self.drift + sign * self.base) as f32, 0.0],
            }],
        };
        let ensemble = TrainedEnsemble {
            widths: vec![2, 2],
            activation: Activation::Relu,
            standardisation: Standardisation {
                input_mean: vec![0.0; 2],
                input_scale: vec![1.0; 2],
                output_mean: vec![0.0],
                output_scale: vec![1.0],
            },
            std_floor: 0.01,
            std_cap: 10.0,
            members: vec![member(1.0), member(-1.0)],
            priors: Vec::new(),
            losses: vec![0.0; 2],
        };
        let uncertainty = Uncertainty {
            features: 1,
            beta: BETA as f32,
            calibration_scale: vec![1.0],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
            noise_scale: vec![1.0; 1],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion::everywhere(2),
        };
        let text = format!(
            "name = \"line\"\nhorizon = {HORIZON}\nthreshold = -100\n\
             [state]\nnames = [\"x\"]\nlow = [-{LIMIT}]\nhigh = [{LIMIT}]\n\
             [action]\nnames = [\"u\"]\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = \"{}\"\n[initial]\nkind = \"point\"\nvalue = [{}]\n",
            self.reward, self.start
        );
        let task = TaskFile::parse(&text, "line.toml").unwrap();
        let leg = Leg {
            target: [self.target as f32, 0.0, 0.0],
            axis: 0,
            below: f32::MAX,
        };
        let policy = Waypoints::new(1, SPEED as f32, &[leg]).unwrap();
        let effort = Effort {
            trajectories: 2,
            searched: 2,
            iterations,
            seed: 0,
            allocation: Allocation::Even,
        };
        let model = encode_ensemble(&ensemble, &uncertainty).unwrap();
        let policy = encode_policy(&HostPolicy::Waypoints(policy)).unwrap();
        let adversaries = Adversaries {
            networks: networks.to_vec(),
            ..Adversaries::default()
        };
        let bytes = encode_image_with(
            &model,
            &task,
            CheckPlan::from(effort).without_noise(),
            &[],
            &policy,
            &adversaries,
        )
        .unwrap();
        AlignedBytes::new(&bytes)
    }

    fn next(&self, x: f64, eta: f64) -> f64 {
        let action = (self.target - x).clamp(-SPEED, SPEED);
        let mean = x + self.drift + self.pull * x + action;
        (mean + BETA * (self.base + self.slope * x).abs() * eta).clamp(-LIMIT, LIMIT)
    }

    /// The return when the adversary follows `choose`.
    fn walk(&self, choose: impl Fn(usize, f64) -> f64) -> f64 {
        let (mut x, mut sum) = (self.start, 0.0);
        for step in 0..HORIZON {
            let next = self.next(x, choose(step, x));
            sum += (self.value)(x, next);
            x = next;
        }
        sum
    }

    /// The exact minimum, by dynamic programming on a fine grid of states and
    /// choices; the value is that of really walking along its choices.
    fn exact_minimum(&self) -> f64 {
        const CELLS: usize = 8000;
        const CHOICES: i32 = 40;
        let place = |cell: usize| -LIMIT + 2.0 * LIMIT * cell as f64 / CELLS as f64;
        let interpolated = |values: &[f64], x: f64| {
            let at = ((x + LIMIT) / (2.0 * LIMIT) * CELLS as f64).clamp(0.0, CELLS as f64);
            let cell = (at as usize).min(CELLS - 1);
            let share = at - cell as f64;
            values[cell] * (1.0 - share) + values[cell + 1] * share
        };
        let best = |values: &[f64], x: f64| {
            let choices = (-CHOICES..=CHOICES).map(|c| f64::from(c) / f64::from(CHOICES));
            let with = choices.map(|eta| {
                let next = self.next(x, eta);
                ((self.value)(x, next) + interpolated(values, next), eta)
            });
            with.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
        };
        let mut later = vec![vec![0.0; CELLS + 1]];
        for _ in 0..HORIZON {
            let values = later.last().unwrap();
            let earlier: Vec<f64> = (0..=CELLS)
                .into_par_iter()
                .map(|cell| best(values, place(cell)).0)
                .collect();
            later.push(earlier);
        }
        self.walk(|step, x| best(&later[HORIZON - 1 - step], x).1)
    }
}

#[test]
fn the_adjoint_search_reaches_the_exact_minimum() {
    let mut most = 0.0_f64;
    for line in &LINES {
        let bytes = line.image(40, &[]);
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let outcome =
            hambo_check::parallel::check::<32>(&image, hambo_check::parallel::Watch::NONE)
                .unwrap()
                .outcome;
        let neutral = f64::from(outcome.estimates[0].mean);
        let found = f64::from(outcome.estimates[1].mean);
        let constant = f64::from(outcome.estimates[1].sampled.mean);
        // The core and the plain walk agree on the neutral path.
        assert!(
            (neutral - line.walk(|_, _| 0.0)).abs() < 1e-3,
            "{}",
            line.name
        );
        let exact = line.exact_minimum();
        let spread = neutral - exact;
        let missed = (found - exact) / spread;
        println!(
            "{:<45} neutral {neutral:8.3}  constant {constant:8.3}  search {found:8.3}  exact {exact:8.3}  missed {:5.2} %",
            line.name,
            100.0 * missed
        );
        assert!(spread > 0.1, "{}: the adversary must matter", line.name);
        assert!(missed < 0.02, "{}: {missed}", line.name);
        most = most.max(100.0 * missed);
    }
    ensure_kept("adjoint-missed", most, 0.05).unwrap();
}

/// The least return over all K^T member sequences, and what the search finds
/// on the same trajectory.
fn exhaustive_and_found(seed: u64) -> Option<(f32, f32)> {
    let bytes = fixture::image_with(seed, fixture::waypoints, |task, method| {
        task.horizon = 5;
        // Where a state wraps the return jumps: then it is 186 of 200.
        task.wraps.fill(None);
        method.variants = [Variant::DiscreteAdversary1].into_iter().collect();
    })
    .unwrap();
    let image = Image::parse(bytes.as_bytes()).unwrap();
    let (model, policy) = (image.model(), image.policy());
    let members = image.model().dynamics.members();
    if !(2..=4).contains(&members) {
        return None;
    }
    let mut task = image.task().clone();
    task.plan.effort.iterations = 60;
    let rollout = Rollout {
        model,
        policy,
        task: &task,
        variant: Variant::DiscreteAdversary1,
        objective: Objective::Return,
    };
    let dynamics = &model.dynamics;
    let rows = Buffers::<1>::rows_needed(dynamics, &task, policy).unwrap();
    let mut rows = vec![[0.0; 1]; rows];
    let mut buffers = Buffers::carve(&mut rows, dynamics, &task, policy).unwrap();
    let mut found = f32::INFINITY;
    for start in 0..members as u32 {
        let mut search = Search::new(&rollout, Level::Searched, [start]);
        while !search.sweep(&rollout, &mut buffers) {}
        found = found.min(search.least()[0]);
    }
    let streams = [Level::Searched.stream(&task, 0)];
    let mut exhaustive = f32::INFINITY;
    for mut code in 0..members.pow(5) {
        for step in buffers.members.chosen.iter_mut() {
            *step = [(code % members) as u16];
            code /= members;
        }
        exhaustive = exhaustive.min(rollout.forward(&streams, &mut buffers).value[0]);
    }
    Some((exhaustive, found))
}

#[test]
fn the_sequence_search_reaches_the_exhaustive_minimum() {
    let cases: Vec<(f32, f32)> = (0..600_u64)
        .into_par_iter()
        .filter_map(exhaustive_and_found)
        .collect();
    let cases = &cases[..200];
    for (exhaustive, found) in cases {
        assert!(found >= exhaustive, "nothing can be below the minimum");
    }
    let reached = cases
        .iter()
        .filter(|(exhaustive, found)| found <= exhaustive)
        .count();
    ensure_kept("sequences-reached", reached as f64, 0.0).unwrap();
}

#[test]
fn a_trained_adversary_competes_and_wins_where_it_is_better() {
    // On the oscillation the worst push follows the sign of the state, which
    // no constant does: eta = tanh(-100 x) nearly is it.
    let line = &LINES[1];
    let follower = |gain: f32| TrainedAdversary {
        variant: Variant::ContinuousAdversary,
        objective: 0,
        layers: vec![Layer {
            inputs: 2,
            outputs: 1,
            weights: vec![gain, 0.0],
            bias: vec![0.0],
        }],
        activation: Activation::Relu,
        input_mean: vec![0.0; 2],
        input_scale: vec![1.0; 2],
    };
    let estimate = |adversaries: &[TrainedAdversary], iterations: u32| {
        let bytes = line.image(iterations, adversaries);
        let image = Image::parse(bytes.as_bytes()).unwrap();
        hambo_check::parallel::check::<32>(&image, hambo_check::parallel::Watch::NONE)
            .unwrap()
            .outcome
            .estimates[1]
    };
    let exact = line.exact_minimum() as f32;
    let alone = estimate(&[], 0);
    let good = estimate(&[follower(-100.0)], 0);
    let useless = estimate(&[follower(0.0)], 0);
    assert!(alone.mean > exact + 1.0, "constants are far from {exact}");
    assert!(
        (good.mean - exact).abs() < 0.02 * exact.abs(),
        "{} {exact}",
        good.mean
    );
    assert_eq!(good.adversary, Adversary::Network);
    // One that does nothing changes nothing; the minimum is over all tried.
    assert_eq!(useless.mean.to_bits(), alone.mean.to_bits());
    assert_ne!(useless.adversary, Adversary::Network);
}
