//! The last round of the adjoint search: perturbations of the worst choice so
//! far that are kept only if they lower the objective.
//!
//! Gradients end in the valley they began in. Steps in the reward, a
//! controller that switches and angles that wrap make many valleys, and a
//! larger set has more of them. So the worst choice is changed at a step, from
//! a step on, or a little everywhere; what lowers the objective stays, and is
//! followed downhill.

use super::hash::{below, uniform};
use crate::arithmetic::elementary::clamp;

/// How far a component moves when all of them do.
const JITTER: f32 = 0.2;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Every component at one step, to any value.
    ReplaceStep,
    /// One component at one step, to the far end.
    FlipComponent,
    /// The sign of everything from one step on.
    NegateTail,
    /// Everything from one step on, to any value held until the end.
    HoldTail,
    /// Every component of every step, a little.
    JitterAll,
}

/// One perturbation of a choice. The same trajectory, start and sweep make the
/// same one on every machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Perturbation {
    kind: Kind,
    step: u32,
    component: u32,
    place: u32,
    sweep: u32,
}

impl Perturbation {
    /// The perturbation that is tried at a sweep, on `steps` steps of
    /// `dimension` components. `place` is that of the trajectory and the start.
    #[must_use]
    pub fn new(place: u32, sweep: u32, steps: u32, dimension: usize) -> Self {
        Self {
            kind: match below([place, sweep, 0, 0], 5) {
                0 => Kind::ReplaceStep,
                1 => Kind::FlipComponent,
                2 => Kind::NegateTail,
                3 => Kind::HoldTail,
                _ => Kind::JitterAll,
            },
            step: below([place, sweep, 0, 1], steps),
            component: below([place, sweep, 0, 2], dimension as u32),
            place,
            sweep,
        }
    }

    /// Component `j` at a step after the change; `eta` is the worst so far.
    #[must_use]
    pub fn apply(&self, step: u32, j: usize, eta: f32) -> f32 {
        let j = j as u32;
        let number = |step: u32| uniform([self.place, self.sweep, step, j.wrapping_add(3)]);
        match self.kind {
            Kind::ReplaceStep if step == self.step => number(step),
            Kind::FlipComponent if step == self.step && j == self.component => {
                if eta < 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Kind::NegateTail if step >= self.step => -eta,
            Kind::HoldTail if step >= self.step => number(0),
            Kind::JitterAll => clamp(eta + JITTER * number(step), -1.0, 1.0),
            _ => eta,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Perturbation;

    #[test]
    fn sweeps_differ_and_stay_inside_the_cube() {
        let perturbed = |sweep: u32| -> Vec<f32> {
            let perturbation = Perturbation::new(1, sweep, 20, 2);
            (0..20)
                .map(|step| perturbation.apply(step, 0, 0.9))
                .collect()
        };
        assert_eq!(perturbed(7), perturbed(7));
        assert_ne!(perturbed(0), perturbed(1));
        assert!((0..100).flat_map(perturbed).all(|eta| eta.abs() <= 1.0));
    }
}
