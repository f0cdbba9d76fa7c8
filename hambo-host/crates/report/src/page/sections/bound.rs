//! The bound against the threshold, and every estimate beside it.

use hambo_check::estimates::EstimateResult;
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use crate::page::pieces::{described_svg, figure, keys, table, text, wide};
use crate::range::Range;
use crate::svg::{dot, label, stroke};
use crate::words::readable;

const WIDTH: f64 = 960.0;
const ROW: f64 = 34.0;
const TOP: f64 = 30.0;
/// Room for the names.
const LEFT: f64 = 150.0;
const RIGHT: f64 = 24.0;

pub fn body(run: &SavedRun) -> Markup {
    let result = &run.result;
    let margin = result
        .evidence
        .estimates
        .first()
        .map_or("none", |one| &one.margin);
    let source = result.decision.bound_variant.as_deref().unwrap_or("none");
    let mut variants: Vec<&str> = result
        .evidence
        .estimates
        .iter()
        .map(|one| &*one.variant)
        .collect();
    variants.sort_unstable();
    variants.dedup();
    let meanings = variants.into_iter();
    let meanings = meanings.filter_map(|variant| Some((variant, meaning(variant)?)));
    html! {
        p {
            "The bound is the lowest of the variants that decide (" (result.setting.variants.join(", "))
            "); it comes from " code { (source) } ". Each lower bound is the mean over the \
             trajectories less a sampling margin by " (margin) ". "
            @match result.distribution_free() {
                Some(bound) => {
                    "For any distribution of returns the bound is " (readable(bound.0))
                    @if result.setting.distribution_free { ", and it decides." }
                    @else { "." }
                },
                None => "A bound for any distribution needs bounds of the return.",
            }
        }
        @if !result.evidence.estimates.is_empty() { (ladder(run)) }
        @if let Some(logged) = &result.evidence.logged_return {
            p { "For comparison: " (logged.sentence_with(|number| readable(number.0))) "." }
        }
        @if let Some(sentence) = result.beyond_tested() {
            p { strong { "Tested:" } " " (sentence) "." }
        }
        @if let Some(near) = &result.evidence.near_path {
            p { strong { "Near its path:" } " " (near.sentence()) "." }
        }
        @for question in &result.evidence.questions { p { strong { "Question:" } " " (question) "." } }
        @if let Some(starts) = result.setting.distinct_starts {
            p {
                "Trajectories start from "
                @if starts == 1 { "one first state" } @else { (starts) " different first states" }
                @if let Some(shares) = result.margin_shares() {
                    "; " (shares.sentence_with(|number| readable(number.0)))
                }
                "."
            }
        }
        (estimates(run))
        p class="quiet" {
            @for (place, (variant, meaning)) in meanings.enumerate() {
                @if place > 0 { "; " }
                code { (variant) } " " (meaning)
            }
            "."
        }
        @if !result.evidence.constraints.is_empty() { (constraints(run)) }
    }
}

fn estimates(run: &SavedRun) -> Markup {
    let rows = run.result.all_estimates().map(|(objective, estimate)| {
        let lower = estimate.guarantee().map(|lower| figure(lower.0));
        let free = estimate.guarantee().and(estimate.distribution_free);
        let free = free.map(|bound| figure(bound.0));
        let decides = run.result.setting.variants.contains(&estimate.variant);
        vec![
            text(objective),
            text(&estimate.variant),
            text(&estimate.adversary),
            figure(estimate.mean.0),
            figure(estimate.std_error.0),
            lower.unwrap_or_else(|| text("none")),
            free.unwrap_or_else(|| text("none")),
            text(if decides { "yes" } else { "no" }),
        ]
    });
    let heads = [
        "of",
        "estimate",
        "found by",
        "mean",
        "std. error",
        "lower bound",
        "for any distribution",
        "decides",
    ];
    table("All estimates", &heads, rows)
}

fn constraints(run: &SavedRun) -> Markup {
    let rows = run.result.evidence.constraints.iter().map(|one| {
        let (class, words) = if one.ok {
            ("mark good", "kept")
        } else {
            ("mark bad", "not kept")
        };
        vec![
            text(&one.name),
            text(one.requirement()),
            figure(one.lower.0),
            text(html! { span class=(class) { (words) } }),
        ]
    });
    let caption = "Constraints: the lower bound is on the margin, or on the share of \
                   trajectories that keep it";
    let heads = ["constraint", "must hold", "lower bound", "result"];
    table(caption, &heads, rows)
}

/// One line for each estimate: mean and lower bound, across them the threshold.
fn ladder(run: &SavedRun) -> Markup {
    let result = &run.result;
    let threshold = result
        .decision
        .threshold
        .map(|x| x.0)
        .filter(|x| x.is_finite());
    let lower = |one: &EstimateResult| one.guarantee().map_or(one.mean.0, |lower| lower.0);
    let numbers = result.evidence.estimates.iter();
    let numbers = numbers.flat_map(|one| [one.mean.0, lower(one)]);
    let range = Range::of(numbers.chain(threshold));
    let bottom = TOP + ROW * result.evidence.estimates.len() as f64;
    let x = |value: f64| LEFT + range.share(value) * (WIDTH - LEFT - RIGHT);
    let description = format!(
        "Lower bound {}, threshold {}, neutral estimate {}.",
        readable(result.decision.bound.0),
        threshold.map_or("none".to_owned(), readable),
        readable(result.decision.neutral.0)
    );
    let body = html! {
        @for (tick, words) in range.ticks(8.0) {
            (stroke("grid", [[x(tick), TOP], [x(tick), bottom]]))
            (label("", [x(tick), bottom + 18.0], "middle", &words))
        }
        @for (row, estimate) in result.evidence.estimates.iter().enumerate() {
            @let y = TOP + ROW * (row as f64 + 0.5);
            @let decides = result.setting.variants.contains(&estimate.variant);
            @let suffix = if decides { " (decides)" } else { "" };
            @let name = format!("{}{suffix}", estimate.variant);
            @let (mean, lower) = (estimate.mean.0, lower(estimate));
            (label("name", [LEFT - 14.0, y + 4.0], "end", &name))
            @if mean.is_finite() && lower.is_finite() {
                (stroke("line-thin", [[x(lower), y], [x(mean), y]]))
                (dot("dot-lower", [x(lower), y], 6.0))
                (dot("dot-adversary", [x(mean), y], 6.0))
            } @else {
                (label("", [LEFT, y + 4.0], "start", "not finite"))
            }
        }
        @if let Some(threshold) = threshold {
            @let at = x(threshold);
            @let anchor = match range.share(threshold) {
                share if share < 0.15 => "start",
                share if share > 0.85 => "end",
                _ => "middle",
            };
            @let words = format!("threshold {}", readable(threshold));
            (stroke("line-threshold", [[at, TOP - 6.0], [at, bottom]]))
            (label("name-threshold", [at, TOP - 12.0], anchor, &words))
        }
    };
    let about = ["ladder", "Estimates of the return", &description];
    let svg = described_svg(about, [WIDTH, bottom + 34.0], &body);
    let keys = keys(&[
        ("dot-adversary", "mean"),
        ("dot-lower", "lower bound"),
        ("line-threshold", "threshold"),
    ]);
    let caption = "The return by every estimate; further right is better.";
    wide("ladder", svg, &keys, caption)
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
