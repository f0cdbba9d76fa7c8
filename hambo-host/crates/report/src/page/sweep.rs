//! One page about a sweep: which controller holds, over seeds, models, log sizes and horizons.

use maud::{Markup, html};

use super::document::Document;
use super::heat::{HeatMap, heat_map};
use super::pieces::{MOST_CHARTS, code, figure, number, table, text};
use crate::words::{count, percent, readable};

/// What a sweep found, ready to be shown. It computes nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepPage {
    /// Of the program that worked it off.
    pub hambo_version: String,
    /// The sweep's name.
    pub name: String,
    /// The task's name.
    pub task: String,
    /// All cells.
    pub cells: usize,
    /// Finished checks.
    pub checks: usize,
    /// Checks by their verdict.
    pub deploy: usize,
    pub reject: usize,
    pub abstain: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells without a row.
    pub missing: usize,
    /// Each bound may fail with this probability.
    pub delta: f64,
    /// Episodes of the largest log.
    pub episodes: u32,
    /// For each horizon.
    pub rankings: Vec<SweepRanking>,
    /// For each model and horizon.
    pub maps: Vec<HeatMap>,
    /// For each model and log size.
    pub models: Vec<FittedModels>,
    /// By their sentences.
    pub failures: Vec<SweepFailure>,
    /// What was asked: keys of the plan and their values.
    pub plan: Vec<[String; 2]>,
    /// What went in: what it is, its name, its SHA-256.
    pub files: Vec<[String; 3]>,
}

/// Controllers on the largest log, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRanking {
    /// Steps of a trajectory.
    pub horizon: u32,
    pub controllers: Vec<RankedPolicy>,
}

/// A controller over seeds and models.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPolicy {
    pub name: String,
    /// Whether there is a threshold.
    pub judged: bool,
    /// Finished checks.
    pub checks: usize,
    pub deploy: usize,
    pub reject: usize,
    pub abstain: usize,
    /// Checks that failed.
    pub failed: usize,
    /// The least bound.
    pub least: f64,
    pub median: f64,
    pub greatest: f64,
    /// Median of what the mean model expects.
    pub neutral: f64,
}

/// Models of one name on logs of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedModels {
    pub model: String,
    /// Options of `hambo fit`.
    pub options: String,
    pub episodes: u32,
    pub fitted: usize,
    /// Those that passed their calibration.
    pub calibrated: usize,
    pub failed: usize,
}

/// Cells that failed for one reason.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepFailure {
    /// In the command's sentences.
    pub message: String,
    pub count: usize,
    /// The first of them.
    pub cells: Vec<usize>,
}

