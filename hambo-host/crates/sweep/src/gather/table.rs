//! The rows as columns: what is written as Parquet and as CSV.

use std::collections::BTreeMap;

use hambo_base::Error;
use hambo_check::number::Number;
use hambo_data::{PlainColumn, PlainValues};

use crate::row::{Checked, Found, Row};

/// One column for each thing that a row says, in the order of the cells.
pub(super) fn columns(rows: &BTreeMap<usize, Row>) -> Vec<PlainColumn> {
    let rows = || rows.values();
    let whole = |name, of: &dyn Fn(&Row) -> Option<i64>| PlainColumn {
        name,
        values: PlainValues::Whole(rows().map(of).collect()),
    };
    let text = |name, of: &dyn Fn(&Row) -> Option<String>| PlainColumn {
        name,
        values: PlainValues::Text(rows().map(of).collect()),
    };
    let number = |name, of: &dyn Fn(&Checked) -> Option<Number>| PlainColumn {
        name,
        values: PlainValues::Number(
            rows()
                .map(|row| checked(row).and_then(of))
                .map(|number| number.map(|number| number.0))
                .collect(),
        ),
    };
    let calibrated = rows().map(|row| match &row.found {
        Found::Fitted(fitted) => Some(fitted.calibrated),
        Found::Checked(checked) => Some(checked.calibrated),
        Found::Failed(_) => None,
    });
    vec![
        whole("cell", &|row| i64::try_from(row.cell).ok()),
        text("kind", &|row| Some(kind(row).to_owned())),
        text("policy", &|row| Some(row.check.as_ref()?.policy.clone())),
        text("model", &|row| Some(row.model.clone())),
        whole("seed", &|row| i64::try_from(row.seed).ok()),
        whole("episodes", &|row| Some(i64::from(row.episodes))),
        whole("rows", &log_rows),
        whole("horizon", &|row| {
            Some(i64::from(row.check.as_ref()?.horizon))
        }),
        text("verdict", &|row| checked(row)?.verdict.clone()),
        number("bound", &|checked| Some(checked.bound)),
        text("bound_bits", &|row| Some(checked(row)?.bound_bits.clone())),
        number("mean_model", &|checked| Some(checked.neutral)),
        number("threshold", &|checked| checked.threshold),
        number("delta", &|checked| Some(checked.delta)),
        PlainColumn {
            name: "calibrated",
            values: PlainValues::Flag(calibrated.collect()),
        },
        text("digest", &|row| match &row.found {
            Found::Fitted(fitted) => Some(fitted.sha256.clone()),
            Found::Checked(checked) => Some(checked.digest.clone()),
            Found::Failed(_) => None,
        }),
        text("reasons", &|row| Some(checked(row)?.reasons.join("; "))),
        text("failure", &|row| match &row.found {
            Found::Failed(why) => Some(why.clone()),
            _ => None,
        }),
    ]
}

fn kind(row: &Row) -> &'static str {
    if row.check.is_some() { "check" } else { "fit" }
}

fn checked(row: &Row) -> Option<&Checked> {
    match &row.found {
        Found::Checked(checked) => Some(checked),
        _ => None,
    }
}

fn log_rows(row: &Row) -> Option<i64> {
    let rows = match &row.found {
        Found::Fitted(fitted) => fitted.rows,
        Found::Checked(checked) => checked.rows,
        Found::Failed(_) => return None,
    };
    i64::try_from(rows).ok()
}

/// The columns as CSV; a missing value is empty.
///
/// # Errors
/// None that columns could cause.
pub(super) fn csv(columns: &[PlainColumn]) -> Result<String, Error> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Error::File(std::io::Error::other(error));
    let names = columns.iter().map(|column| column.name);
    out.write_record(names).map_err(failed)?;
    let rows = columns.first().map_or(0, |column| length(&column.values));
    for row in 0..rows {
        let fields = columns.iter().map(|column| field(&column.values, row));
        out.write_record(fields).map_err(failed)?;
    }
    let bytes = out.into_inner();
    let bytes = bytes.map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn length(values: &PlainValues) -> usize {
    match values {
        PlainValues::Text(values) => values.len(),
        PlainValues::Whole(values) => values.len(),
        PlainValues::Number(values) => values.len(),
        PlainValues::Flag(values) => values.len(),
    }
}

fn field(values: &PlainValues, row: usize) -> String {
    let there = match values {
        PlainValues::Text(values) => values.get(row).cloned().flatten(),
        PlainValues::Whole(values) => values
            .get(row)
            .copied()
            .flatten()
            .map(|value| value.to_string()),
        PlainValues::Number(values) => {
            let value = values.get(row).copied().flatten();
            value.map(|value| Number(value).to_string())
        }
        PlainValues::Flag(values) => values
            .get(row)
            .copied()
            .flatten()
            .map(|value| if value { "yes" } else { "no" }.to_owned()),
    };
    there.unwrap_or_default()
}
