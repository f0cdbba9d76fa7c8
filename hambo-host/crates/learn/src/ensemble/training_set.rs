//! Logged transitions as training sees them: two tables, checked and standardised.

use std::sync::Arc;

use super::error::TrainingError;
use super::options::MINIMUM_ROWS;
use hambo_base::Held;
use hambo_base::network::Standardisation;
use hambo_base::network::standardisation::{moments, scaled};

/// Logged transitions as two row-major tables.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a> {
    /// States and actions, (s, a): `input_columns` values per row.
    pub inputs: &'a [f32],
    /// Dimensions of state and action together.
    pub input_columns: usize,
    /// State differences, s′ − s: `target_columns` values per row.
    pub targets: &'a [f32],
    /// Dimensions of the state.
    pub target_columns: usize,
    /// The targets that say nothing.
    pub held: Held<'a>,
}

/// A training set in standardised units, owned, row-major. Copies share the inputs.
#[derive(Clone)]
pub(super) struct StandardisedSet {
    pub(super) rows: usize,
    pub(super) input_columns: usize,
    pub(super) target_columns: usize,
    pub(super) inputs: Arc<[f32]>,
    pub(super) targets: Vec<f32>,
    /// Marks of the targets that say nothing; none where all say something.
    pub(super) held: Arc<[bool]>,
}

impl StandardisedSet {
    /// The targets that say nothing.
    pub(super) fn held(&self) -> Held<'_> {
        Held::new(&self.held)
    }
}

