//! The figures with plausible made-up data.

#![allow(clippy::unwrap_used, reason = "a failed test may stop where it fails")]

use std::path::PathBuf;

use super::geometry::{Point, between, distance};
use super::png::{parse, render};
use super::*;

/// The action of pi_y: at most 0.5 long, never past its target.
fn next_state(s: Point, waypoint: f64) -> Point {
    let target = if s[0] < 0.0 {
        [0.0, waypoint]
    } else {
        [2.0, 0.0]
    };
    let far = distance(s, target);
    if far <= 0.5 {
        target
    } else {
        between(s, target, 0.5 / far)
    }
}

/// A fixed sequence of numbers in −1..1 that look random.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f64) / f64::from(1u32 << 23) - 1.0
    }

    fn normal(&mut self, std: f64) -> f64 {
        let sum: f64 = (0..6).map(|_| self.next()).sum();
        sum / 2f64.sqrt() * std
    }
}

fn narrow(p: Point) -> [f32; 2] {
    p.map(|v| v as f32)
}

fn sample() -> PointSafetyFigure {
    let mut noise = Noise(7);
    let mut logged = Vec::new();
    for _ in 0..120 {
        let mut s = [-2.0, 0.0];
        for _ in 0..16 {
            let mut next = next_state(s, 1.6);
            next = [next[0] + noise.normal(0.1), next[1] + noise.normal(0.1)];
            logged.push([narrow(s), narrow(next)]);
            s = next;
        }
    }
    let (mut truth, mut neutral, mut adversary) =
        (vec![[-2.0, 0.0]], vec![[-2.0, 0.0]], vec![[-2.0, 0.0]]);
    let mut sets = Vec::new();
    for t in 0..16 {
        truth.push(next_state(truth[t], 1.1));
        let lift = if neutral[t][0] < 0.5 { 0.045 } else { 0.0 };
        let mean = next_state(neutral[t], 1.1);
        neutral.push([mean[0], mean[1] + lift]);
        let s: Point = adversary[t];
        let mean = next_state(s, 1.1);
        // Wide where the data are far: between the disc's top and the log's path.
        let data_y = 1.6 - 0.8 * mean[0].abs();
        let far = (data_y - mean[1]).clamp(0.0, 0.8);
        let half = [0.008 + 0.10 * far, 0.010 + 0.17 * far];
        adversary.push([mean[0] + 0.6 * half[0], mean[1] - half[1]]);
        sets.push(ConfidenceSet {
            center: narrow(mean),
            half_width: narrow(half),
        });
    }
    let path = |p: Vec<Point>| p.into_iter().map(narrow).collect();
    PointSafetyFigure {
        logged,
        true_path: path(truth),
        neutral_path: path(neutral),
        adversarial_path: path(adversary),
        confidence_sets: sets,
        true_return: -118.4,
        neutral_return: -21.7,
        bound: -152.9,
        threshold: -40.0,
        verdict: "reject".to_owned(),
        controller: "pi_1.1".to_owned(),
    }
}

fn study() -> StudyFigure {
    let neutral = [0, 1, 4, 6, 9, 10, 10];
    let ca = [0, 0, 0, 0, 0, 0, 2, 5, 8, 9];
    let points = (0..17).map(|i| StudyPoint {
        y: 1.0 + 0.05 * i as f32,
        unsafe_: i <= 3,
        neutral_deploys: neutral.get(i).copied().unwrap_or(10),
        ca_deploys: ca.get(i).copied().unwrap_or(10),
        models: 10,
    });
    StudyFigure {
        points: points.collect(),
    }
}

/// A fresh folder of this test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("hambo-figure-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn the_svg_is_well_formed_and_the_same_every_time() {
    let svg = sample().to_svg().unwrap();
    assert_eq!(svg, sample().to_svg().unwrap());
    let tree = parse(&svg).unwrap();
    for view in ["overview", "close-up"] {
        for what in [
            "true-path",
            "neutral-path",
            "adversarial-path",
            "confidence-sets",
            "logged",
        ] {
            let id = format!("{view}-{what}");
            assert!(tree.node_by_id(&id).is_some(), "{id} is missing");
            assert_eq!(svg.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        }
    }
    let tree = parse(&study().to_svg().unwrap()).unwrap();
    assert!(tree.node_by_id("neutral").is_some() && tree.node_by_id("ca").is_some());
}

#[test]
fn every_step_is_drawn() {
    let svg = sample().to_svg().unwrap();
    for view in ["overview", "close-up"] {
        let after = |what: &str| {
            let start = svg.find(&format!("id=\"{view}-{what}\"")).unwrap();
            &svg[start..]
        };
        let sets = after("confidence-sets").split("</g>").next().unwrap();
        assert_eq!(sets.matches("<rect").count(), 16);
        for path in ["true-path", "neutral-path", "adversarial-path"] {
            let start = svg[..svg.len() - after(path).len()].rfind("<path").unwrap();
            let data = svg[start..].split("/>").next().unwrap();
            assert_eq!(data.matches('L').count(), 16, "{path}");
        }
        // The steps at the goal share a dot.
        let dots = after("adversarial-path").split("<g").next().unwrap();
        let dots = dots.matches("<circle").count();
        assert!((10..=17).contains(&dots), "{dots}");
    }
}

