//! What a model says about rows that it was not trained on: by the core, from
//! the very bytes that go into a file.

use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::Calibration;

use super::tables::inputs;
use crate::calibration::Shown;
use crate::calibration::withheld::{Withheld, WithheldDimension};
use crate::prediction::predict;
use hambo_base::{Error, Held};
use hambo_data::{LogPart, Told, follows};
use hambo_task::image::{AlignedBytes, LoggedRegion, NoisePools, Uncertainty};
use hambo_task::task::ModelView;

/// Predictions and observations, state by state.
pub(super) struct Evidence {
    columns: Vec<[Vec<f32>; 4]>,
    /// Marks of the rows that say nothing, state by state; none where all say something.
    held: Vec<Vec<bool>>,
    samples: Vec<u32>,
    follows: Vec<bool>,
    inputs: Vec<f32>,
    input_columns: usize,
}

impl Evidence {
    /// Of a model part on the rows of a part of a log. What wraps was observed on the
    /// prediction's own turn, and a row at a wall says something of a prediction that is not.
    ///
    /// # Errors
    /// If the core refuses the part.
    pub(super) fn new(model_part: &[u8], rows: &LogPart, view: &ModelView) -> Result<Self, Error> {
        let log = &rows.log;
        let bytes = AlignedBytes::new(model_part);
        let part = Container::take(&mut bytes.as_bytes(), Part::Model)?;
        let predictions = predict(&parse_model(&part)?, log, view);
        let dimension = view.moved.len();
        let column = |numbers: &[f32], j: usize| -> Vec<f32> {
            numbers.iter().skip(j).step_by(dimension).copied().collect()
        };
        let next_states: Vec<f32> = log
            .rows()
            .flat_map(|row| view.of_state(row.next_state))
            .collect();
        let held = Told::of(log, view).held_beside(log, view, &predictions.mean);
        let held = (0..dimension).map(|j| Held::new(&held).column(j, dimension));
        let columns = (0..dimension).map(|j| {
            let mean = column(&predictions.mean, j);
            let mut observed = column(&next_states, j);
            let wrap = view.moved.get(j).and_then(|place| view.wraps.get(*place));
            if let Some(Some(wrap)) = wrap {
                for (observed, mean) in observed.iter_mut().zip(&mean) {
                    *observed = wrap.next_to(*observed, *mean);
                }
            }
            [
                mean,
                column(&predictions.epistemic_std, j),
                column(&predictions.aleatoric_std, j),
                observed,
            ]
        });
        Ok(Self {
            columns: columns.collect(),
            held: held.collect(),
            samples: rows.samples(),
            follows: follows(rows, &view.wraps),
            inputs: inputs(log, view),
            input_columns: view.features.len() + log.action_dimension(),
        })
    }

    /// As calibration takes it.
    pub(super) fn withheld(&self) -> Withheld<'_> {
        Withheld {
            dimensions: self.dimensions(),
            groups: &self.samples,
            follows: &self.follows,
        }
    }

    /// With what the model sees of each row.
    pub(super) fn shown(&self) -> Shown<'_> {
        Shown {
            rows: self.withheld(),
            inputs: &self.inputs,
            columns: self.input_columns,
        }
    }

    /// The columns of each state.
    pub(super) fn dimensions(&self) -> Vec<WithheldDimension<'_>> {
        let columns = self.columns.iter().zip(&self.held);
        columns
            .map(
                |([mean, epistemic_std, aleatoric_std, observed], held)| WithheldDimension {
                    mean,
                    epistemic_std,
                    aleatoric_std,
                    observed,
                    held: Held::new(held),
                },
            )
            .collect()
    }
}

