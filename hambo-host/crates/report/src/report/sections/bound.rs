//! The bound against the threshold, and every estimate beside it.

use super::Section;
use crate::figure::svg::{Element, line_data};
use crate::report::chart::Range;
use crate::report::html::{Cell, escape, figure, key, picture, readable, table, text};
use hambo_check::result::EstimateResult;
use hambo_check::saved_run::SavedRun;

const WIDTH: f64 = 960.0;
const ROW: f64 = 34.0;
const TOP: f64 = 30.0;
/// Room for the names.
const LEFT: f64 = 150.0;
const RIGHT: f64 = 24.0;

/// The section.
pub fn section(run: &SavedRun) -> Section {
    let result = &run.result;
    let mut body = String::new();
    let margin = result.estimates.first().map_or("none", |one| &one.margin);
    let source = result.bound_variant.as_deref().unwrap_or("none");
    body.push_str(&format!(
        "<p>The bound is the lowest of the variants that decide ({}); it comes from \
         <code>{}</code>. Each lower bound is the mean over the trajectories less a sampling \
         margin by {}.</p>\n",
        escape(&result.variants.join(", ")),
        escape(source),
        escape(margin)
    ));
    if !result.estimates.is_empty() {
        let keys = key("dot-adversary", "mean")
            + &key("dot-lower", "lower bound")
            + &key("line-threshold", "threshold");
        let caption = format!("{keys}<br>The return by every estimate; further right is better.");
        body.push_str(&picture(&ladder(run, &result.estimates), &caption));
    }
    let decides = |estimate: &EstimateResult| result.variants.contains(&estimate.variant);
    if let Some(logged) = &result.logged_return {
        body.push_str(&format!(
            "<p>For comparison: {}.</p>\n",
            escape(&logged.sentence_with(|number| readable(number.0)))
        ));
    }
    for question in &result.questions {
        body.push_str(&format!(
            "<p><strong>Question:</strong> {}.</p>\n",
            escape(question)
        ));
    }
    if let Some(starts) = result.distinct_starts {
        let from = match starts {
            1 => "one first state".to_owned(),
            _ => format!("{starts} different first states"),
        };
        body.push_str(&format!("<p>Trajectories start from {from}.</p>\n"));
    }
    let rows: Vec<Vec<Cell>> = result
        .all_estimates()
        .map(|(objective, estimate)| {
            vec![
                text(objective),
                text(&estimate.variant),
                text(&estimate.adversary),
                figure(estimate.mean.0),
                figure(estimate.std_error.0),
                estimate
                    .guarantee()
                    .map_or_else(|| text("none"), |lower| figure(lower.0)),
                text(if decides(estimate) { "yes" } else { "no" }),
            ]
        })
        .collect();
    let heads = [
        "of",
        "estimate",
        "found by",
        "mean",
        "std. error",
        "lower bound",
        "decides",
    ];
    body.push_str(&table("All estimates", &heads, &rows));
    let mut variants: Vec<&str> = result
        .estimates
        .iter()
        .map(|one| one.variant.as_str())
        .collect();
    variants.sort_unstable();
    variants.dedup();
    let words = variants.into_iter().filter_map(|variant| {
        let meaning = meaning(variant)?;
        Some(format!("<code>{variant}</code> {meaning}"))
    });
    let words: Vec<String> = words.collect();
    body.push_str(&format!("<p class=\"quiet\">{}.</p>\n", words.join("; ")));
    if !result.constraints.is_empty() {
        let rows: Vec<Vec<Cell>> = result
            .constraints
            .iter()
            .map(|one| {
                let mark = match one.ok {
                    true => "<span class=\"mark good\">kept</span>",
                    false => "<span class=\"mark bad\">not kept</span>",
                };
                vec![
                    text(&one.name),
                    text(one.requirement()),
                    figure(one.lower.0),
                    Cell::Markup(mark.to_owned()),
                ]
            })
            .collect();
        let caption = "Constraints: the lower bound is on the margin, or on the share of \
                       trajectories that keep it";
        body.push_str(&table(
            caption,
            &["constraint", "must hold", "lower bound", "result"],
            &rows,
        ));
    }
    Section {
        id: "bound",
        title: "Bound against threshold",
        body,
    }
}

