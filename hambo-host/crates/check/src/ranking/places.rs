//! Which places the evidence leaves open to each of several controllers.
//!
//! Each has an interval: from the lower bound of its return to the greatest of all that was
//! estimated of it. Two whose intervals overlap have no settled order.

/// What is known of one controller's return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The lower bound that decides.
    pub low: f64,
    /// The greatest estimate; no bound from above.
    pub high: f64,
    /// Whether the evidence is fit for a verdict.
    pub sound: bool,
}

impl Interval {
    /// Whether this one is settled to be better. What is not a number settles nothing.
    pub fn is_above(&self, other: &Self) -> bool {
        self.sound && other.sound && self.low > other.high
    }
}

/// The best and the worst place, from 1, that is open to each.
pub(super) fn places(all: &[Interval]) -> Vec<[usize; 2]> {
    let each = all.iter().map(|one| {
        let above = all.iter().filter(|other| other.is_above(one)).count();
        let below = all.iter().filter(|other| one.is_above(other)).count();
        [above + 1, all.len() - below]
    });
    each.collect()
}

/// The pairs that are not settled, by their numbers, the first the smaller.
pub(super) fn unsettled(all: &[Interval]) -> Vec<[usize; 2]> {
    let pairs = (0..all.len()).flat_map(|one| (one + 1..all.len()).map(move |other| [one, other]));
    let open = |pair: &[usize; 2]| {
        let [Some(one), Some(other)] = pair.map(|place| all.get(place)) else {
            return false;
        };
        !one.is_above(other) && !other.is_above(one)
    };
    pairs.filter(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(low: f64, high: f64) -> Interval {
        Interval {
            low,
            high,
            sound: true,
        }
    }

    #[test]
    fn what_overlaps_is_open_and_what_lies_above_is_settled() {
        let all = [
            sound(-10.0, -2.0),
            sound(-30.0, -9.0),
            sound(-50.0, -31.0),
            sound(-60.0, -40.0),
        ];
        assert_eq!(places(&all), [[1, 2], [1, 2], [3, 4], [3, 4]]);
        assert_eq!(unsettled(&all), [[0, 1], [2, 3]]);
    }

    #[test]
    fn what_only_touches_is_open() {
        let all = [sound(-10.0, -2.0), sound(-30.0, -10.0)];
        assert_eq!(unsettled(&all), [[0, 1]]);
        let apart = [sound(-10.0, -2.0), sound(-30.0, -10.1)];
        assert!(unsettled(&apart).is_empty());
        assert_eq!(places(&apart), [[1, 1], [2, 2]]);
    }

    /// A chain: neighbours are open, the ends are settled.
    #[test]
    fn openness_does_not_pass_on() {
        let all = [sound(2.0, 4.0), sound(1.0, 3.0), sound(0.0, 1.5)];
        assert_eq!(unsettled(&all), [[0, 1], [1, 2]]);
        assert_eq!(places(&all), [[1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn unfit_evidence_and_no_number_settle_nothing() {
        let unfit = Interval {
            sound: false,
            ..sound(100.0, 101.0)
        };
        for odd in [unfit, sound(f64::NAN, f64::NAN), sound(f64::NAN, 0.0)] {
            let all = [sound(-1.0, 0.5), odd, sound(-9.0, -8.0)];
            assert_eq!(unsettled(&all), [[0, 1], [1, 2]], "{odd:?}");
            assert_eq!(places(&all), [[1, 2], [1, 3], [2, 3]]);
        }
    }

    /// Against the definition, on intervals in every position to each other.
    #[test]
    fn an_order_that_is_settled_is_an_order() {
        let ends: Vec<f64> = (0..5).map(f64::from).collect();
        let each = ends.iter().flat_map(|low| {
            let highs = ends.iter().filter(move |high| *high >= low);
            highs.map(move |high| sound(*low, *high))
        });
        let all: Vec<Interval> = each.collect();
        for one in &all {
            assert!(!one.is_above(one));
            for other in &all {
                let overlap = one.low.max(other.low) <= one.high.min(other.high);
                assert_eq!(overlap, !one.is_above(other) && !other.is_above(one));
                let beyond = all.iter().filter(|third| other.is_above(third));
                assert!(
                    beyond
                        .filter(|_| one.is_above(other))
                        .all(|third| one.is_above(third))
                );
            }
        }
    }
}
