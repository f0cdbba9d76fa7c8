//! Elementary functions, all through `libm`, so that host and device agree.
//!
//! `std` and the compiler's intrinsics round differently from machine to
//! machine; these do not. With the feature `host-simd` those that every step of
//! a rollout takes have the same bits without branches.

#[cfg(feature = "host-simd")]
use super::branchless;

/// The square root, correctly rounded. So `std`'s has the same bits, and unlike
/// `libm`'s it is computed in several lanes at once.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    #[cfg(feature = "host-simd")]
    return x.sqrt();
    #[cfg(not(feature = "host-simd"))]
    libm::sqrtf(x)
}

/// The exponential function.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// The natural logarithm.
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// The hyperbolic tangent.
pub fn tanh(x: f32) -> f32 {
    libm::tanhf(x)
}

/// The largest integer that is at most `x`.
pub fn floor(x: f32) -> f32 {
    libm::floorf(x)
}

/// The smaller of two numbers; `b` if either is NaN.
///
/// ```
/// use hambo_core::numeric::elementary::minimum;
/// assert_eq!(minimum(2.0, 3.0), 2.0);
/// assert_eq!(minimum(f32::NAN, 3.0), 3.0);
/// ```
#[inline(always)]
pub fn minimum(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The larger of two numbers; `b` if either is NaN.
///
/// ```
/// use hambo_core::numeric::elementary::maximum;
/// assert_eq!(maximum(2.0, 3.0), 3.0);
/// assert!(maximum(2.0, f32::NAN).is_nan());
/// ```
#[inline(always)]
pub fn maximum(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `x` moved into `[low, high]`; a NaN stays a NaN.
///
/// ```
/// use hambo_core::numeric::elementary::clamp;
/// assert_eq!(clamp(7.0, -1.0, 1.0), 1.0);
/// assert!(clamp(f32::NAN, -1.0, 1.0).is_nan());
/// ```
#[inline(always)]
pub fn clamp(x: f32, low: f32, high: f32) -> f32 {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// ln(1 + exp(x)), without overflow.
///
/// ```
/// use hambo_core::numeric::elementary::softplus;
/// assert!((softplus(0.0) - core::f32::consts::LN_2).abs() < 1e-7);
/// assert_eq!(softplus(200.0), 200.0);
/// ```
#[inline(always)]
pub fn softplus(x: f32) -> f32 {
    #[cfg(feature = "host-simd")]
    return branchless::softplus(x);
    #[cfg(not(feature = "host-simd"))]
    (maximum(x, 0.0) + libm::log1pf(libm::expf(-x.abs())))
}

/// The distribution function of a standard normal number.
///
/// ```
/// use hambo_core::numeric::elementary::normal_distribution;
/// assert_eq!([-200.0, 0.0, 200.0].map(normal_distribution), [0.0, 0.5, 1.0]);
/// ```
pub fn normal_distribution(x: f32) -> f32 {
    0.5 * (1.0 + libm::erff(x * core::f32::consts::FRAC_1_SQRT_2))
}

/// The density of a standard normal number, the derivative of [`normal_distribution`].
pub fn normal_density(x: f32) -> f32 {
    let largest = 0.5 * core::f32::consts::FRAC_2_SQRT_PI * core::f32::consts::FRAC_1_SQRT_2;
    largest * libm::expf(-0.5 * x * x)
}

/// 1 / (1 + exp(−x)), the derivative of [`softplus`].
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    #[cfg(feature = "host-simd")]
    return 1.0 / (1.0 + branchless::exp(-x));
    #[cfg(not(feature = "host-simd"))]
    (1.0 / (1.0 + libm::expf(-x)))
}
