//! Stretches of single inputs in which a log has no row: holes that the few rows of a
//! [`region`](super::region) cannot show, because in all inputs together rows are far apart.

use hambo_task::image::{Gap, LoggedRegion};

/// A value counts as seen up to this many standard deviations from a logged one.
const NEAR: f64 = 0.125;

/// The widest gaps between neighbouring values of an input; `deviations` are the standard
/// deviations of the inputs, 0 for one that is not looked at. What lies beyond the smallest
/// and the largest value is no gap: the distance from the nearest row sees it.
pub(super) fn gaps(rows: &[Vec<f64>], deviations: &[f64]) -> Vec<Gap> {
    let mut found = Vec::new();
    for (input, deviation) in deviations.iter().enumerate() {
        let mut values: Vec<f64> = rows.iter().map(|row| row[input]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let near = NEAR * deviation;
        for pair in values.windows(2) {
            let (low, high) = (pair[0] + near, pair[1] - near);
            if near > 0.0 && low < high {
                let width = (high - low) / deviation;
                let (low, high) = (low as f32, high as f32);
                found.push((width, Gap { input, low, high }));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(LoggedRegion::MOST_GAPS);
    found.into_iter().map(|(_, gap)| gap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_without_rows_is_found_and_shrunk() {
        // Even values of [−1, 1] but for (0.2, 0.5); the second input is constant, the third
        // is not looked at.
        let x = |step: u32| f64::from(step) / 100.0 - 1.0;
        let rows = (0..=200).map(x).filter(|x| *x <= 0.2 || *x >= 0.5);
        let rows: Vec<Vec<f64>> = rows.map(|x| vec![x, 3.0, (9.0 * x).round()]).collect();
        let gaps = gaps(&rows, &[0.6, 1.0, 0.0]);
        assert_eq!(gaps.len(), 1);
        assert_eq!(gaps[0].input, 0);
        assert!((gaps[0].low - 0.275).abs() < 1e-6 && (gaps[0].high - 0.425).abs() < 1e-6);
    }

    #[test]
    fn a_narrow_stretch_is_no_gap_and_the_widest_are_kept() {
        let rows: Vec<Vec<f64>> = (0..40).map(|i| vec![f64::from(i * i)]).collect();
        // Neighbours are 2 i + 1 apart: from 25² on more than twice 25.
        let kept = gaps(&rows, &[200.0]);
        assert_eq!(kept.len(), 14);
        assert!((kept[0].low - (38.0 * 38.0 + 25.0)).abs() < 1e-3);
        assert_eq!(gaps(&rows, &[1.0]).len(), LoggedRegion::MOST_GAPS);
        assert!(gaps(&rows[..1], &[1.0]).is_empty() && gaps(&[], &[1.0]).is_empty());
    }
}
