//! How a model is tested, and what came of it.

/// How a model is tested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BacktestOptions {
    /// The share of windows that may leave the tube, or fall below the quantile.
    pub delta: f32,
    /// The most windows of all lengths together.
    pub windows: usize,
    /// Seed of the noise.
    pub seed: u64,
}
