//! What each adversary found, and what it cost.

use super::Section;
use crate::report::html::{Cell, count, escape, figure, percent, readable, table, text};
use hambo_check::result::{AdversaryResult, EstimateResult};
use hambo_check::saved_run::SavedRun;

/// The section; none if no variant has an adversary.
pub fn section(run: &SavedRun) -> Option<Section> {
    let adversaries = &run.result.adversaries;
    if adversaries.is_empty() {
        return None;
    }
    let timed = adversaries.iter().any(|one| one.seconds.is_some());
    let rows: Vec<Vec<Cell>> = adversaries
        .iter()
        .map(|one| {
            let mut cells = vec![
                text(&one.objective),
                text(&one.variant),
                text(&one.name),
                figure(one.mean.0),
                Cell::Markup(bar(run, one)),
                Cell::Number(count(one.model_steps)),
                Cell::Number(count(one.gradient_steps)),
            ];
            if timed {
                cells.push(one.seconds.map_or_else(|| text(""), |time| figure(time.0)));
            }
            cells
        })
        .collect();
    let mut body = String::from(
        "<p>An adversary is only as good as its search, and a weak one makes a bound that looks \
         tight and is wrong. So each estimate is the minimum over all that were tried. If the \
         minimum still falls with the last sweeps, or the network lies below the search, try a \
         higher <code>--effort</code>; a network that lies above it only failed to learn, and \
         costs nothing.</p>\n",
    );
    let columns = [
        "of",
        "variant",
        "adversary",
        "mean",
        "of the worst found",
        "model steps",
        "gradient steps",
        "seconds",
    ];
    body.push_str(&table(
        "What adversaries found: means on the searched trajectories",
        &columns[..columns.len() - usize::from(!timed)],
        &rows,
    ));
    body.push_str(&courses(run));
    if let Some(exact) = &run.result.exact {
        let coarse = match exact.too_coarse {
            true => " The grids differ by more than 2 %: too coarse to be held against.",
            false => "",
        };
        body.push_str(&format!(
            "<p>Backward dynamic programming on a grid of {} points a state puts the worst return \
             at <strong>{} ± {}</strong>, where ± is the difference to a grid of half as many \
             points; the search reaches {}.{coarse} With noise the search knows what is to come \
             on its trajectory, so it may lie below.</p>\n",
            exact.points,
            readable(exact.value.0),
            readable(exact.difference.0),
            run.result
                .searched_return()
                .map_or_else(|| "nothing".to_owned(), readable)
        ));
    }
    if let Some(restarts) = &run.result.restarts {
        body.push_str(&format!(
            "<p>The search was begun again {} times from random signs. <strong>{} of {}</strong> \
             lowered the mean of the worst returns by more than {}, which is 1 % of what the \
             adversary takes, below what all others reached: {} with them, {} without. One more \
             would do so with a probability of at most {} (95 % limit). This speaks of the \
             search: what none of its starts can reach, it does not show.</p>\n",
            restarts.count,
            restarts.lowered,
            restarts.count,
            readable(restarts.epsilon.0),
            readable(restarts.least.0),
            readable(restarts.without.0),
            percent(restarts.limit.0)
        ));
    }
    for (objective, estimate) in run.result.all_estimates() {
        let Some(network) = estimate.network else {
            continue;
        };
        body.push_str(&format!(
            "<p>{} under <code>{}</code>: the search reaches {}, the trained network {}.</p>\n",
            escape(&objective),
            escape(&estimate.variant),
            readable(estimate.search.0),
            readable(network.0)
        ));
    }
    Some(Section {
        id: "adversaries",
        title: "Adversaries compared",
        body,
    })
}

/// How the minimum fell with the sweeps.
fn courses(run: &SavedRun) -> String {
    let searched: Vec<(String, &EstimateResult)> = run
        .result
        .all_estimates()
        .filter(|(_, estimate)| !estimate.course.is_empty())
        .collect();
    let Some((_, first)) = searched.first() else {
        return String::new();
    };
    let sweeps = first.course.iter().map(|point| point.sweeps.to_string());
    let heads: Vec<String> = ["of".to_owned(), "variant".to_owned()]
        .into_iter()
        .chain(sweeps)
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows: Vec<Vec<Cell>> = searched
        .iter()
        .map(|(objective, estimate)| {
            let points = estimate.course.iter().map(|point| figure(point.mean.0));
            let names = [text(objective), text(&estimate.variant)];
            names.into_iter().chain(points).collect()
        })
        .collect();
    table("The least found, by sweeps of the search", &heads, &rows)
}

/// How much of the worst damage one adversary did, as a bar with its number.
fn bar(run: &SavedRun, one: &AdversaryResult) -> String {
    let own = run.result.adversaries.iter();
    let own =
        own.filter(|other| (&other.objective, &other.variant) == (&one.objective, &one.variant));
    let worst = own.map(|other| other.mean.0).fold(f64::INFINITY, f64::min);
    let constraint = run.result.constraints.iter();
    let mut constraint = constraint.filter(|constraint| constraint.name == one.objective);
    let estimates = constraint
        .next()
        .map_or(&run.result.estimates, |constraint| &constraint.estimates);
    let Some(neutral) = estimates.first().map(|estimate| estimate.mean.0) else {
        return String::new();
    };
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
