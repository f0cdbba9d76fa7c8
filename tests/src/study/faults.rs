//! What may become of a robot after it was logged.

/// The names of the conditions in which a robot drives, the usual one first.
pub const DRIVE_CONDITIONS: [&str; 6] = [
    "as logged",
    "inertia + 50 %",
    "actuators − 30 %",
    "sensor offset",
    "offset without effect",
    "delay of one step",
];

/// A change that the log never met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// None.
    Nothing,
    /// More to move: accelerations divided by this.
    Inertia(f32),
    /// Weaker actuators: what is commanded times this.
    Gain(f32),
    /// A sensor that reads this state higher by this offset; the controller sees it too.
    Offset(usize, f32),
    /// Commands arrive one step late.
    Delay,
}

impl Fault {
    /// What reaches the actuators.
    #[must_use]
    pub fn actuated(&self, commanded: &[f32], before: &[f32]) -> Vec<f32> {
        match self {
            Self::Gain(share) => commanded.iter().map(|a| share * a).collect(),
            Self::Delay => before.to_vec(),
            _ => commanded.to_vec(),
        }
    }

    /// What the sensors read.
    #[must_use]
    pub fn measured(&self, state: &[f32]) -> Vec<f32> {
        let mut measured = state.to_vec();
        if let Self::Offset(place, by) = self
            && let Some(x) = measured.get_mut(*place)
        {
            *x += by;
        }
        measured
    }

    /// By how much accelerations are smaller.
    #[must_use]
    pub fn inertia(&self) -> f32 {
        match self {
            Self::Inertia(factor) => *factor,
            _ => 1.0,
        }
    }
}
