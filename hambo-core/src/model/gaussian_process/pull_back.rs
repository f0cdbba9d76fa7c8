//! The derivatives of mean and standard deviation in the input.
//!
//! d mu / dx = k′ᵀ alpha, and d sigma / dx = (k′(x, x) / 2 − k′ᵀ Mᵀ v) / sigma
//! with v and sigma as they were rounded: the derivative of what
//! [`super::posterior`] computes, its error bounds held fixed. They steer the
//! adversary and enter no bound, so they are in f32.

use super::coordinates::{difference, whole};
use super::kernel::Kernel;
use super::{GaussianProcess, Output, Scratch};
use crate::arithmetic::dense::padded;
use crate::model::PredictionCotangent;

impl GaussianProcess<'_> {
    pub(super) fn try_pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        state_cotangent: &mut [[f32; B]],
        action_cotangent: &mut [[f32; B]],
    ) -> Option<()> {
        let Scratch {
            input,
            query,
            kernel,
            std,
            outputs,
        } = self.carve(scratch)?;
        let rows = padded(self.points);
        let mut rest = &*outputs;
        let cotangents = cotangent.mean.iter().zip(cotangent.epistemic_std);
        let scales = self.standardisation.output_scale;
        for (dimension, (((c_mean, c_std), scale), std)) in
            cotangents.zip(scales).zip(std.iter()).enumerate()
        {
            let output = self.output(dimension)?;
            let (slopes, after) = rest.split_at_checked(rows)?;
            let (projection, after) = after.split_at_checked(rows)?;
            rest = after;
            let c_mean = c_mean.map(|c| *scale * c);
            // d objective / d sigma, divided by sigma.
            let mut c_std = c_std.map(|c| *scale * c);
            for (c, s) in c_std.iter_mut().zip(std) {
                *c = if *s > 0.0 { *c / *s } else { 0.0 };
            }
            output.factor.multiply_transposed(projection, kernel)?;
            output.measure_cotangents(&c_mean, &c_std, slopes, kernel);
            output.coordinates(input, query);

            let inputs = state_cotangent
                .iter_mut()
                .chain(action_cotangent.iter_mut());
            let unit = output.numbers.coordinate_unit;
            let stored = output.factors.iter().zip(output.linear_weights);
            for (d, ((sum, x), (factor, weight))) in
                inputs.zip(query.iter()).zip(stored).enumerate()
            {
                let mut gradient = [0.0; B];
                for (cotangents, point) in kernel.iter().zip(output.stored_points()) {
                    output.add_direction(cotangents, x, *point.get(d)?, &mut gradient);
                }
                output.add_prior_direction(&c_std, x, &mut gradient);
                let squared_unit = unit * unit;
                for ((s, g), c_mean) in sum.iter_mut().zip(&gradient).zip(&c_mean) {
                    *s += *factor * (squared_unit * *g + *c_mean * *weight);
                }
            }
        }
        Some(())
    }
}

impl Output<'_> {
    /// The derivative in the measure of each point: `rows` holds Mᵀ v before
    /// and that afterwards.
    fn measure_cotangents<const B: usize>(
        &self,
        c_mean: &[f32; B],
        c_std: &[f32; B],
        slopes: &[[f32; B]],
        rows: &mut [[f32; B]],
    ) {
        // Stored weights are alpha times the signal variance.
        let unit = self.numbers.weight_unit * 65_536.0 / self.numbers.signal_variance;
        for ((row, slopes), weight) in rows.iter_mut().zip(slopes).zip(self.weights) {
            let alpha = whole(*weight) as f32 * unit;
            let cotangents = c_mean.iter().zip(c_std);
            for ((y, slope), (c_mean, c_std)) in row.iter_mut().zip(slopes).zip(cotangents) {
                *y = (*c_mean * alpha - *c_std * *y) * *slope;
            }
        }
    }

    /// Adds to `gradient` the derivative of the measure in coordinate d times
    /// a weight for each lane.
    fn add_direction<const B: usize>(
        &self,
        weights: &[f32; B],
        x: &[f32; B],
        point: f32,
        gradient: &mut [f32; B],
    ) {
        if self.kernel == Kernel::Linear {
            let point = whole(point) as f32;
            for (sum, w) in gradient.iter_mut().zip(weights) {
                *sum += *w * point;
            }
        } else {
            for ((sum, w), x) in gradient.iter_mut().zip(weights).zip(x) {
                *sum += *w * (2.0 * difference(*x, point) as f32);
            }
        }
    }

    /// k′(x, x) / 2 in coordinate d; only the linear kernel has one.
    fn add_prior_direction<const B: usize>(
        &self,
        c_std: &[f32; B],
        x: &[f32; B],
        gradient: &mut [f32; B],
    ) {
        if self.kernel == Kernel::Linear {
            for ((g, c), x) in gradient.iter_mut().zip(c_std).zip(x) {
                *g += *c * (self.numbers.signal_variance * *x);
            }
        }
    }
}
