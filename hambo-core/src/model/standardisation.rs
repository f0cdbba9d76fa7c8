//! Between physical units and those of the model.

/// The linear maps between physical units and those of the networks.
#[derive(Clone, Copy, Debug)]
pub struct Standardisation<'a> {
    /// Mean of each input.
    pub input_mean: &'a [f32],
    /// One over the standard deviation of each input.
    pub input_scale: &'a [f32],
    /// Mean of each target.
    pub output_mean: &'a [f32],
    /// Standard deviation of each target.
    pub output_scale: &'a [f32],
    /// The unit of predicted noise: the standard deviation of each target,
    /// times the scale that calibration gave the noise.
    pub noise_scale: &'a [f32],
}
