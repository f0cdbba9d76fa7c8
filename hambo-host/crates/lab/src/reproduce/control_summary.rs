//! What the rows of figures 3 and 4 say: tables and pictures.

use std::fmt::Write;

use super::agents::AGENTS;
use super::effort::ReproductionEffort;
use super::scale::{ReturnScale, over_seeds};
use crate::environment::random::MeanReturn;
use hambo_base::study::rows::{Record, Table};
use hambo_base::study::{Summary, digits};
use hambo_report::figure::{
    Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle,
};

/// What lies on the horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Figure 3: transitions, at the system's usual horizon.
    Rows,
    /// Figure 4: the horizon, at the largest log.
    Horizon,
}

impl Axis {
    fn column(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Horizon => "horizon",
        }
    }

    fn other(self) -> &'static str {
        match self {
            Self::Rows => "horizon",
            Self::Horizon => "rows",
        }
    }
}

/// A variant of the picture, as its line looks.
struct Line {
    variant: &'static str,
    name: &'static str,
    beta: &'static str,
    style: SeriesStyle,
}

const fn line(
    variant: &'static str,
    name: &'static str,
    beta: &'static str,
    colour: &'static str,
    mark: Mark,
    dash: &'static str,
) -> Line {
    Line {
        variant,
        name,
        beta,
        style: SeriesStyle { colour, mark, dash },
    }
}

impl Line {
    /// Whether it shows rows with this beta. `authors` is beta = 1 as well, without noise.
    fn takes(&self, beta: &str) -> bool {
        self.beta == beta || (self.beta == "one" && beta == "authors")
    }
}

/// Bounds are drawn through, neutral estimates dashed.
const LINES: [Line; 8] = [
    line("ca", "CA", "one", "#0072B2", Mark::Disc, ""),
    line("da1", "DA1", "one", "#D55E00", Mark::Square, ""),
    line("dainf", "DAinf", "one", "#009E73", Mark::Triangle, ""),
    line("ca", "CA, nested", "nested", "#56B4E9", Mark::Diamond, ""),
    line("ds", "DS", "one", "#CC79A7", Mark::Ring, "6 4"),
    line("ts1", "TS1", "one", "#E69F00", Mark::Cross, "6 4"),
    line("tsinf", "TSinf", "one", "#6b6b6b", Mark::Square, "6 4"),
    line("mopo", "MOPO", "one", "#1d232b", Mark::Triangle, "2 4"),
];

/// The seeds of one variant in one setting, on the scale of the pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlPoint {
    pub system: String,
    /// Transitions.
    pub rows: u32,
    pub horizon: u32,
    /// `one`, `nested`, or `authors`: one and no noise.
    pub beta: String,
    /// As `--variant` takes it.
    pub variant: String,
    /// How many seeds there are.
    pub seeds: usize,
    /// The estimate: truth 1, random 0.
    pub mean: MeanReturn,
    /// The lower bound: truth 1, random 0.
    pub lower: MeanReturn,
    /// Seeds whose lower bound lies above the truth by more than two of its standard errors.
    pub above: usize,
    /// Seeds whose mean does.
    pub mean_above: usize,
    pub scale: ReturnScale,
}

/// What the rows say, one point for each setting and variant.
#[must_use]
pub fn points(table: &Table) -> Vec<ControlPoint> {
    let key = |row: &Record<'_>| {
        ["system", "rows", "horizon", "beta", "variant"].map(|name| row.text(name).to_owned())
    };
    let mut keys = Vec::new();
    for row in table.rows() {
        let key = key(&row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let point = |wanted: [String; 5]| {
        let rows: Vec<Record<'_>> = table.rows().filter(|row| key(row) == wanted).collect();
        let scale = ReturnScale {
            truth: rows.first().map_or(f64::NAN, |row| row.number("truth")),
            random: rows.first().map_or(f64::NAN, |row| row.number("random")),
        };
        let over = |column: &str| {
            let values = rows.iter().map(|row| scale.of(row.number(column)));
            over_seeds(&values.collect::<Vec<f64>>())
        };
        let above = |column: &str| {
            let above = |row: &&Record<'_>| {
                row.number(column) > row.number("truth") + 2.0 * row.number("truth_error")
            };
            rows.iter().filter(above).count()
        };
        let (mean, lower) = (over("mean"), over("lower"));
        let (lower_above, mean_above) = (above("lower"), above("mean"));
        let seeds = rows.len();
        let [system, size, horizon, beta, variant] = wanted;
        ControlPoint {
            system,
            rows: size.parse().unwrap_or(0),
            horizon: horizon.parse().unwrap_or(0),
            beta,
            variant,
            seeds,
            mean,
            lower,
            above: lower_above,
            mean_above,
            scale,
        }
    };
    keys.into_iter().map(point).collect()
}

