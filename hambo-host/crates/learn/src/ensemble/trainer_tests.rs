//! Tests of whole runs: stops, checkpoints, threads.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use super::error::TrainingError;
use super::options::{Bandwidth, EnsembleOptions, Inference, Schedule};
use super::state::TrainerState;
use super::trained::TrainedEnsemble;
use super::trainer::Trainer;
use super::training_set::TrainingSet;
use hambo_base::Held;
use hambo_base::checkpoint::CheckpointError;
use hambo_base::network::pack;
use hambo_base::random::Random;

/// s′ = s + sin(a) with noise, one state and one action.
struct Data {
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Data {
    fn new(rows: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 99);
        let inputs: Vec<f32> = (0..2 * rows).map(|_| random.normal()).collect();
        let targets = inputs
            .chunks(2)
            .map(|row| row[1].sin() + 0.3 * random.normal())
            .collect();
        Self { inputs, targets }
    }

    fn set(&self) -> TrainingSet<'_> {
        TrainingSet {
            inputs: &self.inputs,
            input_columns: 2,
            targets: &self.targets,
            target_columns: 1,
            held: Held::NONE,
        }
    }
}

const KINDS: [Inference; 3] = [
    Inference::Ensemble,
    Inference::Svgd(Bandwidth::Fixed(10.0)),
    Inference::Svgd(Bandwidth::Median),
];

fn options(inference: Inference) -> EnsembleOptions {
    EnsembleOptions {
        inference,
        members: 3,
        hidden: vec![16, 16],
        // More than a shard.
        batch: 150,
        steps: 60,
        check_every: 7,
        learning_rate: 5e-3,
        ..EnsembleOptions::paper()
    }
}

fn finish(mut trainer: Trainer) -> TrainedEnsemble {
    while trainer.advance().unwrap().is_some() {}
    trainer.finish().unwrap()
}

#[test]
fn weights_do_not_depend_on_the_number_of_threads() {
    let data = Data::new(400, 1);
    for inference in KINDS {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let run = || finish(Trainer::new(&data.set(), None, &options(inference)).unwrap());
            pool.build().unwrap().install(run)
        };
        let one = with(1);
        assert_eq!(one, with(2), "{inference:?}");
        assert_eq!(one, with(5), "{inference:?}");
    }
}

