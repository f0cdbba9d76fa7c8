//! Distances as the support measures them: in standard deviations along the directions in which
//! the log is spread.

use hambo_core::model::Support;

/// Rows of inputs in whitened coordinates, one vector each.
pub(super) fn whitened(support: &Support<'_>, inputs: &[f32]) -> Vec<Vec<f64>> {
    let columns = support.centre.len().max(1);
    let rows = inputs.chunks_exact(columns);
    rows.map(|row| {
        let units = support.centre.iter().zip(support.scale);
        let standardised: Vec<f64> = row
            .iter()
            .zip(units)
            .map(|(x, (centre, scale))| f64::from(x - centre) * f64::from(*scale))
            .collect();
        let mut weights = support.whitening.iter();
        (1..=columns)
            .map(|length| {
                let own = standardised.iter().take(length).zip(weights.by_ref());
                own.map(|(x, weight)| x * f64::from(*weight)).sum()
            })
            .collect()
    })
    .collect()
}

/// The square of the distance between two rows.
pub(super) fn squared_distance(one: &[f64], other: &[f64]) -> f64 {
    let pairs = one.iter().zip(other);
    pairs.map(|(x, y)| (x - y) * (x - y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_core_measures() {
        // The example of `Support`: x1 = x0 but for a hundredth.
        let support = Support {
            centre: &[1.0, 2.0],
            scale: &[1.0, 0.5],
            whitening: &[1.0, -100.0, 100.0],
            rows: &[0.25, 0.5],
            limit: 2.0,
            gaps: &[],
            exit_rate: 0.0,
        };
        let row = [1.5, 3.1];
        let [own] = &whitened(&support, &row)[..] else {
            return assert!(whitened(&support, &row).len() == 1);
        };
        let core = support.distance(&[[row[0]]], &[[row[1]]], &mut [[0.0]; 2]);
        let ours = squared_distance(own, &[0.25, 0.5]).sqrt() / 2.0;
        assert!((ours - f64::from(core[0])).abs() < 1e-4, "{ours} {core:?}");
    }
}
