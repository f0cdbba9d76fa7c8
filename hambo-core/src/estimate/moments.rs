//! Mean and variance of a sample, gathered in order, and the lower bound of
//! its mean.

use super::betting::Betting;
use super::clopper_pearson::probability_limit;
use super::level_estimate::{LevelEstimate, Margin};
use super::student::student_quantile;
use crate::numeric::elementary::{ln, maximum, minimum, sqrt};

/// The largest share of the values' spread that the range of the betting
/// bound may cost; beyond it Student's t is used.
const LARGEST_COST: f32 = 0.02;

/// How many values the betting bound needs to count, if they spread from 0 to
/// about this one: its range may cost 2 % of that. Twice as many as the least,
/// since that one is not known before.
///
/// ```
/// use hambo_core::estimate::trajectories_for_betting;
/// // Successes of a half, known to lie between 0 and 1: 2 · ln 40 / 0.01.
/// assert_eq!(trajectories_for_betting([0.0, 1.0], 0.5, 0.025), 738);
/// ```
pub fn trajectories_for_betting([low, high]: [f32; 2], value: f32, delta: f32) -> u32 {
    let least = (high - low) * ln(1.0 / delta) / (LARGEST_COST * libm::fabsf(value));
    libm::ceilf(2.0 * least) as u32
}

/// The share of its range that betting takes off a mean of `count` values that all lie at its
/// upper end, as those of a search that finds nothing: they may be less in as many cases as
/// `count` values do not show.
///
/// ```
/// use hambo_core::estimate::charge_of_nothing_found;
/// // A little more than ln 80 / 128.
/// assert!((charge_of_nothing_found(128, 0.0125) - 0.0409).abs() < 1e-4);
/// assert_eq!(charge_of_nothing_found(0, 0.0125), 1.0);
/// ```
pub fn charge_of_nothing_found(count: u32, delta: f32) -> f32 {
    let mut betting = Betting::default();
    for _ in 0..count {
        betting.push(1.0);
    }
    1.0 - betting.lower(delta)
}

/// Sum, squared deviations (Welford's running form), extremes and bets.
///
/// A value is the mean of a block, which is one trajectory, or all those from
/// one logged start. The mean is the plain sum over the count, in f64: a
/// million trajectories lose nothing, and rounding is monotone, so if every
/// value of one sample is at most that of another, so is its mean. (The
/// running mean, which the deviations need, does not promise that.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampleMoments {
    count: u32,
    sum: f64,
    block_count: u32,
    block_sum: f64,
    running_mean: f32,
    squares: f32,
    least: f32,
    greatest: f32,
    values: Values,
    /// Whether the bound must hold for any distribution, where the values have bounds.
    free: bool,
    /// Whether a block held more than one number.
    blocks: bool,
    betting: Betting,
}

/// What is known of a sample's values before any is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Values {
    /// Nothing.
    #[default]
    Any,
    /// They lie here.
    Within([f32; 2]),
    /// 1 for a trajectory that keeps a constraint, else 0; of a block the
    /// share that does.
    Kept,
    /// What more adversaries take off a number whose bounds lie this far apart: at most 0.
    Taken(f32),
    /// -1 for a trajectory that only more adversaries break, else 0; of a block the mean.
    Broken,
}

impl Values {
    fn bounds(self) -> Option<[f32; 2]> {
        match self {
            Self::Any => None,
            Self::Within(bounds) => Some(bounds),
            Self::Kept => Some([0.0, 1.0]),
            Self::Taken(range) => Some([-range, 0.0]),
            Self::Broken => Some([-1.0, 0.0]),
        }
    }

    /// What more adversaries take off these.
    pub fn taken(self) -> Self {
        match self {
            Self::Within([low, high]) => Self::Taken(high - low),
            Self::Kept => Self::Broken,
            Self::Any | Self::Taken(_) | Self::Broken => Self::Any,
        }
    }
}

impl Default for SampleMoments {
    fn default() -> Self {
        Self::new(Values::Any)
    }
}

