//! Random streams: one for each trajectory, with a pinned normal sampler.
//!
//! Every number takes exactly one draw, so that any number of a stream can be
//! reached by [`Stream::skip`]: the adjoint sweep walks a trajectory backward
//! and sees the very noise of the forward sweep without storing it.

use rand_core::Rng;
use rand_pcg::Pcg32;

use super::elementary::sqrt;
use super::vectors::{LaneLoop, Vectors};

/// The distance between the streams of neighbouring trajectories: odd, and
/// near 2⁶⁴ divided by the golden ratio, so that streams lie far apart on the
/// generator's ring. (Different PCG *increments* would give correlated
/// streams.)
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The increment of the generator; any constant will do.
const INCREMENT: u64 = 0x6861_6D62;

/// The random numbers of one trajectory.
///
/// ```
/// use hambo_core::numeric::random::Stream;
/// let mut walked = Stream::new(7, 3);
/// for _ in 0..10 {
///     walked.standard_normal();
/// }
/// let mut jumped = Stream::new(7, 3);
/// jumped.skip(10);
/// assert_eq!(walked.standard_normal().to_bits(), jumped.standard_normal().to_bits());
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Pcg32,
}

impl Stream {
    /// The stream of a trajectory under a seed.
    ///
    /// ```
    /// use hambo_core::numeric::random::Stream;
    /// let first = |seed, trajectory| Stream::new(seed, trajectory).standard_normal();
    /// assert_eq!(first(1, 0), first(1, 0));
    /// assert_ne!(first(1, 0), first(1, 1));
    /// assert_ne!(first(1, 0), first(2, 0));
    /// ```
    pub fn new(seed: u64, trajectory: u32) -> Self {
        let mut generator = Pcg32::new(seed, INCREMENT);
        generator.advance(STRIDE.wrapping_mul(u64::from(trajectory)));
        Self { generator }
    }

    /// Leaves out `draws` numbers.
    pub fn skip(&mut self, draws: u64) {
        self.generator.advance(draws);
    }

    /// A number from the standard normal distribution.
    pub fn standard_normal(&mut self) -> f32 {
        normal_from_bits(self.generator.next_u32())
    }

    /// A number strictly between 0 and 1.
    pub fn uniform(&mut self) -> f32 {
        // 23 bits, so that adding one half is exact and 1 is never reached.
        ((self.generator.next_u32() >> 9) as f32 + 0.5) * (1.0 / 8_388_608.0)
    }

    /// An index below `count`, or 0 for a `count` of 0.
    pub fn index(&mut self, count: u32) -> u32 {
        let draw = u64::from(self.generator.next_u32());
        ((draw * u64::from(count)) >> 32) as u32
    }
}

/// One standard normal number for each lane, of its own stream.
pub(crate) fn standard_normals<const B: usize>(streams: &mut [Stream; B], row: &mut [f32; B]) {
    let mut bits = [0; B];
    for (bits, stream) in bits.iter_mut().zip(streams) {
        *bits = stream.generator.next_u32();
    }
    Vectors::widest().run(Normals { bits: &bits, row });
}

struct Normals<'r, const B: usize> {
    bits: &'r [u32; B],
    row: &'r mut [f32; B],
}

impl<const B: usize> LaneLoop for Normals<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<const GROUP: usize>(self) {
        for (x, bits) in self.row.iter_mut().zip(self.bits) {
            *x = normal_from_bits(*bits);
        }
    }
}

