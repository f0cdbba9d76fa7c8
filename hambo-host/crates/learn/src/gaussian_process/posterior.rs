//! The posterior in f64: mu_n(x) = kᵀ alpha and sigma_n²(x) = k(x, x) − |M k|²
//! of equation (4), with alpha = (K + noise · 1)⁻¹ y and M = L⁻¹ computed once.

use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par};

use super::cholesky;
use super::error::GaussianProcessError;
use super::grouping::Grouping;
use super::information_gain::information_gain;
use super::kernel::Hyperparameters;
use super::order::pivoted_order;
use hambo_base::Held;
use hambo_base::network::Standardisation;

/// First jitter and last, as parts of the mean of K's diagonal.
const JITTER: (f64, f64) = (1e-12, 1e-4);

/// Logged transitions as two row-major tables in physical units.
#[derive(Debug, Clone, Copy)]
pub struct Observations<'a> {
    /// States and actions, (s, a): `input_columns` values per row.
    pub inputs: &'a [f64],
    /// Dimensions of state and action together.
    pub input_columns: usize,
    /// State differences, s′ − s: `target_columns` values per row.
    pub targets: &'a [f64],
    /// Dimensions of the state.
    pub target_columns: usize,
    /// The targets that say nothing.
    pub held: Held<'a>,
}

/// Gaussian processes conditioned on data.
#[derive(Debug, Clone)]
pub struct GaussianProcessFit {
    /// Physical units to those of the processes.
    pub standardisation: Standardisation,
    /// The standardised points, row-major, in the order they are stored in.
    pub points: Vec<f64>,
    /// One process for each target.
    pub outputs: Vec<OutputFit>,
}

#[derive(Debug, Clone)]
pub struct OutputFit {
    /// As given.
    pub hyperparameters: Hyperparameters,
    /// What had to be added to the noise variance to factorise K + noise · 1;
    /// almost always 0. The posterior is that of noise variance plus jitter.
    pub jitter: f64,
    /// (K + noise · 1)⁻¹ y.
    pub alpha: Vec<f64>,
    /// The rows of M = L⁻¹ up to their diagonals, one after the other.
    inverse_factor: Vec<f64>,
    /// g = ½ log det(1 + K / noise).
    information_gain: f64,
    /// √(alphaᵀ K alpha).
    mean_norm: f64,
    /// y, standardised.
    targets: Vec<f64>,
    /// Marks of the points that say nothing; none where all say something.
    held: Vec<bool>,
    /// What the core's variance takes together; none if each point is alone.
    pub(super) grouping: Option<Grouping>,
}

impl GaussianProcessFit {
    /// Conditions one process for each of `hyperparameters` on the data.
    ///
    /// # Errors
    /// If tables disagree, a number is out of its range, or the kernel matrix
    /// cannot be factorised.
    pub fn new(
        observations: &Observations<'_>,
        standardisation: &Standardisation,
        hyperparameters: &[Hyperparameters],
    ) -> Result<Self, GaussianProcessError> {
        let rows = observations.checked_rows()?;
        let (columns, targets) = (observations.input_columns, observations.target_columns);
        require_standardisation(standardisation, observations)?;
        require_shape("hyperparameters", hyperparameters.len(), 1, targets)?;
        for (output, hyperparameters) in hyperparameters.iter().enumerate() {
            hyperparameters.check(output, columns)?;
        }
        let inputs = standardised(
            observations.inputs,
            &standardisation.input_mean,
            &standardisation.input_scale,
        );
        let targets = standardised(
            observations.targets,
            &standardisation.output_mean,
            &standardisation.output_scale,
        );
        let order = pivoted_order(&inputs, columns, hyperparameters);
        let points: Vec<f64> = order
            .iter()
            .flat_map(|row| &inputs[row * columns..][..columns])
            .copied()
            .collect();
        let outputs = hyperparameters.iter().enumerate().map(|(output, h)| {
            let target = order
                .iter()
                .map(|row| targets[row * observations.target_columns + output]);
            let target: Vec<f64> = target.collect();
            let places = order
                .iter()
                .map(|row| row * observations.target_columns + output);
            let held = observations.held.take(places);
            OutputFit::new(h, &points, (&target, Held::new(&held)))
                .ok_or(GaussianProcessError::Singular { output })
        });
        let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
        debug_assert_eq!(points.len(), rows * columns);
        Ok(Self {
            standardisation: standardisation.clone(),
            points,
            outputs,
        })
    }

