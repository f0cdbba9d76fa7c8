//! Whether the model holds over several steps: withheld windows of the log, replayed.

use hambo_check::saved_run::SavedRun;
use hambo_learn::backtest::{Answer, Backtest, LengthResult, Verdict};
use maud::{Markup, html};

use crate::page::chart::{Chart, Frame};
use crate::page::pieces::{keys, number, table, wide};
use crate::range::Range;
use crate::words::{count, percent};

/// `None` for a model that was not tested.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let found = run.model.backtest.as_ref()?;
    let (class, sentence) = verdict(found);
    Some(html! {
        p {
            span class={ "mark " (class) } { (sentence) }
            " The logged actions of withheld rows were replayed through the model, window by \
             window (" (count(found.episodes as u64)) " episodes, or stretches of one where the \
             task is stationary). Two questions to each window: did the logged path stay in the tube that set and noise \
             allow, and was the logged return above the " (percent(f64::from(found.delta)))
            " quantile of the adversary’s? Of a right model at least " (percent(wanted(found)))
            " say yes. It fails where that is too unlikely, all lengths and questions taken \
             together."
        }
        @if !found.lengths.is_empty() { (chart(found)) (numbers(found)) }
    })
}

/// The share of windows that a right model holds.
fn wanted(found: &Backtest) -> f64 {
    1.0 - f64::from(found.delta)
}

fn verdict(found: &Backtest) -> (&'static str, String) {
    match found.verdict {
        Verdict::Passed => (
            "good",
            "Passed: no length of window contradicts the model.".to_owned(),
        ),
        Verdict::Failed { length } => {
            let plural = if length == 1 { "" } else { "s" };
            let steps = count(length as u64);
            (
                "bad",
                format!("Failed: from {steps} step{plural} on the model is blind to what happens."),
            )
        }
        Verdict::TooFewEpisodes { needed } => (
            "bad",
            format!(
                "Too few episodes: a wrong model could have passed; {} would show it.",
                count(needed as u64)
            ),
        ),
    }
}

fn chart(found: &Backtest) -> Markup {
    let frame = Frame {
        id: "windows",
        title: "Windows that held",
        description: "The share of withheld windows that a right model would have made, by \
                      their length, for the path and for the return; bands go up to the upper \
                      95 % limits.",
        size: [960.0, 280.0],
        x_label: "steps of a window",
        y_label: "% of the windows",
    };
    let of_all = |answer: fn(&LengthResult) -> Answer| -> Vec<Answer> {
        found.lengths.iter().map(answer).collect()
    };
    let (path, returns) = (of_all(|of| of.path), of_all(|of| of.returns));
    let share = |answer: &Answer| 100.0 * f64::from(answer.share);
    let least = path.iter().chain(&returns).map(share);
    let least = least.fold(100.0 * wanted(found) - 10.0, f64::min);
    // A little room above, so that what lies at 100 % is not cut.
    let up = Range::exact((least - 3.0).max(-2.0), 102.0);
    let names = found.lengths.iter().map(|of| count(of.length as u64));
    let mut chart = Chart::over_names(&frame, names, up);
    let places = || (0..).map(f64::from);
    for (band, answers) in [("band-neutral", &path), ("band-adversary", &returns)] {
        let upper = |answer: &Answer| 100.0 * f64::from(answer.upper);
        let points = places().zip(answers);
        chart.band(
            band,
            points.map(|(x, answer)| [x, share(answer), upper(answer)]),
        );
    }
    chart.level("line-threshold", 100.0 * wanted(found));
    // The first one is broad, so that it shows where the other lies on it.
    let lines = [
        ("line-before", "dot-neutral", 6.5, &path),
        ("line-adversary", "dot-adversary", 3.5, &returns),
    ];
    for (line, dot, radius, answers) in lines {
        let points = places().zip(answers).map(|(x, answer)| [x, share(answer)]);
        let points: Vec<[f64; 2]> = points.collect();
        chart.line(line, points.iter().copied());
        let failed = answers.iter().zip(&points);
        let failed = failed.filter(|(answer, _)| answer.failed);
        chart.dots("dot-loss", failed.map(|(_, point)| (*point, 11.0)));
        chart.dots(dot, points.iter().map(|point| (*point, radius)));
    }
    let keys = keys(&[
        ("line-before", "path in the tube"),
        ("band-neutral", "up to its upper 95 % limit"),
        ("line-adversary", "return above the quantile"),
        ("band-adversary", "up to its upper 95 % limit"),
        ("line-threshold", "what a right model holds at least"),
        ("dot-loss", "failed"),
    ]);
    let caption = "The share of withheld windows that held, by their length.";
    wide(frame.id, chart.finish(), &keys, caption)
}

fn numbers(found: &Backtest) -> Markup {
    let cells = |answer: &Answer| {
        let mark = if answer.failed { ", failed" } else { "" };
        let [share, upper] = [answer.share, answer.upper].map(|share| percent(f64::from(share)));
        [number(share + mark), number(upper)]
    };
    let rows = found.lengths.iter().map(|of| {
        let counts = [of.length, of.windows].map(|x| number(count(x as u64)));
        let answers = cells(&of.path).into_iter().chain(cells(&of.returns));
        counts.into_iter().chain(answers).collect()
    });
    let heads = [
        "steps",
        "windows",
        "path in the tube",
        "upper limit",
        "return above the quantile",
        "upper limit",
    ];
    table("Withheld windows that held", &heads, rows)
}
