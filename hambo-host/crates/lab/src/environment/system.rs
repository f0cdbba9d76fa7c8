//! A system that can be driven.

use hambo_core::numeric::random::Stream;
use hambo_task::task::TaskFile;

/// A system that can be driven.
pub trait Environment: Sync {
    fn task(&self) -> &TaskFile;

    /// The system's own state at the start of an episode.
    fn reset(&self, stream: &mut Stream) -> Vec<f64>;

    /// What the controller sees of a state.
    fn observe(&self, state: &[f64]) -> Vec<f32>;

    /// The action as the system executes it.
    fn limited(&self, action: &[f32]) -> Vec<f32> {
        let task = self.task();
        let limits = task.action_low.iter().zip(&task.action_high);
        let pairs = action.iter().zip(limits);
        pairs.map(|(a, (low, high))| a.clamp(*low, *high)).collect()
    }

    /// One step with a limited action: changes the state, returns the reward.
    fn step(&self, state: &mut [f64], action: &[f32]) -> f64;

    /// Whether an episode that has come to this state by a step has terminated; most systems
    /// go on.
    fn has_ended(&self, _state: &[f64]) -> bool {
        false
    }

    /// The same system with `factor` times the mass; none where there is no mass, or no such
    /// mass.
    fn with_mass(&self, _factor: f64) -> Option<Box<dyn Environment>> {
        None
    }
}