impl SampleMoments {
    /// No value yet.
    pub fn new(values: Values) -> Self {
        Self {
            count: 0,
            sum: 0.0,
            block_count: 0,
            block_sum: 0.0,
            running_mean: 0.0,
            squares: 0.0,
            least: f32::INFINITY,
            greatest: f32::NEG_INFINITY,
            values,
            free: false,
            blocks: false,
            betting: Betting::default(),
        }
    }

    /// The same sample, whose bound must hold for any distribution or need not.
    pub fn for_any_distribution(self, free: bool) -> Self {
        Self { free, ..self }
    }

    /// Another sample of the same kind, without a value.
    pub fn emptied(&self) -> Self {
        Self::new(self.values).for_any_distribution(self.free)
    }

    /// Adds a number to the block.
    pub fn add(&mut self, number: f32) {
        self.block_count = self.block_count.saturating_add(1);
        self.block_sum += f64::from(number);
    }

    /// Ends the block: its mean is one more value.
    pub fn close(&mut self) {
        let value = self.block_sum / f64::from(self.block_count);
        self.blocks |= self.block_count > 1;
        (self.block_count, self.block_sum) = (0, 0.0);
        self.count = self.count.saturating_add(1);
        self.sum += value;
        let value = value as f32;
        let before = value - self.running_mean;
        self.running_mean += before / self.count as f32;
        self.squares += before * (value - self.running_mean);
        self.least = minimum(self.least, value);
        self.greatest = maximum(self.greatest, value);
        if let Some([low, high]) = self.values.bounds() {
            self.betting.push((value - low) / (high - low));
        }
    }

    /// Adds a block of one number.
    #[cfg(test)]
    pub fn push(&mut self, number: f32) {
        self.add(number);
        self.close();
    }

    /// How many values there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The mean.
    pub fn mean(&self) -> f32 {
        (self.sum / f64::from(self.count)) as f32
    }

    /// The standard error of the mean; infinite for fewer than two values.
    pub fn standard_error(&self) -> f32 {
        let variance = match self.count.checked_sub(1) {
            None | Some(0) => f32::INFINITY,
            Some(freedom) => self.squares / freedom as f32,
        };
        sqrt(variance / self.count as f32)
    }

    /// The mean with its bound, except with probability `delta`, and beside it the bound for any
    /// distribution.
    pub fn estimate(&self, delta: f32, freedom: u32) -> LevelEstimate {
        self.level(delta, freedom, self.distribution_free(delta))
    }

    /// The same without the bound for any distribution, unless it is the one that counts: on a
    /// Cortex-M it takes a hundred thousand instructions.
    pub fn deciding(&self, delta: f32, freedom: u32) -> LevelEstimate {
        let distribution_free = match self.margin(delta) {
            Margin::StudentT => f32::NAN,
            Margin::Betting | Margin::ClopperPearson => self.distribution_free(delta),
        };
        self.level(delta, freedom, distribution_free)
    }

    fn level(&self, delta: f32, freedom: u32, distribution_free: f32) -> LevelEstimate {
        LevelEstimate {
            count: self.count(),
            mean: self.mean(),
            standard_error: self.standard_error(),
            lower: self.lower_beside(distribution_free, delta, freedom),
            distribution_free,
            margin: self.margin(delta),
        }
    }

    /// Which inequality holds for any distribution of the values; Student's t, which does not,
    /// where they have no bounds.
    fn exact_margin(&self) -> Margin {
        match self.values {
            Values::Any => Margin::StudentT,
            Values::Kept | Values::Broken if !self.blocks => Margin::ClopperPearson,
            _ => Margin::Betting,
        }
    }

