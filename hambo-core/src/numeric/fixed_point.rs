//! Functions of 32-bit fractions in integer arithmetic: the kernels of a
//! Gaussian process, whose weights are large and cancel in f32.
//!
//! A *fraction* is a `u32` that counts 2⁻³². Integers are exact and the same
//! everywhere; every operation here wraps by name and is shown not to.

/// The upper half of a product: the product of two fractions, rounded down.
#[inline(always)]
pub fn upper_half(a: u32, b: u32) -> u32 {
    (u64::from(a).wrapping_mul(u64::from(b)) >> 32) as u32
}

/// 2^(−1/2 − g) for g in −1/2..1/2 by Chebyshev interpolation, in units of
/// 2⁻³¹, highest power first. As a polynomial it is within 3e-11.
const POWER: [i32; 6] = [
    234_908,
    -2_024_689,
    14_604_974,
    -84_283_003,
    364_784_019,
    -1_052_544_167,
];
/// Its term of the seventh power.
const POWER_FIRST: i32 = -23_239;
/// Its constant term in units of 2⁻³².
const POWER_AT_HALF: u32 = 3_037_000_500;

/// 2⁻ᶠ of fractions f, as fractions within 3 units; the largest fraction
/// where it is 1.
#[inline(always)]
pub fn negative_powers_of_two<const B: usize>(fractions: [u32; B]) -> [u32; B] {
    // g = f − 1/2 in units of 2⁻³². Coefficient by coefficient for all lanes:
    // a device loads each of them once.
    let mut g = [0_i64; B];
    for (g, fraction) in g.iter_mut().zip(&fractions) {
        *g = i64::from(fraction.wrapping_sub(1 << 31).cast_signed());
    }
    let mut sums = [POWER_FIRST; B];
    for coefficient in POWER {
        for (sum, g) in sums.iter_mut().zip(&g) {
            // |sum| < 0.6 · 2³¹ throughout.
            let product = (i64::from(*sum).wrapping_mul(*g) >> 32) as i32;
            *sum = coefficient.wrapping_add(product);
        }
    }
    let mut powers = [0; B];
    for (power, (sum, g)) in powers.iter_mut().zip(sums.iter().zip(&g)) {
        // |sum · g| < 2³¹ · 0.6 · 2³¹. The sum is 2³¹ or more, less 3; if it
        // is small, it was more than the largest fraction.
        let product = (i64::from(*sum).wrapping_mul(*g) >> 31) as u32;
        let sum = POWER_AT_HALF.wrapping_add(product);
        *power = if sum < 1 << 30 { u32::MAX } else { sum };
    }
    powers
}

/// The square root of a number of at least 2⁶², to the nearest or next to it.
#[inline(always)]
pub fn sqrt_of_large(number: u64) -> u32 {
    // In f32 the root is right to 2⁻²³ of itself; one step of Newton's method
    // leaves an error of less than one unit.
    let start = super::elementary::sqrt(((number >> 32) as u32) as f32);
    let root = (start * 65_536.0) as u32;
    let square = u64::from(root).wrapping_mul(u64::from(root));
    // Less than 2⁴³ in size: a quarter of the step, in f32.
    let missing = (number.wrapping_sub(square).cast_signed() >> 12) as i32 as f32;
    let step = missing * 2048.0 / root as f32;
    // The step is less than 1024 in size; this rounds it to the nearest.
    let step = ((step + 1024.5) as i32).wrapping_sub(1024);
    root.saturating_add_signed(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    const UNIT: f64 = 1.0 / 4_294_967_296.0;

    #[test]
    fn powers_are_right_to_their_last_bits() {
        let mut stream = Stream::new(1, 0);
        let cases = if cfg!(miri) { 100 } else { 1_000_000 };
        let edges = [0, 1, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
        let drawn = (0..cases).map(|_| (stream.index(1 << 16) << 16) | stream.index(1 << 16));
        for fraction in edges.into_iter().chain(drawn.collect::<Vec<_>>()) {
            let exact = (-f64::from(fraction) * UNIT).exp2();
            let error = f64::from(negative_powers_of_two([fraction])[0]) - exact / UNIT;
            assert!(error.abs() < 3.0, "{fraction}: {error}");
        }
    }

    #[test]
    fn roots_are_right_to_their_last_bit() {
        let mut stream = Stream::new(2, 0);
        let cases = if cfg!(miri) { 100 } else { 1_000_000 };
        let mut word = || u64::from((stream.index(1 << 16) << 16) | stream.index(1 << 16));
        for _ in 0..cases {
            let number = ((word() << 32) | word()) | (1 << 62);
            let root = u128::from(sqrt_of_large(number));
            // Between the roots of two numbers that are one apart or less.
            let number = u128::from(number);
            assert!(root < 1 << 32);
            assert!((root + 1) * (root + 1) > number, "{number}");
            assert!((root - 1) * (root - 1) < number, "{number}");
        }
    }
}
