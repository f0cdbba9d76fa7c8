//! The upper quantile of Student's t.

use crate::arithmetic::elementary::{exponential, logarithm, square_root};
use crate::arithmetic::random::normal_quantile_of_tail;

/// The t with P(T > t) = `tail` for `freedom` degrees of freedom, rounded up:
/// never below the exact value, and at most 0.2 % above it for the sizes in
/// use (`freedom >= 3`, `1e-4 <= tail <= 0.5`). Infinite for 0 degrees.
///
/// Hill's expansion (ACM algorithm 396).
///
/// ```
/// use hambo_core::estimate::student_quantile;
/// assert!((student_quantile(15, 0.025) - 2.1314).abs() < 5e-3);
/// assert_eq!(student_quantile(0, 0.025), f32::INFINITY);
/// ```
#[must_use]
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
        return square_root(2.0 / (two_tails * (2.0 - two_tails)) - 2.0) * UP;
    }
    let a = 1.0 / (n - 0.5);
    let b = (48.0 / a) * (1.0 / a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * square_root(a * core::f32::consts::FRAC_PI_2) * n;
    let mut y = exponential(logarithm(d * two_tails) * 2.0 / n);
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
    square_root(n * y) * UP
}
