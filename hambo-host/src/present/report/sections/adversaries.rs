//! What each adversary found, and what it cost.

use super::Section;
use crate::check::result::AdversaryResult;
use crate::check::saved_run::SavedRun;
use crate::present::report::html::{Cell, count, escape, figure, percent, readable, table, text};

/// The section; none if no variant has an adversary.
pub fn section(run: &SavedRun) -> Option<Section> {
    let adversaries = &run.result.adversaries;
    if adversaries.is_empty() {
        return None;
    }
    let neutral = run.result.neutral.0;
    let best = |variant: &str| {
        let own = adversaries.iter().filter(|one| one.variant == variant);
        own.map(|one| one.mean.0).fold(f64::INFINITY, f64::min)
    };
    let rows: Vec<Vec<Cell>> = adversaries
        .iter()
        .map(|one| {
            let worst = best(&one.variant);
            vec![
                text(&one.variant),
                text(&one.name),
                figure(one.mean.0),
                Cell::Markup(bar(neutral, one, worst)),
                Cell::Number(count(one.model_steps)),
                Cell::Number(count(one.gradient_steps)),
                figure(one.seconds.0),
            ]
        })
        .collect();
    let mut body = String::from(
        "<p>An adversary is only as good as its search, and a weak one makes a bound that looks \
         tight and is wrong. So each estimate is the minimum over all that were tried. If they \
         agree, more search would hardly lower the bound; if they are far apart, try a higher \
         <code>--effort</code>.</p>\n",
    );
    body.push_str(&table(
        "What adversaries found: mean return on the judged trajectories",
        &[
            "variant",
            "adversary",
            "mean return",
            "of the worst found",
            "model steps",
            "gradient steps",
            "seconds",
        ],
        &rows,
    ));
    let mut variants: Vec<&str> = adversaries.iter().map(|one| one.variant.as_str()).collect();
    variants.dedup();
    for variant in variants {
        let own = adversaries.iter().filter(|one| one.variant == variant);
        let most = own.map(|one| one.mean.0).fold(f64::NEG_INFINITY, f64::max);
        let (least, way) = (best(variant), neutral - best(variant));
        if way > 0.0 {
            body.push_str(&format!(
                "<p><code>{}</code>: the adversaries differ by {}, {} of the way from the neutral \
                 estimate to the worst.</p>\n",
                escape(variant),
                readable(most - least),
                percent((most - least) / way)
            ));
        }
    }
    Some(Section {
        id: "adversaries",
        title: "Adversaries compared",
        body,
    })
}

/// How much of the worst damage one adversary did, as a bar with its number.
fn bar(neutral: f64, one: &AdversaryResult, worst: f64) -> String {
    let share = (neutral - one.mean.0) / (neutral - worst);
    if !share.is_finite() {
        return String::new();
    }
    let width = 100.0 * share.clamp(0.0, 1.0);
    format!(
        "<svg width=\"100\" height=\"12\" aria-hidden=\"true\"><rect class=\"bar\" x=\"0\" y=\"1\" \
         width=\"{width:.1}\" height=\"10\"/></svg> {}",
        percent(share)
    )
}