/// The page about a sweep. The same sweep gives the same bytes.
#[must_use]
pub fn sweep_page(sweep: &SweepPage) -> String {
    let version = &sweep.hambo_version;
    let sections = [
        ("ranking", "The order", rankings(sweep)),
        ("maps", "Bounds over the plan", maps(sweep)),
        ("models", "Models", models(sweep)),
        ("failures", "What failed", failures(sweep)),
        (
            "limits",
            "What this means, and what it does not",
            limits(sweep),
        ),
        ("repeat", "To repeat it", repeat(sweep)),
    ];
    Document {
        version,
        title: format!("{}: {} cells on {}", sweep.name, sweep.cells, sweep.task),
        header: html! {
            h1 { "Sweep " code { (sweep.name) } " on " (sweep.task) }
            p class="quiet" {
                (count(sweep.cells as u64)) " cells, gathered by hambo " (version) "."
            }
        },
        main: html! {
            (answer(sweep))
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
        source: "a sweep",
    }
    .text()
}

/// Which controller holds best, and how much of the sweep is there.
fn answer(sweep: &SweepPage) -> Markup {
    let first = sweep.rankings.first();
    let first = first.and_then(|ranking| ranking.controllers.first());
    let (class, headline) = match first {
        Some(one)
            if one.judged && one.deploy > 0 && one.deploy == one.checks && one.failed == 0 =>
        {
            (
                "deploy",
                html! { code { (one.name) } " deploys in all " (one.checks) },
            )
        }
        Some(one) if one.deploy > 0 => (
            "none",
            html! { code { (one.name) } " deploys in " (one.deploy) " of " (one.checks) },
        ),
        Some(one) if one.judged && one.checks > 0 => (
            "reject",
            html! { code { (one.name) } " is first, and deploys in none" },
        ),
        Some(one) => (
            "none",
            html! { code { (one.name) } " has the highest bound" },
        ),
        None => ("abstain", html! { "Nothing was checked" }),
    };
    let facts = [
        ("Cells", sweep.cells),
        ("Checks", sweep.checks),
        ("Deploy", sweep.deploy),
        ("Reject", sweep.reject),
        ("Abstain", sweep.abstain),
        ("Failed", sweep.failed),
        ("Missing", sweep.missing),
    ];
    html! {
        section aria-label="Answer" {
            div class={ "verdict " (class) } {
                p class="word" { (headline) }
                @if let Some(one) = first {
                    p {
                        "Its bounds on the largest log lie between " (readable(one.least)) " and "
                        (readable(one.greatest)) ", median " (readable(one.median)) "."
                    }
                }
                @if sweep.missing > 0 {
                    p { "The sweep is not complete: " (count(sweep.missing as u64)) " cells are missing." }
                }
            }
            dl class="facts" {
                @for (name, value) in facts { div { dt { (name) } dd { (count(value as u64)) } } }
            }
        }
    }
}

fn rankings(sweep: &SweepPage) -> Markup {
    let several = sweep.rankings.len() > 1;
    html! {
        p {
            "Controllers by the median of their lower bounds over seeds and models, each on "
            (sweep.episodes) " episodes."
        }
        @for ranking in &sweep.rankings {
            @if several { h3 { (ranking.horizon) " steps" } }
            (order(ranking))
        }
    }
}

fn order(ranking: &SweepRanking) -> Markup {
    let rows = ranking.controllers.iter().map(|one| {
        let verdicts = match (one.judged, one.deploy, one.checks) {
            (false, ..) => text("no threshold"),
            (true, deploy, checks) => {
                let class = match deploy {
                    0 => "mark bad",
                    all if all == checks && one.failed == 0 => "mark good",
                    _ => "mark",
                };
                text(html! { span class=(class) { (deploy) " of " (checks) } })
            }
        };
        vec![
            code(&one.name),
            verdicts,
            figure(one.least),
            figure(one.median),
            figure(one.greatest),
            figure(one.neutral),
            number(one.abstain),
            number(one.failed),
        ]
    });
    let heads = [
        "controller",
        "deploy",
        "least bound",
        "median bound",
        "greatest bound",
        "mean model",
        "abstain",
        "failed",
    ];
    let caption = format!(
        "Controllers over {} steps, the best at the top",
        ranking.horizon
    );
    table(&caption, &heads, rows)
}

fn maps(sweep: &SweepPage) -> Markup {
    let left_out = sweep.maps.len().saturating_sub(MOST_CHARTS);
    html! {
        p {
            "A map for every model and horizon. A field says the median bound over what it stands \
             for, and in how many checks the controller deploys; the stronger its \
             colour, the higher the bound. In brackets: all of its checks abstain."
        }
        @for (place, map) in sweep.maps.iter().take(MOST_CHARTS).enumerate() {
            (heat_map(&format!("map-{place}"), map))
        }
        @if left_out > 0 {
            p class="quiet" { (left_out) " more maps are left out; the table has their numbers." }
        }
    }
}

fn models(sweep: &SweepPage) -> Markup {
    let rows = sweep.models.iter().map(|one| {
        let options = if one.options.is_empty() {
            "the command's own choice"
        } else {
            &one.options
        };
        vec![
            code(&one.model),
            number(one.episodes),
            number(one.fitted),
            number(one.calibrated),
            number(one.failed),
            code(options),
        ]
    });
    let heads = [
        "model",
        "episodes",
        "fitted",
        "calibrated",
        "failed",
        "options",
    ];
    html! {
        p { "A check by a model that is not calibrated abstains." }
        (table("Models by name and log size", &heads, rows))
    }
}

fn failures(sweep: &SweepPage) -> Markup {
    let rows = sweep.failures.iter().map(|one| {
        let cells: Vec<String> = one.cells.iter().map(usize::to_string).collect();
        let more = if one.cells.len() < one.count {
            ", …"
        } else {
            ""
        };
        vec![
            text(&one.message),
            number(one.count),
            text(format!("{}{more}", cells.join(", "))),
        ]
    });
    html! {
        @if sweep.failures.is_empty() {
            p { "Nothing." }
        } @else {
            (table("Reasons, the most frequent first", &["message", "cells", "numbers"], rows))
        }
    }
}

fn limits(sweep: &SweepPage) -> Markup {
    let confidence = percent(1.0 - sweep.delta);
    html! {
        ul {
            li {
                "Each bound by itself holds with " (confidence) " confidence " em { "if" } " the \
                 true system lies in the model’s set at every step. Bounds of several seeds, models \
                 and logs do not share that probability: the greatest of many fails more often. \
                 Take the least, or the median, and decide by a " code { "hambo check" } " or "
                code { "hambo rank" } " of its own."
            }
            li {
                "Over seeds and log sizes a controller that is safe should hold everywhere: where \
                 only some of the seeds deploy, the log decides less than one check makes it seem."
            }
        }
    }
}

/// What is needed to get the same bits again.
fn repeat(sweep: &SweepPage) -> Markup {
    let plan = sweep.plan.iter();
    let plan = plan.map(|[key, value]| vec![code(key), code(value)]);
    let files = sweep.files.iter();
    let files = files.map(|[what, name, hash]| vec![text(what), code(name), code(hash)]);
    html! {
        (table("The plan", &["key", "value"], plan))
        (table("Files and their SHA-256; a controller’s is that of what the core reads",
            &["what", "file", "SHA-256"], files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::heat::HeatCell;

    fn sweep() -> SweepPage {
        let cell = |bound| {
            Some(HeatCell {
                bound,
                deploy: Some(1),
                checks: 2,
                abstains: false,
            })
        };
        SweepPage {
            hambo_version: "0".to_owned(),
            name: "<i>".to_owned(),
            task: "cart".to_owned(),
            cells: 12,
            checks: 8,
            deploy: 4,
            reject: 4,
            abstain: 0,
            failed: 1,
            missing: 3,
            delta: 0.1,
            episodes: 20,
            rankings: vec![SweepRanking {
                horizon: 5,
                controllers: vec![RankedPolicy {
                    name: "a.toml".to_owned(),
                    judged: true,
                    checks: 8,
                    deploy: 4,
                    reject: 4,
                    abstain: 0,
                    failed: 1,
                    least: -9.0,
                    median: -5.0,
                    greatest: f64::NAN,
                    neutral: -4.0,
                }],
            }],
            maps: vec![HeatMap {
                model: "small".to_owned(),
                horizon: 5,
                head: "episodes",
                columns: vec!["10".to_owned(), "20".to_owned(), "30".to_owned()],
                left_out: 2,
                rows: vec![("a.toml".to_owned(), vec![cell(-9.0), cell(f64::NAN), None])],
            }],
            models: Vec::new(),
            failures: vec![SweepFailure {
                message: "no & such file".to_owned(),
                count: 7,
                cells: vec![1, 2],
            }],
            plan: Vec::new(),
            files: Vec::new(),
        }
    }

    #[test]
    fn a_page_says_what_is_missing_what_failed_and_what_holds() {
        let page = sweep_page(&sweep());
        for part in [
            "<code>a.toml</code> deploys in 4 of 8",
            "not complete: 3 cells are missing",
            "no &amp; such file",
            "<td role=\"cell\" data-head=\"numbers\">1, 2, …</td>",
            "Sweep <code>&lt;i&gt;</code>",
            "not a number",
            "2 more columns are left out",
            "Each bound by itself holds with 90.0 % confidence",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("<i>") && !page.contains("NaN"), "{page}");
    }

    #[test]
    fn the_answer_follows_the_verdicts() {
        let mut all = sweep();
        let with = |sweep: &mut SweepPage, deploy| {
            for one in &mut sweep.rankings[0].controllers {
                (one.deploy, one.failed) = (deploy, 0);
            }
            sweep_page(sweep)
        };
        assert!(with(&mut all, 8).contains("verdict deploy"));
        assert!(with(&mut all, 7).contains("verdict none"));
        assert!(with(&mut all, 0).contains("verdict reject"));
        // One cell that failed is no deploy.
        let mut failed = sweep();
        failed.rankings[0].controllers[0].deploy = 8;
        assert!(!sweep_page(&failed).contains("verdict deploy"));
    }
}
