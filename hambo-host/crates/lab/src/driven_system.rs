//! A built-in system as the robot of a drive.

use std::thread;
use std::time::Duration;

use super::environment::disturbance::DisturbedSystem;
use hambo_device::{Measurement, Robot};

/// A system that is driven for a number of periods, with the rewards of all of them.
pub struct DrivenSystem {
    pub system: DisturbedSystem,
    /// The true reward of each period that was driven.
    pub rewards: Vec<f64>,
    /// How long it waits before every measurement. Without a wait the emulated board is given
    /// no time between two periods.
    pub wait: Duration,
    left: u32,
}

impl DrivenSystem {
    /// The system for `periods` periods; fewer if its episode terminates.
    #[must_use]
    pub fn new(system: DisturbedSystem, periods: u32) -> Self {
        Self {
            system,
            rewards: Vec::new(),
            wait: Duration::ZERO,
            left: periods,
        }
    }
}

impl Robot for DrivenSystem {
    fn measure(&mut self) -> Option<Measurement> {
        if self.left == 0 || (!self.rewards.is_empty() && self.system.has_ended()) {
            return None;
        }
        thread::sleep(self.wait);
        let reading = self.system.measure();
        Some(Measurement {
            state: reading.state,
            is_fresh: reading.is_fresh,
        })
    }

    fn act(&mut self, action: &[f32]) {
        self.left = self.left.saturating_sub(1);
        self.rewards.push(self.system.act(action));
    }
}
