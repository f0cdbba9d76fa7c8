//! The derivatives of mean and standard deviation in the input.
//!
//! d mu / dx = k′ᵀ alpha, and d sigma / dx = (k′(x, x) / 2 − k′ᵀ Mᵀ v) / sigma
//! with v and sigma as they were rounded: the derivative of what
//! [`super::posterior`] computes, its error bound held fixed.

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

            let inputs = state_cotangent
                .iter_mut()
                .chain(action_cotangent.iter_mut());
            let scales = self.standardisation.input_scale.iter();
            for (d, (((sum, x), precision), scale)) in inputs
                .zip(input.iter())
                .zip(output.precision)
                .zip(scales)
                .enumerate()
            {
                let mut gradient = [0.0; B];
                for (weight, point) in kernel.iter().zip(self.stored_points()) {
                    let point = *point.get(d)?;
                    output.kernel.add_direction(weight, x, point, &mut gradient);
                }
                output.add_prior_direction(&c_std, x, &mut gradient);
                let factor = *scale * *precision;
                for (s, g) in sum.iter_mut().zip(&gradient) {
                    *s += factor * *g;
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
        for ((row, slopes), weight) in rows.iter_mut().zip(slopes).zip(self.weights) {
            let cotangents = c_mean.iter().zip(c_std);
            for ((y, slope), (c_mean, c_std)) in row.iter_mut().zip(slopes).zip(cotangents) {
                *y = (*c_mean * *weight - *c_std * *y) * *slope;
            }
        }
    }

    /// k′(x, x) / 2, without its precision; only the linear kernel has one.
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
