//! One page about several controllers: which to try first, and which not at all.

use hambo_check::ranking::table::{ColumnBound, RankedController, Ranking};
use hambo_check::saved_run::Inputs;
use hambo_core::gate::Verdict;
use maud::{Markup, html};

use super::document::Document;
use super::pieces::{Cell, code, described_svg, figure, keys, number, table, text, wide};
use crate::range::Range;
use crate::svg::{dot, label, stroke};
use crate::words::{date, percent, readable};

const WIDTH: f64 = 960.0;
const ROW: f64 = 34.0;
const TOP: f64 = 30.0;
/// Room for the names.
const LEFT: f64 = 220.0;
const RIGHT: f64 = 24.0;
/// Letters of a name for which there is room.
const MOST_LETTERS: usize = 28;

/// The page about a ranking. The same ranking and inputs give the same bytes.
#[must_use]
pub fn ranking_page(ranking: &Ranking, inputs: &Inputs) -> String {
    let version = &inputs.hambo_version;
    let sections = [
        ("order", "The order", order(ranking)),
        (
            "intervals",
            "What is known of each return",
            intervals(ranking),
        ),
        ("pairs", "Pairs that are not settled", pairs(ranking)),
        ("reasons", "Why not", reasons(ranking)),
        (
            "limits",
            "What this means, and what it does not",
            limits(ranking),
        ),
        ("repeat", "To repeat it", repeat(inputs)),
    ];
    Document {
        version,
        title: format!(
            "{} controllers for {}, ranked",
            ranking.controllers.len(),
            ranking.task
        ),
        header: html! {
            h1 { "Which controller may drive " (ranking.task) " first?" }
            p class="quiet" { "Ranked by hambo " (version) " on " (date(inputs.time)) "." }
        },
        main: html! {
            (answer(ranking))
            nav aria-label="Contents" {
                ul { @for (id, title, _) in &sections { li { a href={ "#" (id) } { (title) } } } }
            }
            @for (id, title, body) in &sections {
                section aria-labelledby=(id) {
                    h2 id=(id) { (title) }
                    (body)
                }
            }
        },
        source: "a ranking",
    }
    .text()
}

fn word(verdict: Option<Verdict>) -> (&'static str, &'static str) {
    match verdict {
        Some(Verdict::Deploy) => ("mark good", "deploy"),
        Some(Verdict::Reject) => ("mark bad", "reject"),
        Some(Verdict::Abstain) => ("mark", "abstain"),
        None => ("mark", "no verdict"),
    }
}

