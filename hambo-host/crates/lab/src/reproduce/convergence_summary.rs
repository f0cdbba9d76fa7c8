//! What figure 2's rows say: table and picture.

use std::fmt::Write;

use super::scale::over_seeds;
use crate::environment::random::MeanReturn;
use hambo_base::study::rows::{Record, Table};
use hambo_report::figure::{
    Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle,
};

/// The seeds of one size of one system's log.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvergencePoint {
    pub system: String,
    /// Transitions.
    pub rows: f64,
    /// How many seeds there are.
    pub seeds: usize,
    /// The true return.
    pub truth: MeanReturn,
    /// The neutral estimate.
    pub neutral: MeanReturn,
    /// CA's mean.
    pub mean: MeanReturn,
    /// CA's lower bound, with its margin.
    pub lower: MeanReturn,
    /// Seeds whose mean under the adversary lies above the truth by more than two of its
    /// standard errors.
    pub above: usize,
    /// Seeds whose calibration passed.
    pub calibrated: usize,
}

/// What the rows say, by system and size.
#[must_use]
pub fn points(table: &Table) -> Vec<ConvergencePoint> {
    let mut keys: Vec<(&str, &str)> = Vec::new();
    for row in table.rows() {
        let key = (row.text("system"), row.text("rows"));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let point = |(system, size): (&str, &str)| {
        let rows: Vec<_> = table
            .rows()
            .filter(|row| row.text("system") == system && row.text("rows") == size)
            .collect();
        let over = |column: &str| {
            let values: Vec<f64> = rows.iter().map(|row| row.number(column)).collect();
            over_seeds(&values)
        };
        let above = |row: &&Record<'_>| {
            row.number("mean") > row.number("truth") + 2.0 * row.number("truth_error")
        };
        ConvergencePoint {
            system: system.to_owned(),
            rows: size.parse().unwrap_or(f64::NAN),
            seeds: rows.len(),
            truth: over("truth"),
            neutral: over("neutral"),
            mean: over("mean"),
            lower: over("lower"),
            above: rows.iter().filter(above).count(),
            calibrated: rows.iter().filter(|row| row.yes("calibrated")).count(),
        }
    };
    keys.into_iter().map(point).collect()
}

fn systems(points: &[ConvergencePoint]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.system.as_str()) {
            names.push(&point.system);
        }
    }
    names
}

fn of<'a>(points: &'a [ConvergencePoint], system: &str) -> Vec<&'a ConvergencePoint> {
    let of = points.iter().filter(|point| point.system == system);
    of.collect()
}

/// How much of the way from the bound at the smallest log to the truth the largest has closed.
#[must_use]
pub fn closed(points: &[ConvergencePoint], system: &str) -> Option<f64> {
    let own = of(points, system);
    let gap = |point: &ConvergencePoint| point.truth.mean - point.mean.mean;
    let (first, last) = (own.first()?, own.last()?);
    Some(1.0 - gap(last) / gap(first))
}

pub(super) fn text(points: &[ConvergencePoint]) -> String {
    let mut text = "Gaussian processes: HAMBO-CA against the number of transitions n; means over \
                    seeds ± standard error\n\n| system | n | seeds | truth | mean under CA | lower \
                    bound | neutral | closed | above | calibrated |\n|---|---|---|---|---|---|---|---|\
                    ---|---|\n"
        .to_owned();
    for system in systems(points) {
        let own: Vec<ConvergencePoint> = of(points, system).into_iter().cloned().collect();
        for (index, point) in own.iter().enumerate() {
            let closed = closed(own.get(..=index).unwrap_or_default(), system);
            let _ = writeln!(
                text,
                "| {system} | {} | {} | {:.1} | {:.1} ± {:.1} | {:.1} | {:.1} | {:.0} % | {} | {} of {} |",
                point.rows,
                point.seeds,
                point.truth.mean,
                point.mean.mean,
                point.mean.std_error,
                point.lower.mean,
                point.neutral.mean,
                100.0 * closed.unwrap_or(f64::NAN),
                point.above,
                point.calibrated,
                point.seeds
            );
        }
    }
    text
}

pub(super) fn picture(points: &[ConvergencePoint]) -> SeriesFigure {
    let panel = |system: &str| {
        let own = of(points, system);
        let line = |name: &str, style, pick: fn(&ConvergencePoint) -> MeanReturn| Series {
            name: name.to_owned(),
            style,
            points: own
                .iter()
                .map(|point| SeriesPoint {
                    x: point.rows,
                    y: pick(point).mean,
                    error: pick(point).std_error,
                })
                .collect(),
        };
        let truth = own.first().map_or(0.0, |point| point.truth.mean);
        let lowest = own.iter().map(|p| p.lower.mean).fold(truth, f64::min);
        let room = 0.08 * (truth - lowest).max(1e-6);
        SeriesPanel {
            title: system.to_owned(),
            x_scale: Scale::Logarithmic,
            x_label: "transitions n".to_owned(),
            y_label: "return".to_owned(),
            y_range: (lowest - room, truth + 2.0 * room),
            levels: vec![(truth, "true return".to_owned())],
            zone: None,
            series: vec![
                line("CA, mean", CA, |p| p.mean),
                line("CA, lower", LOWER, |p| p.lower),
                line("neutral", NEUTRAL, |p| p.neutral),
            ],
        }
    };
    let seeds = points.iter().map(|point| point.seeds).max().unwrap_or(0);
    SeriesFigure {
        title: "Gaussian processes: the bound against the size of the log".to_owned(),
        subtitle: vec![
            "Return against the number of logged transitions, uniform states and actions;"
                .to_owned(),
            format!("mean and standard error over {seeds} seeds"),
        ],
        panels: systems(points).into_iter().map(panel).collect(),
    }
}

const CA: SeriesStyle = SeriesStyle {
    colour: "#0072B2",
    mark: Mark::Disc,
    dash: "",
};
const LOWER: SeriesStyle = SeriesStyle {
    colour: "#56B4E9",
    mark: Mark::Square,
    dash: "6 4",
};
const NEUTRAL: SeriesStyle = SeriesStyle {
    colour: "#E69F00",
    mark: Mark::Ring,
    dash: "2 4",
};
