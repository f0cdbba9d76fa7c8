//! Mean and standard deviations of s′ − s, and derivatives in them.

/// What a model says about s′ − s, one row for each state that it moves.
///
/// ```
/// use hambo_core::model::Prediction;
/// use hambo_core::numeric::Slices;
/// let dynamics = hambo_core::example::model()?.dynamics;
/// let mut scratch = vec![[0.0; 2]; dynamics.scratch_rows().ok_or("too large")?];
/// let (mut mean, mut epistemic, mut aleatoric) = ([[0.0; 2]], [[0.0; 2]], [[0.0; 2]]);
/// let mut prediction = Prediction {
///     mean: &mut mean,
///     epistemic_std: &mut epistemic,
///     aleatoric_std: &mut aleatoric,
/// };
/// // Two lanes: the actions 0.5 and 0 in the state 1.
/// let slices = Slices::default();
/// dynamics.predict(&[[1.0; 2]], &[[0.5, 0.0]], &mut scratch, &mut prediction, &slices);
/// assert_eq!(mean, [[0.5, 0.0]]);
/// assert!((epistemic[0][0] - 0.1).abs() < 1e-6);
/// # Ok::<(), &str>(())
/// ```
pub struct Prediction<'r, const B: usize> {
    /// mu.
    pub mean: &'r mut [[f32; B]],
    /// sigma_e: what the model does not know.
    pub epistemic_std: &'r mut [[f32; B]],
    /// sigma_a: what the system itself leaves to chance.
    pub aleatoric_std: &'r mut [[f32; B]],
}

/// Derivatives of a scalar in the three parts of a [`Prediction`].
pub struct PredictionCotangent<'r, const B: usize> {
    /// In the mean.
    pub mean: &'r [[f32; B]],
    /// In the epistemic standard deviation.
    pub epistemic_std: &'r [[f32; B]],
    /// In the aleatoric standard deviation.
    pub aleatoric_std: &'r [[f32; B]],
}
