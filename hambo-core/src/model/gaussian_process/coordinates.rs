//! The points' coordinates and weights are integers (i32), in ranges such that
//! no integer sum can overflow:
//!
//! | | range | so that |
//! |---|---|---|
//! | coordinates c | \|c\| ≤ [`coordinate_limit`] | the squared differences of all columns sum up to at most 2⁶³ |
//! | weights w | \|w\| ≤ [`WEIGHT_LIMIT`] | 65,535 products with fractions, each divided by 2¹⁶, sum up to at most 2⁶³ |

/// The largest weight.
pub const WEIGHT_LIMIT: i32 = (1 << 30) - 1;

/// The fractional bits that coordinates may have: a coordinate's unit is
/// 2⁻ᵠ with q in this range.
///
/// ```
/// use hambo_core::model::{FRACTION_BITS, Kernel};
/// // At least the reach of every kernel and some data must fit.
/// let largest = 536_870_912.0 / f64::from(*FRACTION_BITS.start()).exp2();
/// assert!(largest > 100.0 * Kernel::Matern52.reach());
/// ```
pub const FRACTION_BITS: core::ops::RangeInclusive<u32> = 16..=26;

/// The largest coordinate of points and queries with this many columns; `None`
/// beyond 2¹⁶ columns.
///
/// ```
/// use hambo_core::model::coordinate_limit;
/// assert_eq!(coordinate_limit(6), Some(1 << 29));
/// // The squared differences of all columns fit.
/// let largest = u64::from(coordinate_limit(1000).unwrap().unsigned_abs());
/// assert!((2 * largest).pow(2).checked_mul(1000).is_some_and(|sum| sum < 1 << 63));
/// ```
pub fn coordinate_limit(columns: usize) -> Option<i32> {
    let columns = u32::try_from(columns).ok().filter(|c| *c <= 1 << 16)?;
    // columns · (2 · 2ᵇ)² ≤ 2⁶³.
    let doublings = columns.checked_next_power_of_two()?.trailing_zeros();
    let bits = 61_u32.checked_sub(doublings)? / 2;
    1_i32.checked_shl(bits.min(29))
}

/// q of a unit of 2⁻ᵠ.
pub(super) fn fraction_bits_of(unit: f32) -> Option<u32> {
    let bits = unit.to_bits();
    let fraction_bits = 127_u32.checked_sub(bits >> 23)?;
    let mantissa = bits & 0x007F_FFFF;
    (mantissa == 0 && FRACTION_BITS.contains(&fraction_bits)).then_some(fraction_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two() {
        assert_eq!(fraction_bits_of(1.0 / 65_536.0), Some(16));
        assert_eq!(fraction_bits_of(1.0 / 67_108_864.0), Some(26));
        for unit in [1.0, 1.5 / 65_536.0, -1.0 / 65_536.0, 0.0, f32::INFINITY] {
            assert_eq!(fraction_bits_of(unit), None);
        }
    }

    #[test]
    fn squares_never_overflow() {
        for columns in [1, 2, 3, 8, 9, 33, 128, 65_536] {
            let limit = u64::from(coordinate_limit(columns).unwrap().unsigned_abs());
            let sum = (2 * limit).pow(2).checked_mul(columns as u64).unwrap();
            assert!(sum <= 1 << 63, "{columns}");
        }
        assert_eq!(coordinate_limit(65_537), None);
    }
}
