//! The last round of the adjoint search: changes of the worst choice so far
//! that are kept only if they hurt more.
//!
//! Gradients end in the valley they began in. Steps in the reward, a
//! controller that switches and angles that wrap make many valleys, and a
//! larger set has more of them. So the worst choice is changed at a step, from
//! a step on, or a little everywhere; what hurts more stays, and is followed
//! downhill.

use super::scatter::{below, between_corners};
use crate::arithmetic::elementary::clamp;

/// How far the changes "a little everywhere" go.
const LITTLE: f32 = 0.2;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Every component at one step, to any value.
    Step,
    /// One component at one step, to the far end.
    Flip,
    /// The sign of everything from one step on.
    Turn,
    /// Everything from one step on, to any value held until the end.
    Hold,
    /// Every component of every step, a little.
    Shake,
}

/// One change of a choice.
///
/// ```
/// use hambo_core::adversary::Change;
/// // The same start and sweep make the same change, on every machine.
/// let (one, other) = (Change::new(1, 7, 20, 2), Change::new(1, 7, 20, 2));
/// assert!((0..20).all(|step| one.apply(step, 0, 0.5) == other.apply(step, 0, 0.5)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Change {
    kind: Kind,
    step: u32,
    component: u32,
    start: u32,
    sweep: u32,
}

impl Change {
    /// The change that a start tries at a sweep, on `steps` steps of
    /// `dimension` components.
    ///
    /// ```
    /// use hambo_core::adversary::Change;
    /// // Another sweep, another change, and always inside the cube.
    /// let changed = |sweep: u32| -> Vec<f32> {
    ///     let change = Change::new(1, sweep, 20, 2);
    ///     (0..20).map(|step| change.apply(step, 0, 0.9)).collect()
    /// };
    /// assert_ne!(changed(0), changed(1));
    /// assert!((0..100).flat_map(changed).all(|eta| eta.abs() <= 1.0));
    /// ```
    #[must_use]
    pub fn new(start: usize, sweep: u32, steps: u32, dimension: usize) -> Self {
        let start = start as u32;
        Self {
            kind: match below([start, sweep, 0, 0], 5) {
                0 => Kind::Step,
                1 => Kind::Flip,
                2 => Kind::Turn,
                3 => Kind::Hold,
                _ => Kind::Shake,
            },
            step: below([start, sweep, 0, 1], steps),
            component: below([start, sweep, 0, 2], dimension as u32),
            start,
            sweep,
        }
    }

    /// Component `j` at a step after the change; `eta` is the worst so far.
    #[must_use]
    pub fn apply(&self, step: u32, j: usize, eta: f32) -> f32 {
        let j = j as u32;
        let number = |step: u32| between_corners([self.start, self.sweep, step, j.wrapping_add(3)]);
        match self.kind {
            Kind::Step if step == self.step => number(step),
            Kind::Flip if step == self.step && j == self.component => {
                if eta < 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Kind::Turn if step >= self.step => -eta,
            Kind::Hold if step >= self.step => number(0),
            Kind::Shake => clamp(eta + LITTLE * number(step), -1.0, 1.0),
            _ => eta,
        }
    }
}