    /// Which inequality gives [`Self::lower`]. The betting bound cannot lie
    /// closer to the mean than range · ln(1 / delta) / n, so it counts where
    /// that is little against the values themselves, and where nothing else may.
    pub fn margin(&self, delta: f32) -> Margin {
        let spread = maximum(self.greatest, 0.0) - minimum(self.least, 0.0);
        match self.values {
            Values::Kept => self.exact_margin(),
            _ if self.free => self.exact_margin(),
            Values::Within([low, high])
                if (high - low) * ln(1.0 / delta) / self.count as f32 <= LARGEST_COST * spread =>
            {
                Margin::Betting
            }
            _ => Margin::StudentT,
        }
    }

    /// A lower bound of the true mean, except with probability `delta`.
    /// Student's t has at most `freedom` degrees of freedom.
    #[cfg(test)]
    pub fn lower(&self, delta: f32, freedom: u32) -> f32 {
        self.deciding(delta, freedom).lower
    }

    fn lower_beside(&self, distribution_free: f32, delta: f32, freedom: u32) -> f32 {
        let mean = self.mean();
        if mean == f32::NEG_INFINITY {
            return mean;
        }
        match self.margin(delta) {
            Margin::ClopperPearson | Margin::Betting => distribution_free,
            Margin::StudentT => {
                let freedom = self.count.saturating_sub(1).min(freedom);
                mean - student_quantile(freedom, delta) * self.standard_error()
            }
        }
    }