/// The set before calibration: one standard deviation, and no limits.
#[must_use]
pub fn uncalibrated(view: &ModelView) -> Uncertainty {
    let outputs = view.moved.len();
    Uncertainty {
        features: view.features.len(),
        beta: 1.0,
        calibration_scale: vec![1.0; outputs],
        noise_scale: vec![1.0; outputs],
        noise_factor: Vec::new(),
        noise_pools: NoisePools::default(),
        width_regions: Vec::new(),
        calibration: Calibration::TooFewRows,
        tested_steps: 0,
        support: LoggedRegion::everywhere(view.features.len() + view.actions),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::ensemble::encode::encode_ensemble;
    use crate::ensemble::{Member, TrainedEnsemble};
    use hambo_base::network::{Activation, Layer, Standardisation};
    use hambo_data::{Log, Transition};
    use hambo_task::task::TaskFile;

    fn ensemble() -> TrainedEnsemble {
        let member = Member {
            layers: vec![Layer {
                inputs: 2,
                outputs: 2,
                weights: vec![0.0; 4],
                bias: vec![3.0, -20.0],
            }],
        };
        TrainedEnsemble {
            activation: Activation::Relu,
            standardisation: Standardisation {
                input_mean: vec![0.0; 2],
                input_scale: vec![1.0; 2],
                output_mean: vec![0.0],
                output_scale: vec![1.0],
            },
            std_floor: 1e-3,
            std_cap: 1.0,
            priors: Vec::new(),
            losses: vec![0.0; 2],
            members: vec![member.clone(), member],
            widths: vec![2, 2],
        }
    }

    fn task(wrap: &str) -> TaskFile {
        let text = format!(
            "name = 'arm'\nhorizon = 5\n[state]\nnames = ['x']\n{wrap}\n[action]\n\
             names = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = 'x'\n\
             [initial]\nkind = 'data'\n"
        );
        TaskFile::parse(&text, "arm.toml").unwrap()
    }

    #[test]
    fn what_is_drawn_is_read_as_it_was_written() {
        let pools = NoisePools {
            centre: vec![0.25],
            ends: vec![0.01, 0.03, 0.04],
            extremes: vec![9.0, -7.0, 5.0],
            offsets: vec![2.0, -2.0],
        };
        let part = |pools: &NoisePools| {
            let set = Uncertainty {
                noise_pools: pools.clone(),
                width_regions: Vec::new(),
                ..uncalibrated(&task("").model_view())
            };
            encode_ensemble(&ensemble(), &set).unwrap()
        };
        let read = |pools: &NoisePools| -> Option<Vec<Option<f32>>> {
            let part = part(pools);
            let bytes = AlignedBytes::new(&part);
            let part = Container::take(&mut bytes.as_bytes(), Part::Model).ok()?;
            let noise = parse_model(&part).ok()?.noise;
            assert!(!noise.offsets.is_empty());
            let places = [0.005, 0.02, 0.035, 0.05];
            Some(
                places
                    .map(|place| noise.extremes.at(place).map(|row| row[0]))
                    .to_vec(),
            )
        };
        let wanted = [Some(9.0), Some(-7.0), Some(5.0), None];
        assert_eq!(read(&pools).unwrap(), wanted);
        for spoil in [
            |pools: &mut NoisePools| pools.ends[0] = 0.0,
            |pools: &mut NoisePools| pools.ends[1] = 0.01,
            |pools: &mut NoisePools| pools.ends[2] = 0.9,
            |pools: &mut NoisePools| pools.extremes[1] = f32::NAN,
            |pools: &mut NoisePools| pools.centre[0] = f32::INFINITY,
            |pools: &mut NoisePools| pools.offsets[1] = f32::NAN,
        ] {
            let mut pools = pools.clone();
            spoil(&mut pools);
            assert!(read(&pools).is_none(), "{pools:?}");
        }
    }

    /// A model that says s′ = s + 3, and rows where it is s − 3.2: most of a turn apart, or
    /// 0.08 the other way round.
    #[test]
    fn what_wraps_is_held_against_the_near_side_of_the_prediction() {
        let ensemble = ensemble();
        let mut log = Log::new(1, 1);
        log.push(Transition {
            state: &[1.0],
            action: &[0.0],
            next_state: &[-2.2],
            reward: 0.0,
            episode: 0,
        })
        .unwrap();
        let view = |wrap: &str| task(wrap).model_view();
        let part = encode_ensemble(&ensemble, &uncalibrated(&view(""))).unwrap();
        let rows = LogPart::whole(&log);
        let residual = |wrap: &str| {
            let evidence = Evidence::new(&part, &rows, &view(wrap)).unwrap();
            let [row] = evidence.dimensions()[..] else {
                return f32::NAN;
            };
            row.observed[0] - row.mean[0]
        };
        assert!((residual("") + 6.2).abs() < 1e-5);
        let turn = std::f32::consts::TAU;
        assert!((residual("wrap = ['x']") - (turn - 6.2)).abs() < 1e-5);
    }
    /// A model that says s′ = s + 3, and rows that end at a wall at 2: where it says more than that
    /// the row says nothing, and where it says less it is off by as much at least.
    #[test]
    fn a_row_at_a_wall_is_held_against_a_prediction_that_is_not_there() {
        let mut log = Log::new(1, 1);
        for (state, next) in [(-3.0, 0.5), (1.0, 2.0), (-2.0, 2.0)] {
            let row = Transition {
                state: &[state],
                action: &[0.0],
                next_state: &[next],
                reward: 0.0,
                episode: 0,
            };
            log.push(row).unwrap();
        }
        let text = "name = 'arm'\nhorizon = 5\n[state]\nnames = ['x']\n[action]\n\
             names = ['u']\nlow = [-1]\nhigh = [1]\n[known]\nx = 'min(learned.x, 2)'\n\
             [reward]\nexpr = 'x'\n[initial]\nkind = 'data'\n";
        let view = TaskFile::parse(text, "arm.toml").unwrap().model_view();
        let part = encode_ensemble(&ensemble(), &uncalibrated(&view)).unwrap();
        let evidence = Evidence::new(&part, &LogPart::whole(&log), &view).unwrap();
        let [row] = evidence.dimensions()[..] else {
            panic!("one state");
        };
        assert_eq!(
            [0, 1, 2].map(|place| row.held.at(place)),
            [false, true, false]
        );
        assert!((row.observed[2] - row.mean[2] - 1.0).abs() < 1e-5);
    }
}
