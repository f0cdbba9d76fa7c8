//! Limits of a share that was counted in groups (Korn and Graubard, 1998):
//! Clopper and Pearson's, at the number of independent rows that would spread
//! as much between groups as these do. Independent rows count as rows; groups
//! that differ from each other count as groups.
//!
//! Where few rows fail, the spread between groups says next to nothing of how alike the rows of
//! one group are, so a lower limit, which claims that enough is held, takes them for at least as
//! alike as [`LEAST_CORRELATION`] says. An upper limit refuses models, and needs no such floor:
//! without it right models are refused less often than its tail allows.

use std::collections::BTreeMap;

use hambo_core::estimate::student_quantile;

use super::distributions::beta_quantile;

/// The correlation of the rows of a group, at the least, for a lower limit. With it a share of
/// just below 0.9 is taken for 0.9 in at most 5.6 % of the logs (19 to 100 groups of 5 to 200
/// rows, correlations from 0 to 0.5); with 0.2 in 8 %, without in 10 %.
pub(super) const LEAST_CORRELATION: f64 = 0.3;

/// A share and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    /// The share itself.
    pub(crate) value: f64,
    pub(crate) rows: usize,
    /// Groups: episodes, or stretches of one for a task that is stationary.
    pub(crate) groups: usize,
    /// Rows that count, beside the degrees of freedom of the spread.
    effective: f64,
    /// Rows of its group beside which a row stands, itself included, on average over rows.
    beside: f64,
}

impl Share {
    /// The share of the rows that are `inside`, each with its group.
    pub(crate) fn of(rows: impl Iterator<Item = (u32, bool)>) -> Self {
        let mut groups: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (group, inside) in rows {
            let (count, held) = groups.entry(group).or_default();
            *count += 1.0;
            *held += f64::from(u8::from(inside));
        }
        let rows: f64 = groups.values().map(|(count, _)| count).sum();
        let held: f64 = groups.values().map(|(_, held)| held).sum();
        let value = held / rows.max(1.0);
        let spread = |(count, held): &(f64, f64)| (held - value * count).powi(2);
        let between: f64 = groups.values().map(spread).sum();
        let size = groups.len() as f64;
        // The variance of the share over that of as many independent rows.
        let independent = rows * value * (1.0 - value);
        let effect = if independent > 0.0 && size > 1.0 {
            (between * size / (size - 1.0) / independent).max(1.0)
        } else {
            1.0
        };
        let squares = groups.values().map(|(count, _)| count * count);
        let beside = squares.sum::<f64>() / rows.max(1.0);
        Self {
            value,
            rows: rows as usize,
            groups: groups.len(),
            effective: rows / effect,
            beside,
        }
    }

    /// The size at which Clopper and Pearson's upper limit is taken.
    pub(super) fn size(&self, tail: f64) -> f64 {
        size(self.effective, self.rows as f64, self.groups, tail)
    }

    /// The lower limit; it lies above the truth with probability `tail`. The rows of a group
    /// are taken for at least as alike as `correlation` says.
    pub(super) fn lower(&self, tail: f64, correlation: f64) -> f64 {
        let size = size(
            self.rows_at(correlation),
            self.rows as f64,
            self.groups,
            tail,
        );
        lower(self.value, size, tail)
    }

    /// Rows that count where those of a group are alike by at least `correlation`.
    fn rows_at(&self, correlation: f64) -> f64 {
        let effect = 1.0 + (self.beside - 1.0).max(0.0) * correlation;
        self.effective.min(self.rows as f64 / effect)
    }

    /// The upper limit; it lies below the truth with probability `tail`.
    pub(crate) fn upper(&self, tail: f64) -> f64 {
        let size = self.size(tail);
        let held = self.value * size;
        if size - held < 1e-9 {
            return 1.0;
        }
        beta_quantile(held + 1.0, size - held, 1.0 - tail)
    }