/// The SVG text of the element with this id.
fn element<'a>(svg: &'a str, id: &str) -> &'a str {
    let start = svg.find(&format!("id=\"{id}\"")).unwrap();
    svg[start..].split("</g>").next().unwrap()
}

#[test]
fn the_close_up_shows_one_step_and_its_scale() {
    let svg = sample().to_svg().unwrap();
    let step = element(&svg, "close-up-step");
    assert_eq!(step.matches("<rect").count(), 1);
    assert_eq!(step.matches("<circle").count(), 2);
    assert!(element(&svg, "ruler").contains("the dashed frame, ×"));
    for name in ["the model’s mean", "the adversary’s pick"] {
        assert_eq!(svg.matches(name).count(), 1, "{name}");
    }
}

#[test]
fn the_entry_is_named_once() {
    let mut figure = sample();
    let count = |figure: &PointSafetyFigure| {
        let svg = figure.to_svg().unwrap();
        svg.matches("enters the danger zone").count()
    };
    assert_eq!(count(&figure), 1);
    for p in &mut figure.adversarial_path {
        p[1] += 0.6;
    }
    assert_eq!(count(&figure), 0);
}

#[test]
fn small_sets_stay_in_sight() {
    let mut figure = sample();
    let count = |figure: &PointSafetyFigure| {
        let svg = figure.to_svg().unwrap();
        element(&svg, "overview-small-sets")
            .matches("<rect")
            .count()
    };
    for set in &mut figure.confidence_sets {
        set.half_width = [0.001; 2];
    }
    assert_eq!(count(&figure), 16);
    for set in &mut figure.confidence_sets {
        set.half_width = [0.1; 2];
    }
    assert_eq!(count(&figure), 0);
}

#[test]
fn the_png_shows_the_colours_of_all_paths() {
    let pixels = render(&sample().to_svg().unwrap(), 1.0).unwrap();
    assert_eq!((pixels.width(), pixels.height()), (1400, 866));
    for (what, rgb) in [
        ("truth", [0x1d, 0x23, 0x2b]),
        ("neutral", [0xe6, 0x9f, 0x00]),
        ("adversary", [0x00, 0x72, 0xb2]),
    ] {
        let hits = pixels
            .pixels()
            .iter()
            .filter(|p| [p.red(), p.green(), p.blue()] == rgb)
            .count();
        assert!(hits > 200, "{what}: {hits} pixels");
    }
}

#[test]
fn bad_numbers_are_named_and_leave_no_file() {
    let folder = folder("bad");
    let mut figure = sample();
    figure.adversarial_path[3][1] = f32::NAN;
    let error = figure
        .write_svg_and_png(&folder.join("pi_1.1"))
        .unwrap_err();
    assert!(
        matches!(
            error,
            FigureError::NonFinite {
                what: "adversarial_path",
                index: 3
            }
        ),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::remove_dir_all(folder).unwrap();

    let mut figure = sample();
    figure.bound = f32::NEG_INFINITY;
    assert!(matches!(
        figure.to_svg(),
        Err(FigureError::NonFinite { what: "bound", .. })
    ));
    let mut figure = sample();
    figure.confidence_sets[2].half_width[0] = -0.1;
    assert!(matches!(
        figure.to_svg(),
        Err(FigureError::NegativeHalfWidth { index: 2 })
    ));
    let mut figure = sample();
    figure.confidence_sets.pop();
    assert!(matches!(
        figure.to_svg(),
        Err(FigureError::SetsDoNotMatchSteps {
            steps: 16,
            sets: 15
        })
    ));
    let mut figure = study();
    figure.points[1].ca_deploys = 11;
    assert!(matches!(
        figure.to_svg(),
        Err(FigureError::MoreDeploymentsThanModels { index: 1 })
    ));
}

#[test]
fn files_keep_their_dots_and_errors_name_the_file() {
    let folder = folder("files");
    let written = study().write_svg_and_png(&folder.join("pi_1.1")).unwrap();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["pi_1.1.png", "pi_1.1.svg"]);
    assert!(written.iter().all(|path| path.is_file()));
    std::fs::remove_dir_all(&folder).unwrap();

    let error = study().write_svg_and_png(&folder.join("gone")).unwrap_err();
    assert!(error.to_string().contains("gone.svg"), "{error}");
}

#[test]
fn odd_data_still_draw() {
    let mut figure = sample();
    figure.logged.clear();
    figure.verdict = "a verdict <of> far & too many \u{7} words".to_owned();
    figure.controller = "my \"policy\"".to_owned();
    figure.adversarial_path[5] = [3e38, -3e38];
    figure.true_path = vec![[-2.0, 0.0]];
    figure.neutral_return = figure.threshold;
    figure.true_return = figure.threshold;
    figure.bound = -3e38;
    figure.confidence_sets[3].half_width = [3e38; 2];
    render(&figure.to_svg().unwrap(), 0.5).unwrap();
    assert!(matches!(
        render(&figure.to_svg().unwrap(), f32::NAN),
        Err(FigureError::Scale(_))
    ));
    let mut point = sample();
    point.adversarial_path.truncate(1);
    point.confidence_sets.clear();
    render(&point.to_svg().unwrap(), 0.5).unwrap();
    let one = StudyFigure {
        points: study().points[..1].to_vec(),
    };
    render(&one.to_svg().unwrap(), 0.5).unwrap();
}
