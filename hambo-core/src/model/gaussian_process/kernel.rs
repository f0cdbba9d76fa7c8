//! Kernels as functions of one number for each pair of points.
//!
//! Stationary kernels are computed in integers. The points are stored as
//! coordinates: x / l times a factor that makes the exponential one to the
//! base 2 ([`Kernel::coordinates_per_lengthscale`]), in units of 2⁻ᵠ. The sum
//! of squared differences is exact, and the kernel's shape φ comes out as a
//! fraction (in units of 2⁻³²) within [`Kernel::fraction_error`] of them.
//!
//! The linear kernel is a sum of products in f32.

use serde::{Deserialize, Serialize};

use crate::arithmetic::fixed_point::{negative_power_of_two, square_root_of_large, upper_half};

/// The shape of a kernel, before signal variance and constant. With r² =
/// Σ (x_d − x′_d)² / l_d²:
///
/// ```
/// use hambo_core::model::Kernel;
/// // Stored by its place: the order is the format.
/// let mut buffer = [0; 4];
/// let bytes = postcard::to_slice(&Kernel::Matern52, &mut buffer).unwrap();
/// assert_eq!(bytes, [2]);
/// assert_eq!(postcard::from_bytes(bytes), Ok(Kernel::Matern52));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kernel {
    /// exp(−r² / 2).
    Rbf,
    /// (1 + √3 r) exp(−√3 r).
    Matern32,
    /// (1 + √5 r + 5 r² / 3) exp(−√5 r).
    Matern52,
    /// Σ x_d x′_d / l_d².
    Linear,
}

/// ln 2 as a fraction.
const LN_2: u32 = 2_977_044_472;
/// 1 / 3 as a fraction.
const THIRD: u32 = 1_431_655_765;
/// A fraction's unit.
pub(super) const FRACTION: f32 = 1.0 / 4_294_967_296.0;
/// Where 2⁻ᵘ and what stands before it are less than a fraction's unit.
const FAR: u32 = 44;

/// φ and what the slope is made of, both fractions.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// φ.
    pub value: u32,
    /// d φ / d t is −[`Kernel::steepness`] times this, t being the square of
    /// the distance in coordinates.
    pub slope: u32,
}

impl Kernel {
    /// How far the evaluated φ may be from the true one at the stored points,
    /// in units of 2⁻³².
    ///
    /// ```
    /// use hambo_core::model::Kernel;
    /// // What f32 rounds numbers near 1 to is coarser.
    /// let error = Kernel::Matern52.fraction_error() / 4_294_967_296.0;
    /// assert!(error < f64::from(f32::EPSILON) / 40.0);
    /// ```
    #[must_use]
    pub const fn fraction_error(self) -> f64 {
        match self {
            // 2⁻ᶠ 3, the square's rest 1, the shift 1.
            Self::Rbf => 5.0,
            // 2⁻ᶠ 3 of what may be 1.7 or 1.9 before it, whose terms are off
            // by 2 each; the root and the last product.
            Self::Matern32 => 9.0,
            Self::Matern52 => 12.0,
            Self::Linear => 0.0,
        }
    }

    /// The factor between x / l and coordinates: φ holds 2 to the power of
    /// minus the squared distance (RBF) or the distance (Matérn).
    ///
    /// ```
    /// use hambo_core::model::Kernel;
    /// let factor = Kernel::Rbf.coordinates_per_lengthscale();
    /// assert!(((-0.5_f64).exp() - (-factor * factor).exp2()).abs() < 1e-12);
    /// ```
    #[must_use]
    pub const fn coordinates_per_lengthscale(self) -> f64 {
        match self {
            // √(1 / (2 ln 2)), √3 / ln 2, √5 / ln 2.
            Self::Rbf => 0.849_321_800_288_019_1,
            Self::Matern32 => 2.498_821_110_647_343_2,
            Self::Matern52 => 3.225_964_182_229_561,
            Self::Linear => 1.0,
        }
    }

    /// Beyond this distance, in coordinates, φ is less than 2⁻³²: a query
    /// may as well be there. The linear kernel has no such distance.
    ///
    /// ```
    /// use hambo_core::model::Kernel;
    /// assert!(Kernel::Rbf.reach() < Kernel::Matern52.reach());
    /// assert_eq!(Kernel::Linear.reach(), 0.0);
    /// ```
    #[must_use]
    pub const fn reach(self) -> f64 {
        match self {
            Self::Rbf => 6.0,
            Self::Matern32 => 38.0,
            Self::Matern52 => 42.0,
            Self::Linear => 0.0,
        }
    }

    /// The factor of [`Shape::slope`].
    pub(super) fn steepness(self) -> f32 {
        match self {
            // ln 2, (ln 2)² / 2, (ln 2)² / 6.
            Self::Rbf => 0.693_147_2,
            Self::Matern32 => 0.240_226_51,
            Self::Matern52 => 0.080_075_50,
            Self::Linear => 1.0,
        }
    }

    /// φ of a stationary kernel, from the sum of squares in units of 2⁻²ᵠ;
    /// `fraction_bits` is q, from 16 to 31.
    #[inline(always)]
    pub(super) fn shape(self, square: u64, fraction_bits: u32) -> Shape {
        match self {
            Self::Rbf => rbf(square, fraction_bits),
            Self::Matern32 => matern(square, fraction_bits, false),
            // The linear kernel has no shape of a distance.
            Self::Matern52 | Self::Linear => matern(square, fraction_bits, true),
        }
    }
}

