//! The picture with plausible made-up data.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::contents::Point;
use super::*;
use crate::figure::png::{parse, render};

/// A fixed sequence of numbers in −1..1 that look random.
fn noise(step: usize) -> f32 {
    let number = (step as u32).wrapping_mul(2_654_435_761) >> 8;
    number as f32 / 8_388_608.0 - 1.0
}

/// Over (0, height) to the goal in 16 steps.
fn path(height: f32) -> Vec<Point> {
    let state = |t: u8| {
        let x = f32::from(t) / 4.0 - 2.0;
        [x, height * (1.0 - 0.5 * x.abs())]
    };
    (0..=16).map(state).collect()
}

fn sample() -> PointSafetyFigure {
    let logged = path(1.6).into_iter().cycle().take(400).enumerate();
    let logged = logged.map(|(i, [x, y])| [[x, y], [x + 0.2 * noise(i), y + 0.2 * noise(i + 1)]]);
    let steps = path(1.1).into_iter().skip(1).map(|mean| {
        // Wide where the log is far.
        let half_width = [0.01 + 0.02 * mean[1], 0.01 + 0.06 * mean[1]];
        AdversarialStep {
            mean,
            half_width,
            next_state: [mean[0], mean[1] - half_width[1]],
        }
    });
    PointSafetyFigure {
        waypoint: 1.1,
        caption: "the first of ten".to_owned(),
        logged: logged.collect(),
        true_path: path(1.1),
        neutral_path: path(1.12),
        adversarial_steps: steps.collect(),
        true_return: -118.4,
        neutral_return: -21.7,
        bound: -152.9,
        threshold: -40.0,
        verdict: "reject",
    }
}

#[test]
fn everything_is_drawn_once_in_both_windows() {
    let svg = sample().to_svg().unwrap();
    let tree = parse(&svg).unwrap();
    for view in ["overview", "close-up"] {
        for what in ["true-path", "neutral-path", "adversarial-path"] {
            let id = format!("{view}-{what}");
            assert!(tree.node_by_id(&id).is_some(), "{id} is missing");
            let after = svg.split(&format!("id=\"{id}\"")).nth(1).unwrap();
            let data = after.split('>').next().unwrap();
            assert_eq!(data.matches('L').count(), 16, "{id}");
        }
        assert!(tree.node_by_id(&format!("{view}-logged")).is_some());
        let sets = format!("id=\"{view}-confidence-sets\"");
        let sets = svg.split(&sets).nth(1).unwrap().split("</g>").next();
        assert_eq!(sets.unwrap().matches("<rect").count(), 16);
    }
}

#[test]
fn the_close_up_shows_the_largest_set_from_which_the_adversary_enters() {
    let figure = sample();
    let scene = Scene::new(&figure);
    // At the waypoint the set is larger, but its pick stays outside.
    assert_eq!(scene.step.mean[0], 0.25);
    assert!(scene.close_up.sees(scene.step.next_state));
    let width = 2.0 * scene.close_up.half[0] / scene.close_up.scale;
    assert!((0.12..=0.8).contains(&width), "{width}");
}

#[test]
fn paths_answer_the_question_of_the_title() {
    let mut figure = sample();
    let svg = figure.to_svg().unwrap();
    for text in [
        "yes, it does",
        "model’s mean: yes",
        "HAMBO-CA: yes, and deeper",
    ] {
        assert_eq!(svg.matches(text).count(), 1, "{text}");
    }
    assert_eq!(svg.matches("enters the danger zone").count(), 1);

    (figure.true_path, figure.neutral_path) = (path(1.6), path(1.6));
    for step in &mut figure.adversarial_steps {
        step.next_state[1] += 0.6;
    }
    let svg = figure.to_svg().unwrap();
    for text in [
        "no, it stays clear",
        "model’s mean: no",
        "HAMBO-CA: finds no way",
    ] {
        assert_eq!(svg.matches(text).count(), 1, "{text}");
    }
    assert!(!svg.contains("enters the danger zone"));
}

#[test]
fn the_png_shows_the_colours_of_all_paths() {
    let pixels = render(&sample().to_svg().unwrap(), 1.0).unwrap();
    for rgb in [[0x1d, 0x23, 0x2b], [0xe6, 0x9f, 0x00], [0x00, 0x72, 0xb2]] {
        let drawn = pixels.pixels().iter();
        let drawn = drawn.filter(|p| [p.red(), p.green(), p.blue()] == rgb);
        assert!(drawn.count() > 200, "{rgb:?}");
    }
}

#[test]
fn odd_data_draw_and_numbers_that_are_not_finite_are_named() {
    let mut figure = sample();
    figure.logged.clear();
    figure.neutral_path.clear();
    figure.adversarial_steps[5].next_state = [3e38, -3e38];
    figure.adversarial_steps[3].half_width = [3e38; 2];
    (figure.true_return, figure.bound) = (3e38, -3e38);
    render(&figure.to_svg().unwrap(), 0.5).unwrap();
    figure.adversarial_steps[3].next_state[1] = f32::NAN;
    let error = figure.to_svg().unwrap_err().to_string();
    let expected = "adversarial_steps holds a number that is not finite (entry 3)";
    assert_eq!(error, expected);
    figure.adversarial_steps.clear();
    render(&figure.to_svg().unwrap(), 0.5).unwrap();
}
