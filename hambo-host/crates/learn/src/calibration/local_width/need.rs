//! Rows with what the set must be widened by to hold them, and how regions change that.

use std::collections::BTreeSet;

use hambo_base::Held;
use hambo_core::model::LocalWidth;
use hambo_task::image::WidthRegion;

use crate::calibration::chosen_widening::least_widening;
use crate::calibration::pools::Shown;
use crate::calibration::required_widening::Simulated;
use crate::calibration::withheld::{Withheld, WithheldDimension};

/// Rows that say where a model errs: more say no more.
const MOST_ROWS: usize = 20_000;

/// Rows of a log, with what the model sees of them.
pub(super) struct Rows<'a> {
    shown: &'a Shown<'a>,
    /// The rows that count.
    places: Vec<usize>,
}

impl<'a> Rows<'a> {
    pub(super) fn all(shown: &'a Shown<'a>) -> Self {
        Self {
            shown,
            places: (0..shown.rows.groups.len()).collect(),
        }
    }

    /// Every second sample, those with an even or an odd place in their order.
    pub(super) fn half(shown: &'a Shown<'a>, odd: bool) -> Self {
        let mut samples = shown.rows.groups.to_vec();
        samples.sort_unstable();
        samples.dedup();
        let of_half = |group: &u32| {
            let place = samples.binary_search(group);
            place.is_ok_and(|place| (place % 2 == 1) == odd)
        };
        let groups = shown.rows.groups.iter().enumerate();
        Self {
            shown,
            places: groups
                .filter(|(_, group)| of_half(group))
                .map(|(row, _)| row)
                .collect(),
        }
    }

    /// Those of samples that the others have no row of; at most [`MOST_ROWS`], evenly.
    pub(super) fn without(shown: &'a Shown<'a>, others: &Shown<'_>) -> Self {
        let theirs: BTreeSet<u32> = others.rows.groups.iter().copied().collect();
        let groups = shown.rows.groups.iter().enumerate();
        let places: Vec<usize> = groups
            .filter(|(_, group)| !theirs.contains(group))
            .map(|(row, _)| row)
            .collect();
        let every = places.len().div_ceil(MOST_ROWS).max(1);
        Self {
            shown,
            places: places.into_iter().step_by(every).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn columns(&self) -> usize {
        self.shown.columns
    }

    /// One input of every row.
    pub(super) fn input(&self, column: usize) -> Vec<f32> {
        let at = |row: &usize| self.shown.inputs.get(row * self.shown.columns + column);
        let values = self.places.iter().map(at);
        values
            .map(|value| value.copied().unwrap_or(f32::NAN))
            .collect()
    }

    /// sigma_e of a state, with what the regions add.
    pub(super) fn epistemic(&self, state: usize, regions: &[WidthRegion]) -> Vec<f32> {
        let own = self.shown.rows.dimensions.get(state);
        let at = |row: &usize| own.and_then(|own| own.epistemic_std.get(*row)).copied();
        let values = self.places.iter().map(at);
        let mut values: Vec<f32> = values.map(|value| value.unwrap_or(f32::NAN)).collect();
        for region in regions {
            let height = region.heights.get(state).copied().unwrap_or(0.0);
            widen_by(region, height, &self.input(region.input), &mut values);
        }
        values
    }

    /// What each row asks for of a state's set, and what the state as a whole asks for.
    pub(super) fn needs(
        &self,
        simulated: Simulated<'_>,
        (state, count): (usize, usize),
        regions: &[WidthRegion],
    ) -> (Vec<f64>, f64) {
        let Some(own) = self.shown.rows.dimensions.get(state) else {
            return (Vec::new(), 0.0);
        };
        let stds = self.epistemic(state, regions);
        // A row that says nothing of the state asks for nothing.
        let all = self.places.iter().zip(stds).enumerate();
        let told: Vec<(usize, (&usize, f32))> =
            all.filter(|(_, (row, _))| !own.held.at(**row)).collect();
        let epistemic: Vec<f32> = told.iter().map(|(_, (_, std))| *std).collect();
        let column = |values: &[f32]| -> Vec<f32> {
            let at = |row: &usize| values.get(*row).copied().unwrap_or(f32::NAN);
            told.iter().map(|(_, (row, _))| at(row)).collect()
        };
        let (mean, observed) = (column(own.mean), column(own.observed));
        let aleatoric = column(own.aleatoric_std);
        let (groups, follows) = (vec![0; mean.len()], vec![false; mean.len()]);
        let rows = Withheld {
            dimensions: vec![WithheldDimension {
                mean: &mean,
                epistemic_std: &epistemic,
                aleatoric_std: &aleatoric,
                observed: &observed,
                held: Held::NONE,
            }],
            groups: &groups,
            follows: &follows,
        };
        let of = |values: &'_ [f64]| values.get(state).copied().into_iter().collect::<Vec<f64>>();
        let (radii, noise_scale) = (of(simulated.radii), of(simulated.noise_scale));
        let alone = Simulated {
            radii: &radii,
            noise_scale: &noise_scale,
            ..simulated
        };
        let mut each = vec![0.0; self.places.len()];
        let asked = alone.required_widening_in(&rows, 0, 1);
        for ((place, _), asked) in told.iter().zip(asked) {
            if let Some(each) = each.get_mut(*place) {
                *each = asked;
            }
        }
        (each, least_widening(alone, &rows, (0, count), 1))
    }
}

/// Adds a region's height to the deviations of rows, as the core does at these inputs.
fn widen_by(region: &WidthRegion, height: f32, inputs: &[f32], deviations: &mut [f32]) {
    let row = [0.0, region.low, region.high, region.edge, height];
    let Ok(width) = LocalWidth::new(&row, 1, 1) else {
        // A region that the core refuses says nothing of these rows, so nothing holds them.
        deviations.fill(f32::NAN);
        return;
    };
    for (deviation, input) in deviations.iter_mut().zip(inputs) {
        let mut std = [[*deviation]];
        width.widen(&[[*input]], &[], &mut std, &mut [[0.0]]);
        let [[widened]] = std;
        *deviation = widened;
    }
}
