//! Constant adversaries: the same eta at every step.
//!
//! Number 0 is eta = 0: the mean with noise. Up to four state dimensions the
//! others are the corners of the cube; beyond, the two corners of equal signs
//! and the two ends of each axis.

/// The largest number of constant adversaries.
const MAX_CONSTANTS: usize = 64;
const MAX_CORNER_DIMENSION: usize = 4;

/// How many constant adversaries there are.
pub(super) fn count(dimension: usize) -> usize {
    if dimension <= MAX_CORNER_DIMENSION {
        (1 << dimension) + 1
    } else {
        dimension
            .saturating_mul(2)
            .saturating_add(3)
            .min(MAX_CONSTANTS)
    }
}

/// eta_j of a constant adversary. In the plane: (0, 0), (−1, −1), (1, −1),
/// (−1, 1), (1, 1).
pub(super) fn component(adversary: usize, dimension: usize, j: usize) -> f32 {
    let Some(corner) = adversary.checked_sub(1) else {
        return 0.0;
    };
    if dimension <= MAX_CORNER_DIMENSION {
        let bit = corner.checked_shr(j as u32).unwrap_or(0) & 1;
        return if bit == 0 { -1.0 } else { 1.0 };
    }
    let sign = if corner & 1 == 0 { -1.0 } else { 1.0 };
    match (corner >> 1).checked_sub(1) {
        None => sign,
        Some(axis) if axis == j => sign,
        Some(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_dimensions_have_every_corner_once() {
        for dimension in 1..=4 {
            let mut corners: Vec<Vec<i32>> = (0..count(dimension))
                .map(|a| {
                    (0..dimension)
                        .map(|j| component(a, dimension, j) as i32)
                        .collect()
                })
                .collect();
            assert!(corners[0].iter().all(|x| *x == 0));
            assert!(corners[1..].iter().flatten().all(|x| x.abs() == 1));
            corners.sort();
            corners.dedup();
            assert_eq!(corners.len(), (1 << dimension) + 1);
        }
    }

    #[test]
    fn many_dimensions_have_both_ends_of_every_axis() {
        let dimension = 17;
        for j in 0..dimension {
            for sign in [-1.0, 1.0] {
                let found = (0..count(dimension)).any(|a| {
                    (0..dimension)
                        .all(|i| component(a, dimension, i) == if i == j { sign } else { 0.0 })
                });
                assert!(found, "{j} {sign}");
            }
        }
        assert_eq!(count(dimension), 37);
        assert!(count(1000) <= MAX_CONSTANTS);
    }

    #[test]
    fn they_are_numbered_from_the_low_ends_on() {
        let of = |adversary, dimension| -> Vec<f32> {
            let components = 0..dimension;
            components
                .map(|j| component(adversary, dimension, j))
                .collect()
        };
        assert_eq!(of(1, 2), [-1.0, -1.0]);
        assert_eq!(of(2, 2), [1.0, -1.0]);
        assert_eq!((of(1, 5), of(2, 5)), (vec![-1.0; 5], vec![1.0; 5]));
        assert_eq!(of(3, 5), [-1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(of(6, 5), [0.0, 1.0, 0.0, 0.0, 0.0]);
    }
}
