//! The numbers of the whole task: horizon, delta, discount, threshold, time step.

use super::checker::Checker;
use super::error::TaskError;

impl Checker<'_> {
    pub(super) fn steps(&self, horizon: f64) -> Result<u32, TaskError> {
        if !(horizon >= 1.0 && horizon <= f64::from(u32::MAX) && horizon.fract() == 0.0) {
            let problem = format!("is {horizon}, not a number of steps");
            return self.fail("horizon", problem, "give a whole number, at least 1");
        }
        Ok(horizon as u32)
    }

    pub(super) fn delta(&self, delta: Option<f32>) -> Result<f32, TaskError> {
        let delta = delta.unwrap_or(0.05);
        if !(delta > 0.0 && delta < 1.0) {
            let help = "give a number between 0 and 1; 0.05 means 95 % confidence";
            return self.fail("delta", format!("is {delta}"), help);
        }
        Ok(delta)
    }

    pub(super) fn discount(&self, discount: Option<f32>) -> Result<f32, TaskError> {
        let discount = discount.unwrap_or(1.0);
        if !(discount > 0.0 && discount <= 1.0) {
            let help = "give a number above 0 and at most 1; 1 means no discount";
            return self.fail("discount", format!("is {discount}"), help);
        }
        Ok(discount)
    }

    pub(super) fn threshold(&self, threshold: Option<f32>) -> Result<(), TaskError> {
        match threshold.filter(|threshold| !threshold.is_finite()) {
            Some(threshold) => {
                let help = "give a finite number, or leave it out to only report";
                self.fail("threshold", format!("is {threshold}"), help)
            }
            None => Ok(()),
        }
    }

    /// The time between two actions in whole microseconds; a file has it in seconds.
    pub(super) fn time_step(&self, seconds: Option<f64>) -> Result<Option<u32>, TaskError> {
        let Some(seconds) = seconds else {
            return Ok(None);
        };
        let microseconds = (seconds * 1e6).round();
        let whole = (seconds * 1e6 - microseconds).abs() < 1e-3;
        if !(whole && microseconds >= 1.0 && microseconds <= f64::from(u32::MAX)) {
            let help = "give seconds above 0, to the microsecond, for example time_step = 0.05";
            return self.fail("time_step", format!("is {seconds}"), help);
        }
        Ok(Some(microseconds as u32))
    }
}
