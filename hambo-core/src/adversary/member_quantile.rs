//! The value of HAMBO-DAinf: the least mean return over the members, or for
//! many members the empirical quantile of their means, as section 4.1 of the
//! paper recommends.

use crate::estimate::ErrorBudget;

/// From more members than this on, the quantile is taken instead of the least.
const MANY_MEMBERS: usize = 20;

/// The rank of the quantile among the members: the model's share of delta.
fn rank(members: usize, budget: &ErrorBudget) -> usize {
    if members > MANY_MEMBERS {
        (libm::ceilf(budget.model() * members as f32) as usize).saturating_sub(1)
    } else {
        0
    }
}

/// The share of delta that the bound of one of the members may spend.
///
/// A least mean needs no share for each member: if the bound of the member
/// with the least true mean holds, the least of all bounds lies below it. A
/// quantile of rank r is safe if the bounds of the r + 1 members with the least
/// true means hold.
pub(super) fn member_share(members: usize, budget: &ErrorBudget) -> f32 {
    budget.objective() / rank(members, budget).saturating_add(1) as f32
}

/// Mean and lower bound over whole members, given those of each.
pub(super) fn member_quantile(members: &[[f32; 2]], budget: &ErrorBudget) -> (f32, f32) {
    let rank = rank(members.len(), budget);
    let means = members.iter().map(|[mean, _]| *mean);
    let lowers = members.iter().map(|[_, lower]| *lower);
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
        // Member k returns -k.
        let members: Vec<[f32; 2]> = (0..32).map(|k| [-(k as f32); 2]).collect();
        let budget = ErrorBudget {
            delta: 0.2,
            objectives: 1,
        };
        let mean = |count: usize| member_quantile(&members[..count], &budget).0;
        assert_eq!(mean(20), -19.0);
        // The model's share is a tenth: the third lowest of thirty.
        assert_eq!(mean(30), -27.0);
        // Three bounds must hold for it, one for a least.
        assert_eq!(member_share(20, &budget), budget.objective());
        assert_eq!(member_share(30, &budget), budget.objective() / 3.0);
    }
}
