//! An output with the linear kernel: a plane whose dx + 1 coefficients have a
//! mean and a covariance, whatever the number of points.
//!
//! With z = (x / l, 1) the mean is wᵀ z, and the variance |C z|² where Cᵀ C is
//! the coefficients' covariance. Nothing cancels, so f32 is accurate enough.
//!
//! Row i of C z is off by (dx + 5) u Σ_j |C_ij| |z_j| at most, u = 2⁻²⁴: the
//! rounding of C, of z, of the products and of their sums. In norm that is
//! (dx + 5) u |C| |z|, with Frobenius' norm of C; std_error and
//! std_error_growth cover it, and std_factor what the sum of squares loses.

use super::numbers::OutputNumbers;
use super::output_rows::OutputRows;
use super::posterior::OutputPosterior;
use crate::numeric::dense::{Dense, TILE, padded};

/// What is stored of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearOutput<'a> {
    numbers: OutputNumbers,
    /// z for each unit of an input.
    factors: &'a [f32],
    /// w, but for its last coefficient, which is mean_offset.
    weights: &'a [f32],
    /// z ↦ C (z, 1): the last column of C is the bias.
    covariance_factor: Dense<'a>,
    tiles: &'a [[f32; TILE]],
}

impl<'a> LinearOutput<'a> {
    /// The tiles after the numbers: a factor and a weight for each input, and
    /// C, each padded to whole tiles.
    pub fn tiles(inputs: usize) -> Option<usize> {
        inputs
            .div_ceil(TILE)
            .checked_mul(2)?
            .checked_add(Dense::tiles(inputs, inputs.checked_add(1)?)?)
    }

    pub fn new(numbers: OutputNumbers, inputs: usize, tiles: &'a [[f32; TILE]]) -> Option<Self> {
        let (factors, rest) = tiles.split_at_checked(inputs.div_ceil(TILE))?;
        let (weights, rest) = rest.split_at_checked(inputs.div_ceil(TILE))?;
        Some(Self {
            numbers,
            factors: factors.as_flattened().get(..inputs)?,
            weights: weights.as_flattened().get(..inputs)?,
            covariance_factor: Dense::new(rest, inputs, inputs.checked_add(1)?)?,
            tiles,
        })
    }

    /// Whether all numbers are in their ranges.
    pub fn is_sound(&self) -> bool {
        let mut numbers = self.tiles.as_flattened().iter();
        numbers.all(|x| x.is_finite()) && self.factors.iter().all(|x| *x > 0.0)
    }

    /// As that of [`super::stationary::StationaryOutput`], with C (z, 1) in
    /// `projection`.
    pub fn posterior<const B: usize>(
        &self,
        input: &[[f32; B]],
        rows: OutputRows<'_, B>,
    ) -> Option<OutputPosterior<B>> {
        let z = rows.kernel.get_mut(..self.factors.len())?;
        let projection = rows.projection.get_mut(..self.rows())?;
        let (mut mean, mut square) = ([0.0; B], [0.0; B]);
        let stored = self.factors.iter().zip(self.weights);
        for ((row, x), (factor, weight)) in z.iter_mut().zip(input).zip(stored) {
            let sums = mean.iter_mut().zip(&mut square);
            for ((z, x), (mean, square)) in row.iter_mut().zip(x).zip(sums) {
                *z = *factor * *x;
                *mean += *weight * *z;
                *square += *z * *z;
            }
        }
        self.covariance_factor.forward(z, projection);
        let mut variance = [0.0; B];
        for row in projection.iter() {
            for (sum, x) in variance.iter_mut().zip(row) {
                *sum += *x * *x;
            }
        }
        Some(OutputPosterior::new(
            &self.numbers,
            &square,
            mean,
            &variance,
        ))
    }

    /// As that of [`super::stationary::StationaryOutput`]: d sigma² / 2 is
    /// Cᵀ C z.
    pub fn pull_back<'r, const B: usize>(
        &self,
        (c_mean, c_std): (&[f32; B], &[f32; B]),
        rows: OutputRows<'_, B>,
        cotangents: impl Iterator<Item = &'r mut [f32; B]>,
    ) -> Option<()> {
        let z = rows.kernel.get_mut(..self.factors.len())?;
        let projection = rows.projection.get(..self.rows())?;
        self.covariance_factor.pull_back(projection, z);
        let stored = self.factors.iter().zip(self.weights);
        for ((sum, z), (factor, weight)) in cotangents.zip(z.iter()).zip(stored) {
            let cotangents = c_mean.iter().zip(c_std);
            for ((s, z), (c_mean, c_std)) in sum.iter_mut().zip(z).zip(cotangents) {
                *s += *factor * (*c_mean * *weight + *c_std * *z);
            }
        }
        Some(())
    }

    /// Of C (z, 1), padded with zeros.
    fn rows(&self) -> usize {
        padded(self.factors.len().saturating_add(1))
    }
}
