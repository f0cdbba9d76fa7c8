//! What the noise of several states has in common: the factor of its correlation.
//!
//! As in [`noise_scale`](super::noise_scale), differences of residuals from one row to the
//! next show the noise, because the model's error hardly changes between them. Neighbouring
//! differences of white noise have the correlation -1/2; where they have much less of it, as in
//! a system without noise, they show how the model's error changes, and say nothing of noise in
//! common. Noise counts as independent from state to state while no direction's variance would change by more than a
//! tenth, or while Bartlett's test of sphericity cannot tell it from independent noise.

use hambo_core::numeric::random::normal_quantile_of_tail;

use super::withheld::Withheld;

/// Pairs of rows below which nothing is said of a correlation.
const FEWEST: usize = 20;
/// The change of a direction's variance that is too small to matter.
const NEGLIGIBLE: f64 = 0.1;
/// The share of logs with independent noise in which the test finds a correlation.
const TAIL: f32 = 1e-3;
/// Neighbouring differences of a state whose residuals are noise are correlated by less than
/// this: half way between white noise and an error that walks at random.
const OF_NOISE: f64 = -0.25;
/// Overlapping differences of independent rows that tell as much as one pair of rows.
const OVERLAP: f64 = 1.5;
/// The share of independent noise that keeps the matrix away from a singular one.
const RIDGE: f64 = 1e-3;

/// The lower triangle L of L Lᵀ = R, row by row; empty where noise is independent.
pub(super) fn noise_factor(rows: &Withheld<'_>) -> Vec<f32> {
    let whole = rows.whole_rows();
    let all: Vec<Differences> = (0..rows.dimensions.len())
        .map(|j| Differences::of(rows, j, &whole))
        .collect();
    let pairs = all.first().map_or(0, |of| of.values.len());
    if all.len() < 2 || pairs < FEWEST {
        return Vec::new();
    }
    let correlations = correlations(&all);
    if is_negligible(&correlations) {
        return Vec::new();
    }
    let factor = cholesky(&correlations);
    if !is_significant(&factor, pairs as f64 / OVERLAP) {
        return Vec::new();
    }
    let unit = |row: &Vec<f64>| -> Vec<f32> {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter().map(|x| (x / length) as f32).collect()
    };
    factor.iter().flat_map(unit).collect()
}

/// Differences of a state's residuals, in predicted standard deviations of its noise.
struct Differences {
    values: Vec<f64>,
    /// The root of their sum of squares.
    size: f64,
    /// Whether they are those of noise.
    of_noise: bool,
}

impl Differences {
    fn of(rows: &Withheld<'_>, dimension: usize, whole: &[bool]) -> Self {
        let scores: Vec<f64> = rows
            .dimensions
            .get(dimension)
            .map_or(Vec::new(), |columns| {
                let rows = columns.rows();
                rows.map(|row| row.residual / row.aleatoric.max(f64::MIN_POSITIVE))
                    .collect()
            });
        let follows = rows.follows.iter().skip(1);
        // None where an episode begins, and where a row says nothing of some state.
        let steps: Vec<Option<f64>> = (scores.windows(2).zip(whole.windows(2)).zip(follows))
            .map(|((pair, whole), follows)| match pair {
                [before, after] if *follows && whole == [true; 2] => Some(after - before),
                _ => None,
            })
            .collect();
        let neighbours = steps.windows(2).filter_map(|pair| match pair {
            [Some(before), Some(after)] => Some(before * after),
            _ => None,
        });
        let (products, count) =
            neighbours.fold((0.0, 0_usize), |(sum, count), x| (sum + x, count + 1));
        let values: Vec<f64> = steps.into_iter().flatten().collect();
        let squares = values.iter().map(|x| x * x).sum::<f64>();
        let mean = |sum: f64, count: usize| sum / count.max(1) as f64;
        Self {
            of_noise: mean(products, count) < OF_NOISE * mean(squares, values.len()),
            size: squares.sqrt(),
            values,
        }
    }

    /// The correlation with another state's; none where one is without noise.
    fn correlation(&self, other: &Self) -> f64 {
        let pairs = self.values.iter().zip(&other.values);
        let size = self.size * other.size;
        if self.of_noise && other.of_noise && size > 0.0 {
            (1.0 - RIDGE) * pairs.map(|(x, y)| x * y).sum::<f64>() / size
        } else {
            0.0
        }
    }
}

fn correlations(all: &[Differences]) -> Vec<Vec<f64>> {
    let rows = all.iter().enumerate();
    rows.map(|(i, of)| {
        let others = all.iter().enumerate();
        others
            .map(|(j, other)| if i == j { 1.0 } else { of.correlation(other) })
            .collect()
    })
    .collect()
}

/// No eigenvalue is farther from 1 than the root of the sum of squares beside the diagonal.
fn is_negligible(correlations: &[Vec<f64>]) -> bool {
    let squares = correlations.iter().flatten().map(|x| x * x).sum::<f64>();
    (squares - correlations.len() as f64).max(0.0).sqrt() <= NEGLIGIBLE
}

/// Bartlett's test, by Wilson and Hilferty's quantile of chi-square.
fn is_significant(factor: &[Vec<f64>], rows: f64) -> bool {
    let states = factor.len() as f64;
    let diagonal = factor.iter().filter_map(|row| row.last());
    let log_determinant: f64 = 2.0 * diagonal.map(|x| x.ln()).sum::<f64>();
    let statistic = -(rows - 1.0 - (2.0 * states + 5.0) / 6.0) * log_determinant;
    let freedom = 0.5 * states * (states - 1.0);
    let z = f64::from(normal_quantile_of_tail(TAIL));
    let spread = 2.0 / (9.0 * freedom);
    statistic > freedom * (1.0 - spread + z * spread.sqrt()).powi(3)
}

