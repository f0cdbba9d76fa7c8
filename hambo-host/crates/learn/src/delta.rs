//! The model's share of delta, in the f64 of fitting, and the share of each of several
//! controllers. How a controller's share is spent is the core's [`ErrorBudget`].

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

/// The delta of each of several controllers that are judged together, so that all that is said of
/// them holds together with probability 1 − `joint`.
///
/// Its sampling half is 1/k of the joint one, for the k trajectories' samples may each mislead.
/// The set of a model is one event for all of them: it was fitted for the joint delta and is not
/// made wider. The quantile of DAinf (above 20 members) is a statement on one controller, and
/// takes its part of the model's half from this share.
///
/// ```
/// use hambo_learn::delta::controller_share;
/// assert_eq!(controller_share(0.05, 1), 0.05);
/// assert_eq!(controller_share(0.06, 3), 0.02);
/// ```
#[must_use]
pub fn controller_share(joint: f32, controllers: usize) -> f32 {
    joint / controllers.max(1) as f32
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
