//! The truth of a study's systems by another simulation.

use hambo_core::numeric::random::Stream;
use hambo_core::task::expression::{Comparison, Inputs};
use hambo_task::task::TaskFile;
use hambo_tests::study::coverage::Setting;
use hambo_tests::study::plant::{Feature, Shape};

/// The truth again, by code that shares nothing with the study's: in f64, with other random
/// numbers, and the reward from the task's own expressions written out by hand.
#[test]
fn another_simulation_finds_the_same_truth() {
    let mut seen = Vec::new();
    for cell in 0..200 {
        let setting = Setting::of(cell).unwrap();
        let plant = &setting.plant;
        let kind = match plant.name {
            "pendulum" if plant.end.is_some() => 0,
            "two masses" if plant.noise[0] > 0.0 => 1,
            _ => continue,
        };
        if seen.contains(&kind) {
            continue;
        }
        seen.push(kind);
        let again = returns_in_f64(&setting, 5000);
        let mean = again.iter().sum::<f64>() / again.len() as f64;
        let variance = again.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let error = variance.sqrt() / again.len() as f64;
        let value = setting.truth.value;
        let far = (mean - value.mean).abs() / error.hypot(value.error);
        println!(
            "cell {cell}, {}: {} ± {}, again {mean} ± {error}",
            plant.name, value.mean, value.error
        );
        assert!(far < 4.0, "cell {cell}: {far} standard errors apart");
        if seen.len() == 2 {
            return;
        }
    }
    panic!("only {seen:?} of the two kinds");
}

/// Returns of a setting's controller, component by component.
fn returns_in_f64(setting: &Setting, episodes: u32) -> Vec<f64> {
    let plant = &setting.plant;
    let wide = |x: f32| f64::from(x);
    let count = plant.states;
    (0..episodes)
        .map(|episode| {
            let mut stream = Stream::new(0xD1FF, episode);
            let mut s: Vec<f64> = (0..count)
                .map(|j| {
                    let (low, high) = (wide(plant.start[0][j]), wide(plant.start[1][j]));
                    low + (high - low) * wide(stream.uniform())
                })
                .collect();
            let mut total = 0.0;
            for _ in 0..setting.horizon {
                let most = wide(plant.most_action);
                let wanted: f64 = (0..count)
                    .map(|j| wide(setting.checked.gain[j]) * s[j])
                    .sum();
                let u = wanted.max(-most).min(most);
                let weights = plant.cost.state;
                let power = |x: f64| match plant.cost.shape {
                    Shape::Absolute => x.abs(),
                    _ => x.powi(2),
                };
                let mut cost = wide(plant.cost.action) * u.powi(2);
                for j in 0..count {
                    cost += wide(weights[j]) * power(s[j]);
                }
                total += match plant.cost.shape {
                    Shape::Bump => (-cost).exp(),
                    _ => -cost,
                };
                let mut next = vec![0.0; count];
                for (j, x) in next.iter_mut().enumerate() {
                    for (i, old) in s.iter().enumerate() {
                        *x += wide(plant.matrix[j][i]) * old;
                    }
                    *x += wide(plant.input[j]) * u;
                    *x += wide(plant.noise[j]) * wide(stream.standard_normal());
                }
                match plant.feature {
                    Feature::None => {}
                    Feature::Gravity(g) => next[1] += wide(g) * s[0].sin(),
                    other => panic!("{other:?} is not simulated here"),
                }
                if let Some([low, high]) = plant.limits {
                    for (j, x) in next.iter_mut().enumerate() {
                        *x = x.max(wide(low[j])).min(wide(high[j]));
                    }
                }
                s = next;
                if let Some(end) = plant.end
                    && s[0].abs() > wide(end.limit)
                {
                    total -= wide(end.penalty);
                    break;
                }
            }
            total
        })
        .collect()
}

/// A task file says the same as the plant: reward and end, by the core's own arithmetic.
#[test]
fn the_task_says_what_the_plant_does() {
    for cell in 0..12 {
        let setting = Setting::of(cell).unwrap();
        let task = setting.task().unwrap();
        let plant = &setting.plant;
        let log = setting.log(cell).unwrap();
        for row in log.rows().step_by(97) {
            let state = padded(row.state);
            let next = padded(row.next_state);
            let [reward, ends] = evaluate(&task, row.state, row.action, row.next_state);
            let wanted = plant.reward(&state, row.action[0], &next);
            assert!(
                (reward - wanted).abs() <= 1e-4 * (1.0 + wanted.abs()),
                "cell {cell}"
            );
            assert_eq!(ends != 0.0, plant.ends(&next), "cell {cell}");
        }
    }
}

fn padded(state: &[f32]) -> [f32; 4] {
    std::array::from_fn(|j| state.get(j).copied().unwrap_or(0.0))
}

/// Reward and termination of a row.
fn evaluate(task: &TaskFile, state: &[f32], action: &[f32], next: &[f32]) -> [f32; 2] {
    let program = task.program().unwrap();
    let lanes = |numbers: &[f32]| numbers.iter().map(|x| [*x]).collect::<Vec<[f32; 1]>>();
    let (state, action, next) = (lanes(state), lanes(action), lanes(next));
    let mut values = vec![[0.0]; program.len()];
    let inputs = Inputs {
        state: &state,
        action: &action,
        next: &next,
        step: 0.0,
    };
    program.evaluate(Comparison::Exact, inputs, &mut values);
    let value = |slot: u16| values[usize::from(slot)][0];
    [
        value(task.reward.slot()),
        task.termination.map_or(0.0, value),
    ]
}