/// The rows of L, of a matrix whose ridge keeps it positive definite.
fn cholesky(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for row in matrix {
        let mut own: Vec<f64> = Vec::new();
        for before in &factor {
            let known: f64 = own.iter().zip(before).map(|(x, y)| x * y).sum();
            let pivot = before.last().copied().unwrap_or(1.0);
            let entry = row.get(own.len()).copied().unwrap_or(0.0);
            own.push((entry - known) / pivot);
        }
        let left = 1.0 - own.iter().map(|x| x * x).sum::<f64>();
        own.push(left.max(RIDGE * RIDGE).sqrt());
        factor.push(own);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::withheld::WithheldDimension;
    use hambo_base::Held;
    use hambo_core::model::NoiseFactor;
    use hambo_core::numeric::random::Stream;

    const EPISODES: u32 = 20;
    const STEPS: u32 = 30;

    /// The factor of rows whose residuals are `of(normals, episode)`, from normals of a seed.
    fn factor_of<const N: usize>(seed: u64, of: impl Fn([f32; N], u32) -> Vec<f32>) -> Vec<f32> {
        let rows: Vec<Vec<f32>> = (0..EPISODES * STEPS)
            .map(|row| {
                let mut stream = Stream::new(seed, row);
                of([0; N].map(|_| stream.standard_normal()), row / STEPS)
            })
            .collect();
        let count = rows.len();
        let states = rows.first().map_or(0, Vec::len);
        let columns: Vec<Vec<f32>> = (0..states)
            .map(|j| rows.iter().filter_map(|row| row.get(j).copied()).collect())
            .collect();
        let (zeros, ones) = (vec![0.0; count], vec![1.0; count]);
        let of_column = |observed| WithheldDimension {
            mean: &zeros,
            epistemic_std: &zeros,
            aleatoric_std: &ones,
            observed,
            held: Held::NONE,
        };
        let groups: Vec<u32> = (0..EPISODES * STEPS).map(|row| row / STEPS).collect();
        let follows: Vec<bool> = (0..EPISODES * STEPS).map(|row| row % STEPS > 0).collect();
        noise_factor(&Withheld {
            dimensions: columns.iter().map(|column| of_column(column)).collect(),
            groups: &groups,
            follows: &follows,
        })
    }

    #[test]
    fn a_common_gust_has_a_factor_that_the_core_takes() {
        let factor = factor_of(1, |[gust, x, y]: [f32; 3], _| {
            vec![0.9 * gust + 0.435_9 * x, 0.9 * gust + 0.435_9 * y]
        });
        assert!(NoiseFactor::new(&factor, 2).is_ok(), "{factor:?}");
        // Correlation 0.81.
        assert!((factor[1] - 0.81).abs() < 0.05, "{factor:?}");
    }

    #[test]
    fn states_with_the_same_noise_have_one_too() {
        let factor = factor_of(2, |[gust]: [f32; 1], _| vec![gust, -gust, gust]);
        assert!(NoiseFactor::new(&factor, 3).is_ok(), "{factor:?}");
        assert!(factor[1] < -0.99 && factor[3] > 0.99, "{factor:?}");
    }

    #[test]
    fn independent_noise_has_none() {
        for seed in 0..50 {
            let factor = factor_of(seed, |normals: [f32; 4], _| normals.to_vec());
            assert!(factor.is_empty(), "{seed}: {factor:?}");
        }
    }

    #[test]
    fn an_error_of_the_model_that_stays_in_an_episode_is_no_noise_in_common() {
        let factor = factor_of(3, |[x, y]: [f32; 2], episode| {
            let error = if episode % 2 == 0 { 2.0 } else { -2.0 };
            vec![0.3 * x + error, 0.3 * y + error]
        });
        assert!(factor.is_empty(), "{factor:?}");
    }

    /// In a system without noise the residuals are the model's errors, which change smoothly.
    #[test]
    fn errors_that_change_smoothly_are_no_noise_in_common() {
        let rows = EPISODES * STEPS;
        let error: Vec<f32> = (0..rows).map(|row| (0.4 * row as f32).sin()).collect();
        let (zeros, ones) = (vec![0.0; error.len()], vec![1.0; error.len()]);
        let dimension = WithheldDimension {
            mean: &zeros,
            epistemic_std: &zeros,
            aleatoric_std: &ones,
            observed: &error,
            held: Held::NONE,
        };
        let groups: Vec<u32> = (0..rows).map(|row| row / STEPS).collect();
        let follows: Vec<bool> = (0..rows).map(|row| row % STEPS > 0).collect();
        let factor = noise_factor(&Withheld {
            dimensions: vec![dimension; 2],
            groups: &groups,
            follows: &follows,
        });
        assert!(factor.is_empty(), "{factor:?}");
    }

    #[test]
    fn what_cannot_be_told_is_independent() {
        assert!(factor_of(4, |[x]: [f32; 1], _| vec![x]).is_empty());
        // A state that never deviates.
        assert!(factor_of(5, |[x]: [f32; 1], _| vec![x, 0.0]).is_empty());
    }
}