#[test]
fn a_resumed_run_ends_with_the_same_bits() {
    let (data, validation) = (Data::new(230, 1), Data::new(50, 2));
    let (set, validation) = (data.set(), validation.set());
    for inference in KINDS {
        let options = options(inference);
        let start = || Trainer::new(&set, Some(&validation), &options).unwrap();
        let uninterrupted = finish(start());
        // A stop after every report, each state through its bytes.
        let mut trainer = start();
        while trainer.advance().unwrap().is_some() {
            let bytes = postcard::to_stdvec(&trainer.state()).unwrap();
            let state: TrainerState = postcard::from_bytes(&bytes).unwrap();
            trainer = Trainer::resume(&set, Some(&validation), &options, state).unwrap();
        }
        assert_eq!(trainer.finish().unwrap(), uninterrupted, "{inference:?}");
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (data, other) = (Data::new(230, 1), Data::new(230, 2));
    let options = options(Inference::Ensemble);
    let mut trainer = Trainer::new(&data.set(), None, &options).unwrap();
    trainer.advance().unwrap();
    let state = trainer.state();
    assert_eq!(state.step(), 7);
    let problem =
        |data: &Data, options: &EnsembleOptions, state: &TrainerState| match Trainer::resume(
            &data.set(),
            None,
            options,
            state.clone(),
        ) {
            Err(TrainingError::Checkpoint(CheckpointError { problem })) => problem,
            Err(_) => "another error",
            Ok(_) => "none",
        };
    assert_eq!(problem(&data, &options, &state), "none");
    let foreign = "belongs to other data or options";
    assert_eq!(problem(&other, &options, &state), foreign);
    let longer = EnsembleOptions {
        steps: 61,
        ..options.clone()
    };
    assert_eq!(problem(&data, &longer, &state), foreign);
    let mut short = state.clone();
    short.members[1].parameters.pop();
    assert_eq!(problem(&data, &options, &short), "is damaged");
    let mut twice = state;
    twice.members[2].order[0] = twice.members[2].order[1];
    assert_eq!(problem(&data, &options, &twice), "is damaged");
}

#[test]
fn early_stopping_restores_the_best_weights() {
    // Few rows, many weights and no decay: networks learn the noise by heart.
    let (data, validation) = (Data::new(40, 3), Data::new(200, 4));
    let svgd = Inference::Svgd(Bandwidth::Fixed(10.0));
    // A cosine's training is patient for a fifth of its 428 looks.
    for (inference, schedule, looks_after) in [
        (Inference::Ensemble, Schedule::Constant, 5),
        (svgd, Schedule::Constant, 5),
        (svgd, Schedule::Cosine, 85),
    ] {
        let options = EnsembleOptions {
            steps: 3000,
            schedule,
            patience: 5,
            ..options(inference)
        };
        let set = validation.set();
        let mut trainer = Trainer::new(&data.set(), Some(&set), &options).unwrap();
        let mut looks = Vec::new();
        while let Some(progress) = trainer.advance().unwrap() {
            looks.push((progress.step, progress.validation_loss.unwrap()));
            let best = looks.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            assert_eq!(progress.best_step, best.0);
        }
        let &(step, best) = looks.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let (last, _) = *looks.last().unwrap();
        assert_eq!(last, step + looks_after * 7, "looks after the best");
        let stopped = trainer.finish().unwrap().held_out(&set).unwrap();
        assert!((stopped.members - best).abs() < 1e-4, "{stopped:?} {best}");
        let to_the_end = finish(Trainer::new(&data.set(), None, &options).unwrap());
        let overfitted = to_the_end.held_out(&set).unwrap();
        assert!(overfitted.members > best + 0.5, "{overfitted:?} {best}");
    }
}

#[test]
fn a_cap_of_the_noise_leaves_the_weights() {
    let data = Data::new(230, 1);
    let capped_at = |noise_cap: f32| {
        let options = EnsembleOptions {
            noise_cap,
            ..options(KINDS[0])
        };
        finish(Trainer::new(&data.set(), None, &options).unwrap())
    };
    let (free, capped, above) = (capped_at(10.0), capped_at(0.05), capped_at(20.0));
    assert_eq!((free.std_cap, capped.std_cap), (10.0, 0.05));
    assert_eq!(above, free);
    assert_eq!(capped.members, free.members);
    // Its noise is larger than the cap, so the log is less likely under it.
    let likelihood = |of: &TrainedEnsemble| of.held_out(&data.set()).unwrap().members;
    assert!(likelihood(&capped) > likelihood(&free) + 1.0);
}

#[test]
fn progress_tells_of_every_update() {
    let data = Data::new(230, 1);
    let mut trainer = Trainer::new(&data.set(), None, &options(KINDS[0])).unwrap();
    let mut steps = Vec::new();
    let mut losses = Vec::new();
    while let Some(progress) = trainer.advance().unwrap() {
        assert_eq!((progress.steps, progress.validation_loss), (60, None));
        assert_eq!(progress.best_step, progress.step);
        steps.push(progress.step);
        losses.push(progress.training_loss);
    }
    assert_eq!(steps, [7, 14, 21, 28, 35, 42, 49, 56, 60]);
    assert!(losses[8] < losses[0]);
}

/// Whatever stands where a row says nothing, training and looks end with the same bits; and what
/// it says elsewhere counts.
#[test]
fn a_target_that_says_nothing_teaches_nothing() {
    let marks: Vec<bool> = (0..230).map(|row| row % 5 == 2).collect();
    let trained = |wrong: f32, marks: &[bool]| {
        let mut data = Data::new(230, 1);
        for target in data.targets.iter_mut().skip(2).step_by(5) {
            *target += wrong;
        }
        let set = TrainingSet {
            held: Held::new(marks),
            ..data.set()
        };
        let trainer = Trainer::new(&set, Some(&set), &options(KINDS[0])).unwrap();
        let trained = finish(trainer);
        let likelihood = trained.held_out(&set).unwrap();
        let members = trained.members.iter();
        let weights: Vec<f32> = members.flat_map(|member| pack(&member.layers)).collect();
        (weights, likelihood)
    };
    let right = trained(0.0, &marks);
    assert_eq!(right, trained(100.0, &marks));
    assert_ne!(right, trained(0.0, &[]));
    assert_ne!(trained(0.0, &[]), trained(100.0, &[]));
}

#[test]
fn an_unfit_validation_set_is_named() {
    let (data, empty) = (Data::new(230, 1), Data::new(0, 1));
    let error = |validation: &Data| {
        let result = Trainer::new(&data.set(), Some(&validation.set()), &options(KINDS[0]));
        result.err().unwrap().to_string()
    };
    assert!(error(&empty).contains("validation set is empty"));
    let mut wrong = Data::new(4, 1);
    wrong.targets[2] = f32::NAN;
    assert!(error(&wrong).contains("validation targets hold a value that is not finite in row 2"));
}

#[test]
fn a_prior_shrinks_the_weights() {
    let data = Data::new(230, 1);
    let size = |prior_weight: f32| -> f32 {
        let options = EnsembleOptions {
            prior_weight,
            ..options(Inference::Svgd(Bandwidth::Median))
        };
        let trained = finish(Trainer::new(&data.set(), None, &options).unwrap());
        let members = trained.members.iter();
        members
            .flat_map(|member| pack(&member.layers))
            .map(|w| w * w)
            .sum()
    };
    assert!(size(100.0) < 0.9 * size(0.0));
}

#[test]
fn a_training_that_never_improves_is_an_error() {
    let (data, mut validation) = (Data::new(200, 1), Data::new(30, 2));
    validation.targets[4] = 1e30;
    let options = options(Inference::Ensemble);
    let mut trainer = Trainer::new(&data.set(), Some(&validation.set()), &options).unwrap();
    while trainer.advance().unwrap().is_some() {}
    assert_eq!(trainer.finish(), Err(TrainingError::NeverImproved));
}
