//! What the rows that choose decide: the scale of the noise and tau_j, and what
//! both do on other rows.

use hambo_core::model::{MOST_BEYOND_TESTED, nested_beta};
use hambo_core::numeric::random::normal_quantile_of_tail;

use super::calibration_error::{LEVELS, fraction, scores};
use super::chosen_widening::least_widening;
use super::gate::{MOST_WIDENING, OUTSIDE};
use super::noise_scale::noise_scale;
use super::outcome::{Beta, CalibrationMode, CalibrationOptions, CurvePoint, DimensionCalibration};
use super::pools::Drawn;
use super::required_widening::{Simulated, longest_run};
use super::scale::best_scale;
use super::withheld::WithheldRow;
use super::withheld::{CalibrationError, Withheld, WithheldDimension};

/// The 0.95 quantile of the standard normal: half the width of a 90 % interval.
const NORMAL_95: f64 = 1.644_853_626_951_472;

/// 2, 4, 8 … rows, up to the longest.
pub(super) fn window_lengths(longest: usize, run: usize) -> impl Iterator<Item = usize> {
    let longest = longest.min(run);
    std::iter::successors(Some(2), |length| Some(2 * length))
        .take_while(move |length| *length <= longest)
}

/// The same, and `common` rows, which enough episodes have, where twice the longest of the others
/// that they have is less than `longest`: a model may judge twice what was tested, and an
/// episode half as long as the horizon is to be enough.
pub(super) fn judged_lengths(longest: usize, run: usize, common: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = window_lengths(longest, run).collect();
    let common = common.min(longest);
    let tested = lengths.iter().filter(|length| **length <= common).max();
    let tested = tested.copied().unwrap_or(1);
    let reached = tested.saturating_mul(MOST_BEYOND_TESTED as usize);
    if reached < longest && tested < common {
        lengths.push(common);
        lengths.sort_unstable();
    }
    lengths
}

/// What the rows that choose have chosen.
pub(super) struct Scales {
    best: Vec<f64>,
    pub(super) tau: Vec<f64>,
    noise: Vec<f64>,
    betas: Vec<f32>,
    /// beta · tau_j.
    radii: Vec<f64>,
    /// The variance of what stays for an episode, in that of the noise.
    stays: Vec<f64>,
}

/// Rows that choose, without what is drawn beside white noise.
pub(super) struct Choosing<'a> {
    pub(super) rows: &'a Withheld<'a>,
    /// For sums over windows.
    pub(super) windows: &'a Withheld<'a>,
    /// What is drawn.
    pub(super) drawn: Option<&'a Drawn>,
}

impl Scales {
    /// All 1: nothing was chosen.
    pub(super) fn unit(
        count: usize,
        options: &CalibrationOptions,
    ) -> Result<Self, CalibrationError> {
        Self::with(
            vec![1.0; count],
            vec![1.0; count],
            vec![1.0; count],
            options,
        )
    }

    fn with(
        best: Vec<f64>,
        tau: Vec<f64>,
        noise: Vec<f64>,
        options: &CalibrationOptions,
    ) -> Result<Self, CalibrationError> {
        let betas = betas(&options.beta, &tau)?;
        let radii = tau.iter().zip(&betas);
        Ok(Self {
            radii: radii.map(|(tau, beta)| tau * f64::from(*beta)).collect(),
            best,
            tau,
            noise,
            betas,
            stays: Vec::new(),
        })
    }

    pub(super) fn choose(
        choosing: &Choosing<'_>,
        options: &CalibrationOptions,
    ) -> Result<Self, CalibrationError> {
        let (rows, windows) = (choosing.rows, choosing.windows);
        let count = rows.dimensions.len();
        let noise: Vec<f64> = match choosing.drawn {
            Some(drawn) => drawn.noise.clone(),
            None => (0..count).map(|j| noise_scale(rows, j)).collect(),
        };
        let stays = choosing
            .drawn
            .map_or(Vec::new(), |drawn| drawn.stays.clone());
        let of_dimension = rows.dimensions.iter().zip(&noise);
        let best: Vec<f64> = of_dimension
            .map(|(columns, noise)| best_scale(&scores(columns, *noise, options.intervals)))
            .collect();
        if options.mode == CalibrationMode::Paper {
            let chosen = Self::with(best.clone(), best, noise, options)?;
            return Ok(Self { stays, ..chosen });
        }
        let tau = best.iter().map(|best| best.clamp(1.0, MOST_WIDENING));
        let tau = tau.collect();
        let mut chosen = Self {
            stays: stays.clone(),
            ..Self::with(best, tau, noise, options)?
        };
        // What set and noise leave out of a window of any length, the set takes in.
        let simulated = chosen.simulated(count);
        let run = longest_run(windows.follows);
        let factors: Vec<f64> = (0..count)
            .map(|j| {
                let lengths = window_lengths(options.longest_window, run);
                let lengths = std::iter::once(1).chain(lengths);
                let required = lengths.map(|length| {
                    let of = if length == 1 { rows } else { windows };
                    least_widening(simulated, of, (j, count), length)
                });
                required.fold(1.0, f64::max)
            })
            .collect();
        for (tau, factor) in chosen.tau.iter_mut().zip(factors) {
            *tau = (*tau * factor).min(MOST_WIDENING);
        }
        let Self {
            best, tau, noise, ..
        } = chosen;
        let chosen = Self::with(best, tau, noise, options)?;
        Ok(Self { stays, ..chosen })
    }

