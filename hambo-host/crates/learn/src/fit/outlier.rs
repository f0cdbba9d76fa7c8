//! A row that cannot belong to the others: one number of 1e30 sets the units of
//! its whole column, and nothing is learnt of the rest.

use super::error::FitError;
use hambo_base::order::{median, quantile};
use hambo_data::Log;
use hambo_task::task::TaskFile;

/// A number this many times as far from the median as half of all numbers is no measurement.
const FARTHEST: f64 = 1e6;

/// Refuses a log with such a row.
pub(super) fn refuse_outliers(task: &TaskFile, log: &Log) -> Result<(), FitError> {
    let names = task.state_names.iter().chain(&task.action_names);
    for (column, name) in names.enumerate() {
        let values = log.rows().map(|row| {
            let value = row.state.iter().chain(row.action).nth(column);
            value.copied().map_or(f64::NAN, f64::from)
        });
        let values: Vec<f64> = values.collect();
        if let Some(row) = farthest(&values) {
            return Err(FitError::Outlier {
                place: log.place(row),
                column: name.clone(),
                value: values[row] as f32,
            });
        }
    }
    for (column, name) in task.state_names.iter().enumerate() {
        let values = log.rows().map(|row| {
            let pair = row.next_state.get(column).zip(row.state.get(column));
            pair.map_or(f64::NAN, |(next, state)| {
                f64::from(*next) - f64::from(*state)
            })
        });
        let values: Vec<f64> = values.collect();
        if let Some(row) = farthest(&values) {
            return Err(FitError::Outlier {
                place: log.place(row),
                column: format!("next.{name}"),
                value: values[row] as f32,
            });
        }
    }
    Ok(())
}

/// The row that is too far away, if one is.
fn farthest(values: &[f64]) -> Option<usize> {
    let median = median(&mut values.to_vec())?;
    let distances: Vec<f64> = values.iter().map(|x| (x - median).abs()).collect();
    // Nine tenths, since half of a column may be one value.
    let usual = quantile(&mut distances.clone(), 0.9)?;
    let (row, distance) = (distances.iter().enumerate()).max_by(|a, b| a.1.total_cmp(b.1))?;
    (usual > 0.0 && *distance > FARTHEST * usual).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_among_a_hundred() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(farthest(&values), None);
        values[42] = -1e30;
        assert_eq!(farthest(&values), Some(42));
        values[42] = 1e5;
        assert_eq!(farthest(&values), None);
        // A column that is nearly always the same says nothing of its scale.
        let mut same = vec![1.0; 100];
        same[3] = 5.0;
        assert_eq!((farthest(&same), farthest(&[])), (None, None));
    }
}
