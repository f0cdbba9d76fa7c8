//! What the picture shows.

/// A point of the plane, or of the picture.
pub type Point = [f32; 2];

/// What the PointSafety picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSafetyFigure {
    /// The evaluated controller is pi_y with this waypoint (0, y).
    pub waypoint: f32,
    /// Below the title: how this controller was chosen.
    pub caption: String,
    /// Logged transitions (s, s′). Of more than 1,500 an even selection is drawn.
    pub logged: Vec<[Point; 2]>,
    /// What the controller really does.
    pub true_path: Vec<Point>,
    /// What the mean model predicts.
    pub neutral_path: Vec<Point>,
    /// What the adversary makes of it (HAMBO-CA), step by step.
    pub adversarial_steps: Vec<AdversarialStep>,
    pub true_return: f32,
    /// The neutral estimate of the return.
    pub neutral_return: f32,
    /// The lower bound on the return.
    pub bound: f32,
    /// The return that a controller must reach to be deployed.
    pub threshold: f32,
    /// The verdict in a word: `deploy`, `reject` or `abstain`.
    pub verdict: &'static str,
}

/// One step under an adversary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdversarialStep {
    /// The model's mean prediction, in the middle of the confidence set.
    pub mean: Point,
    /// How far the set reaches from the mean in each dimension.
    pub half_width: Point,
    /// The state that the adversary picked, plus the model's noise.
    pub next_state: Point,
}
