//! Rounding numbers to integers so that their errors cancel in a product with
//! a kernel vector: Babai's nearest-plane algorithm.
//!
//! The numbers (weights, or a row of M) are rounded from the last to the
//! first. Before a number is rounded, it is shifted by the amount that best
//! cancels the errors of the numbers after it in the kernel's norm. Rounding
//! each number alone would leave an error many times as large, because kernel
//! vectors of near points are nearly parallel.

/// Numbers that are rounded, from the last to the first.
pub(super) struct NearestPlane {
    exact: Vec<f64>,
    unit: f64,
    /// How many units each.
    pub integers: Vec<i32>,
    /// y = Lᵀ e of the errors e = exact − unit · integers: the square of the
    /// error's norm in the kernel's space is at most |y|².
    pub residual: Vec<f64>,
    /// Σ_{j > i} M_ji y_j for every i.
    carried: Vec<f64>,
}

impl NearestPlane {
    pub fn new(exact: Vec<f64>, unit: f64) -> Self {
        let count = exact.len();
        Self {
            exact,
            unit,
            integers: vec![0; count],
            residual: vec![0.0; count],
            carried: vec![0.0; count],
        }
    }

    /// Rounds all of these, where `rows` are those of M = L⁻¹. Side by side,
    /// because M is large. No number is larger than `limit`.
    pub fn round(planes: &mut [Self], rows: &[&[f64]], limit: i32) {
        for (place, row) in rows.iter().enumerate().rev() {
            for plane in planes.iter_mut() {
                plane.round_one(place, row, f64::from(limit));
            }
        }
    }

    /// e_i = M_ii y_i + Σ_{j > i} M_ji y_j, and integers_i makes y_i small.
    fn round_one(&mut self, place: usize, row: &[f64], limit: f64) {
        let (Some(number), Some(diagonal)) = (self.exact.get(place), row.get(place)) else {
            return;
        };
        let carry = self.carried[place];
        let rounded = ((number - carry) / self.unit).round().clamp(-limit, limit);
        let lost = number - self.unit * rounded - carry;
        // A point that says nothing has no row, and loses nothing.
        let residual = if lost == 0.0 && *diagonal == 0.0 {
            0.0
        } else {
            lost / diagonal
        };
        self.integers[place] = rounded as i32;
        self.residual[place] = residual;
        let pairs = self.carried.iter_mut().zip(row);
        pairs.for_each(|(sum, m)| *sum += m * residual);
    }
}