/// The means over seeds of a figure, one line for each setting and variant.
#[must_use]
pub fn points_csv(points: &[ControlPoint], axis: Axis, effort: &ReproductionEffort) -> String {
    let mut text = "system,rows,horizon,beta,variant,seeds,mean,mean_error,mean_above,lower,\
                    lower_error,above,truth,random\n"
        .to_owned();
    for p in of_figure(points, axis, effort) {
        let numbers = [p.mean.mean, p.mean.std_error].map(digits).join(",");
        let lower = [p.lower.mean, p.lower.std_error].map(digits).join(",");
        let scale = [p.scale.truth, p.scale.random].map(digits).join(",");
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{numbers},{},{lower},{},{scale}",
            p.system, p.rows, p.horizon, p.beta, p.variant, p.seeds, p.mean_above, p.above
        );
    }
    text
}

/// Figure 3 or 4: text and picture.
#[must_use]
pub fn summary(points: &[ControlPoint], axis: Axis, effort: &ReproductionEffort) -> Summary {
    let points = of_figure(points, axis, effort);
    Summary {
        text: text(&points, axis),
        svg: picture(&points, axis, effort).to_svg().unwrap_or_default(),
    }
}

/// The points that a figure shows.
fn of_figure(
    points: &[ControlPoint],
    axis: Axis,
    effort: &ReproductionEffort,
) -> Vec<ControlPoint> {
    let most = effort.control_rows.last().copied().unwrap_or(0);
    let usual = |system: &str| {
        let agents = AGENTS.iter().find(|agents| agents.system == system);
        agents.map(|agents| agents.horizon / effort.shorter)
    };
    let belongs = |point: &&ControlPoint| match axis {
        Axis::Rows => Some(point.horizon) == usual(&point.system),
        Axis::Horizon => point.rows == most,
    };
    points.iter().filter(belongs).cloned().collect()
}

fn systems(points: &[ControlPoint]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.system.as_str()) {
            names.push(&point.system);
        }
    }
    names
}

fn place(point: &ControlPoint, axis: Axis) -> u32 {
    match axis {
        Axis::Rows => point.rows,
        Axis::Horizon => point.horizon,
    }
}

fn text(points: &[ControlPoint], axis: Axis) -> String {
    let mut text = "Networks: every variant, on the scale where the true return is 1 and a \
                    uniformly random controller 0; means over seeds ± standard error. `above` \
                    counts seeds above the truth by more than two of its standard errors\n"
        .to_owned();
    for system in systems(points) {
        let own: Vec<&ControlPoint> = points.iter().filter(|p| p.system == system).collect();
        let (Some(first), column) = (own.first(), axis.column()) else {
            continue;
        };
        let held = match axis {
            Axis::Rows => first.horizon,
            Axis::Horizon => first.rows,
        };
        let _ = writeln!(text, "\n{system}, {} {held}", axis.other());
        let _ = writeln!(
            text,
            "{column:>8} {:>7} {:>7} {:>5} {:>16} {:>7} {:>16} {:>7} {:>11} {:>11}",
            "beta", "variant", "seeds", "mean", "above", "lower", "above", "truth", "random"
        );
        for point in own {
            let _ = writeln!(
                text,
                "{:>8} {:>7} {:>7} {:>5} {:>8.3} ± {:>5.3} {:>7} {:>8.3} ± {:>5.3} {:>7} {:>11.2} {:>11.2}",
                place(point, axis),
                point.beta,
                point.variant,
                point.seeds,
                point.mean.mean,
                point.mean.std_error,
                point.mean_above,
                point.lower.mean,
                point.lower.std_error,
                point.above,
                point.scale.truth,
                point.scale.random
            );
        }
    }
    text
}

