//! What the rows of the study of the backtest say.

use std::fmt::Write as _;

use hambo_report::figure::svg::{Element, line_data};

use super::Summary;
use super::backtests::{EPISODES, LENGTHS};
use super::condition::{CONDITIONS, Condition};
use super::picture;
use super::plant::DELTA;
use super::rows::{Record, Table};
use super::statistics::{Count, median};

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

/// The colour of a condition.
fn colour(condition: Condition) -> &'static str {
    match condition {
        Condition::Right => picture::GOOD,
        Condition::Payload => picture::BAD,
        Condition::MissingState => "#3a6ea5",
        Condition::NoiseUnderestimated => picture::CAUTION,
        Condition::Delay => "#7b4b94",
    }
}

/// Above, the share of later logs that fail; below, the share of windows that held.
fn draw(table: &Table) -> String {
    const LEFT: f64 = 260.0;
    const LONGEST: f64 = 680.0;
    const TOP: f64 = 140.0;
    const ROW: f64 = 46.0;
    let mut svg = picture::page(
        "What does a backtest find?",
        "share of later logs that fail the model; pale: logs of 30 episodes, full: of 100",
        900.0,
    );
    for (row, condition) in (0..).zip(CONDITIONS) {
        let y = TOP + ROW * f64::from(row);
        svg.push(picture::text(
            LEFT - 16.0,
            y + 22.0,
            "end",
            condition.name(),
        ));
        for (index, (episodes, opacity)) in (0..).zip(EPISODES.into_iter().zip(["0.4", "1"])) {
            let share = Counts::of(table, condition, episodes).failed.share();
            let (y, width) = (y + 14.0 * f64::from(index), LONGEST * share);
            let bar = picture::bar(LEFT, y, width.max(1.0), colour(condition), opacity);
            svg.push(bar);
            let words = format!("{:.1} %", 100.0 * share);
            let label = picture::text(LEFT + width + 8.0, y + 11.0, "start", &words);
            svg.push(label.set("font-size", 13.0));
        }
    }
    let words = "share of windows that held, by their length: later logs of 100 episodes";
    svg.push(picture::text(40.0, 424.0, "start", words).set("fill", picture::QUIET_TEXT));
    curves(&mut svg, table, 90.0, "path", "path in the tube");
    curves(
        &mut svg,
        table,
        600.0,
        "return",
        "return above the quantile",
    );
    svg.to_text()
}

/// One panel: a line for each condition, and what is wanted.
fn curves(svg: &mut Element, table: &Table, left: f64, question: &str, title: &str) {
    const TOP: f64 = 480.0;
    const HEIGHT: f64 = 320.0;
    const STEP: f64 = 76.0;
    let [_, episodes] = EPISODES;
    let x = |place: usize| left + 40.0 + STEP * place as f64;
    let y = |share: f64| TOP + HEIGHT * (1.0 - share);
    let right = x(LENGTHS.len() - 1) + 40.0;
    svg.push(picture::text(left, TOP - 18.0, "start", title));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let rule = picture::line([left, y(share)], [right, y(share)], picture::QUIET);
        svg.push(rule.set("stroke-opacity", "0.5"));
        let words = format!("{:.0} %", 100.0 * share);
        let label = picture::text(left - 8.0, y(share) + 5.0, "end", &words);
        svg.push(label.set("font-size", 13.0));
    }
    for (place, length) in LENGTHS.iter().enumerate() {
        let label = picture::text(x(place), y(0.0) + 24.0, "middle", &length.to_string());
        svg.push(label.set("font-size", 15.0));
    }
    svg.push(picture::text(
        x(2),
        y(0.0) + 52.0,
        "middle",
        "steps of a window",
    ));
    let wanted = 1.0 - DELTA;
    let rule = picture::line([left, y(wanted)], [right, y(wanted)], picture::QUIET_TEXT);
    svg.push(rule.set("stroke-dasharray", "6 4"));
    for condition in CONDITIONS {
        let share = |length: &usize| {
            let column = format!("{question}_{length}");
            let rows = rows_of(table, condition, episodes);
            mean(rows.map(|row| row.number(&column)))
        };
        let shares = LENGTHS.iter().map(share).enumerate();
        let points: Vec<[f64; 2]> = shares.map(|(place, share)| [x(place), y(share)]).collect();
        let line = Element::new("path")
            .set("d", line_data(points.iter().copied()))
            .set("stroke", colour(condition))
            .set("stroke-width", 2.5)
            .set("fill", "none");
        svg.push(line);
        for [x, y] in points {
            svg.push(picture::dot(x, y, colour(condition)));
        }
    }
}