/// 2 to the power of minus the square.
#[inline(always)]
fn rbf(square: u64, fraction_bits: u32) -> Shape {
    // The square's whole part and fraction, by 32-bit shifts.
    let shift = fraction_bits.wrapping_mul(2).wrapping_sub(32);
    let (upper, lower) = ((square >> 32) as u32, square as u32);
    let whole = upper.unbounded_shr(shift);
    let fraction = upper.unbounded_shl(32_u32.wrapping_sub(shift)) | lower.unbounded_shr(shift);
    let value = negative_power_of_two(fraction).unbounded_shr(whole);
    Shape {
        value,
        slope: value,
    }
}

/// (1 + s) 2⁻ᵘ, or (1 + s + s² / 3) 2⁻ᵘ, with u the root and s = u ln 2.
#[inline(always)]
fn matern(square: u64, fraction_bits: u32, five_halves: bool) -> Shape {
    // u = root · 2^−shift with a root of 32 bits. One unit instead of 0
    // changes φ by less than 2⁻³².
    let square = square | 1;
    let zeros = square.leading_zeros() & !1;
    let root = square_root_of_large(square.unbounded_shl(zeros));
    let shift = fraction_bits.wrapping_add(zeros >> 1);
    let whole = root.unbounded_shr(shift);
    if whole >= FAR {
        return Shape { value: 0, slope: 0 };
    }
    let fraction = (u64::from(root) << 32).unbounded_shr(shift) as u32;
    let power = negative_power_of_two(fraction);
    // All that multiplies the power takes on its 2^−whole, which keeps it
    // below 2; in units of 2⁻³¹ it fits. s 2^−whole ≤ ln 2, s² likewise.
    let s = upper_half(root, LN_2);
    let down = shift.wrapping_add(whole);
    let linear = (u64::from(s) << 31).unbounded_shr(down) as u32;
    let one = (1_u32 << 31).unbounded_shr(whole);
    let sum = one.wrapping_add(linear);
    let times_power = |factor: u32| {
        let product = u64::from(factor).wrapping_mul(u64::from(power)) >> 31;
        u32::try_from(product).unwrap_or(u32::MAX)
    };
    if five_halves {
        // s² / 3 in units of 2^(32 − 2 shift), from 2⁻²⁰ down.
        let third = upper_half(upper_half(s, s), THIRD);
        let down = shift.wrapping_add(down).wrapping_sub(31);
        let quadratic = (u64::from(third) << 32).unbounded_shr(down) as u32;
        Shape {
            value: times_power(sum.wrapping_add(quadratic)),
            slope: times_power(sum),
        }
    } else {
        Shape {
            value: times_power(sum),
            slope: power.unbounded_shr(whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::random::Stream;

    const STATIONARY: [Kernel; 3] = [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52];

    /// φ and d φ / d t in f64, t being the square in coordinates.
    fn exact(kernel: Kernel, t: f64) -> (f64, f64) {
        let ln_2 = core::f64::consts::LN_2;
        let s = t.sqrt() * ln_2;
        let decay = (-s).exp();
        match kernel {
            Kernel::Rbf => ((-t).exp2(), -ln_2 * (-t).exp2()),
            Kernel::Matern32 => ((1.0 + s) * decay, -ln_2 * ln_2 / 2.0 * decay),
            _ => (
                (1.0 + s + s * s / 3.0) * decay,
                -ln_2 * ln_2 / 6.0 * (1.0 + s) * decay,
            ),
        }
    }

    #[test]
    fn shapes_are_right_to_their_last_bits() {
        let mut stream = Stream::new(3, 0);
        let cases = if cfg!(miri) { 50 } else { 300_000 };
        for kernel in STATIONARY {
            let mut worst = 0.0_f64;
            for case in 0..cases {
                let bits = 16 + stream.index(11);
                // From far below a coordinate to beyond the reach.
                let exponent = f64::from(stream.uniform()) * 40.0 - 28.0;
                let t = if case % 2 == 0 {
                    exponent.exp2()
                } else {
                    f64::from(stream.uniform()) * 60.0
                };
                let unit = (-2.0 * f64::from(bits)).exp2();
                let square = (t / unit) as u64;
                let (value, slope) = exact(kernel, square as f64 * unit);
                let found = kernel.shape(square, bits);
                let error = f64::from(found.value) - value * 4_294_967_296.0;
                worst = worst.max(error.abs());
                let found_slope = -f64::from(kernel.steepness() * found.slope as f32 * FRACTION);
                assert!((found_slope - slope).abs() < 1e-5, "{kernel:?} {t}");
            }
            assert!(worst < kernel.fraction_error(), "{kernel:?}: {worst}");
            // The bound is not far from what happens.
            assert!(
                worst > 0.4 * kernel.fraction_error() || cfg!(miri),
                "{kernel:?}: {worst}"
            );
        }
    }

    #[test]
    fn near_and_far() {
        for kernel in STATIONARY {
            for bits in 16..27 {
                assert!(kernel.shape(0, bits).value > u32::MAX - 4, "{kernel:?}");
                assert_eq!(kernel.shape(u64::MAX >> 1, bits).value, 0);
                let reach = kernel.reach() * f64::from(bits).exp2();
                assert!(kernel.shape((reach * reach) as u64, bits).value < 8);
            }
        }
    }
}