    /// How many groups like these would bring the lower limit to `wanted`; none if the
    /// share itself is not above it.
    pub(super) fn groups_for(&self, wanted: f64, tail: f64, correlation: f64) -> Option<usize> {
        if self.value <= wanted || self.groups == 0 {
            return None;
        }
        let counted = self.rows_at(correlation);
        let of = |count: f64, groups: usize| count * groups as f64 / self.groups as f64;
        let enough = |groups: &usize| {
            let rows = of(self.rows as f64, *groups);
            let size = size(of(counted, *groups), rows, *groups, tail);
            lower(self.value, size, tail) >= wanted
        };
        (self.groups.max(2)..100_000).find(enough)
    }
}

fn size(effective: f64, rows: f64, groups: usize, tail: f64) -> f64 {
    if groups < 2 {
        return 0.0;
    }
    let t = |count: usize| {
        let freedom = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
        f64::from(student_quantile(freedom, tail as f32))
    };
    let ratio = t(rows as usize) / t(groups);
    (effective * ratio * ratio).min(rows)
}

fn lower(share: f64, size: f64, tail: f64) -> f64 {
    let held = share * size;
    if held < 1e-9 {
        return 0.0;
    }
    beta_quantile(held, size - held + 1.0, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `groups` groups of `each` rows, of which the last `out` groups are outside.
    fn whole_groups(groups: u32, each: usize, out: u32) -> Share {
        let rows = (0..groups).flat_map(|group| std::iter::repeat_n(group, each));
        Share::of(rows.map(|group| (group, group < groups - out)))
    }

    #[test]
    fn episodes_that_differ_count_as_episodes() {
        // 40 episodes of 50 rows, 2 of them wholly outside: as 40 rows with 2 outside.
        let share = whole_groups(40, 50, 2);
        assert_eq!((share.rows, share.groups), (2000, 40));
        let size = share.size(0.05);
        assert!((35.0..40.0).contains(&size), "{size}");
        assert!(share.lower(0.05, LEAST_CORRELATION) < 0.85);
    }

    #[test]
    fn independent_rows_count_as_rows() {
        // The same share, one row in twenty, spread evenly.
        let share = Share::of((0..2000).map(|row| (row / 50, row % 20 != 0)));
        assert!(share.size(0.05) > 1800.0);
        assert!(share.upper(0.05) < 0.96);
        // For a lower limit 2,000 / (1 + 49 · 0.3) of them count, 127: 0.907.
        assert!((share.rows_at(LEAST_CORRELATION) - 2000.0 / 15.7).abs() < 1e-9);
        assert!((0.9..0.91).contains(&share.lower(0.05, LEAST_CORRELATION)));
    }

    #[test]
    fn nothing_is_known_of_a_single_episode() {
        let one = Share::of((0..500).map(|_| (7, true)));
        assert_eq!(
            (one.lower(0.05, LEAST_CORRELATION), one.upper(0.05)),
            (0.0, 1.0)
        );
        let none = Share::of(std::iter::empty());
        assert_eq!(
            (none.lower(0.05, LEAST_CORRELATION), none.upper(0.05)),
            (0.0, 1.0)
        );
    }

    #[test]
    fn clopper_and_pearson_by_hand() {
        // All of 29 rows in 29 groups: the limit is 0.05^(1/29).
        let share = Share::of((0..29).map(|row| (row, true)));
        assert!((share.lower(0.05, LEAST_CORRELATION) - 0.05_f64.powf(1.0 / 29.0)).abs() < 1e-6);
        assert_eq!(share.upper(0.05), 1.0);
        assert_eq!(share.groups_for(0.9, 0.05, LEAST_CORRELATION), Some(29));
        assert_eq!(
            whole_groups(10, 5, 2).groups_for(0.9, 0.05, LEAST_CORRELATION),
            None
        );
    }

    /// The limits hold as often as they claim where episodes differ: a share of 0.93 in
    /// which each episode has its own.
    #[test]
    fn the_lower_limit_is_one() {
        let mut random = hambo_base::random::Random::new(3, 1);
        let (mut above, trials) = (0, 2000);
        for _ in 0..trials {
            let rows: Vec<(u32, bool)> = (0..25)
                .flat_map(|episode| {
                    let own = if random.uniform() < 0.3 {
                        0.8
                    } else {
                        0.985_714
                    };
                    let rows: Vec<_> = (0..20).map(|_| (episode, random.uniform() < own)).collect();
                    rows
                })
                .collect();
            let lower = Share::of(rows.into_iter()).lower(0.05, LEAST_CORRELATION);
            above += u32::from(lower > 0.93);
        }
        let share = f64::from(above) / f64::from(trials);
        assert!(share < 0.07, "{share}");
    }

    #[test]
    fn rows_that_count_by_hand() {
        // 38 groups are 2.5 rows above the share and two 47.5 below it: 4,750 · 40 / 39
        // over 2,000 · 0.95 · 0.05, so that 51.3 rows count as one.
        let share = whole_groups(40, 50, 2);
        assert!((share.effective - 39.0).abs() < 1e-9, "{}", share.effective);
        // All of two groups of 50: t is 1.6604 of 99 degrees of freedom and 6.3138 of one.
        let share = whole_groups(2, 50, 0);
        let size = share.size(0.05);
        assert!(
            (size - 100.0 * (1.6604_f64 / 6.3138).powi(2)).abs() < 0.03,
            "{size}"
        );
    }

    /// A log in which one row fails and one in which none does are told apart by that row, and
    /// not by how rows are counted.
    #[test]
    fn there_is_no_jump_where_nothing_fails() {
        let share =
            |failed: usize| Share::of((0..1000).map(move |row| (row as u32 / 50, row >= failed)));
        let [none, one, two] = [0, 1, 2].map(|failed| share(failed).lower(0.05, LEAST_CORRELATION));
        assert!(none > one && one > two, "{none} {one} {two}");
        assert!(none - one < 2.0 * (one - two), "{none} {one} {two}");
        // 20 groups of 50 rows that all hold count as 58 rows, and not as 1,000.
        assert!((0.94..0.96).contains(&none), "{none}");
    }

    /// A share of just below 0.9 in 19 groups whose own shares are drawn with a correlation of
    /// 0.5 (many hold all, some nearly nothing): without the floor it is taken for 0.9 in 9 % of
    /// the logs.
    #[test]
    fn groups_that_are_alike_are_seldom_taken_for_good() {
        let mut random = hambo_base::random::Random::new(5, 1);
        // Jöhnk's way to a beta distribution.
        let mut uniform = || f64::from(random.uniform());
        let mut own = || loop {
            let [x, y] = [0.899, 0.101].map(|power: f64| uniform().powf(1.0 / power));
            if x + y <= 1.0 {
                return (x / (x + y), uniform());
            }
        };
        let (mut claimed, trials) = (0, 4000);
        for _ in 0..trials {
            let rows = (0..19_u32).flat_map(|group| {
                let (share, first) = own();
                // Evenly, from a random place: as many rows inside as the share says.
                (0..20).map(move |row| (group, (first + f64::from(row) / 20.0) % 1.0 < share))
            });
            let rows: Vec<(u32, bool)> = rows.collect();
            let lower = Share::of(rows.into_iter()).lower(0.05, LEAST_CORRELATION);
            claimed += u32::from(lower >= 0.9);
        }
        assert!(claimed < trials * 7 / 100, "{claimed} of {trials}");
    }

    #[test]
    fn one_group_has_no_spread_though_it_rounds() {
        // 69 times 63 / 69 is not 63 in f64.
        let share = Share::of((0..69).map(|row| (0, row < 63)));
        assert_eq!(share.effective, 69.0);
        assert!(share.groups_for(0.9, 0.05, LEAST_CORRELATION).is_some());
    }
}
