//! The page from made-up runs.

#![allow(clippy::unwrap_used, reason = "a failed test may stop where it fails")]

use super::*;
use hambo_check::adversary::EffortLevel;
use hambo_check::estimates::{
    AdversaryResult, ConstraintResult, CoursePoint, EstimateResult, LevelResult,
};
use hambo_check::exact::ExactValue;
use hambo_check::first_order::FirstOrder;
use hambo_check::log_next::LogNext;
use hambo_check::logged_return::LoggedReturn;
use hambo_check::loss::{CostlyStep, Loss};
use hambo_check::margin_shares::MarginShares;
use hambo_check::model_summary::{CalibrationSummary, ModelSummary, SharedNoise, StateCalibration};
use hambo_check::number::{Number, numbers};
use hambo_check::paths::{Band, Paths, ShownPath};
use hambo_check::restarts::Restarts;
use hambo_check::saved_run::{InputFile, Inputs, SavedRun, SavedRunError};
use hambo_check::support::{Distances, Excursion, Farthest, SupportUse};
use hambo_check::{CheckOutcome, CheckResult, Decision, Evidence, Setting};
use hambo_learn::backtest::{Answer, Backtest, LengthResult, Verdict};
use hambo_learn::calibration::{Gate, WindowShare};
use hambo_task::task::KnownLine;

pub(super) const NASTY: &str = "<script>alert('x')</script> \"&\u{7}";

