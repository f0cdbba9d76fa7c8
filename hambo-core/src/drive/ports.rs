//! The two sides of a robot: what is measured, and what moves it.

/// Measures the state once a period.
pub trait Sensor {
    /// Why there is no measurement at all.
    type Error;

    /// Writes the measured states. `false` says that nothing new came in this
    /// period, and then `state` keeps what it held: the last measurement.
    fn read(&mut self, state: &mut [f32]) -> Result<bool, Self::Error>;
}

/// Moves the robot.
pub trait Actuator {
    /// Why an action could not be executed.
    type Error;

    /// Executes an action, which is finite and within the task's limits.
    fn apply(&mut self, action: &[f32]) -> Result<(), Self::Error>;
}

/// The actuator of a loop that lives elsewhere: it has computed its own action and says
/// which. Only the checked controller's own action passes, bit for bit.
#[derive(Clone, Copy, Debug)]
pub struct Claimed<'c>(pub &'c [f32]);

/// Another action than the checked controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherAction;

impl Actuator for Claimed<'_> {
    type Error = OtherAction;

    fn apply(&mut self, action: &[f32]) -> Result<(), OtherAction> {
        let mut pairs = self.0.iter().zip(action);
        let equal = self.0.len() == action.len()
            && pairs.all(|(claimed, own)| claimed.to_bits() == own.to_bits());
        if equal { Ok(()) } else { Err(OtherAction) }
    }
}