    /// Number of points.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.outputs.first().map_or(0, |output| output.alpha.len())
    }

    /// Mean and variance of f at (s, a), for each output, in physical units
    /// and without the noise.
    #[must_use]
    pub fn posterior(&self, input: &[f64]) -> Vec<(f64, f64)> {
        let units = &self.standardisation;
        let x = standardised(input, &units.input_mean, &units.input_scale);
        let shifts = units.output_mean.iter().zip(&units.output_scale);
        let outputs = self.outputs.iter().zip(shifts);
        outputs
            .map(|(output, (shift, scale))| {
                let (mean, variance) = output.posterior(&self.points, &x);
                let (shift, scale) = (f64::from(*shift), f64::from(*scale));
                (shift + scale * mean, scale * scale * variance)
            })
            .collect()
    }
}

impl OutputFit {
    /// Conditions on standardised points (row-major) and targets; `None` if
    /// the kernel matrix cannot be factorised. Of a point that says nothing the row of K is 0,
    /// and so are its weight and its row of M.
    pub(crate) fn new(
        hyperparameters: &Hyperparameters,
        points: &[f64],
        (targets, held): (&[f64], Held<'_>),
    ) -> Option<Self> {
        let columns = hyperparameters.lengthscales.len();
        let rows: Vec<&[f64]> = points.chunks_exact(columns).collect();
        let mut kernel = Mat::<f64>::zeros(rows.len(), rows.len());
        for (i, x) in rows.iter().enumerate().filter(|(i, _)| !held.at(*i)) {
            let before = rows.iter().enumerate().take(i + 1);
            for (j, y) in before.filter(|(j, _)| !held.at(*j)) {
                kernel[(i, j)] = hyperparameters.covariance(x, y);
            }
        }
        let (factor, jitter) = factorise(kernel, hyperparameters.noise_variance)?;
        let mut inverse = Mat::<f64>::zeros(rows.len(), rows.len());
        invert_lower_triangular(inverse.as_mut(), factor.as_ref(), Par::Seq);
        cholesky::free_registers();

        let noise = hyperparameters.noise_variance + jitter;
        let information_gain = information_gain(&factor, noise);
        let entries = (0..rows.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let mut fit = Self {
            hyperparameters: hyperparameters.clone(),
            jitter,
            alpha: vec![0.0; rows.len()],
            inverse_factor: entries
                .map(|at| if held.at(at.0) { 0.0 } else { inverse[at] })
                .collect(),
            information_gain,
            mean_norm: f64::NAN,
            targets: targets.to_vec(),
            held: held.marks().to_vec(),
            grouping: None,
        };
        let mut alpha = vec![0.0; rows.len()];
        for row in fit.inverse_rows() {
            let projected = dot(row, targets);
            let pairs = alpha.iter_mut().zip(row);
            pairs.for_each(|(a, m)| *a += m * projected);
        }
        // K alpha = y − noise · alpha.
        let square = dot(&alpha, targets) - noise * dot(&alpha, &alpha);
        fit.mean_norm = square.max(0.0).sqrt();
        fit.alpha = alpha;
        fit.alpha.iter().all(|a| a.is_finite()).then_some(fit)
    }

    /// The rows of M = L⁻¹, each up to its diagonal.
    pub fn inverse_rows(&self) -> impl Iterator<Item = &[f64]> {
        let mut rest = self.inverse_factor.as_slice();
        (1..=self.alpha.len()).map_while(move |length| {
            let (row, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(row)
        })
    }

    /// The groups of points that the core's variance takes together, by the
    /// points' numbers; none if each is alone.
    #[must_use]
    pub fn groups(&self) -> Vec<&[usize]> {
        let grouping = self.grouping.as_ref();
        grouping.map_or_else(Vec::new, |grouping| grouping.groups().collect())
    }

    /// What it was conditioned on, standardised, but for the points that say nothing.
    pub(super) fn targets(&self) -> (&[f64], Held<'_>) {
        (&self.targets, Held::new(&self.held))
    }

    /// g = ½ log det(1 + K / noise): how much the data tell about f, in nats.
    /// It enters beta_n of the Gaussian process. The noise includes the jitter.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        self.information_gain
    }

    /// √(alphaᵀ K alpha): the norm of the posterior mean in the kernel's
    /// space, in standardised units.
    #[must_use]
    pub fn mean_norm(&self) -> f64 {
        self.mean_norm
    }

    /// Mean and variance of f in standardised units.
    pub(super) fn posterior(&self, points: &[f64], x: &[f64]) -> (f64, f64) {
        let points = points.chunks_exact(x.len());
        let kernel: Vec<f64> = points
            .map(|point| self.hyperparameters.covariance(x, point))
            .collect();
        let mean = dot(&self.alpha, &kernel);
        let explained = self.inverse_rows().map(|row| dot(row, &kernel).powi(2));
        let variance = self.hyperparameters.covariance(x, x) - explained.sum::<f64>();
        (mean, variance.max(0.0))
    }
}

impl Observations<'_> {
    pub(super) fn checked_rows(&self) -> Result<usize, GaussianProcessError> {
        if self.input_columns == 0 || self.target_columns == 0 || self.inputs.is_empty() {
            return Err(GaussianProcessError::Empty);
        }
        let rows = self.inputs.len() / self.input_columns;
        for (table, values, columns) in [
            ("inputs", self.inputs, self.input_columns),
            ("targets", self.targets, self.target_columns),
        ] {
            require_shape(table, values.len(), rows, columns)?;
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(GaussianProcessError::NotFinite {
                    table,
                    row: at / columns,
                    column: at % columns,
                });
            }
        }
        if !self.held.fits(self.targets.len()) {
            return Err(GaussianProcessError::Mismatch {
                table: "marks of targets",
                length: self.held.marks().len(),
                rows,
                columns: self.target_columns,
            });
        }
        Ok(rows)
    }
}