/// A run with these numbers of states and steps, and a bad name wherever one goes in.
pub(super) fn run(states: usize, steps: usize) -> SavedRun {
    let names: Vec<String> = (0..states).map(|j| format!("{NASTY}{j}")).collect();
    let wave = |first: usize, shift: f32| -> Vec<Number> {
        numbers((first..=steps).map(|t| shift + (0.05 * t as f32).sin()))
    };
    let columns = |first: usize, shift: f32| vec![wave(first, shift); states];
    let bands = |shift: f32| -> Vec<Band> {
        let band = Band {
            mean: wave(0, shift),
            low: wave(0, shift - 0.2),
            high: wave(0, shift + 0.2),
        };
        vec![band; states]
    };
    let excursion = |outside: f64| Excursion {
        steps_outside: Number(outside),
        far_trajectories: Number(outside),
        first_step_outside: Some(3),
        farthest: Some(Farthest {
            name: NASTY.to_owned(),
            trajectory: 1,
            step: 2,
            value: Number(9.0),
            distance: Number(f64::INFINITY),
        }),
    };
    let distances = || Distances {
        median: wave(1, 0.5),
        largest: wave(1, 0.9),
    };
    let losses = || numbers((0..steps).map(|t| 0.01 * t as f32));
    let paths = Paths {
        states: names.clone(),
        logged_states: 2,
        actions: vec![NASTY.to_owned()],
        neutral: bands(0.0),
        worst: bands(0.5),
        shown: ShownPath {
            trajectory: 4,
            neutral: columns(0, 0.0),
            worst: columns(0, 0.5),
            set_low: columns(1, -0.1),
            set_high: columns(1, 0.1),
            loss: losses(),
        },
        neutral_distances: distances(),
        worst_distances: distances(),
        low: numbers(vec![-2.0_f32; states + 1]),
        high: numbers(vec![2.0_f32; states + 1]),
        logged_low: Vec::new(),
        logged_high: Vec::new(),
    };
    let loss = Loss {
        variant: "ca".to_owned(),
        trajectories: 16,
        total: Number(20.0),
        half_by_step: Some(1),
        worst_step: Some(2),
        by_step: losses(),
        places: vec![CostlyStep {
            trajectory: 4,
            step: 7,
            loss: Number(1.5),
            total: Number(20.0),
            state: numbers(vec![0.5_f32; states]),
            action: numbers([0.1_f32]),
            neutral: numbers(vec![0.0_f32; states]),
        }],
    };
    let level = |mean: f64| LevelResult {
        count: 16,
        mean: Number(mean),
        lower: Number(mean - 1.0),
        margin: "Student's t".to_owned(),
    };
    let estimate = |variant: &str, mean: f64| EstimateResult {
        variant: variant.to_owned(),
        adversary: NASTY.to_owned(),
        sampled: level(mean),
        correction: Some(level(-1.0)),
        shares: Some(MarginShares {
            starts: Number(0.75),
            noise: Number(0.25),
            search: Some(Number(1.0)),
            first_states: 12,
            searched_states: Some(12),
        }),
        constant: Some(Number(mean)),
        member: None,
        found_elsewhere: None,
        search: Number(mean),
        network: Some(Number(mean)),
        course: vec![CoursePoint {
            sweeps: 12,
            mean: Number(mean),
        }],
        mean: Number(mean),
        std_error: Number(1.0),
        margin: "Student's t".to_owned(),
        lower: Number(mean - 2.0),
        distribution_free: Some(Number(mean - 4.0)),
    };
    let curve = vec![[Number(0.1), Number(0.2)], [Number(0.9), Number(0.8)]];
    let state = |name: &String| StateCalibration {
        name: name.clone(),
        best_scale: Number(0.8),
        scale: Number(1.0),
        noise_scale: Number(1.0),
        beta: Number(2.0),
        errors: [Number(0.1), Number(0.01)],
        coverage: Number(0.7),
        simulated_coverage: Number(0.99),
        coverage_90: Number(0.9),
        before: curve.clone(),
        after: curve.clone(),
    };
    let inputs = Inputs {
        hambo_version: "0.1.0".to_owned(),
        time: 0,
        command: format!("hambo check '{NASTY}'"),
        task_text: format!("name = '{NASTY}' # https://example.org/"),
        files: vec![InputFile {
            what: "policy".to_owned(),
            path: NASTY.to_owned(),
            sha256: "00".repeat(32),
        }],
        policy_part: "11".repeat(32),
    };
    let result = CheckResult {
        setting: Setting {
            task: NASTY.to_owned(),
            horizon: steps as u32,
            delta: Number(0.05),
            controllers: 1,
            discount: Number(1.0),
            distribution_free: false,
            trajectories: 16,
            searched: 16,
            sweeps: 12,
            search_charge: None,
            allocation: "even".to_owned(),
            effort: EffortLevel::Quick,
            seed: 0,
            variants: vec!["ca".to_owned()],
            distinct_starts: Some(12),
            known: vec![KnownLine {
                state: "x".to_owned(),
                next: NASTY.to_owned(),
                initial: Some(0.25),
            }],
            circles: vec![["c".to_owned(), NASTY.to_owned()]],
            inputs: vec!["sin(x)".to_owned()],
            stationary: false,
        },
        evidence: Evidence {
            model_steps: 0,
            tested_steps: 12,
            near_path: None,
            estimates: vec![estimate("mean", -30.0), estimate("ca", -50.0)],
            adversaries: vec![AdversaryResult {
                objective: "return".to_owned(),
                variant: "ca".to_owned(),
                name: NASTY.to_owned(),
                mean: Number(-50.0),
                model_steps: 123_456,
                gradient_steps: 0,
                seconds: Some(Number(1.5)),
            }],
            loss: Some(loss),
            support: Some(SupportUse {
                neutral: excursion(0.0),
                far_trajectories_allowed: Number(0.06),
                worst: excursion(0.25),
            }),
            questions: vec!["is the action <scaled>".to_owned()],
            logged_return: Some(LoggedReturn {
                episodes: 40,
                mean: Number(-55.5),
                least: Number(-70.0),
                greatest: Number(-41.0),
                shortest: 20,
                longest: 20,
            }),
            first_order: Some(FirstOrder {
                unpushed: Number(-31.0),
                estimate: Number(-47.5),
                trajectories: 16,
            }),
            restarts: Some(Restarts {
                count: 20,
                lowered: 1,
                epsilon: Number(0.5),
                limit: Number(0.217),
                least: Number(-61.5),
                without: Number(-60.0),
            }),
            exact: Some(ExactValue {
                value: Number(-51.0),
                difference: Number(0.5),
                too_coarse: false,
                points: 61,
                seconds: Number(1.25),
            }),
            log_next: vec![LogNext {
                share: Number(0.25),
                state: vec![Number(1.0), Number(2.0)],
                action: vec![Number(0.5)],
                step: 3,
                uncertain: NASTY.to_owned(),
            }],
            constraints: vec![ConstraintResult {
                name: NASTY.to_owned(),
                kind: "always".to_owned(),
                probability: Some(Number(0.99)),
                lower: Number(-1.0),
                ok: false,
                estimates: vec![estimate("ca", 1.0)],
            }],
            digest: "deadbeef".to_owned(),
        },
        decision: Decision {
            bound: Number(-52.0),
            bound_bits: "c2500000".to_owned(),
            bound_variant: Some("ca".to_owned()),
            neutral: Number(-30.0),
            threshold: Some(Number(-40.0)),
            verdict: Some(hambo_check::Verdict::Reject),
            reasons: vec![NASTY.to_owned()],
            assumes: NASTY.to_owned(),
        },
    };
    let model = ModelSummary {
        description: NASTY.to_owned(),
        hambo_version: "0.1.0".to_owned(),
        seed: 1,
        data_hash: "22".repeat(32),
        rows: 1000,
        training_rows: 800,
        validation_rows: 0,
        withheld_rows: 200,
        calibration: CalibrationSummary {
            status: NASTY.to_owned(),
            passed: true,
            mode: "widen".to_owned(),
            joint_coverage: Number(0.7),
            gate: Gate {
                widening: 1.0,
                rows: 200,
                episodes: 10,
                share: 0.99,
                episodes_outside: 0,
                episodes_outside_upper: 0.1,
                share_lower: 0.95,
                windows: vec![WindowShare {
                    episodes: 9,
                    length: 2,
                    windows: 100,
                    share: 1.0,
                    share_upper: 1.0,
                }],
            },
            states: names.iter().map(state).collect(),
            shared_noise: vec![SharedNoise {
                states: [NASTY.to_owned(), NASTY.to_owned()],
                correlation: Number(0.9),
            }],
            errs_more: vec![NASTY.to_owned()],
        },
        backtest: Some(backtest()),
        theory: vec![["beta".to_owned(), "3".to_owned(), NASTY.to_owned()]],
        assumptions: vec![NASTY.to_owned()],
    };
    let outcome = CheckOutcome {
        result,
        paths: Some(paths),
        walks: None,
        model,
    };
    SavedRun::new(inputs, outcome)
}

