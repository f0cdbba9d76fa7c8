//! Simulated trajectories of one window.

/// The trajectories of a window, all starts of the adversary on each.
pub(super) struct Trajectories {
    /// Starts on each trajectory; the first does nothing.
    pub(super) starts: usize,
    /// Trajectory by trajectory, start by start: s_1 … s_L, one state after the other.
    pub(super) paths: Vec<Vec<f32>>,
    pub(super) returns: Vec<f32>,
}
