//! Rounding that makes up for itself: Babai's nearest plane.
//!
//! Numbers that are multiplied with a kernel vector are rounded one after the
//! other, each such that it makes up for those before it. What is left of the
//! error is the part that no number could have seen.

/// Whole numbers v and y = Lᵀ e of their errors e = exact − unit · v, where
/// `rows` are those of M = L⁻¹; the square of the error's norm in the kernel's
/// space is at most |y|². From the last to the first, e_i = M_ii y_i + Σ_{j >
/// i} M_ji y_j and v_i makes y_i small. No number is larger than `limit`.
pub(super) fn nearest_plane(
    rows: &[&[f64]],
    exact: &[f64],
    unit: f64,
    limit: i32,
) -> (Vec<i32>, Vec<f64>) {
    let mut whole = vec![0; exact.len()];
    let mut left = vec![0.0; exact.len()];
    // Σ_{j > i} M_ji y_j for every i.
    let mut carried = vec![0.0; exact.len()];
    let limit = f64::from(limit);
    let places = whole.iter_mut().zip(left.iter_mut()).enumerate();
    for (place, (whole, left)) in places.rev() {
        let (Some(row), Some(number)) = (rows.get(place), exact.get(place)) else {
            continue;
        };
        let (diagonal, carry) = (row[place], carried[place]);
        let rounded = ((number - carry) / unit).round().clamp(-limit, limit);
        *whole = rounded as i32;
        *left = (number - unit * rounded - carry) / diagonal;
        let pairs = carried.iter_mut().zip(row.iter());
        pairs.for_each(|(sum, m)| *sum += m * *left);
    }
    (whole, left)
}