/// Windows of up to 20 steps, of which the paths of the longest fail.
fn backtest() -> Backtest {
    let answer = |share: f32, failed: bool| Answer {
        share,
        upper: (share + 0.1).min(1.0),
        failed,
    };
    let of = |length: usize, path: f32| LengthResult {
        length,
        windows: 40,
        episodes: 20,
        path: answer(path, path < 0.8),
        returns: answer(0.975, false),
    };
    Backtest {
        delta: 0.05,
        episodes: 20,
        lengths: vec![
            of(1, 1.0),
            of(2, 0.975),
            of(5, 0.9),
            of(10, 0.85),
            of(20, 0.4),
        ],
        verdict: Verdict::Failed { length: 20 },
    }
}

/// The tags of a page, each from `<` to `>`.
pub(super) fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<')
        .skip(1)
        .filter_map(|part| part.split('>').next())
}

#[test]
fn every_section_is_there_and_the_verdict_comes_first() {
    let page = page(&run(3, 50));
    let order = [
        "class=\"word\">Reject",
        "id=\"bound\"",
        "id=\"trajectories\"",
        "id=\"won\"",
        "id=\"adversaries\"",
        "id=\"support\"",
        "id=\"calibration\"",
        "id=\"backtest\"",
        "id=\"theory\"",
        "id=\"limits\"",
        "id=\"repeat\"",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|part| page.find(part).unwrap_or_else(|| unreachable!("no {part}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    for part in [
        "<html lang=\"en\">",
        "prefers-color-scheme: dark",
        "@media print",
        "deadbeef",
        // What the margin is made of, and what the derivative says.
        "12 different first states; of the margin",
        "the search is the widest; it starts from every first state, so log more episodes",
        "(to first order: an estimate, no bound)",
        &"22".repeat(32),
        "Skip to the results",
    ] {
        assert!(page.contains(part), "no {part}");
    }
}

#[test]
fn nothing_from_outside_becomes_markup() {
    let page = page(&run(3, 50));
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert('x')"));
    assert!(!page.contains('\u{7}'));
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let page = page(&run(3, 50));
    for tag in tags(&page) {
        for attribute in ["src=", "srcset=", "data=", "action="] {
            assert!(!tag.contains(attribute), "{tag}");
        }
        if let Some(target) = tag.split("href=\"").nth(1) {
            assert!(target.starts_with('#'), "{tag}");
        }
        assert!(
            !tag.starts_with("link") && !tag.starts_with("iframe"),
            "{tag}"
        );
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
    // The task's own text may name one; nothing else does.
    assert_eq!(page.matches("http").count(), 1);
}

#[test]
fn identifiers_are_unique_and_tags_are_closed() {
    let page = page(&run(3, 50));
    let ids = tags(&page).filter_map(|tag| tag.split(" id=\"").nth(1)?.split('"').next());
    let mut ids: Vec<&str> = ids.collect();
    let all = ids.len();
    assert!(all > 20);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for name in [
        "section", "figure", "table", "svg", "div", "p", "tr", "td", "th", "ul",
    ] {
        let opened = tags(&page).filter(|tag| tag.split([' ', '\n']).next() == Some(name));
        let closed = page.matches(&format!("</{name}>")).count();
        assert_eq!(opened.count(), closed, "{name}");
    }
    // No two regions have one name.
    let regions: Vec<&str> = tags(&page)
        .filter(|tag| tag.contains("role=\"region\""))
        .collect();
    let names: std::collections::HashSet<&str> = regions
        .iter()
        .filter_map(|tag| tag.split_once(" aria-label").map(|(_, name)| name))
        .collect();
    assert!(regions.len() > 3);
    assert_eq!(names.len(), regions.len(), "{regions:?}");
    let pictures = tags(&page).filter(|tag| tag.starts_with("svg "));
    for svg in pictures {
        assert!(
            svg.contains("role=\"img\"") || svg.contains("aria-hidden"),
            "{svg}"
        );
    }
}

#[test]
fn large_runs_stay_below_three_megabytes() {
    let page = page(&run(60, 2000));
    assert!(page.len() < 3_000_000, "{}", page.len());
    assert!(page.contains("the other 36 are in the run file"));
}

#[test]
fn odd_runs_still_make_a_page() {
    let mut odd = run(1, 3);
    odd.result.decision.verdict = None;
    odd.result.decision.bound = Number(f64::NAN);
    odd.result.decision.threshold = None;
    for estimate in &mut odd.result.evidence.estimates {
        estimate.mean = Number(f64::NAN);
    }
    let loss = odd.result.evidence.loss.as_mut().unwrap();
    loss.by_step = numbers([f32::NAN; 3]);
    loss.places.clear();
    odd.paths.as_mut().unwrap().worst[0].mean = numbers([f32::INFINITY; 4]);
    let text = page(&odd);
    assert!(text.contains("No verdict") && text.contains("not a number"));
    assert!(!text.contains("\"NaN") && !text.contains("MNaN") && !text.contains("inf"));
    odd.paths = None;
    odd.model.theory.clear();
    odd.result.evidence.adversaries.clear();
    odd.result.evidence.estimates.clear();
    let text = page(&odd);
    assert!(!text.contains("id=\"won\"") && text.contains("id=\"repeat\""));
}

/// The part of a page from one heading to the next.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let start = page.find(&format!("<h2 id=\"{id}\"")).unwrap();
    page[start..].split("</section>").next().unwrap()
}

#[test]
fn a_backtest_shows_its_curve_and_from_where_on_the_model_is_blind() {
    let mut tested = run(2, 20);
    let whole = page(&tested);
    let text = section(&whole, "backtest");
    for part in [
        "Failed: from 20 steps on",
        "mark bad",
        "40.0 %, failed",
        ">20</text>",
        "line-threshold",
    ] {
        assert!(text.contains(part), "no {part}: {text}");
    }
    // The one question that fails is marked in the chart, and its key explains the mark.
    assert_eq!(text.matches("class=\"dot-loss\"").count(), 2);
    let found = tested.model.backtest.as_mut().unwrap();
    found.verdict = Verdict::Passed;
    assert!(section(&page(&tested), "backtest").contains("mark good\">Passed"));
    let found = tested.model.backtest.as_mut().unwrap();
    found.verdict = Verdict::TooFewEpisodes { needed: 8 };
    found.lengths.clear();
    let whole = page(&tested);
    let text = section(&whole, "backtest");
    assert!(
        text.contains("8 would show it") && !text.contains("<svg"),
        "{text}"
    );
    tested.model.backtest = None;
    assert!(!page(&tested).contains("backtest"));
}

#[test]
fn a_run_comes_back_from_its_file_and_others_are_refused() {
    let path = std::env::temp_dir().join(format!("hambo-run-{}.json", std::process::id()));
    let mut saved = run(2, 20);
    // Infinity is written as null, and so comes back as no number.
    let support = saved.result.evidence.support.as_mut().unwrap();
    for excursion in [&mut support.neutral, &mut support.worst] {
        excursion.farthest.as_mut().unwrap().distance = Number(1.5);
    }
    saved.write(&path).unwrap();
    assert!(page(&SavedRun::read(&path).unwrap()) == page(&saved));
    for (version, words) in [(1, "written by an earlier version"), (99, "use the hambo")] {
        saved.version = version;
        saved.write(&path).unwrap();
        let error = SavedRun::read(&path).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    std::fs::write(&path, "{\"format\": \"other\", \"version\": 1}").unwrap();
    let error = SavedRun::read(&path).unwrap_err().to_string();
    assert!(
        error.contains("its format is `other`") && error.contains("--save"),
        "{error}"
    );
    // Named once: no advice would overwrite it.
    assert_eq!(error.matches(&path.display().to_string()).count(), 1);
    std::fs::write(&path, "no").unwrap();
    let error = SavedRun::read(&path).unwrap_err().to_string();
    assert!(error.contains("line 1"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(
        SavedRun::read(&path),
        Err(SavedRunError::Read { .. })
    ));
}
