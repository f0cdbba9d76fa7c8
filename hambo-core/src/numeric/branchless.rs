//! Elementary functions without branches, with the bits of those of `libm`.
//!
//! A branch keeps the compiler from computing several lanes at once: of a check with small
//! networks the exponentials and logarithms of sigma_a took more time than the products. Here
//! every path is computed and the right one selected, by the operations of `libm` in the order of
//! `libm`, so that a lane's result does not depend on who computes it. The tests compare the bits
//! of both, of all numbers where they are told to.
//!
//! Only with the feature `host-simd`: on the device one lane costs less by `libm` itself.

const LN2_HI: f32 = f32::from_bits(0x3f31_7200);
const LN2_LO: f32 = f32::from_bits(0x35bf_be8e);
const INV_LN2: f32 = f32::from_bits(0x3fb8_aa3b);
/// From there on exp is more than the largest number.
const OVERFLOW: f32 = f32::from_bits(0x42b1_7218);
/// From there on exp(−x) is nothing.
const UNDERFLOW: f32 = f32::from_bits(0x42cf_f1b5);

/// exp(x).
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // x = k ln 2 + r with |r| at most half of ln 2.
    let size = x.to_bits() & 0x7fff_ffff;
    let (half, one) = if x < 0.0 { (-0.5, -1) } else { (0.5, 1) };
    let nearest = (INV_LN2 * x + half) as i32;
    let near = if size > 0x3eb1_7218 { one } else { 0 };
    let k = if size > 0x3f85_1592 { nearest } else { near };
    let (high, low) = (x - k as f32 * LN2_HI, k as f32 * LN2_LO);
    let r = high - low;
    let rr = r * r;
    let c = r - rr * (1.666_662_6e-1 + rr * -2.766_733_3e-3);
    let y = 1.0 + (r * c / (2.0 - c) - low + high);
    // In two steps: 2^k may lie below the smallest normal number.
    let first = k >> 1;
    let y = y * power_of_two(first) * power_of_two(k.wrapping_sub(first));
    let y = if size > 0x3900_0000 { y } else { 1.0 + x };
    let y = if x >= OVERFLOW { f32::INFINITY } else { y };
    if x <= -UNDERFLOW { 0.0 } else { y }
}

/// 2^k, if that is a normal number.
#[inline(always)]
fn power_of_two(k: i32) -> f32 {
    f32::from_bits((k.wrapping_add(127) as u32) << 23)
}

/// The natural logarithm of a positive normal number.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let (k, f) = reduced(x);
    series(f, k as f32, 0.0)
}

/// ln(1 + x) of a number between 0 and 1.
#[inline(always)]
fn ln_1p(x: f32) -> f32 {
    let sum = 1.0 + x;
    let (k, f) = reduced(sum);
    // What the sum has lost of x.
    let lost = (x - (sum - 1.0)) / sum;
    let is_small = x.to_bits() < 0x3ed4_13d0;
    let k = if is_small { 0.0 } else { k as f32 };
    let f = if is_small { x } else { f };
    // A NaN is in `lost`, whatever its bits.
    let lost = if is_small { 0.0 } else { lost };
    let y = series(f, k, lost);
    if x.to_bits() < 0x3380_0000 { x } else { y }
}

/// x = 2^k (1 + f) with 1 + f between the square roots of 1/2 and of 2.
#[inline(always)]
fn reduced(x: f32) -> (i32, f32) {
    let bits = x.to_bits().wrapping_add(0x3f80_0000 - 0x3f35_04f3);
    let k = (bits >> 23) as i32 - 0x7f;
    let f = f32::from_bits((bits & 0x007f_ffff).wrapping_add(0x3f35_04f3)) - 1.0;
    (k, f)
}

/// k ln 2 + ln(1 + f) + `lost`.
#[inline(always)]
fn series(f: f32, k: f32, lost: f32) -> f32 {
    const HIGH: f32 = f32::from_bits(0x3f31_7180);
    const LOW: f32 = f32::from_bits(0x3717_f7d1);
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (0.400_009_72 + w * 0.242_790_79);
    let odd = z * (0.666_666_6 + w * 0.284_987_87);
    let half_square = 0.5 * f * f;
    s * (half_square + (odd + even)) + (k * LOW + lost) - half_square + f + k * HIGH
}

/// ln(1 + exp(x)).
#[inline(always)]
pub(super) fn softplus(x: f32) -> f32 {
    super::elementary::maximum(x, 0.0) + ln_1p(exp(-x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every so many numbers are compared: few, or those that the caller asks for.
    /// `HAMBO_EVERY=1 cargo test --release -p hambo-core --features host-simd --lib branchless`
    /// compares all of them, in some minutes.
    fn every() -> usize {
        let wanted = std::env::var("HAMBO_EVERY").ok();
        let few = if cfg!(miri) { 40_000_003 } else { 1009 };
        wanted.and_then(|wanted| wanted.parse().ok()).unwrap_or(few)
    }

    /// Where a path begins or ends, and what lies near.
    fn edges() -> impl Iterator<Item = u32> {
        let edges = [
            0x0000_0000_u32,
            0x0080_0000,
            0x3380_0000,
            0x3900_0000,
            0x3eb1_7218,
            0x3ed4_13d0,
            0x3f35_04f3,
            0x3f80_0000,
            0x3f85_1592,
            0x3fb5_04f3,
            0x42ae_ac50,
            0x42b1_7218,
            0x42cf_f1b5,
            0x7f80_0000,
        ];
        let near = |edge: u32| (0..=4000).map(move |d| edge.wrapping_sub(2000).wrapping_add(d));
        let both = |bits: u32| [bits, bits | 1 << 31];
        edges.into_iter().flat_map(near).flat_map(both)
    }

    fn assert_same(ours: impl Fn(f32) -> f32, libm: impl Fn(f32) -> f32, to: u32) {
        let drawn = (0..=to).step_by(every());
        for bits in drawn.chain(edges().filter(|bits| *bits <= to)) {
            let x = f32::from_bits(bits);
            let (ours, libm) = (ours(x), libm(x));
            let is_same = ours.to_bits() == libm.to_bits() || ours.is_nan() && libm.is_nan();
            assert!(is_same, "of {x:e} ({bits:08x}): {ours:e}, by libm {libm:e}");
        }
    }

    #[test]
    fn exponentials_have_the_bits_of_libm() {
        assert_same(exp, libm::expf, u32::MAX);
    }

    #[test]
    fn a_softplus_has_the_bits_of_libm() {
        let by_libm = |x: f32| {
            let most = if x > 0.0 { x } else { 0.0 };
            most + libm::log1pf(libm::expf(-x.abs()))
        };
        assert_same(softplus, by_libm, u32::MAX);
    }

    #[test]
    fn logarithms_of_positive_numbers_have_the_bits_of_libm() {
        let is_normal = |x: f32| if x.is_normal() { x } else { 1.0 };
        let of = |x| ln(is_normal(x));
        assert_same(of, |x| libm::logf(is_normal(x)), i32::MAX as u32);
        // Nothing above 1 comes from exp.
        assert_same(ln_1p, libm::log1pf, 0x3f80_0000);
    }
}
