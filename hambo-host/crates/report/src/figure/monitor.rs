//! What the monitor would have done: residuals and the wager's wealth, step by step.

use super::error::FigureError;
use super::series::{Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle};

/// The most lines of each kind.
const MOST_LINES: usize = 8;

/// Residuals are drawn up to this number of radii.
const TOP: f64 = 4.0;

const STOPPED: SeriesStyle = style("#d55e00", "");
const DRIVEN: SeriesStyle = style("#0072b2", "6 4");
const TRIP: SeriesStyle = SeriesStyle {
    mark: Mark::Cross,
    ..style("#1d232b", "")
};

const fn style(colour: &'static str, dash: &'static str) -> SeriesStyle {
    SeriesStyle {
        colour,
        mark: Mark::None,
        dash,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MonitoredEpisode {
    /// In radii of set and noise, step by step.
    pub residuals: Vec<f64>,
    /// Of the wager on surprises.
    pub wealth: Vec<f64>,
    /// Where the monitor tripped.
    pub trip: Option<usize>,
}

/// The picture of some of the episodes, those with a trip first.
///
/// # Errors
/// If there is no step.
pub fn monitor_figure(
    title: &str,
    episodes: &[MonitoredEpisode],
    limit: f64,
) -> Result<String, FigureError> {
    let stopped = episodes.iter().filter(|one| one.trip.is_some());
    let driven = episodes.iter().filter(|one| one.trip.is_none());
    let shown: Vec<&MonitoredEpisode> = stopped
        .take(MOST_LINES)
        .chain(driven.take(MOST_LINES))
        .collect();
    let lowest = -6.0;
    let highest = limit.log10() + 1.0;
    let log = |wealth: f64| wealth.max(1e-30).log10().clamp(lowest, highest);
    let residuals = panel(&shown, |one| &one.residuals, |radii| radii.clamp(0.0, TOP));
    let wealth = panel(&shown, |one| &one.wealth, log);
    let figure = SeriesFigure {
        title: title.to_owned(),
        subtitle: vec![
            format!(
                "{} of {} episodes are drawn, those that were stopped first.",
                shown.len(),
                episodes.len()
            ),
            "A residual above 1 is a surprise; the wager grows with surprises.".to_owned(),
        ],
        panels: vec![
            SeriesPanel {
                title: "Residual in radii of set and noise".to_owned(),
                x_label: "step".to_owned(),
                x_scale: Scale::Linear,
                y_label: "radii".to_owned(),
                y_range: (0.0, TOP),
                levels: vec![(1.0, "surprise".to_owned()), (3.0, "at once".to_owned())],
                zone: None,
                series: residuals,
            },
            SeriesPanel {
                title: "Wealth of the wager, powers of ten".to_owned(),
                x_label: "step".to_owned(),
                x_scale: Scale::Linear,
                y_label: "log10 of the wealth".to_owned(),
                y_range: (lowest, highest),
                levels: vec![(limit.log10(), "stop".to_owned())],
                zone: None,
                series: wealth,
            },
        ],
    };
    figure.to_svg()
}

fn panel(
    episodes: &[&MonitoredEpisode],
    values: impl Fn(&MonitoredEpisode) -> &Vec<f64>,
    y: impl Fn(f64) -> f64,
) -> Vec<Series> {
    let mut series = Vec::new();
    let mut trips = Vec::new();
    for one in episodes {
        let (name, style) = match one.trip {
            Some(_) => ("stopped", STOPPED),
            None => ("driven on", DRIVEN),
        };
        let last = one.trip.unwrap_or(usize::MAX);
        // Not a number trips at once: as far as can be.
        let y = |value: f64| y(if value.is_nan() { f64::MAX } else { value });
        let points: Vec<SeriesPoint> = values(one)
            .iter()
            .take(last.saturating_add(1))
            .enumerate()
            .map(|(step, value)| SeriesPoint {
                x: step as f64,
                y: y(*value),
                error: 0.0,
            })
            .collect();
        if one.trip.is_some() {
            trips.extend(points.last().copied());
        }
        series.push(Series {
            name: name.to_owned(),
            style,
            points,
        });
    }
    // Marks alone: each is a line of one point.
    series.extend(trips.into_iter().map(|point| Series {
        name: "trip".to_owned(),
        style: TRIP,
        points: vec![point],
    }));
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trips_are_marked_and_lines_end_there() {
        let episode = |trip| MonitoredEpisode {
            residuals: vec![0.5, 0.8, 9.0, f64::NAN],
            wealth: vec![0.1, 0.1, 300.0, 0.1],
            trip,
        };
        let svg = monitor_figure("a", &[episode(None), episode(Some(2))], 200.0);
        let svg = svg.unwrap_or_default();
        for words in [">stopped<", ">driven on<", ">trip<", ">at once<", ">2 of 2"] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(monitor_figure("a", &[], 200.0).is_err());
    }
}
