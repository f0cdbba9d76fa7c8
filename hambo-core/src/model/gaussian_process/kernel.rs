//! Kernels as functions of one number for each pair of points.
//!
//! Stationary kernels are computed in integers. The points are stored as
//! coordinates: x / l times a factor that makes the exponential one to the
//! base 2 ([`Kernel::coordinates_per_lengthscale`]), in units of 2⁻ᵠ. The sum
//! of squared differences is exact, and the kernel's shape φ comes out as a
//! fraction (in units of 2⁻³²) within [`Kernel::fraction_error`] of them.
//!
//! The linear kernel has a form of its own, see [`super::linear`].

use serde::{Deserialize, Serialize};

use crate::numeric::fixed_point::{negative_powers_of_two, sqrt_of_large, upper_half};

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

/// φ and what the slope is made of, all fractions, one for each lane.
#[derive(Clone, Copy)]
pub(super) struct Shapes<const B: usize> {
    /// φ.
    pub values: [u32; B],
    /// d φ / d t is −[`Kernel::steepness`] times this, t being the square of
    /// the distance in coordinates.
    pub slopes: [u32; B],
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
    pub const fn fraction_error(self) -> f64 {
        match self {
            // 2⁻ᶠ 2.5 and what is cut off the square 0.7, with other signs; a
            // shift halves them and cuts off 1.
            Self::Rbf => 3.5,
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
    pub const fn reach(self) -> f64 {
        match self {
            Self::Rbf => 6.0,
            Self::Matern32 => 38.0,
            Self::Matern52 => 42.0,
            Self::Linear => 0.0,
        }
    }

    /// The factor of [`Shapes::slopes`].
    pub(super) fn steepness(self) -> f32 {
        match self {
            // ln 2, (ln 2)² / 2, (ln 2)² / 6.
            Self::Rbf => core::f32::consts::LN_2,
            Self::Matern32 => 0.240_226_5,
            Self::Matern52 => 0.080_075_5,
            Self::Linear => 1.0,
        }
    }
}

/// φ of a stationary kernel from the sums of squares, in units of 2⁻²ᵠ; the
/// second number is q, from 16 to 26.
pub(super) trait Shape {
    fn shapes<const B: usize>(squares: &[u64; B], fraction_bits: u32) -> Shapes<B>;
}

/// 2 to the power of minus the square.
pub(super) struct Rbf;

/// (1 + s) 2⁻ᵘ with u the square's root and s = u ln 2.
pub(super) struct Matern32;

/// (1 + s + s² / 3) 2⁻ᵘ.
pub(super) struct Matern52;

impl Shape for Rbf {
    #[inline(always)]
    fn shapes<const B: usize>(squares: &[u64; B], fraction_bits: u32) -> Shapes<B> {
        // The square's whole part and fraction, by shifts of 32 bits.
        let shift = fraction_bits.wrapping_mul(2).wrapping_sub(32) & 31;
        // In a loop: a map of an array is not sure to be inlined.
        let mut fractions = [0; B];
        for (fraction, square) in fractions.iter_mut().zip(squares) {
            let (upper, lower) = ((*square >> 32) as u32, *square as u32);
            // In two steps, since the shift may be 0.
            let upper = (upper << 1).wrapping_shl(31_u32.wrapping_sub(shift));
            *fraction = upper | lower.wrapping_shr(shift);
        }
        let mut values = negative_powers_of_two(fractions);
        for (value, square) in values.iter_mut().zip(squares) {
            let whole = ((square >> 32) as u32).wrapping_shr(shift);
            *value = value.unbounded_shr(whole);
        }
        Shapes {
            values,
            slopes: values,
        }
    }
}

/// What Matérn kernels are made of.
#[derive(Clone, Copy)]
struct Root {
    /// u's whole part and fraction.
    whole: u32,
    fraction: u32,
    /// s · 2^shift.
    s: u32,
    shift: u32,
}

impl Root {
    #[inline(always)]
    fn new(square: u64, fraction_bits: u32) -> Self {
        // u = root · 2^−shift with a root of 32 bits. One unit instead of 0
        // changes φ by less than 2⁻³².
        let square = square | 1;
        let zeros = square.leading_zeros() & !1;
        let root = sqrt_of_large(square.unbounded_shl(zeros));
        let shift = fraction_bits.wrapping_add(zeros >> 1);
        Self {
            whole: root.unbounded_shr(shift),
            fraction: (u64::from(root) << 32).unbounded_shr(shift) as u32,
            s: upper_half(root, LN_2),
            shift,
        }
    }

    /// (1 + s) 2^−whole in units of 2⁻³¹, where it is below 2.
    #[inline(always)]
    fn linear(&self) -> u32 {
        let down = self.shift.wrapping_add(self.whole);
        let s = (u64::from(self.s) << 31).unbounded_shr(down) as u32;
        (1_u32 << 31).unbounded_shr(self.whole).wrapping_add(s)
    }

    /// s² / 3 · 2^−whole in units of 2⁻³¹, which is below 1.
    #[inline(always)]
    fn quadratic(&self) -> u32 {
        // The upper half of a square is in units of 2^(32 − 2 shift).
        let third = upper_half(upper_half(self.s, self.s), THIRD);
        let shift = self.shift.wrapping_mul(2).wrapping_sub(31);
        let down = shift.wrapping_add(self.whole);
        (u64::from(third) << 32).unbounded_shr(down) as u32
    }
}

/// A number in units of 2⁻³¹ times a fraction.
#[inline(always)]
fn times(factor: u32, fraction: u32) -> u32 {
    let product = u64::from(factor).wrapping_mul(u64::from(fraction)) >> 31;
    u32::try_from(product).unwrap_or(u32::MAX)
}

/// `f` of every root and power, 0 for those too far away.
#[inline(always)]
fn matern<const B: usize>(
    squares: &[u64; B],
    fraction_bits: u32,
    f: impl Fn(&Root, u32) -> (u32, u32),
) -> Shapes<B> {
    let roots = squares.map(|square| Root::new(square, fraction_bits));
    let powers = negative_powers_of_two(roots.map(|root| root.fraction));
    let mut shapes = Shapes {
        values: [0; B],
        slopes: [0; B],
    };
    let outputs = shapes.values.iter_mut().zip(&mut shapes.slopes);
    for ((value, slope), (root, power)) in outputs.zip(roots.iter().zip(powers)) {
        if root.whole < FAR {
            (*value, *slope) = f(root, power);
        }
    }
    shapes
}

impl Shape for Matern32 {
    #[inline(always)]
    fn shapes<const B: usize>(squares: &[u64; B], fraction_bits: u32) -> Shapes<B> {
        matern(squares, fraction_bits, |root, power| {
            (times(root.linear(), power), power.unbounded_shr(root.whole))
        })
    }
}

impl Shape for Matern52 {
    #[inline(always)]
    fn shapes<const B: usize>(squares: &[u64; B], fraction_bits: u32) -> Shapes<B> {
        matern(squares, fraction_bits, |root, power| {
            let linear = root.linear();
            let sum = linear.wrapping_add(root.quadratic());
            (times(sum, power), times(linear, power))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    const STATIONARY: [Kernel; 3] = [Kernel::Rbf, Kernel::Matern32, Kernel::Matern52];

    /// φ and its slope's fraction.
    fn shape(kernel: Kernel, square: u64, bits: u32) -> (u32, u32) {
        let Shapes { values, slopes } = match kernel {
            Kernel::Rbf => Rbf::shapes(&[square], bits),
            Kernel::Matern32 => Matern32::shapes(&[square], bits),
            _ => Matern52::shapes(&[square], bits),
        };
        (values[0], slopes[0])
    }

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
                let (found, found_slope) = shape(kernel, square, bits);
                let error = f64::from(found) - value * 4_294_967_296.0;
                worst = worst.max(error.abs());
                let found_slope = -f64::from(kernel.steepness() * found_slope as f32 * FRACTION);
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
                assert!(shape(kernel, 0, bits).0 > u32::MAX - 4, "{kernel:?}");
                assert_eq!(shape(kernel, u64::MAX >> 1, bits).0, 0);
                let reach = kernel.reach() * f64::from(bits).exp2();
                assert!(shape(kernel, (reach * reach) as u64, bits).0 < 8);
            }
        }
    }
}
