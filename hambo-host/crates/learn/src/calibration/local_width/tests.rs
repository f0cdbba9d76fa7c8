#![allow(clippy::unwrap_used, reason = "tests")]

use super::LocalRegion;
use super::search::find;
use crate::calibration::calibrate::calibrate;
use crate::calibration::outcome::{
    Beta, CalibrationMode, CalibrationOptions, Intervals, ModelCalibration,
};
use crate::calibration::pools::Shown;
use crate::calibration::withheld::{Withheld, WithheldDimension};
use hambo_base::Held;
use hambo_task::image::WidthRegion;

const ROWS: usize = 800;

/// Forty episodes of 20 rows that go from −1 to 1 in the first input, the second to and fro;
/// their residuals, in units of sigma_e.
struct Log {
    inputs: Vec<f32>,
    observed: Vec<f32>,
    groups: Vec<u32>,
}

fn log(residual: impl Fn(usize, f32, f32) -> f32) -> Log {
    let (mut inputs, mut observed) = (Vec::new(), Vec::new());
    for row in 0..ROWS {
        let x = (row % 20) as f32 / 9.5 - 1.0;
        let y = ((row * 7) % 13) as f32 / 6.0 - 1.0;
        inputs.extend([x, y]);
        let usual = 0.1 * ((row * 7 % 40) as f32 - 19.5) / 2.0;
        observed.push(usual + residual(row, x, y));
    }
    Log {
        inputs,
        observed,
        groups: (0..ROWS as u32).map(|row| row / 20).collect(),
    }
}

fn shown<'a>(log: &'a Log, follows: &'a [bool]) -> Shown<'a> {
    Shown {
        rows: Withheld {
            dimensions: vec![WithheldDimension {
                mean: &[0.0; ROWS],
                epistemic_std: &[1.0; ROWS],
                aleatoric_std: &[1e-3; ROWS],
                observed: &log.observed,
                held: Held::NONE,
            }],
            groups: &log.groups,
            follows,
        },
        inputs: &log.inputs,
        columns: 2,
    }
}

/// The rows that choose, and the regions that they and others together show.
fn found_with(choosing: &Log, others: Option<&Log>) -> (ModelCalibration, Vec<LocalRegion>) {
    let follows: Vec<bool> = (0..ROWS).map(|row| row % 20 > 0).collect();
    let options = CalibrationOptions {
        mode: CalibrationMode::Widen,
        intervals: Intervals::OneSided,
        beta: Beta::Fixed(1.0),
        longest_window: 1,
        stationary: false,
    };
    let own = shown(choosing, &follows);
    let calibration = calibrate(&own.rows, &own.rows, &options).unwrap();
    let regions = find(
        &shown(others.unwrap_or(choosing), &follows),
        &own,
        &calibration,
    );
    (calibration, regions)
}

fn found(log: &Log) -> (ModelCalibration, Vec<LocalRegion>) {
    found_with(log, None)
}

/// Rows of other episodes.
fn trained_on(mut log: Log) -> Log {
    for group in &mut log.groups {
        *group += 1000;
    }
    log
}

#[test]
fn a_wall_is_a_region_and_the_rest_stays_narrow() {
    // The last step of every episode meets a wall at 1.
    let (calibration, regions) = found(&log(|row, x, _| {
        if x > 0.99 {
            -8.0 - (row / 20 % 3) as f32
        } else {
            0.0
        }
    }));
    assert!(calibration.dimensions[0].scale > 8.0);
    let [wall] = &regions[..] else {
        panic!("{regions:?}");
    };
    let LocalRegion { region, share, .. } = wall;
    assert_eq!((region.input, region.high, *share), (0, f32::MAX, 0.05));
    assert!(region.low > 0.9, "{region:?}");
    // Eleven of sigma_e are asked for, of which the model has one.
    let height = region.heights[0];
    assert!((9.0..15.0).contains(&height), "{height}");
}

#[test]
fn a_contact_in_the_middle_has_two_ends() {
    let (_, regions) = found(&log(|_, _, y| if y.abs() < 0.1 { 7.0 } else { 0.0 }));
    let [contact] = &regions[..] else {
        panic!("{regions:?}");
    };
    let region = &contact.region;
    assert_eq!(region.input, 1);
    assert!(region.low > -0.2 && region.high < 0.2, "{region:?}");
}

#[test]
fn an_error_that_is_not_local_has_no_region() {
    // One row in ten, wherever it is; and a state that errs on half of its range.
    let scattered = log(|row, _, _| {
        if (row as u32).wrapping_mul(2_654_435_761) >> 28 == 0 {
            7.0
        } else {
            0.0
        }
    });
    assert_eq!(found(&scattered).1, []);
    let half = log(|_, x, _| if x > 0.0 { 7.0 } else { 0.0 });
    assert_eq!(found(&half).1, []);
}

#[test]
fn what_happened_in_one_episode_is_no_region() {
    // Five rows of one episode, at one end of an input.
    let once = log(|row, x, _| if row / 20 == 11 && x > 0.5 { 9.0 } else { 0.0 });
    assert_eq!(found(&once).1, []);
}

#[test]
fn two_walls_are_two_regions() {
    let (_, regions) = found(&log(|_, x, _| if x.abs() > 0.99 { 9.0 * x } else { 0.0 }));
    let mut places: Vec<_> = regions.iter().map(|one| one.region.input).collect();
    places.dedup();
    assert_eq!((regions.len(), &places[..]), (2, &[0][..]), "{regions:?}");
}

#[test]
fn rows_that_were_trained_on_say_where_and_those_that_choose_must_agree() {
    let wall = |at: f32| log(move |_, x, _| if (x - at).abs() < 0.01 { 9.0 } else { 0.0 });
    let (_, regions) = found_with(&wall(1.0), Some(&trained_on(wall(1.0))));
    let [region] = &regions[..] else {
        panic!("{regions:?}");
    };
    assert!(region.region.low > 0.9, "{region:?}");
    // A wall at the other end, and none at all.
    assert_eq!(found_with(&wall(1.0), Some(&trained_on(wall(-1.0)))).1, []);
    let none = trained_on(log(|_, _, _| 0.0));
    assert_eq!(found_with(&wall(1.0), Some(&none)).1, []);
}

#[test]
fn a_sentence_names_the_stretch_the_states_and_the_price() {
    let of = |low: f32, high: f32| {
        let local = LocalRegion {
            region: WidthRegion {
                input: 1,
                low,
                high,
                edge: 0.1,
                heights: vec![0.0, 0.25],
            },
            state: 0,
            share: 0.031,
            widening: 4.04,
        };
        local.sentence("x", |state| format!("s{state}"))
    };
    assert_eq!(
        of(f32::MIN, -1.2),
        "errs more where x below -1.2000 (3.1 % of the rows): sigma_e is larger there, s1 by \
         0.250; else the set of s0 would have to be 4.0 times as wide everywhere"
    );
    assert!(of(0.5, f32::MAX).contains("where x above 0.5000 ("));
    assert!(of(0.5, 0.75).contains("where x from 0.5000 to 0.7500 ("));
}
