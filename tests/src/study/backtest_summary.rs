//! What the rows of the study of the backtest say.

use std::fmt::Write as _;

use hambo_report::figure::{
    Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle,
};

use super::condition::{CONDITIONS, Condition, EPISODES, LENGTHS};
use super::plant::DELTA;
use super::statistics::{Count, median};
use hambo_base::study::Summary;
use hambo_base::study::rows::{Record, Table};

/// The counts of one condition and length of log.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// Later logs that fail the first model.
    pub failed: Count,
    /// Those of them by the shortest length of window that fails, in the order of [`LENGTHS`].
    pub shortest: [usize; LENGTHS.len()],
    /// Models of the log itself that calibration does not pass.
    pub own_uncalibrated: Count,
    /// Those that the backtest fails.
    pub own_failed: Count,
    /// Those that either does not pass, but for too few episodes in the backtest.
    pub own_either: Count,
    /// The median of the largest scale that calibration gave them.
    pub own_scale: f64,
    /// The mean share of their withheld windows of 10 steps whose path is in the tube.
    pub own_path: f64,
}

/// The rows of a condition and a length of log.
fn rows_of(
    table: &Table,
    condition: Condition,
    episodes: usize,
) -> impl Iterator<Item = Record<'_>> {
    let episodes = episodes.to_string();
    table.rows().filter(move |row| {
        row.text("condition") == condition.name() && row.text("episodes") == episodes
    })
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    sum / count
}

impl Counts {
    /// Of the rows of a condition and a length of log.
    #[must_use]
    pub fn of(table: &Table, condition: Condition, episodes: usize) -> Self {
        let rows = || rows_of(table, condition, episodes);
        let own = || rows().filter(|row| !row.text("own_verdict").is_empty());
        let failed = |row: &Record<'_>| row.text("verdict") == "failed";
        let own_failed = |row: &Record<'_>| row.text("own_verdict") == "failed";
        let uncalibrated = |row: &Record<'_>| row.text("own_calibration") != "passed";
        let shortest = |length: usize| {
            let length = length.to_string();
            rows().filter(|row| row.text("length") == length).count()
        };
        Self {
            failed: Count::of(rows().map(|row| failed(&row))),
            shortest: LENGTHS.map(shortest),
            own_uncalibrated: Count::of(own().map(|row| uncalibrated(&row))),
            own_failed: Count::of(own().map(|row| own_failed(&row))),
            own_either: Count::of(own().map(|row| uncalibrated(&row) || own_failed(&row))),
            own_scale: median(own().map(|row| row.number("own_scale"))),
            own_path: mean(own().map(|row| row.number("own_path_10"))),
        }
    }
}

/// Text and picture.
#[must_use]
pub fn summary(table: &Table) -> Summary {
    let [shorter, longer] = EPISODES;
    let mut text = format!(
        "A right model meets a later log:\n\n\
         | later log | {shorter} episodes: failed | {longer} episodes: failed | shortest window \
         that fails, {longer} episodes |\n|---|---|---|---|\n"
    );
    for condition in CONDITIONS {
        let [few, many] = EPISODES.map(|episodes| Counts::of(table, condition, episodes));
        let lengths = LENGTHS.iter().zip(many.shortest);
        let lengths = lengths.filter(|(_, count)| *count > 0);
        let lengths: Vec<String> = lengths
            .map(|(length, count)| match length {
                1 => format!("1 step: {count}"),
                _ => format!("{length} steps: {count}"),
            })
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            condition.name(),
            few.failed.text(),
            many.failed.text(),
            lengths.join(", ")
        );
    }
    text += "\nA model is fitted to the log itself, its withheld fifth judges:\n\n\
             | own log | episodes | not calibrated | backtest failed | either | largest scale, \
             median | windows of 10 steps in the tube |\n|---|---|---|---|---|---|---|\n";
    for condition in CONDITIONS {
        for episodes in EPISODES {
            let counts = Counts::of(table, condition, episodes);
            let of = |count: Count| format!("{} of {}", count.hits, count.of);
            let _ = writeln!(
                text,
                "| {} | {episodes} | {} | {} | {} | {:.1} | {:.1} % |",
                condition.name(),
                of(counts.own_uncalibrated),
                of(counts.own_failed),
                of(counts.own_either),
                counts.own_scale,
                100.0 * counts.own_path
            );
        }
    }
    Summary {
        text,
        svg: draw(table),
    }
}

/// How each condition is drawn.
fn style(condition: Condition) -> SeriesStyle {
    let (colour, mark) = match condition {
        Condition::Right => ("#009E73", Mark::Disc),
        Condition::Payload => ("#D55E00", Mark::Square),
        Condition::MissingState => ("#0072B2", Mark::Triangle),
        Condition::NoiseUnderestimated => ("#E69F00", Mark::Diamond),
        Condition::Delay => ("#CC79A7", Mark::Ring),
    };
    SeriesStyle {
        colour,
        mark,
        dash: "",
    }
}

/// The share of later logs that fail, and the shares of windows that held.
fn draw(table: &Table) -> String {
    let panel =
        |title: &str, x_label: &str, share: &dyn Fn(Condition, usize) -> f64, places: &[usize]| {
            let series = CONDITIONS.iter().map(|condition| Series {
                name: condition.name().to_owned(),
                style: style(*condition),
                points: places
                    .iter()
                    .map(|place| SeriesPoint {
                        x: *place as f64,
                        y: 100.0 * share(*condition, *place),
                        error: 0.0,
                    })
                    .collect(),
            });
            SeriesPanel {
                title: title.to_owned(),
                x_label: x_label.to_owned(),
                x_scale: Scale::Logarithmic,
                y_label: "per cent".to_owned(),
                y_range: (-2.0, 102.0),
                levels: Vec::new(),
                zone: None,
                series: series.collect(),
            }
        };
    let failed = |condition, episodes| Counts::of(table, condition, episodes).failed.share();
    let [_, longer] = EPISODES;
    let held = |question: &str, condition, length: usize| {
        let column = format!("{question}_{length}");
        mean(rows_of(table, condition, longer).map(|row| row.number(&column)))
    };
    let (path, returns) = (
        |condition, length| held("path", condition, length),
        |condition, length| held("return", condition, length),
    );
    let wanted = vec![(100.0 * (1.0 - DELTA), "wanted".to_owned())];
    let steps = "steps of a window";
    let mut panels = vec![
        panel(
            "Later logs that fail the model",
            "episodes of the log",
            &failed,
            &EPISODES,
        ),
        panel("Windows whose path is in the tube", steps, &path, &LENGTHS),
        panel(
            "Windows above the quantile of the return",
            steps,
            &returns,
            &LENGTHS,
        ),
    ];
    for panel in &mut panels[1..] {
        panel.levels.clone_from(&wanted);
    }
    let figure = SeriesFigure {
        title: "What does a backtest find?".to_owned(),
        subtitle: vec![
            "A right model meets later logs of a changed system.".to_owned(),
            format!("Windows: later logs of {longer} episodes."),
        ],
        panels,
    };
    figure.to_svg().unwrap_or_default()
}
