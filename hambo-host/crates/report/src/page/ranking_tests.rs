//! The page of a ranking of made-up runs.

#![allow(clippy::unwrap_used, reason = "a failed test may stop where it fails")]

use hambo_check::number::Number;
use hambo_check::ranking::judge_all::Judged;
use hambo_check::ranking::table::Ranking;
use hambo_check::{CheckOutcome, Verdict};

use super::ranking::ranking_page;
use super::tests::{NASTY, run, tags};

/// So many controllers, by turns of every verdict; the names are as bad as can be.
fn ranking(controllers: usize) -> Ranking {
    let verdicts = [Verdict::Deploy, Verdict::Reject, Verdict::Abstain];
    let verdicts = verdicts.map(Some).into_iter().chain([None]).cycle();
    let judged = (0..controllers).zip(verdicts).map(|(number, verdict)| {
        let saved = run(2, 5);
        let mut outcome = CheckOutcome {
            result: saved.result,
            paths: saved.paths,
            walks: None,
            model: saved.model,
        };
        outcome.result.decision.verdict = verdict;
        outcome.result.decision.bound = Number(-52.0 - number as f64);
        let mut other = outcome.result.clone();
        other.setting.variants = vec!["da1".to_owned()];
        Judged {
            name: format!("{NASTY}{number}.toml"),
            outcome,
            others: vec![other],
        }
    });
    Ranking::of(&mut judged.collect::<Vec<_>>()).unwrap()
}

#[test]
fn every_controller_is_on_the_page_and_nothing_is_loaded() {
    let page = ranking_page(&ranking(20), &run(2, 5).inputs);
    assert!(page.len() < 200_000, "{}", page.len());
    assert!(!page.contains("<script") && !page.contains("url(") && !page.contains("@import"));
    for part in [
        "<html lang=\"en\">",
        "name=\"viewport\"",
        "Try <code>",
        "Pairs that are not settled",
        "da1 bound",
        "mark good\">deploy",
        "mark bad\">reject",
        ">abstain<",
        ">no verdict<",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    // Every head of a table has its scope, and on a narrow screen every cell says its own.
    for tag in tags(&page) {
        match tag.split(' ').next() {
            Some("th") => assert!(tag.contains("scope="), "{tag}"),
            Some("td") => assert!(tag.contains("data-head="), "{tag}"),
            Some("svg") => {
                assert!(
                    tag.contains("role=\"img\"") || tag.contains("aria-hidden"),
                    "{tag}"
                );
            }
            _ => {}
        }
    }
    let rows = page.matches("<th role=\"rowheader\"").count();
    // The order, the pairs that are open, and the files.
    assert_eq!(rows, 20 + 20 + 1);
}

#[test]
fn identifiers_are_unique_and_tags_are_closed() {
    let page = ranking_page(&ranking(3), &run(2, 5).inputs);
    let ids = tags(&page).filter_map(|tag| tag.split(" id=\"").nth(1)?.split('"').next());
    let mut ids: Vec<&str> = ids.collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(all > 6 && ids.len() == all, "{ids:?}");
    for name in [
        "section", "figure", "table", "svg", "div", "p", "tr", "td", "th", "ul", "li",
    ] {
        let opened = tags(&page).filter(|tag| tag.split([' ', '\n']).next() == Some(name));
        let closed = page.matches(&format!("</{name}>")).count();
        assert_eq!(opened.count(), closed, "{name}");
    }
    for link in tags(&page).filter_map(|tag| tag.strip_prefix("a href=\"#")) {
        let link = link.trim_end_matches('"');
        assert!(ids.contains(&link), "{link}");
    }
}

#[test]
fn numbers_that_are_none_still_make_a_page() {
    let mut odd = ranking(2);
    for row in &mut odd.controllers {
        row.bound = Number(f64::NAN);
        row.neutral = Number(f64::INFINITY);
        row.greatest = Number(f64::NEG_INFINITY);
    }
    odd.threshold = None;
    odd.unsettled.clear();
    let page = ranking_page(&odd, &run(2, 5).inputs);
    assert!(page.contains("not finite") && page.contains("every order is settled"));
    assert!(!page.contains("MNaN") && !page.contains("\"NaN") && !page.contains("inf\""));
}
