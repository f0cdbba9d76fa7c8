//! The value of HAMBO-DAinf: the least mean return over the members, or for
//! many members the empirical delta-quantile of their means, as section 4.1 of
//! the paper recommends.

use crate::estimate::{Margin, SampleMoments};

/// From more members than this on, the quantile is taken instead of the least.
const MANY_MEMBERS: usize = 20;

/// Mean and lower bound over whole members, one sample of returns for each.
/// `quantile` is the paper's delta; the bound fails with a probability of at
/// most `failure`, which all members share since all of them are compared.
pub(super) fn member_quantile(
    members: &[SampleMoments],
    margin: Margin,
    failure: f32,
    quantile: f32,
) -> (f32, f32) {
    let count = members.len();
    let shared = failure / count.max(1) as f32;
    let rank = if count > MANY_MEMBERS {
        (libm::ceilf(quantile * count as f32) as usize).saturating_sub(1)
    } else {
        0
    };
    let means = members.iter().map(SampleMoments::mean);
    let lowers = members
        .iter()
        .map(|sample| sample.mean() - sample.margin(margin, shared));
    (ranked(means, rank), ranked(lowers, rank))
}

/// The number with exactly `rank` smaller ones before it in order; NaN if one
/// is NaN or there are too few.
fn ranked(numbers: impl Iterator<Item = f32> + Clone, rank: usize) -> f32 {
    if numbers.clone().any(f32::is_nan) {
        return f32::NAN;
    }
    let candidates = numbers.clone();
    for candidate in candidates {
        let below = numbers.clone().filter(|x| *x < candidate).count();
        let equal = numbers.clone().filter(|x| *x == candidate).count();
        if below <= rank && rank < below.saturating_add(equal) {
            return candidate;
        }
    }
    f32::NAN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_with_ties() {
        let numbers = [3.0, 1.0, 2.0, 1.0, 5.0];
        let at = |rank| ranked(numbers.iter().copied(), rank);
        assert_eq!(
            [at(0), at(1), at(2), at(3), at(4)],
            [1.0, 1.0, 2.0, 3.0, 5.0]
        );
        assert!(at(5).is_nan());
        assert!(ranked([1.0, f32::NAN].iter().copied(), 0).is_nan());
    }

    #[test]
    fn few_members_give_their_least_and_many_their_quantile() {
        // Member k returns -k twice.
        let members: Vec<SampleMoments> = (0..30)
            .map(|member| {
                let mut sample = SampleMoments::default();
                sample.push(-(member as f32));
                sample.push(-(member as f32));
                sample
            })
            .collect();
        let mean = |count: usize| member_quantile(&members[..count], Margin::StudentT, 0.05, 0.1).0;
        assert_eq!(mean(20), -19.0);
        // The third lowest of thirty.
        assert_eq!(mean(30), -27.0);
    }
}