    pub(super) fn simulated(&self, count: usize) -> Simulated<'_> {
        Simulated {
            radii: &self.radii,
            noise_scale: &self.noise,
            quantile: f64::from(noise_width(count)),
            stays: &self.stays,
        }
    }

    /// Errors, curves and shares of one dimension, the set widened.
    pub(super) fn report(
        &self,
        j: usize,
        columns: &WithheldDimension<'_>,
        widening: f64,
        options: &CalibrationOptions,
    ) -> DimensionCalibration {
        let of = |values: &[f64]| values.get(j).copied().unwrap_or(1.0);
        let (noise, scale) = (of(&self.noise), of(&self.tau) * widening);
        let beta = self.betas.get(j).copied().unwrap_or(0.0);
        let width = f64::from(beta) * scale;
        let quantile = self.simulated(self.tau.len()).quantile;
        let held = |inside: &dyn Fn(&WithheldRow) -> bool| {
            fraction(&columns.told().map(|row| inside(&row)).collect::<Vec<_>>())
        };
        let total = |row: &WithheldRow| row.epistemic.hypot(noise * row.aleatoric);
        let before = scores(columns, 1.0, options.intervals);
        let after = scores(columns, noise, options.intervals);
        DimensionCalibration {
            best_scale: of(&self.best) as f32,
            scale: scale as f32,
            noise_scale: noise as f32,
            beta,
            error_before: before.calibration_error(1.0) as f32,
            error_after: after.calibration_error(scale) as f32,
            curve_before: curve(before.empirical_frequency(1.0)),
            curve_after: curve(after.empirical_frequency(scale)),
            epistemic_coverage: held(&|row| row.residual.abs() <= width * row.epistemic),
            simulated_coverage: held(&|row| {
                let noise = quantile * noise * row.aleatoric;
                row.residual.abs() <= width * row.epistemic + noise
            }),
            coverage_90: held(&|row| row.residual.abs() <= NORMAL_95 * scale * total(row)),
        }
    }
}

fn betas(beta: &Beta, tau: &[f64]) -> Result<Vec<f32>, CalibrationError> {
    Ok(match beta {
        Beta::Nested { members } => {
            let tau: Vec<f32> = tau.iter().map(|tau| *tau as f32).collect();
            vec![nested_beta(*members, &tau); tau.len()]
        }
        Beta::Fixed(beta) => vec![*beta; tau.len()],
        Beta::Each(betas) if betas.len() == tau.len() => betas.clone(),
        Beta::Each(betas) => {
            return Err(CalibrationError::Mismatch {
                dimension: 0,
                rows: betas.len(),
            });
        }
    })
}

fn curve(observed: [f64; 10]) -> Vec<CurvePoint> {
    let pair = |(nominal, observed): (f64, f64)| CurvePoint {
        nominal: nominal as f32,
        observed: observed as f32,
    };
    LEVELS.into_iter().zip(observed).map(pair).collect()
}

