//! Residuals in robust standard deviations of their noise.

use std::collections::BTreeMap;

use crate::calibration::withheld::Withheld;
use hambo_base::Held;
use hambo_base::order::median;

/// The median of |X| for a standard normal X.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// Pairs of rows below which nothing is said of a state's noise.
const FEWEST: usize = 100;
/// Neighbouring differences of white noise have the correlation -1/2; of a state whose
/// residuals are noise they have less than this.
const OF_NOISE: f64 = -0.25;

/// How the residuals of one state are measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Robust deviations of the noise over the predicted one, from differences.
    pub scale: f64,
    /// Whether the residuals are noise: white from step to step.
    pub of_noise: bool,
}

/// The residuals of one state in predicted standard deviations.
pub(super) fn scores(rows: &Withheld<'_>, state: usize) -> Vec<f64> {
    let Some(columns) = rows.dimensions.get(state) else {
        return Vec::new();
    };
    let rows = columns.rows();
    rows.map(|row| row.residual / row.aleatoric.max(f64::MIN_POSITIVE))
        .collect()
}

impl Unit {
    /// Of a state's scores; none where they are too few, or never differ.
    pub(super) fn of(scores: &[f64], follows: &[bool]) -> Option<Self> {
        let steps: Vec<Option<f64>> = (scores.windows(2).zip(follows.iter().skip(1)))
            .map(|(pair, follows)| match pair {
                [before, after] if *follows => Some(after - before),
                _ => None,
            })
            .collect();
        let mut sizes: Vec<f64> = steps.iter().flatten().map(|step| step.abs()).collect();
        if sizes.len() < FEWEST {
            return None;
        }
        let scale = median(&mut sizes)? / std::f64::consts::SQRT_2 / NORMAL_MEDIAN;
        // In ranks a few pushes would hide what the others do: they count as three deviations.
        let most = 3.0 * std::f64::consts::SQRT_2 * scale;
        let clipped = |step: f64| step.clamp(-most, most);
        let products = steps.windows(2).filter_map(|pair| match pair {
            [Some(before), Some(after)] => Some(clipped(*before) * clipped(*after)),
            _ => None,
        });
        let mean = |(sum, count): (f64, usize)| sum / count.max(1) as f64;
        let sum = |(sum, count), x: f64| (sum + x, count + 1);
        let product = mean(products.fold((0.0, 0), sum));
        let square = mean(
            (steps.iter().flatten())
                .map(|step| clipped(*step).powi(2))
                .fold((0.0, 0), sum),
        );
        (scale > 0.0).then_some(Self {
            scale,
            of_noise: product < OF_NOISE * square,
        })
    }
}

/// The median of |x − `centre`| as a standard deviation.
pub(super) fn robust_deviation(values: impl Iterator<Item = f64>) -> f64 {
    let mut sizes: Vec<f64> = values.map(f64::abs).collect();
    median(&mut sizes).unwrap_or(0.0) / NORMAL_MEDIAN
}

/// The rows of each group, in order.
pub(super) fn rows_of_groups(groups: &[u32]) -> BTreeMap<u32, Vec<usize>> {
    let mut rows: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate() {
        rows.entry(*group).or_default().push(row);
    }
    rows
}

/// Values less the median of those of their group that say something.
pub(super) fn less_medians(
    values: &[f64],
    held: Held<'_>,
    groups: &BTreeMap<u32, Vec<usize>>,
) -> Vec<f64> {
    let mut left = values.to_vec();
    for rows in groups.values() {
        let of = |row: &usize| values.get(*row).copied();
        let told = rows.iter().filter(|row| !held.at(**row));
        let mut own: Vec<f64> = told.filter_map(of).collect();
        let middle = median(&mut own).unwrap_or(0.0);
        for row in rows {
            if let Some(value) = left.get_mut(*row) {
                *value -= middle;
            }
        }
    }
    left
}
