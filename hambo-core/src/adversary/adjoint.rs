//! The schedule of the adjoint search: projected sign steps.
//!
//! The return is close to linear in each eta_t, so the worst choice lies
//! mostly on the corners of the cube and only the derivative's sign matters.
//! Steps start as long as the cube is wide and shrink; the softness of
//! comparisons cycles, so that a wall is felt from far as well as from near.

use crate::arithmetic::elementary::{clamp, maximum};

/// The length of the sign step in iteration `iteration` of `total`.
#[must_use]
pub fn step_length(iteration: u32, total: u32) -> f32 {
    let left = total.saturating_sub(iteration) as f32 / maximum(total as f32, 1.0);
    2.0 * left * left
}

/// The softness of comparisons in iteration `iteration`, in units of each
/// comparison's own width.
#[must_use]
pub fn softness(iteration: u32) -> f32 {
    match iteration % 3 {
        0 => 1.0,
        1 => 0.3,
        _ => 0.1,
    }
}

/// Moves eta against the derivative and back into the cube. A derivative of
/// zero, or none at all (NaN), moves nothing.
pub fn update<const B: usize>(eta: &mut [f32; B], gradient: &[f32; B], step: f32) {
    for (e, g) in eta.iter_mut().zip(gradient) {
        if *g > 0.0 {
            *e = clamp(*e - step, -1.0, 1.0);
        } else if *g < 0.0 {
            *e = clamp(*e + step, -1.0, 1.0);
        }
    }
}