pub(super) fn require_standardisation(
    standardisation: &Standardisation,
    observations: &Observations<'_>,
) -> Result<(), GaussianProcessError> {
    let (inputs, targets) = (observations.input_columns, observations.target_columns);
    let lengths = [
        ("input means", standardisation.input_mean.len(), inputs),
        ("input scales", standardisation.input_scale.len(), inputs),
        ("output means", standardisation.output_mean.len(), targets),
        ("output scales", standardisation.output_scale.len(), targets),
    ];
    for (table, length, columns) in lengths {
        require_shape(table, length, 1, columns)?;
    }
    Ok(())
}

pub(super) fn require_shape(
    table: &'static str,
    length: usize,
    rows: usize,
    columns: usize,
) -> Result<(), GaussianProcessError> {
    if rows > 0 && length == rows * columns {
        Ok(())
    } else {
        Err(GaussianProcessError::Mismatch {
            table,
            length,
            rows,
            columns,
        })
    }
}

/// L, in the lower half, with K + (noise + jitter) · 1 = L Lᵀ, and the jitter.
/// Reads the lower half of K.
fn factorise(mut kernel: Mat<f64>, noise: f64) -> Option<(Mat<f64>, f64)> {
    let rows = kernel.nrows();
    let diagonal: Vec<f64> = (0..rows).map(|i| kernel[(i, i)]).collect();
    let scale = diagonal.iter().sum::<f64>() / rows.max(1) as f64;
    let mut jitter = 0.0;
    loop {
        for (i, variance) in diagonal.iter().enumerate() {
            kernel[(i, i)] = variance + noise + jitter;
        }
        let mut factor = kernel.clone();
        if cholesky::factorise(factor.as_mut()).is_some() {
            return Some((factor, jitter));
        }
        jitter = (10.0 * jitter).max(JITTER.0 * scale);
        let sensible = jitter > 0.0 && jitter.is_finite() && jitter <= JITTER.1 * scale;
        if !sensible {
            return None;
        }
    }
}

pub(super) fn standardised(table: &[f64], mean: &[f32], scale: &[f32]) -> Vec<f64> {
    let units = mean.iter().zip(scale).cycle();
    let values = table.iter().zip(units);
    values
        .map(|(x, (mean, scale))| (x - f64::from(*mean)) / f64::from(*scale))
        .collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