    /// A lower bound of the true mean that holds for any distribution, except with
    /// probability `delta`; NaN where nothing is known of the values.
    pub fn distribution_free(&self, delta: f32) -> f32 {
        let mean = self.mean();
        match (self.values, self.values.bounds()) {
            (_, None) => f32::NAN,
            _ if mean == f32::NEG_INFINITY => mean,
            (Values::Kept | Values::Broken, Some([low, _])) if !self.blocks => {
                let kept = libm::round(self.sum - f64::from(low) * f64::from(self.count)) as u32;
                let broken = self.count.saturating_sub(kept);
                low + probability_limit(self.count, broken, delta)
            }
            (_, Some([low, high])) => {
                // Rounding must not lift it above the mean.
                minimum(low + (high - low) * self.betting.lower(delta), mean)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    fn of(values: &[f32]) -> SampleMoments {
        let mut moments = SampleMoments::default();
        for value in values {
            moments.push(*value);
        }
        moments
    }

    #[test]
    fn moments_by_hand() {
        let moments = of(&[1.0, 2.0, 4.0, 5.0]);
        assert_eq!((moments.count, moments.mean()), (4, 3.0));
        // Variance 10 / 3, standard error sqrt(10 / 12).
        assert!((moments.standard_error() - 0.912_870_9).abs() < 1e-6);
        assert_eq!((moments.least, moments.greatest), (1.0, 5.0));
        // A large offset must not eat the variance.
        let shifted = of(&[10_001.0, 10_002.0, 10_004.0, 10_005.0]);
        assert!((shifted.standard_error() - 0.912_870_9).abs() < 1e-3);
    }

    #[test]
    fn one_value_has_no_bound_to_speak_of() {
        assert_eq!(of(&[3.0]).lower(0.05, u32::MAX), f32::NEG_INFINITY);
    }

    #[test]
    fn a_block_is_one_value() {
        let mut moments = SampleMoments::default();
        for block in [[1.0, 3.0], [4.0, 6.0]] {
            for number in block {
                moments.add(number);
            }
            moments.close();
        }
        assert_eq!((moments.count(), moments.mean()), (2, 3.5));
        assert_eq!((moments.least, moments.greatest), (2.0, 5.0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "a million values")]
    fn a_million_values_lose_nothing() {
        // A plain f32 sum ends at 1.007: nine margins above the truth.
        let mut moments = SampleMoments::default();
        for _ in 0..1_000_000 {
            moments.push(0.1);
        }
        assert_eq!(moments.mean(), 0.1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "thousands of values")]
    fn all_successes_do_not_prove_certainty() {
        let mut moments = SampleMoments::new(Values::Within([0.0, 1.0]));
        for _ in 0..4000 {
            moments.push(1.0);
        }
        let lower = moments.lower(0.0125, u32::MAX);
        assert_eq!(moments.margin(0.0125), Margin::Betting);
        // 0.9989 is the least success rate that 4,000 of 4,000 allow.
        assert!((0.997..0.9989).contains(&lower), "{lower}");
        // A range that is far wider than the values is no help.
        let mut wide = SampleMoments::new(Values::Within([-1e6, 1.0]));
        for _ in 0..4000 {
            wide.push(1.0);
        }
        assert_eq!(wide.margin(0.0125), Margin::StudentT);
    }

    #[test]
    #[cfg_attr(miri, ignore = "a coverage rate needs thousands of samples")]
    fn bounds_cover_as_often_as_they_claim() {
        // Means of 16 normal and of 200 bounded, skewed values, 2,000 times.
        let (mut normal, mut skewed) = (0, 0);
        for trial in 0..2000 {
            let mut stream = Stream::new(11, trial);
            let values: Vec<f32> = (0..16).map(|_| 5.0 + stream.standard_normal()).collect();
            normal += u32::from(of(&values).lower(0.1, u32::MAX) <= 5.0);
            let mut moments = SampleMoments::new(Values::Within([-1.0, 0.0]));
            for _ in 0..200 {
                moments.push(if stream.uniform() < 0.05 { -1.0 } else { 0.0 });
            }
            skewed += u32::from(moments.lower(0.1, u32::MAX) <= -0.05);
        }
        // 90 % of 2,000 less three standard deviations; and not far above it.
        assert!((1760..1860).contains(&normal), "{normal}");
        assert!(skewed >= 1760, "{skewed}");
    }

    #[test]
    fn smaller_values_have_no_larger_mean() {
        for trial in 0..if cfg!(miri) { 5 } else { 500 } {
            let mut stream = Stream::new(5, trial);
            let large: Vec<f32> = (0..50).map(|_| 100.0 * stream.standard_normal()).collect();
            let small: Vec<f32> = large
                .iter()
                .map(|x| if stream.uniform() < 0.1 { x - 1e-5 } else { *x })
                .collect();
            assert!(of(&small).mean() <= of(&large).mean());
        }
    }

    #[test]
    fn trajectories_for_betting_by_hand() {
        // 2 · ln 40 / 0.01, and 2 · 4 ln 10 / 0.005.
        assert_eq!(trajectories_for_betting([0.0, 1.0], 0.5, 0.025), 738);
        assert_eq!(trajectories_for_betting([-1.0, 3.0], -0.25, 0.1), 3685);
    }

    /// `count` values in turn, known to lie within bounds.
    fn within(bounds: [f32; 2], values: [f32; 2], count: usize) -> SampleMoments {
        let mut moments = SampleMoments::new(Values::Within(bounds));
        for value in values.into_iter().cycle().take(count) {
            moments.push(value);
        }
        moments
    }

    #[test]
    fn betting_counts_where_its_range_costs_two_per_cent_at_most() {
        // 4 · ln 40 = 14.756, and values that spread from −1 to 1: 2 % of that is
        // 0.04, which takes 369 values.
        let margin = |count| within([-2.0, 2.0], [-1.0, 1.0], count).margin(0.025);
        assert_eq!(margin(368), Margin::StudentT);
        assert_eq!(margin(369), Margin::Betting);
        // Zero counts among the values: those from 1 to 2 spread over 2, not 1.
        let margin = |count| within([0.0, 4.0], [1.0, 2.0], count).margin(0.025);
        assert_eq!(margin(368), Margin::StudentT);
        assert_eq!(margin(369), Margin::Betting);
    }

    #[test]
    fn a_betting_bound_is_in_the_units_of_its_values() {
        let unit = within([0.0, 1.0], [0.0, 1.0], 1000);
        let scaled = within([2.0, 6.0], [2.0, 6.0], 1000);
        let (unit, scaled) = (unit.lower(0.025, 9), scaled.lower(0.025, 9));
        assert!((0.4..0.5).contains(&unit), "{unit}");
        assert!((scaled - (2.0 + 4.0 * unit)).abs() < 1e-5, "{scaled}");
    }

    #[test]
    fn students_bound_by_hand() {
        // The mean 3 less 3.18 standard errors of 0.913, at least, for 0.025.
        let lower = of(&[1.0, 2.0, 4.0, 5.0]).lower(0.025, u32::MAX);
        assert!(
            (lower - (3.0 - 3.182_446 * 0.912_871)).abs() < 0.01,
            "{lower}"
        );
        // With one degree of freedom 12.7 of them.
        let lower = of(&[1.0, 2.0, 4.0, 5.0]).lower(0.025, 1);
        assert!(
            (lower - (3.0 - 12.706_2 * 0.912_871)).abs() < 0.03,
            "{lower}"
        );
        let overflow = of(&[1.0, f32::NEG_INFINITY]);
        assert_eq!(overflow.lower(0.025, u32::MAX), f32::NEG_INFINITY);
    }

    #[test]
    fn another_sample_keeps_the_bounds() {
        let values = Values::Within([-1.0, 2.0]);
        let emptied = within([-1.0, 2.0], [0.0, 1.0], 5).emptied();
        assert_eq!(emptied, SampleMoments::new(values));
        let free = emptied.for_any_distribution(true);
        assert!(free.emptied().free && !emptied.free);
    }

    #[test]
    fn shares_of_single_trajectories_have_an_exact_limit() {
        let mut moments = SampleMoments::new(Values::Kept);
        for number in 0..971 {
            moments.push(if number % 300 == 1 && number < 900 {
                0.0
            } else {
                1.0
            });
        }
        assert_eq!(moments.margin(0.0125), Margin::ClopperPearson);
        assert_eq!(moments.lower(0.0125, 4), probability_limit(971, 3, 0.0125));
        assert!((moments.mean() - 968.0 / 971.0).abs() < 1e-6);
        assert_eq!(moments.emptied(), SampleMoments::new(Values::Kept));
    }

    /// Nothing lost on 128 values: Student's t takes nothing off, and what holds for any
    /// distribution takes the share of which 128 may show nothing.
    #[test]
    fn what_was_not_met_is_charged_where_the_bound_must_hold_for_any_distribution() {
        for (values, margin, charge) in [
            (Values::Taken(10.0), Margin::Betting, 0.409),
            (Values::Within([-10.0, 0.0]), Margin::Betting, 0.409),
            (Values::Broken, Margin::ClopperPearson, 0.0336),
            (Values::Any, Margin::StudentT, 0.0),
        ] {
            let mut usual = SampleMoments::new(values);
            let mut free = usual.for_any_distribution(true);
            for _ in 0..128 {
                usual.push(0.0);
                free.push(0.0);
            }
            assert_eq!(usual.margin(0.0125), Margin::StudentT);
            assert_eq!(usual.lower(0.0125, u32::MAX), 0.0);
            assert_eq!(free.margin(0.0125), margin);
            let lower = free.lower(0.0125, u32::MAX);
            assert!((lower + charge).abs() < 0.01 * charge + 1e-9, "{lower}");
            assert_eq!(free.estimate(0.0125, 9).lower, lower);
            let shown = usual.estimate(0.0125, 9).distribution_free;
            assert!(shown == lower || shown.is_nan() && margin == Margin::StudentT);
            assert!(usual.deciding(0.0125, 9).distribution_free.is_nan());
            assert_eq!(
                free.deciding(0.0125, 9).distribution_free.to_bits(),
                shown.to_bits()
            );
        }
    }

    #[test]
    fn shares_of_blocks_are_bets() {
        // Ten starts with fifty trajectories each prove what ten values prove.
        let mut moments = SampleMoments::new(Values::Kept);
        for _ in 0..10 {
            for _ in 0..50 {
                moments.add(1.0);
            }
            moments.close();
        }
        assert_eq!(moments.margin(0.05), Margin::Betting);
        let lower = moments.lower(0.05, u32::MAX);
        assert!((0.4..0.75).contains(&lower), "{lower}");
    }
}
