//! The rows that a device keeps: never surer than with all rows, better than
//! chance, and no larger than the board.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::Held;
use hambo_core::model::Calibration;
use hambo_learn::gaussian_process::Observations;
use hambo_learn::gaussian_process::{
    ChosenRows, DeviceRoom, GaussianProcessFit, encode_gaussian_process, greedy_order, model_bytes,
    uncertainty_growth,
};
use hambo_task::image::{Gap, LoggedRegion, NoisePools, Uncertainty};
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Difficulty, KERNELS};

fn observations(case: &Case) -> Observations<'_> {
    Observations {
        inputs: &case.inputs,
        input_columns: 2 * case.space,
        targets: &case.targets,
        target_columns: case.space,
        held: Held::NONE,
    }
}

fn case(seed: u64, space: usize, points: usize) -> Case {
    let difficulty = Difficulty {
        points,
        ..Difficulty::EASY
    };
    Case::new(&mut Draw::new(seed), space, &KERNELS, difficulty)
}

fn fit_of(case: &Case, rows: &[usize]) -> GaussianProcessFit {
    let chosen = ChosenRows::new(&observations(case), rows).unwrap();
    let units = &case.standardisation;
    GaussianProcessFit::new(&chosen.observations(), units, &case.hyperparameters).unwrap()
}

#[test]
fn a_subset_is_never_surer_than_all() {
    for seed in 0..8 {
        let case = case(0x5B5 + seed, 1 + seed as usize % 3, 60);
        let (units, kernels) = (&case.standardisation, &case.hyperparameters);
        let order = greedy_order(&observations(&case), units, kernels, 40).unwrap();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!((order.len(), sorted.len()), (40, 40));
        let all = case.fit().unwrap();
        let draw = &mut Draw::new(seed);
        let columns = 2 * case.space;
        let queries: Vec<f64> = (0..50 * columns)
            .map(|_| f64::from(draw.normal()))
            .collect();
        let sizes = [4, 8, 16, 32, 40];
        let growth = uncertainty_growth(&all, &observations(&case), &order, &queries, &sizes);
        let growth = growth.unwrap();
        let mut before: Option<Vec<f64>> = None;
        for (row, size) in growth.iter().zip(sizes) {
            let part = fit_of(&case, &order[..size]);
            let mut stds = vec![(0.0, 0.0); case.space];
            let mut now = Vec::new();
            for query in queries.chunks(columns) {
                let pairs = part.posterior(query).into_iter().zip(all.posterior(query));
                for (j, ((_, variance), (_, least))) in pairs.enumerate() {
                    assert!(variance >= least * (1.0 - 1e-9), "{variance} {least}");
                    stds[j].0 += variance.sqrt();
                    stds[j].1 += least.sqrt();
                    now.push(variance);
                }
            }
            // Nor surer than with more points of the same order.
            if let Some(before) = before.replace(now.clone()) {
                assert!(
                    now.iter()
                        .zip(before)
                        .all(|(now, before)| *now <= before * (1.0 + 1e-9))
                );
            }
            for (growth, (part, all)) in row.mean.iter().zip(stds) {
                assert!((growth - part / all).abs() < 1e-6 * growth, "{growth}");
            }
            assert!(
                row.largest
                    .iter()
                    .chain(&row.mean)
                    .all(|growth| *growth >= 1.0)
            );
            assert_eq!(
                (row.points, row.bytes),
                (size, model_bytes(size, columns, case.space))
            );
        }
    }
}

#[test]
fn greedy_rows_beat_the_first_rows() {
    // A log that dwells: half of it around one place.
    let mut case = case(0x60, 1, 120);
    for row in case.inputs.chunks_mut(2).take(60) {
        row.iter_mut().for_each(|x| *x *= 0.05);
    }
    let (units, kernels) = (&case.standardisation, &case.hyperparameters);
    let order = greedy_order(&observations(&case), units, kernels, 30).unwrap();
    let first: Vec<usize> = (0..30).collect();
    let all = case.fit().unwrap();
    let mean = |order: &[usize]| {
        let data = observations(&case);
        let growth = uncertainty_growth(&all, &data, order, &case.inputs, &[30]).unwrap();
        growth[0].mean[0]
    };
    let (greedy, naive) = (mean(&order), mean(&first));
    println!("growth with 30 of 120 rows: greedy {greedy:.2}, the first {naive:.2}");
    assert!(greedy < 0.7 * naive);
    // Keeping everything costs nothing.
    let everything = greedy_order(&observations(&case), units, kernels, 1000).unwrap();
    assert_eq!(everything.len(), 120);
    let data = observations(&case);
    let growth = uncertainty_growth(&all, &data, &everything, &case.inputs, &[120]).unwrap();
    assert!(growth[0].mean[0] < 1.0 + 1e-6);
    assert!(ChosenRows::new(&data, &[120]).is_err());
}

#[test]
fn sizes_are_those_of_the_part() {
    for (seed, points) in [1, 4, 5, 30, 63, 128].into_iter().enumerate() {
        let case = case(0x70 + seed as u64, 1 + seed % 3, points);
        let (inputs, outputs) = (2 * case.space, case.space);
        let gap = Gap {
            input: 0,
            low: -1.0,
            high: 1.0,
        };
        let uncertainty = Uncertainty {
            features: case.space,
            beta: 2.0,
            calibration_scale: vec![1.0; outputs],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
            noise_scale: vec![1.0; outputs],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion {
                rows: vec![0.0; LoggedRegion::MOST_ROWS * inputs],
                gaps: vec![gap; LoggedRegion::MOST_GAPS],
                ..LoggedRegion::ball(inputs, 1.0)
            },
        };
        let part = encode_gaussian_process(&case.fit().unwrap(), &uncertainty).unwrap();
        let stated = model_bytes(points, inputs, outputs);
        assert!(
            part.len() <= stated && stated <= part.len() + 64,
            "{} {stated}",
            part.len()
        );
        let room = DeviceRoom {
            flash_bytes: stated,
            scratch_bytes: usize::MAX,
        };
        let most = room.most_points(inputs, outputs);
        assert!(most <= points && points < most + 4, "{most} {points}");
    }
    let none = DeviceRoom {
        flash_bytes: 100,
        scratch_bytes: 100,
    };
    assert_eq!(none.most_points(2, 1), 0);
}