impl TrainingSet<'_> {
    /// Number of rows, once the tables are known to be whole, long enough and finite.
    pub(super) fn checked_rows(&self) -> Result<usize, TrainingError> {
        if self.input_columns == 0 || self.target_columns == 0 || self.inputs.is_empty() {
            return Err(TrainingError::Empty);
        }
        let rows = self.whole_rows(["inputs", "targets"])?;
        let told = self.held.least_told(rows, self.target_columns);
        if told < MINIMUM_ROWS {
            return Err(TrainingError::TooFewRows {
                rows: told,
                needed: MINIMUM_ROWS,
            });
        }
        Ok(rows)
    }

    /// Number of rows, once the tables, so named, are known to be whole and finite.
    fn whole_rows(&self, [inputs, targets]: [&'static str; 2]) -> Result<usize, TrainingError> {
        let rows = self.inputs.len() / self.input_columns;
        for (table, values, columns) in [
            (inputs, self.inputs, self.input_columns),
            (targets, self.targets, self.target_columns),
        ] {
            if values.len() % columns != 0 || values.len() / columns != rows {
                return Err(TrainingError::Mismatch {
                    table,
                    length: values.len(),
                    rows,
                    columns,
                });
            }
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(TrainingError::NotFinite {
                    table,
                    row: at / columns,
                    column: at % columns,
                });
            }
        }
        if !self.held.fits(self.targets.len()) {
            return Err(TrainingError::Mismatch {
                table: "marks of targets",
                length: self.held.marks().len(),
                rows,
                columns: self.target_columns,
            });
        }
        Ok(rows)
    }

    /// The standardisation of these rows.
    ///
    /// # Errors
    /// If the tables are unfit or a column never changes.
    pub fn units(&self) -> Result<Standardisation, TrainingError> {
        Ok(self.standardise()?.0)
    }

    /// The standardisation of these rows, and the rows in its units. A column
    /// that never changes is refused: nothing says what another value of it would do.
    pub(super) fn standardise(&self) -> Result<(Standardisation, StandardisedSet), TrainingError> {
        let rows = self.checked_rows()?;
        let of = |table, values, columns, held| {
            let moments = moments(values, columns, held);
            let constant = moments.iter().position(|column| column.constant);
            match constant {
                Some(column) => Err(TrainingError::Constant {
                    table,
                    column,
                    value: moments[column].mean,
                }),
                None => Ok(moments.iter().map(|of| (of.mean, of.scale)).unzip()),
            }
        };
        let (input_mean, input_scale) = of("inputs", self.inputs, self.input_columns, Held::NONE)?;
        let (output_mean, output_scale) =
            of("targets", self.targets, self.target_columns, self.held)?;
        let standardisation = Standardisation {
            input_mean,
            input_scale,
            output_mean,
            output_scale,
        };
        let set = self.scaled(&standardisation, rows);
        Ok((standardisation, set))
    }

    /// These rows in the units of another set: validation rows in those of the
    /// training. A single row is enough.
    pub(super) fn standardise_as(
        &self,
        units: &Standardisation,
    ) -> Result<StandardisedSet, TrainingError> {
        for (table, found, expected) in [
            (
                "validation inputs",
                self.input_columns,
                units.input_mean.len(),
            ),
            (
                "validation targets",
                self.target_columns,
                units.output_mean.len(),
            ),
        ] {
            if found != expected {
                return Err(TrainingError::Columns {
                    table,
                    found,
                    expected,
                });
            }
        }
        if self.inputs.is_empty() {
            return Err(TrainingError::EmptyValidation);
        }
        let rows = self.whole_rows(["validation inputs", "validation targets"])?;
        Ok(self.scaled(units, rows))
    }

    fn scaled(&self, units: &Standardisation, rows: usize) -> StandardisedSet {
        StandardisedSet {
            rows,
            input_columns: self.input_columns,
            target_columns: self.target_columns,
            inputs: scaled(self.inputs, &units.input_mean, &units.input_scale).into(),
            targets: scaled(self.targets, &units.output_mean, &units.output_scale),
            held: self.held.marks().into(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::*;

    fn set<'a>(inputs: &'a [f32], targets: &'a [f32]) -> TrainingSet<'a> {
        TrainingSet {
            inputs,
            input_columns: 2,
            targets,
            target_columns: 1,
            held: Held::NONE,
        }
    }

    #[test]
    fn hand_computed_columns() {
        // Column 0 alternates 1, 3: mean 2, std 1. Column 1 alternates 9, 5.
        let of = |second: [f32; 2]| -> Vec<f32> {
            let rows = (0..10).map(|i| i % 2);
            rows.flat_map(|i| [1.0 + 2.0 * i as f32, second[i]])
                .collect()
        };
        let inputs = of([9.0, 5.0]);
        let targets: Vec<f32> = (0..10).map(|i| 4.0 * (i % 2) as f32).collect();
        let (map, rows) = set(&inputs, &targets).standardise().unwrap();
        assert_eq!(map.input_mean, [2.0, 7.0]);
        assert_eq!(map.input_scale, [1.0, 2.0]);
        assert_eq!((map.output_mean[0], map.output_scale[0]), (2.0, 2.0));
        assert_eq!(rows.inputs[..4], [-1.0, 1.0, 1.0, -1.0]);
        assert_eq!(rows.targets[..2], [-1.0, 1.0]);
        // Of a column that never changes the error names the place.
        let error = set(&of([7.1, 7.1]), &targets).standardise().err();
        assert_eq!(
            error,
            Some(TrainingError::Constant {
                table: "inputs",
                column: 1,
                value: 7.1
            })
        );
        let error = set(&inputs, &[0.5; 10]).standardise().err();
        assert!(matches!(
            error,
            Some(TrainingError::Constant {
                table: "targets",
                column: 0,
                ..
            })
        ));
    }

    #[test]
    fn validation_rows_get_the_trainings_units() {
        let inputs: Vec<f32> = (0..20).map(|i| (i % 4) as f32).collect();
        let targets: Vec<f32> = (0..10).map(|i| 4.0 * (i % 2) as f32).collect();
        let (units, _) = set(&inputs, &targets).standardise().unwrap();
        let rows = set(&[1.0, 2.0], &[6.0]).standardise_as(&units).unwrap();
        assert_eq!((rows.rows, rows.targets[0]), (1, 2.0));
        let error =
            |inputs: &[f32], targets: &[f32]| set(inputs, targets).standardise_as(&units).err();
        assert_eq!(error(&[], &[]), Some(TrainingError::EmptyValidation));
        assert!(matches!(
            error(&[1.0, 2.0], &[1.0, 1.0]),
            Some(TrainingError::Mismatch {
                table: "validation targets",
                ..
            })
        ));
        assert_eq!(
            error(&[1.0, 2.0, 3.0, 4.0], &[1.0, f32::INFINITY]),
            Some(TrainingError::NotFinite {
                table: "validation targets",
                row: 1,
                column: 0
            })
        );
        let narrow = TrainingSet {
            inputs: &[1.0],
            input_columns: 1,
            targets: &[1.0],
            target_columns: 1,
            held: Held::NONE,
        };
        assert_eq!(
            narrow.standardise_as(&units).err(),
            Some(TrainingError::Columns {
                table: "validation inputs",
                found: 1,
                expected: 2
            })
        );
    }

    #[test]
    fn refuses_what_cannot_be_trained_on() {
        let good = [0.0; 20];
        let error =
            |inputs: &[f32], targets: &[f32]| set(inputs, targets).checked_rows().unwrap_err();
        assert_eq!(error(&[], &[]), TrainingError::Empty);
        assert_eq!(
            error(&good[..8], &good[..4]),
            TrainingError::TooFewRows {
                rows: 4,
                needed: MINIMUM_ROWS
            }
        );
        assert!(matches!(
            error(&good, &good[..9]),
            TrainingError::Mismatch {
                table: "targets",
                length: 9,
                rows: 10,
                columns: 1
            }
        ));
        assert!(matches!(
            error(&good[..19], &good[..9]),
            TrainingError::Mismatch {
                table: "inputs",
                ..
            }
        ));
        // Of twelve rows, nine say something; a mark for each target, or none.
        let (inputs, targets) = ([0.0; 24], [0.0; 12]);
        let marks: Vec<bool> = (0..12).map(|row| row % 4 == 1).collect();
        let held = |targets: &[f32], marks: &[bool]| {
            let held = Held::new(marks);
            let marked = TrainingSet {
                held,
                ..set(&inputs, targets)
            };
            marked.checked_rows().unwrap_err()
        };
        let few = TrainingError::TooFewRows {
            rows: 9,
            needed: MINIMUM_ROWS,
        };
        assert_eq!(held(&targets, &marks), few);
        assert!(matches!(
            held(&targets, &marks[..11]),
            TrainingError::Mismatch { length: 11, .. }
        ));
        // A mark excuses no broken number.
        let mut broken = targets;
        broken[5] = f32::NAN;
        assert!(matches!(
            held(&broken, &marks),
            TrainingError::NotFinite { row: 5, .. }
        ));
        let mut bad = good;
        bad[7] = f32::NAN;
        assert_eq!(
            error(&bad, &good[..10]),
            TrainingError::NotFinite {
                table: "inputs",
                row: 3,
                column: 1
            }
        );
    }
}