/// The inverse of the normal distribution function (Wichura's AS 241, the
/// single-precision routine): the top bit is the sign, the other 31 are the
/// probability of the tail, which keeps full precision far out. Reaches 6.2
/// standard deviations.
#[inline(always)]
fn normal_from_bits(bits: u32) -> f32 {
    let tail = ((bits & 0x7FFF_FFFF) as f32 + 0.5) * (1.0 / 4_294_967_296.0);
    let magnitude = normal_quantile_of_tail(tail);
    if bits >> 31 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// How many standard deviations out the upper tail has the probability
/// `tail`, for `0 < tail <= 0.5`. The relative error is below 2e-6.
#[inline(always)]
pub fn normal_quantile_of_tail(tail: f32) -> f32 {
    let centre = 0.5 - tail;
    // In lanes all of it is computed and the right one selected.
    #[cfg(feature = "host-simd")]
    return if centre <= 0.425 {
        near_centre(centre)
    } else {
        far_out(sqrt(-super::branchless::ln(tail)))
    };
    #[cfg(not(feature = "host-simd"))]
    if centre <= 0.425 {
        near_centre(centre)
    } else {
        far_out(sqrt(-super::elementary::ln(tail)))
    }
}

#[inline(always)]
fn near_centre(centre: f32) -> f32 {
    let r = 0.180_625 - centre * centre;
    let numerator = ((59.109_375 * r + 159.291_13) * r + 50.434_27) * r + 3.387_132_7;
    let denominator = ((67.187_56 * r + 78.757_76) * r + 17.895_17) * r + 1.0;
    centre * (numerator / denominator)
}

#[inline(always)]
fn far_out(depth: f32) -> f32 {
    if depth <= 5.0 {
        let r = depth - 1.6;
        let numerator = ((0.170_238_21 * r + 1.306_728_5) * r + 2.756_815_4) * r + 1.423_437_2;
        let denominator = (0.120_211_33 * r + 0.737_001_64) * r + 1.0;
        numerator / denominator
    } else {
        let r = depth - 5.0;
        let numerator = ((0.017_337_204 * r + 0.428_682_94) * r + 3.081_226_4) * r + 6.657_905;
        let denominator = (0.012_258_202 * r + 0.241_978_94) * r + 1.0;
        numerator / denominator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_ones() {
        // From SciPy 1.x `stats.norm.isf`, both sides of each seam.
        let table = [
            (0.4, 0.253_347_1),
            (0.2, 0.841_621_2),
            (0.076, 1.432_502_7),
            (0.074, 1.446_632_1),
            (1e-3, 3.090_232_3),
            (1e-8, 5.612_001_2),
            (1.2e-10, 6.333_282),
        ];
        for (tail, exact) in table {
            let error = (normal_quantile_of_tail(tail) / exact - 1.0).abs();
            assert!(error < 2e-6, "{tail}: {error}");
        }
        assert_eq!(normal_quantile_of_tail(0.5), 0.0);
    }

    #[test]
    fn extreme_draws_are_finite() {
        for bits in [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
            assert!(normal_from_bits(bits).abs() < 6.5);
        }
        assert_eq!(normal_from_bits(0), -normal_from_bits(0x8000_0000));
    }

    #[test]
    fn normals_of_many_streams_have_the_right_moments() {
        // First draws of many trajectories: what a correlated set of streams
        // would get wrong.
        let count = if cfg!(miri) { 500 } else { 100_000 };
        let (mut sum, mut squares, mut product, mut before) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for trajectory in 0..count {
            let x = f64::from(Stream::new(3, trajectory).standard_normal());
            sum += x;
            squares += x * x;
            product += x * before;
            before = x;
        }
        let n = f64::from(count);
        let tolerance = 5.0 / n.sqrt();
        assert!((sum / n).abs() < tolerance);
        assert!((squares / n - 1.0).abs() < tolerance * 1.5);
        assert!((product / n).abs() < tolerance);
    }

    #[test]
    fn indices_and_uniforms_stay_in_range() {
        let mut stream = Stream::new(1, 0);
        let mut seen = [0_u32; 5];
        let draws = if cfg!(miri) { 500 } else { 10_000 };
        for _ in 0..draws {
            seen[stream.index(5) as usize] += 1;
            let x = stream.uniform();
            assert!(x > 0.0 && x < 1.0);
        }
        // A fifth each, less or more by five standard deviations.
        let (fifth, slack) = (f64::from(draws) / 5.0, 2.0 * f64::from(draws).sqrt());
        let near = |count: &u32| (f64::from(*count) - fifth).abs() < slack;
        assert!(seen.iter().all(near), "{seen:?}");
        assert_eq!(stream.index(0), 0);
    }
}
