//! Points that the variance takes together: why a query need not cost N².
//!
//! The variance given only some functions of what was seen is never smaller
//! than that given all of it. Here the functions are sums over groups of near
//! points, y_g = 2^−h Σ y_i, with h such that 2^h is the group's size or the
//! next power of two. With U for these weights, K_g = Uᵀ (K + noise · 1) U = L
//! Lᵀ and M = L⁻¹, the variance is k(x, x) − |M Uᵀ k|²: for m groups M is
//! m × m, and Uᵀ k takes one addition for each point. Where the members of a
//! group tell nearly the same, the mean of what they saw is nearly all that
//! they tell. The mean of f is still that of all points.
//!
//! The points are stored group by group, and the groups' sizes after them.

use crate::numeric::dense::TILE;

/// The sizes of the groups, in the order in which the points are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups<'a> {
    pub sizes: &'a [i32],
}

impl Groups<'_> {
    /// Whether no group is empty and together they hold `points` points.
    pub fn are_sound(&self, points: usize) -> bool {
        let mut sizes = self.sizes.iter();
        let sum = sizes.try_fold(0_usize, |sum, size| {
            let size = usize::try_from(*size).ok().filter(|size| *size > 0)?;
            sum.checked_add(size)
        });
        sum == Some(points)
    }

    /// Uᵀ k in the first rows, cut off to integers, and zeros up to a whole
    /// tile. `None` if there are too few rows.
    #[inline(never)] // One copy in flash.
    pub fn gather<const B: usize>(&self, kernel: &mut [[i32; B]]) -> Option<()> {
        let mut first = 0_usize;
        for (group, size) in self.sizes.iter().enumerate() {
            let last = first.checked_add(usize::try_from(*size).ok()?)?;
            let mut sums = [0_i64; B];
            for row in kernel.get(first..last)? {
                for (sum, k) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(i64::from(*k));
                }
            }
            // No row is later than the first of its group.
            let halvings = halvings(*size);
            *kernel.get_mut(group)? = sums.map(|sum| sum.wrapping_shr(halvings) as i32);
            first = last;
        }
        for row in kernel.iter_mut().skip(self.sizes.len()).take(TILE) {
            *row = [0; B];
        }
        Some(())
    }

    /// U times the first rows: to each point what its group has. `None` if
    /// there are too few rows.
    #[inline(never)] // One copy in flash.
    pub fn spread<const B: usize>(&self, rows: &mut [[f32; B]], points: usize) -> Option<()> {
        let mut last = points;
        for (group, size) in self.sizes.iter().enumerate().rev() {
            let first = last.checked_sub(usize::try_from(*size).ok()?)?;
            // The bits of 2^−h.
            let scale = 127_u32.wrapping_sub(halvings(*size)).wrapping_shl(23);
            let scale = f32::from_bits(scale);
            let own = rows.get(group)?.map(|x| x * scale);
            for row in rows.get_mut(first..last)? {
                *row = own;
            }
            last = first;
        }
        Some(())
    }
}

/// h of a group of this size, at least 1: the least with 2^h no less than it.
pub(super) fn halvings(size: i32) -> u32 {
    let before = size.wrapping_sub(1).cast_unsigned();
    u32::BITS.wrapping_sub(before.leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_hand() {
        let groups = Groups { sizes: &[1, 3, 2] };
        assert!(groups.are_sound(6));
        let mut kernel = [
            [8, -8],
            [1, 0],
            [2, 0],
            [2, 0],
            [i32::MAX, 3],
            [i32::MAX, 4],
        ];
        assert_eq!(groups.gather(&mut kernel), Some(()));
        // 5 / 4 and 7 / 2 are cut off.
        assert_eq!(
            kernel,
            [[8, -8], [1, 0], [i32::MAX, 3], [0, 0], [0, 0], [0, 0]]
        );
        let mut rows = [[1.0], [2.0], [3.0], [9.0], [9.0], [9.0]];
        assert_eq!(groups.spread(&mut rows, 6), Some(()));
        assert_eq!(rows, [[1.0], [0.5], [0.5], [0.5], [1.5], [1.5]]);
        // Too few rows are an error and no panic.
        assert_eq!(groups.gather(&mut kernel[..5]), None);
        assert_eq!(groups.spread(&mut rows[..5], 6), None);
        assert_eq!(groups.spread(&mut rows, 5), None);
    }

    #[test]
    fn sizes_that_do_not_fit_the_points() {
        for sizes in [
            &[][..],
            &[3, 1],
            &[1, 0, 2],
            &[4, -1],
            &[i32::MIN, 3],
            &[i32::MAX; 3],
        ] {
            assert!(!Groups { sizes }.are_sound(3), "{sizes:?}");
        }
        assert!(Groups { sizes: &[1, 2] }.are_sound(3));
    }

    #[test]
    fn powers_of_two() {
        let all: std::vec::Vec<u32> = (1..=9).map(halvings).collect();
        assert_eq!(all, [0, 1, 2, 2, 3, 3, 3, 3, 4]);
        assert_eq!(halvings(65_535), 16);
    }
}
