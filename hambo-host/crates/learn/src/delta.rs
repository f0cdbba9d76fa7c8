//! The model's share of delta, in the f64 of fitting. How delta is shared out is the core's
//! [`ErrorBudget`].

use hambo_core::estimate::ErrorBudget;

/// The model's part of a total probability of failure.
///
/// ```
/// use hambo_learn::delta::model_share;
/// assert_eq!(model_share(0.05), 0.025);
/// ```
#[must_use]
pub fn model_share(total: f64) -> f64 {
    f64::from(ErrorBudget::MODEL_SHARE) * total
}

/// The number that was written in a task file, not its neighbour in f32.
///
/// ```
/// use hambo_learn::delta::decimal;
/// assert_eq!(decimal(0.05), 0.05);
/// assert_ne!(f64::from(0.05_f32), 0.05);
/// ```
#[must_use]
pub fn decimal(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}
