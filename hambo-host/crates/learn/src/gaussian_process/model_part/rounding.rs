//! Rounding in f32, and margins on bounds.

/// u = 2⁻²⁴, the unit of rounding in f32.
pub(super) const UNIT: f64 = f32::EPSILON as f64 / 2.0;
/// A thousandth on top of each bound covers terms of second order, the
/// rounding of the bound itself, and M's own error in f64.
pub(super) const MARGIN: f64 = 1.001;
/// A fraction's unit.
pub(super) const FRACTION: f64 = 1.0 / 4_294_967_296.0;

/// A bound in f32 that is not less than `x`.
pub(super) fn round_up(x: f64) -> f32 {
    ((x * MARGIN) as f32).next_up()
}