/// One line for each estimate: mean and lower bound, across them the threshold.
fn ladder(run: &SavedRun, returns: &[EstimateResult]) -> String {
    let result = &run.result;
    let threshold = result.threshold.map(|x| x.0).filter(|x| x.is_finite());
    let lower = |one: &EstimateResult| one.guarantee().map_or(one.mean.0, |lower| lower.0);
    let numbers = returns.iter().flat_map(|one| [one.mean.0, lower(one)]);
    let range = Range::of(numbers.chain(threshold));
    let height = TOP + ROW * returns.len() as f64 + 34.0;
    let bottom = height - 34.0;
    let x = |value: f64| LEFT + range.share(value) * (WIDTH - LEFT - RIGHT);
    let description = format!(
        "Lower bound {}, threshold {}, neutral estimate {}.",
        readable(result.bound.0),
        threshold.map_or("none".to_owned(), readable),
        readable(result.neutral.0)
    );
    let mut svg = Element::new("svg")
        .set("viewBox", format!("0 0 {WIDTH:.0} {height:.0}"))
        .set("width", format!("{WIDTH:.0}"))
        .set("height", format!("{height:.0}"))
        .set("role", "img")
        .set("aria-labelledby", "ladder-title ladder-text")
        .with(
            Element::new("title")
                .set("id", "ladder-title")
                .text("Estimates of the return"),
        )
        .with(
            Element::new("desc")
                .set("id", "ladder-text")
                .text(&description),
        );
    let path = |class: &str, points: [[f64; 2]; 2]| {
        Element::new("path")
            .set("class", class)
            .set("d", line_data(points))
    };
    let label = |class: &str, at: [f64; 2], anchor: &str, words: &str| {
        let label = Element::new("text")
            .set("class", class)
            .set("x", at[0])
            .set("y", at[1]);
        label.set("text-anchor", anchor).text(words)
    };
    for tick in range.ticks(8.0) {
        svg.push(path("grid", [[x(tick), TOP], [x(tick), bottom]]));
        svg.push(label(
            "",
            [x(tick), bottom + 18.0],
            "middle",
            &range.label(tick, 8.0),
        ));
    }
    for (row, estimate) in returns.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        let name = match result.variants.contains(&estimate.variant) {
            true => format!("{} (decides)", estimate.variant),
            false => estimate.variant.clone(),
        };
        svg.push(label("name", [LEFT - 14.0, y + 4.0], "end", &name));
        let (mean, lower) = (estimate.mean.0, lower(estimate));
        if !(mean.is_finite() && lower.is_finite()) {
            svg.push(label("", [LEFT, y + 4.0], "start", "not finite"));
            continue;
        }
        svg.push(path("line-thin", [[x(lower), y], [x(mean), y]]));
        for (class, value) in [("dot-lower", lower), ("dot-adversary", mean)] {
            let dot = Element::new("circle").set("class", class);
            svg.push(dot.set("cx", x(value)).set("cy", y).set("r", 6.0));
        }
    }
    if let Some(threshold) = threshold {
        let at = x(threshold);
        svg.push(path("line-threshold", [[at, TOP - 6.0], [at, bottom]]));
        let anchor = match range.share(threshold) {
            share if share < 0.15 => "start",
            share if share > 0.85 => "end",
            _ => "middle",
        };
        let words = format!("threshold {}", readable(threshold));
        svg.push(label("name-threshold", [at, TOP - 12.0], anchor, &words));
    }
    svg.to_text()
}

/// What happens inside the model's uncertainty, in a few words.
fn meaning(variant: &str) -> Option<&'static str> {
    Some(match variant {
        "ca" => "(HAMBO-CA): an adversary moves each next state inside the model’s set",
        "da1" => "(HAMBO-DA1): an adversary picks a network at every step",
        "dainf" => "(HAMBO-DA∞): an adversary picks a network for the whole trajectory",
        "ds" => "(OPE-DS): chance, with all of the model’s variance",
        "ts1" => "(OPE-TS1): a network drawn at every step",
        "tsinf" => "(OPE-TS∞): a network drawn for the whole trajectory",
        "mean" => "(neutral): the model’s mean alone, without noise",
        "mopo" => "(MOPO): as OPE-TS1, the uncertainty taken off the reward",
        _ => return None,
    })
}