/// z: the number of standard deviations that hold the noise of `count` states at once in
/// [`NOMINAL_SHARE`](super::gate::NOMINAL_SHARE) of the steps.
#[must_use]
pub fn noise_width(count: usize) -> f32 {
    let tail = 0.5 * OUTSIDE / count.max(1) as f64;
    normal_quantile_of_tail(tail as f32)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

    use super::*;
    use crate::calibration::outcome::Intervals;
    use hambo_base::Held;

    #[test]
    fn windows_double_up_to_the_longest_that_there_is() {
        let lengths = |longest, run| window_lengths(longest, run).collect::<Vec<_>>();
        assert_eq!(lengths(40, 100), [2, 4, 8, 16, 32]);
        assert_eq!(lengths(100, 8), [2, 4, 8]);
    }

    #[test]
    fn half_the_horizon_is_always_judged_where_episodes_have_it() {
        // 16 of 30 rows would serve 32 steps; all 30 serve 60.
        assert_eq!(judged_lengths(60, 30, 30), [2, 4, 8, 16, 30]);
        assert_eq!(judged_lengths(30, 30, 30), [2, 4, 8, 16]);
        // One long episode is not enough for 64 rows, and the others have 20.
        assert_eq!(judged_lengths(100, 64, 20), [2, 4, 8, 16, 20, 32, 64]);
        assert_eq!(judged_lengths(3, 3, 3), [2]);
        assert_eq!(judged_lengths(9, 1, 1), [0; 0]);
        for longest in 1..200_usize {
            for common in longest.div_ceil(2)..=longest {
                let most = judged_lengths(longest, common, common).pop().unwrap_or(1);
                assert!(2 * most >= longest, "{longest} {common}");
            }
        }
    }

    #[test]
    fn dimensions_share_what_may_lie_outside() {
        let options = CalibrationOptions {
            mode: CalibrationMode::Widen,
            intervals: Intervals::OneSided,
            beta: Beta::Fixed(1.0),
            longest_window: 1,
            stationary: false,
        };
        let quantile = |count| {
            Scales::unit(count, &options)
                .unwrap()
                .simulated(count)
                .quantile
        };
        // Half of a hundredth on either side, and a quarter of it.
        assert!((quantile(1) - 2.575_829).abs() < 1e-4);
        assert!((quantile(2) - 2.807_034).abs() < 1e-4);
    }

    #[test]
    fn a_beta_for_each_dimension_must_be_there() {
        let tau = [1.0, 2.0];
        assert_eq!(
            betas(&Beta::Each(vec![3.0, 4.0]), &tau).unwrap(),
            [3.0, 4.0]
        );
        assert_eq!(betas(&Beta::Fixed(3.0), &tau).unwrap(), [3.0; 2]);
        assert!(betas(&Beta::Each(vec![3.0]), &tau).is_err());
    }

    #[test]
    fn a_curve_has_a_point_for_each_level() {
        let points = curve([0.5; 10]);
        let nominal: Vec<f32> = points.iter().map(|point| point.nominal).collect();
        assert_eq!(nominal, LEVELS.map(|level| level as f32));
        assert!(points.iter().all(|point| point.observed == 0.5));
    }

    #[test]
    fn shares_of_a_dimension_by_hand() {
        let options = CalibrationOptions {
            mode: CalibrationMode::Widen,
            intervals: Intervals::OneSided,
            beta: Beta::Fixed(1.0),
            longest_window: 1,
            stationary: false,
        };
        let scales = Scales::with(vec![1.5], vec![2.0], vec![0.25], &options).unwrap();
        let columns = WithheldDimension {
            mean: &[0.0; 6],
            epistemic_std: &[1.0; 6],
            aleatoric_std: &[2.0; 6],
            observed: &[2.9, -3.1, 4.2, -4.4, 5.5, -5.6],
            held: Held::NONE,
        };
        let report = scales.report(0, &columns, 1.5, &options);
        let found = [report.best_scale, report.scale, report.noise_scale];
        assert_eq!((found, report.beta), ([1.5, 3.0, 0.25], 1.0));
        // The set reaches to 3, with 2.576 · 0.5 of noise to 4.29, and 90 % lie within
        // 1.645 · 3 · sqrt(1 + 0.25) = 5.52.
        assert_eq!(report.epistemic_coverage, 1.0 / 6.0);
        assert_eq!(report.simulated_coverage, 0.5);
        assert_eq!(report.coverage_90, 5.0 / 6.0);
    }

    #[test]
    fn two_dimensions_leave_half_as_many_rows_outside_each() {
        // 300 rows, of which two need the set three times as wide: one in 200 may stay
        // outside in each dimension, which is one row.
        let observed: Vec<f32> = (0..300)
            .map(|row| match row {
                100 | 200 => 3.0,
                _ => 0.02 * ((row * 7 % 40) as f32 - 19.5),
            })
            .collect();
        let dimension = WithheldDimension {
            mean: &[0.0; 300],
            epistemic_std: &[1.0; 300],
            aleatoric_std: &[1e-6; 300],
            observed: &observed,
            held: Held::NONE,
        };
        let rows = Withheld {
            dimensions: vec![dimension; 2],
            groups: &[0; 300],
            follows: &[false; 300],
        };
        let options = CalibrationOptions {
            mode: CalibrationMode::Widen,
            intervals: Intervals::OneSided,
            beta: Beta::Fixed(1.0),
            longest_window: 1,
            stationary: false,
        };
        let choosing = Choosing {
            rows: &rows,
            windows: &rows,
            drawn: None,
        };
        let tau = Scales::choose(&choosing, &options).unwrap().tau;
        assert!(tau.iter().all(|tau| (tau - 3.0).abs() < 0.01), "{tau:?}");
    }
}
