//! The last round of the adjoint search: perturbations of the worst choice so
//! far that are kept only if they lower the objective.
//!
//! Gradients end in the valley they began in. Steps in the reward, a
//! controller that switches and angles that wrap make many valleys, and a
//! larger set has more of them. So the worst choice is changed at a step, from
//! a step on, or a little everywhere; what lowers the objective stays, and is
//! followed downhill.

use super::hash::{below, uniform};
use crate::numeric::elementary::clamp;

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
    use super::*;

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

    /// What a kind of change at step 2, component 1, makes of an eta there, beside it
    /// and at the steps before and after.
    fn changed(kind: Kind, eta: f32) -> [f32; 5] {
        let perturbation = Perturbation {
            kind,
            step: 2,
            component: 1,
            place: 5,
            sweep: 6,
        };
        [(1, 1), (2, 0), (2, 1), (3, 0), (3, 1)].map(|(step, j)| perturbation.apply(step, j, eta))
    }

    #[test]
    fn every_kind_changes_what_it_says_and_nothing_else() {
        let number = |step: u32, j: u32| uniform([5, 6, step, j + 3]);
        let replaced = [0.5, number(2, 0), number(2, 1), 0.5, 0.5];
        assert_eq!(changed(Kind::ReplaceStep, 0.5), replaced);
        let flipped = [0.5, 0.5, -1.0, 0.5, 0.5];
        assert_eq!(changed(Kind::FlipComponent, 0.5), flipped);
        let flipped = [-0.5, -0.5, 1.0, -0.5, -0.5];
        assert_eq!(changed(Kind::FlipComponent, -0.5), flipped);
        assert_eq!(changed(Kind::FlipComponent, 0.0)[2], -1.0);
        let negated = [0.5, -0.5, -0.5, -0.5, -0.5];
        assert_eq!(changed(Kind::NegateTail, 0.5), negated);
        let (first, second) = (number(0, 0), number(0, 1));
        let held = [0.5, first, second, first, second];
        assert_eq!(changed(Kind::HoldTail, 0.5), held);
        let places = [(1, 1), (2, 0), (2, 1), (3, 0), (3, 1)];
        let shaken = places.map(|(step, j)| 0.5 + 0.2 * number(step, j));
        assert_eq!(changed(Kind::JitterAll, 0.5), shaken);
        assert!(
            changed(Kind::JitterAll, -2.0)
                .iter()
                .all(|eta| *eta == -1.0)
        );
    }
}