/// The least value on a chart: what lies below is drawn at its edge.
const LEAST: f64 = -0.6;

/// As far below as any point is drawn, minus infinity too.
const FARTHEST: f64 = -1e6;

/// The part of the scale that holds truth and points, but for those far below 0.
fn range<'a>(points: impl Iterator<Item = &'a ControlPoint>) -> (f64, f64) {
    let (mut low, mut high) = (1.0_f64, 1.0_f64);
    for point in points {
        low = low.min(point.mean.mean - point.mean.std_error);
        high = high.max(point.mean.mean + point.mean.std_error);
    }
    let low = low.max(LEAST);
    let room = 0.08 * (high - low).max(1e-3);
    (low - room, high + room)
}

/// How many seeds the points of a system have: one number, or the least and the most.
fn seeds_of<'a>(points: impl Iterator<Item = &'a ControlPoint>) -> String {
    let mut seeds: Vec<usize> = points.map(|point| point.seeds).collect();
    seeds.sort_unstable();
    match (seeds.first(), seeds.last()) {
        (Some(1), Some(1)) => "1 seed".to_owned(),
        (Some(least), Some(most)) if least == most => format!("{most} seeds"),
        (Some(least), Some(most)) => format!("{least} to {most} seeds"),
        _ => String::new(),
    }
}

fn picture(points: &[ControlPoint], axis: Axis, effort: &ReproductionEffort) -> SeriesFigure {
    let panel = |system: &str| {
        let own = || points.iter().filter(|point| point.system == system);
        let series = LINES.iter().map(|line| {
            let of = own().filter(|p| p.variant == line.variant && line.takes(&p.beta));
            let mut found: Vec<SeriesPoint> = of
                .filter(|p| !p.mean.mean.is_nan())
                .map(|p| SeriesPoint {
                    x: f64::from(place(p, axis)),
                    // Far enough below the chart for its mark at the edge.
                    y: p.mean.mean.max(FARTHEST),
                    error: if p.mean.std_error.is_finite() {
                        p.mean.std_error.min(-FARTHEST)
                    } else {
                        0.0
                    },
                })
                .collect();
            found.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series {
                name: line.name.to_owned(),
                style: line.style,
                points: found,
            }
        });
        let held = own().next().map_or(0, |point| match axis {
            Axis::Rows => point.horizon,
            Axis::Horizon => point.rows,
        });
        let sweeps = effort.of(system).check.sweeps;
        let seeds = seeds_of(own());
        SeriesPanel {
            title: match axis {
                Axis::Rows => format!("{system}, horizon {held}: {seeds}, {sweeps} sweeps"),
                Axis::Horizon => format!("{system}, {held} transitions: {seeds}, {sweeps} sweeps"),
            },
            x_scale: Scale::Logarithmic,
            x_label: match axis {
                Axis::Rows => "transitions n".to_owned(),
                Axis::Horizon => "horizon T".to_owned(),
            },
            y_label: "scaled return".to_owned(),
            y_range: range(own()),
            levels: vec![(1.0, "truth".to_owned()), (0.0, "random".to_owned())],
            zone: None,
            series: series.filter(|one| !one.points.is_empty()).collect(),
        }
    };
    SeriesFigure {
        title: match axis {
            Axis::Rows => "Bounds and estimates against the size of the log",
            Axis::Horizon => "Bounds and estimates against the horizon",
        }
        .to_owned(),
        subtitle: vec![
            "Scaled so that the true return is 1 and a uniformly random controller 0; beta = 1 \
             unless nested, on hopper and half_cheetah without noise."
                .to_owned(),
            "Mean and standard error over seeds; triangles at the lower edge lie below the chart."
                .to_owned(),
        ],
        panels: systems(points).into_iter().map(panel).collect(),
    }
}