/// What to try first, and how many not at all.
fn answer(ranking: &Ranking) -> Markup {
    let first = ranking.controllers.first();
    let (class, headline) = match first.map(|one| (one.verdict, &one.name)) {
        Some((Some(Verdict::Deploy), name)) => {
            ("deploy", html! { "Try " code { (name) } " first" })
        }
        Some((None, name)) => ("none", html! { code { (name) } " has the highest bound" }),
        Some((Some(Verdict::Reject), _)) => ("reject", html! { "Try none of them" }),
        Some((Some(Verdict::Abstain), _)) | None => {
            ("abstain", html! { "The evidence decides on none" })
        }
    };
    let count = |wanted| {
        let with = ranking.controllers.iter();
        with.filter(|one| one.verdict == wanted).count().to_string()
    };
    let threshold = ranking
        .threshold
        .map_or("none".to_owned(), |x| readable(x.0));
    let facts = [
        ("Deploy", count(Some(Verdict::Deploy))),
        ("Reject", count(Some(Verdict::Reject))),
        ("Abstain", count(Some(Verdict::Abstain))),
        ("Pairs not settled", ranking.unsettled.len().to_string()),
        ("Threshold", threshold),
        ("Confidence", percent(1.0 - ranking.delta.0)),
        ("Steps", ranking.horizon.to_string()),
    ];
    html! {
        section aria-label="Answer" {
            div class={ "verdict " (class) } {
                p class="word" { (headline) }
                @if let Some(first) = first { p { (first.name) ": " (first.why) "." } }
            }
            dl class="facts" {
                @for (name, value) in &facts { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn order(ranking: &Ranking) -> Markup {
    let rows = ranking.controllers.iter().map(|one| {
        let (class, words) = word(one.verdict);
        let mut cells = vec![
            code(&one.name),
            text(html! { span class=(class) { (words) } }),
            number(one.place()),
        ];
        cells.extend(one.bounds.iter().map(bound));
        cells.extend([figure(one.neutral.0), text(&one.why)]);
        cells
    });
    let columns = ranking.variants.iter().map(|name| format!("{name} bound"));
    let columns: Vec<String> = columns.collect();
    let mut heads = vec!["controller", "verdict", "place by return"];
    heads.extend(columns.iter().map(String::as_str));
    heads.extend(["mean model", "why"]);
    let decides = ranking.variants.first().map_or("", String::as_str);
    html! {
        p {
            "By the verdict, then by the lower bound of the return under " code { (decides) }
            ", which decides. A place that is a range is not settled. A bound in brackets is of a \
             check that abstains."
        }
        (table("Controllers, the one to try first at the top", &heads, rows))
    }
}

/// A bound that nobody may rely on stands in brackets.
fn bound(column: &ColumnBound) -> Cell {
    let value = readable(column.lower.0);
    number(match column.verdict {
        Some(Verdict::Abstain) => format!("({value})"),
        _ => value,
    })
}

/// One line for each controller, from its lower bound to its greatest estimate.
fn intervals(ranking: &Ranking) -> Markup {
    let threshold = ranking.threshold.map(|x| x.0).filter(|x| x.is_finite());
    let ends = ranking.controllers.iter();
    let ends = ends.flat_map(|one| [one.bound.0, one.neutral.0, one.greatest.0]);
    let range = Range::of(ends.chain(threshold));
    let bottom = TOP + ROW * ranking.controllers.len() as f64;
    let x = |value: f64| LEFT + range.share(value) * (WIDTH - LEFT - RIGHT);
    let body = html! {
        @for (tick, words) in range.ticks(8.0) {
            (stroke("grid", [[x(tick), TOP], [x(tick), bottom]]))
            (label("", [x(tick), bottom + 18.0], "middle", &words))
        }
        @for (row, one) in ranking.controllers.iter().enumerate() {
            @let y = TOP + ROW * (row as f64 + 0.5);
            (label("name", [LEFT - 14.0, y + 4.0], "end", &short(&one.name)))
            @if one.bound.0.is_finite() && one.greatest.0.is_finite() {
                (stroke("line-thin", [[x(one.bound.0), y], [x(one.greatest.0), y]]))
                (dot("dot-lower", [x(one.bound.0), y], 6.0))
                @if one.neutral.0.is_finite() { (dot("dot-neutral", [x(one.neutral.0), y], 5.0)) }
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
    let description = ranking.controllers.iter().map(spoken);
    let description: Vec<String> = description.collect();
    let description = description.join("; ");
    let about = [
        "span",
        "Lower bound and mean model of every controller",
        &description,
    ];
    let svg = described_svg(about, [WIDTH, bottom + 34.0], &body);
    let keys = keys(&[
        ("dot-lower", "lower bound"),
        ("dot-neutral", "mean model"),
        ("line-thin", "up to the greatest estimate"),
        ("line-threshold", "threshold"),
    ]);
    let caption = "The return of every controller; further right is better. Lines that overlap \
                   have no settled order.";
    wide("span", svg, &keys, caption)
}

fn spoken(one: &RankedController) -> String {
    let [bound, neutral] = [one.bound, one.neutral].map(|x| readable(x.0));
    format!("{}: lower bound {bound}, mean model {neutral}", one.name)
}

/// A name cut to the room there is.
fn short(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let start: String = name.chars().take(MOST_LETTERS - 1).collect();
    start + "…"
}

fn pairs(ranking: &Ranking) -> Markup {
    let open = |one: &RankedController| -> Vec<String> {
        let with = ranking.open_with(&one.name);
        with.map(str::to_owned).collect()
    };
    let rows = ranking.controllers.iter();
    let rows = rows.map(|one| (one, open(one)));
    let rows = rows.filter(|(_, open)| !open.is_empty());
    let rows = rows.map(|(one, open)| vec![code(&one.name), text(open.join(", "))]);
    html! {
        @if ranking.unsettled.is_empty() {
            p { "None: every order is settled." }
        } @else {
            (table("Controllers whose order is open", &["controller", "not settled with"], rows))
        }
        p class="quiet" { "The rule: " (ranking.rule) "." }
    }
}

fn reasons(ranking: &Ranking) -> Markup {
    let with = ranking.controllers.iter();
    let with: Vec<&RankedController> = with.filter(|one| !one.reasons.is_empty()).collect();
    html! {
        @if with.is_empty() { p { "Nothing speaks against any of them." } }
        @for one in with {
            h3 { code { (one.name) } }
            ul { @for reason in &one.reasons { li { (reason) "." } } }
        }
    }
}

fn limits(ranking: &Ranking) -> Markup {
    let confidence = percent(1.0 - ranking.delta.0);
    html! {
        ul {
            li {
                @if ranking.sharing > 1 {
                    "All bounds that decide hold together with " (confidence) " confidence "
                } @else {
                    "Each bound by itself holds with " (confidence) " confidence; one of many \
                     fails more often "
                }
                em { "if" } " the true system lies in the model’s set at every step."
            }
            li {
                "The order is that of lower bounds: of the worst that the log leaves possible, \
                 not of what is to be expected."
            }
            li {
                "The other columns say how much a weaker adversary would take: " code { "ca" }
                " moves each next state inside the model’s set, " code { "da1" } " picks a network \
                at every step, " code { "dainf" } " one for the whole trajectory; the mean model \
                meets nobody and bounds nothing."
            }
        }
    }
}

/// What is needed to get the same bits again.
fn repeat(inputs: &Inputs) -> Markup {
    let files = inputs.files.iter();
    let files = files.map(|one| vec![text(&one.what), code(&one.path), code(&one.sha256)]);
    html! {
        pre { code { (inputs.command) } }
        (table("Files and their SHA-256", &["what", "file", "SHA-256"], files))
        h3 { "The task file" }
        pre { code { (inputs.task_text) } }
    }
}
