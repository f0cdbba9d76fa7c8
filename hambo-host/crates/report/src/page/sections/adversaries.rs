//! What each adversary found, and what it cost.

use hambo_check::estimates::{AdversaryResult, EstimateResult};
use hambo_check::saved_run::SavedRun;
use maud::{Markup, html};

use crate::page::pieces::{figure, number, table, text};
use crate::svg::px;
use crate::words::{count, percent, readable};

/// `None` if no variant has an adversary.
pub fn body(run: &SavedRun) -> Option<Markup> {
    let result = &run.result;
    if result.evidence.adversaries.is_empty() {
        return None;
    }
    let timed = result
        .evidence
        .adversaries
        .iter()
        .any(|one| one.seconds.is_some());
    let rows = result.evidence.adversaries.iter().map(|one| {
        let mut cells = vec![
            text(&one.objective),
            text(&one.variant),
            text(&one.name),
            figure(one.mean.0),
            text(bar(run, one)),
            number(count(one.model_steps)),
            number(count(one.gradient_steps)),
        ];
        if timed {
            cells.push(one.seconds.map_or_else(|| text(""), |time| figure(time.0)));
        }
        cells
    });
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
    let columns = &columns[..columns.len() - usize::from(!timed)];
    let caption = "What adversaries found: means on the searched trajectories";
    let networks = result.all_estimates();
    let networks = networks.filter_map(|(of, one)| Some((of, one, one.network?)));
    Some(html! {
        p {
            "An adversary is only as good as its search, and a weak one makes a bound that looks \
             tight and is wrong. So each estimate is the minimum over all that were tried. If the \
             minimum still falls with the last sweeps, or the network lies below the search, try a \
             higher " code { "--effort" } "; a network that lies above it only failed to learn, \
             and costs nothing."
        }
        @if timed && in_time(run) {
            p {
                "No network is trained against a requirement in time (at every step, at the last, \
                 at one or more): there constants, members and the search look alone."
            }
        }
        (table(caption, columns, rows))
        (courses(run))
        @if let Some(first_order) = &result.evidence.first_order {
            p {
                "The return under " code { "ca" } ": "
                (first_order.sentence_with(|number| readable(number.0)))
                ". A search that found much less may have stopped too soon."
            }
        }
        @if let Some(exact) = &result.evidence.exact {
            p {
                "Backward dynamic programming on a grid of " (exact.points)
                " points a state puts the worst return at "
                strong { (readable(exact.value.0)) " ± " (readable(exact.difference.0)) }
                ", where ± is the difference to a grid of half as many points; the search reaches "
                (result.searched_return().map_or_else(|| "nothing".to_owned(), readable)) "."
                @if exact.too_coarse {
                    " The grids differ by more than 2 %: too coarse to be held against."
                }
                " With noise the search knows what is to come on its trajectory, so it may lie \
                 below."
            }
        }
        @if let Some(restarts) = &result.evidence.restarts {
            p {
                "The search was begun again " (restarts.count) " times from random signs. "
                strong { (restarts.lowered) " of " (restarts.count) }
                " lowered the mean of the worst returns by more than "
                (readable(restarts.epsilon.0))
                ", which is 1 % of what the adversary takes, below what all others reached: "
                (readable(restarts.least.0)) " with them, " (readable(restarts.without.0))
                " without. One more would do so with a probability of at most "
                (percent(restarts.limit.0))
                " (95 % limit). This speaks of the search: what none of its starts can reach, it \
                 does not show."
            }
        }
        @for (objective, estimate, network) in networks {
            p {
                (objective) " under " code { (estimate.variant) } ": the search reaches "
                (readable(estimate.search.0)) ", the trained network " (readable(network.0)) "."
            }
        }
    })
}

/// Whether a requirement is no sum over the steps, which is all that networks are paid.
fn in_time(run: &SavedRun) -> bool {
    let mut constraints = run.result.evidence.constraints.iter();
    constraints.any(|one| one.kind != "mean")
}

/// How the minimum fell with the sweeps.
fn courses(run: &SavedRun) -> Markup {
    let searched: Vec<(String, &EstimateResult)> = run
        .result
        .all_estimates()
        .filter(|(_, estimate)| !estimate.course.is_empty())
        .collect();
    let Some((_, first)) = searched.first() else {
        return Markup::default();
    };
    let sweeps = first.course.iter().map(|point| point.sweeps.to_string());
    let heads = ["of", "variant"].map(str::to_owned);
    let heads: Vec<String> = heads.into_iter().chain(sweeps).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = searched.iter().map(|(objective, estimate)| {
        let points = estimate.course.iter().map(|point| figure(point.mean.0));
        let names = [text(objective), text(&estimate.variant)];
        names.into_iter().chain(points).collect()
    });
    table("The least found, by sweeps of the search", &heads, rows)
}

/// How much of the worst damage one adversary did, as a bar with its number.
fn bar(run: &SavedRun, one: &AdversaryResult) -> Markup {
    let own = run.result.evidence.adversaries.iter();
    let own =
        own.filter(|other| (&other.objective, &other.variant) == (&one.objective, &one.variant));
    let worst = own.map(|other| other.mean.0).fold(f64::INFINITY, f64::min);
    let mut constraints = run.result.evidence.constraints.iter();
    let constraint = constraints.find(|constraint| constraint.name == one.objective);
    let estimates = constraint.map_or(&run.result.evidence.estimates, |constraint| {
        &constraint.estimates
    });
    let neutral = estimates.first().map_or(f64::NAN, |one| one.mean.0);
    let share = (neutral - one.mean.0) / (neutral - worst);
    if !share.is_finite() {
        return Markup::default();
    }
    let width = px(100.0 * share.clamp(0.0, 1.0));
    html! {
        svg width="100" height="12" aria-hidden="true" {
            rect class="bar" x="0" y="1" width=(width) height="10" {}
        }
        " " (percent(share))
    }
}
