//! The upper quantile of Student's t.

use crate::numeric::elementary::{exp, ln, sqrt};
use crate::numeric::random::normal_quantile_of_tail;

/// The t with P(T > t) = `tail` for `freedom` degrees of freedom, rounded up:
/// never below the exact value, and at most 0.2 % above it for the sizes in
/// use (`freedom >= 3`, `1e-4 <= tail <= 0.5`). Infinite for 0 degrees.
///
/// Hill's expansion (ACM algorithm 396).
pub fn student_quantile(freedom: u32, tail: f32) -> f32 {
    const UP: f32 = 1.001;
    if !(tail > 0.0 && tail <= 0.5) || freedom == 0 {
        return f32::INFINITY;
    }
    let n = freedom as f32;
    let two_tails = 2.0 * tail;
    if freedom == 1 {
        let half_turn = core::f32::consts::FRAC_PI_2 * two_tails;
        return libm::cosf(half_turn) / libm::sinf(half_turn) * UP;
    }
    if freedom == 2 {
        return sqrt(2.0 / (two_tails * (2.0 - two_tails)) - 2.0) * UP;
    }
    let a = 1.0 / (n - 0.5);
    let b = (48.0 / a) * (1.0 / a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * core::f32::consts::FRAC_PI_2) * n;
    let mut y = exp(ln(d * two_tails) * 2.0 / n);
    if y > 0.05 + a {
        let x = -normal_quantile_of_tail(tail);
        y = x * x;
        if freedom < 5 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = libm::expm1f(a * y * y);
    } else {
        let inner = (1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0)
            + 0.5 / (n + 4.0))
            * y
            - 1.0;
        y = inner * (n + 1.0) / (n + 2.0) + 1.0 / y;
    }
    sqrt(n * y) * UP
}

#[cfg(test)]
mod tests {
    use super::student_quantile;
    use crate::numeric::checksum::CRC;

    /// (degrees of freedom, tail, quantile), from SciPy 1.x `stats.t.isf`.
    const TABLE: [(u32, f32, f32); 36] = [
        (1, 0.25, 1.0),
        (1, 0.025, 12.706205),
        (1, 0.0025, 127.321336),
        (2, 0.1, 1.885618),
        (2, 0.0125, 6.205347),
        (2, 0.0001, 70.700_07),
        (3, 0.25, 0.764892),
        (3, 0.1, 1.637744),
        (3, 0.025, 3.182446),
        (3, 0.0125, 4.176535),
        (3, 0.0025, 7.453319),
        (3, 0.0001, 22.203742),
        (4, 0.25, 0.740697),
        (4, 0.1, 1.533206),
        (4, 0.025, 2.776445),
        (4, 0.0001, 13.033672),
        (5, 0.25, 0.726687),
        (5, 0.025, 2.570582),
        (5, 0.0001, 9.677566),
        (7, 0.1, 1.414924),
        (7, 0.0125, 2.841244),
        (7, 0.0001, 7.063433),
        (15, 0.25, 0.691197),
        (15, 0.025, 2.13145),
        (15, 0.0025, 3.286039),
        (15, 0.0001, 4.879998),
        (31, 0.1, 1.309464),
        (31, 0.0125, 2.355568),
        (31, 0.0001, 4.215503),
        (63, 0.025, 1.998341),
        (63, 0.0025, 2.909262),
        (255, 0.1, 1.28488),
        (255, 0.0001, 3.773802),
        (999, 0.25, 0.674735),
        (999, 0.025, 1.962341),
        (999, 0.0001, 3.732865),
    ];

    #[test]
    fn is_never_below_the_exact_value_and_close_to_it() {
        for (freedom, tail, exact) in TABLE {
            let quantile = student_quantile(freedom, tail);
            let excess = quantile / exact - 1.0;
            assert!((0.0..3e-3).contains(&excess), "{freedom} {tail}: {excess}");
        }
    }

    #[test]
    fn knows_nothing_of_a_single_value() {
        assert_eq!(student_quantile(0, 0.05), f32::INFINITY);
        assert_eq!(student_quantile(10, f32::NAN), f32::INFINITY);
        assert_eq!(student_quantile(10, 0.0), f32::INFINITY);
    }

    /// Quantiles of many degrees of freedom and tails, bit for bit: the expansion's
    /// constants are many, and one of them that is off shows in few of them.
    #[test]
    fn it_has_the_same_bits_everywhere() {
        let mut bytes = vec![];
        for freedom in (1..=12).chain([15, 31, 63, 255, 999, 100_000]) {
            for tail in [0.5, 0.4, 0.25, 0.1, 0.025, 0.0125, 0.0025, 1e-4, 1e-6] {
                bytes.extend(student_quantile(freedom, tail).to_bits().to_le_bytes());
            }
        }
        assert_eq!(CRC.checksum(&bytes), 0x5AC8_22CD);
    }

    #[test]
    fn what_is_no_tail_has_no_quantile() {
        for tail in [-0.0, -0.1, 0.51, 1.0, f32::INFINITY] {
            assert_eq!(student_quantile(1, tail), f32::INFINITY, "{tail}");
            assert_eq!(student_quantile(9, tail), f32::INFINITY, "{tail}");
        }
        // Half of the values lie above the middle.
        assert!(student_quantile(9, 0.5).abs() < 1e-3);
    }

    #[test]
    fn where_the_expansions_meet_the_one_for_tails_holds() {
        // Tails at which y is 0.05 + a to the last bit.
        for (freedom, tail, quantile) in
            [(3, 0x3D83_312D, 0x4005_B79A), (5, 0x3BD7_1573, 0x4071_060C)]
        {
            let found = student_quantile(freedom, f32::from_bits(tail));
            assert_eq!(found.to_bits(), quantile);
        }
    }
}
