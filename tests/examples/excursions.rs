//! How far good controllers go from the log, on the systems of the coverage study: the system
//! itself is walked, and where it is judged by the region that `fit` makes of the log. Which
//! share of the controllers would a rule by trajectories refuse that the share of steps lets pass,
//! if a trajectory counts from one, 1.25, 1.5 or two limits on?
//!
//! `cargo run --release -p hambo-tests --example excursions -- FIRST LAST`

use hambo_base::Error;
use hambo_base::observer::Unobserved;
use hambo_core::check::MOST_OUTSIDE;
use hambo_core::model::Support;
use hambo_data::{Log, Split, follows, next_to_states};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_task::task::{ModelView, TaskFile};
use hambo_tests::fixture::Draw;
use hambo_tests::study::coverage::Setting;

/// From how many limits on a trajectory counts.
const REACHES: [f32; 4] = [1.0, 1.25, 1.5, 2.0];
const TRAJECTORIES: usize = 400;

fn main() -> Result<(), Error> {
    let words = std::env::args().skip(1);
    let numbers: Vec<usize> = words.filter_map(|word| word.parse().ok()).collect();
    let [first, last] = numbers[..] else {
        return Err(Error::Usage("usage: excursions FIRST LAST".to_owned()));
    };
    let (mut judged, mut refused) = (0, [0; REACHES.len()]);
    println!("cell, steps outside, then for {REACHES:?}: % of trajectories (% allowed)");
    for cell in first..last {
        let setting = Setting::of(cell)?;
        let (task, log) = (setting.task()?, setting.log(cell)?);
        // The region does not depend on the networks.
        let networks = EnsembleOptions {
            seed: cell as u64,
            hidden: vec![4],
            steps: 20,
            ..EnsembleOptions::for_board("stm32f405")?
        };
        let options = FitOptions::new(ModelOptions::Networks(networks));
        let Ok((file, _)) = fit(&task, &log, &options, &mut Unobserved) else {
            println!("{cell}: no model");
            continue;
        };
        let support = file.model()?.support;
        let view = &file.metadata().view;
        let (length, windows) = logged(&support, view, &task, &log, cell as u64);
        let walks = walks(&setting, &support, view);
        let steps: usize = walks.iter().map(Vec::len).sum();
        let outside = walks.iter().flatten().filter(|far| **far > 1.0).count();
        let outside = percent(outside, steps);
        print!("{cell} {}: {outside:.1}", setting.plant.name);
        let passes = outside <= f64::from(MOST_OUTSIDE);
        judged += usize::from(passes);
        for (reach, refused) in REACHES.into_iter().zip(&mut refused) {
            let beyond = |paths: &[Vec<f32>]| {
                let paths = paths.iter();
                paths
                    .filter(|path| path.iter().any(|far| *far > reach))
                    .count()
            };
            let count = beyond(&windows) as f64;
            let share = count / (windows.len() as f64).max(count + 0.5);
            let rate = -(1.0 - share).ln() / length as f64;
            let own = 100.0 * (1.0 - (-rate * setting.horizon as f64).exp());
            let allowed = f64::from(MOST_OUTSIDE) + own;
            let found = percent(beyond(&walks), walks.len());
            *refused += usize::from(passes && found > allowed);
            print!(", {found:.0} ({allowed:.0})");
        }
        println!();
    }
    println!("{judged} pass by their steps; of these are refused: {refused:?}");
    Ok(())
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The distance of a state and an action from the log, in limits.
fn distance(support: &Support<'_>, view: &ModelView, state: &[f32], action: f32) -> f32 {
    let mut inputs = Vec::new();
    view.see_all([state], &mut inputs);
    inputs.push(action);
    let lanes: Vec<[f32; 1]> = inputs.into_iter().map(|x| [x]).collect();
    let mut scratch = vec![[0.0; 1]; support.scratch_rows()];
    let [distance] = support.distance(&lanes, &[], &mut scratch);
    distance
}

/// Distances along the checked controller's trajectories on the system itself.
fn walks(setting: &Setting, support: &Support<'_>, view: &ModelView) -> Vec<Vec<f32>> {
    let (plant, draw) = (&setting.plant, &mut Draw::new(77));
    let mut walks = vec![Vec::new(); TRAJECTORIES];
    for walk in &mut walks {
        let mut hidden = plant.hidden(draw);
        let mut state = plant.first(draw);
        for _ in 0..setting.horizon {
            let most = plant.most_action;
            let action = setting.checked.act(&state).clamp(-most, most);
            walk.push(distance(support, view, &state[..plant.states], action));
            let next = plant.next(&state, action, &mut hidden, draw);
            if plant.ends(&next) {
                break;
            }
            state = next;
        }
    }
    walks
}

/// The length of the withheld windows, and distances along each.
fn logged(
    support: &Support<'_>,
    view: &ModelView,
    task: &TaskFile,
    log: &Log,
    seed: u64,
) -> (usize, Vec<Vec<f32>>) {
    // As `fit` divides it.
    let split = Split::with_episodes(&next_to_states(log, &task.wraps), 0.2, |_| 19, seed);
    let mut runs: Vec<Vec<f32>> = Vec::new();
    let follows = follows(&split.withheld, &task.wraps);
    for (row, follows) in split.withheld.log.rows().zip(follows) {
        let distance = distance(support, view, row.state, row.action[0]);
        match runs.last_mut() {
            Some(run) if follows => run.push(distance),
            _ => runs.push(vec![distance]),
        }
    }
    let mut lengths: Vec<usize> = runs.iter().map(Vec::len).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let fourth = lengths.get(3).or(lengths.last()).copied().unwrap_or(1);
    let length = fourth.min(task.horizon as usize);
    let windows = runs.iter().flat_map(|run| run.chunks_exact(length));
    (length, windows.map(<[f32]>::to_vec).collect())
}
