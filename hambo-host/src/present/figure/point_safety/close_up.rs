//! Which step the close-up shows, and how large.

use super::scene::Scene;
use super::{COLUMNS, OVERVIEW, TOP};
use crate::present::figure::geometry::{Point, between, distance, first_entry, nearest_on_path};
use crate::present::figure::view::View;

/// The window's least and greatest width in data units.
const WIDTHS: [f64; 2] = [0.12, 0.8];
/// The share of the window's width or height that the set may fill.
const SHARE: f64 = 1.0 / 3.0;
/// How much the window may grow to hold the set's surroundings.
const GROWTH: f64 = 1.6;
/// What must lie in sight keeps away from the window's edge by this share of its size.
const MARGIN: f64 = 0.12;
const ORIGIN: Point = [0.0, 0.0];

/// One step under the magnifying glass.
#[derive(Debug, Clone, Copy)]
pub(super) struct CloseUp {
    /// The step, if there is any.
    pub step: Option<usize>,
    /// The window.
    pub view: View,
}

impl CloseUp {
    pub(super) fn new(scene: &Scene) -> Self {
        let step = choose(&scene.sets, &scene.adversary);
        let (center, width) = step.map_or(([0.0, 1.0], WIDTHS[1]), |step| window(scene, step));
        Self {
            step,
            view: view(center, width),
        }
    }
}

/// The step with the largest set among those that the adversary pushes into the disc, towards
/// its middle; if there is none, among those that end in the disc; then among those that touch
/// it; then the step that comes nearest.
fn choose(sets: &[[Point; 2]], path: &[Point]) -> Option<usize> {
    let steps: Vec<(usize, &[Point; 2], &[Point])> = sets
        .iter()
        .zip(path.windows(2))
        .enumerate()
        .map(|(step, (set, ends))| (step, set, ends))
        .filter(|(_, [mean, _], ends)| OVERVIEW.contains(*mean) && OVERVIEW.contains(ends[1]))
        .collect();
    let size = |[_, half_width]: &[Point; 2]| half_width[0] + half_width[1];
    let largest = |fits: fn(Point, &[Point]) -> bool| {
        let candidates = steps
            .iter()
            .filter(|(_, [mean, _], ends)| fits(*mean, ends));
        candidates.max_by(|a, b| size(a.1).total_cmp(&size(b.1)))
    };
    let gap = |ends: &[Point]| nearest_on_path(ends, ORIGIN).map_or(0.0, radius);
    largest(|mean, ends| radius(ends[1]) <= radius(mean).min(1.0))
        .or_else(|| largest(|_, ends| radius(ends[1]) <= 1.0))
        .or_else(|| largest(|_, ends| first_entry(ends).is_some()))
        .or_else(|| {
            let all = steps.iter();
            all.min_by(|a, b| gap(a.2).total_cmp(&gap(b.2)))
        })
        .map(|(step, _, _)| *step)
}

/// The distance from the middle of the disc.
fn radius(p: Point) -> f64 {
    distance(p, ORIGIN)
}

/// The centre and the width of a step's window: the set and the adversary's pick, and the
/// nearest pieces of the other paths and of the disc's edge where they are not too far.
fn window(scene: &Scene, step: usize) -> (Point, f64) {
    let [mean, half_width] = scene.sets[step];
    let mut least = [0, 1].map(|i| mean[i] - half_width[i]);
    let mut most = [0, 1].map(|i| mean[i] + half_width[i]);
    let aspect = aspect();
    let needed = |least: Point, most: Point, share: f64| {
        (most[0] - least[0]).max((most[1] - least[1]) / aspect) / share
    };
    let base = needed(least, most, SHARE).clamp(WIDTHS[0], WIDTHS[1]);
    let largest = (GROWTH * base).min(WIDTHS[1]);
    let far = radius(mean).max(1e-6);
    let around = [
        scene.adversary.get(step + 1).copied(),
        Some(mean.map(|x| x / far)),
        nearest_on_path(&scene.neutral, mean),
        nearest_on_path(&scene.truth, mean),
    ];
    for p in around.into_iter().flatten() {
        let (lower, upper) = (
            [0, 1].map(|i| least[i].min(p[i])),
            [0, 1].map(|i| most[i].max(p[i])),
        );
        if needed(lower, upper, 1.0 - 2.0 * MARGIN) <= largest {
            (least, most) = (lower, upper);
        }
    }
    let width = needed(least, most, 1.0 - 2.0 * MARGIN).clamp(base, largest);
    (between(least, most, 0.5), width)
}

/// Height of the close-up over its width.
fn aspect() -> f64 {
    let [left, right] = COLUMNS[1];
    OVERVIEW.size()[1] / (right - left)
}

fn view(center: Point, width: f64) -> View {
    let [left, right] = COLUMNS[1];
    let half = [0.5 * width, 0.5 * width * aspect()];
    View {
        min: [center[0] - half[0], center[1] - half[1]],
        max: [center[0] + half[0], center[1] + half[1]],
        corner: [left, TOP],
        scale: (right - left) / width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four steps over the disc; the third ends inside.
    const PATH: [Point; 5] = [
        [-2.0, 0.0],
        [-1.0, 0.6],
        [0.0, 1.05],
        [0.4, 0.8],
        [2.0, 0.0],
    ];

    /// A set around the end of every step of the path.
    fn sets(path: &[Point], half_widths: [f64; 4]) -> Vec<[Point; 2]> {
        let ends = path.iter().skip(1).zip(half_widths);
        ends.map(|(end, half)| [*end, [half, 0.5 * half]]).collect()
    }

    fn scene(half_widths: [f64; 4]) -> Scene {
        Scene {
            logged: Vec::new(),
            truth: vec![[-2.0, 0.0], [0.0, 1.1], [2.0, 0.0]],
            neutral: vec![[-2.0, 0.0], [0.0, 1.1], [2.0, 0.0]],
            sets: sets(&PATH, half_widths),
            entry: first_entry(&PATH),
            adversary: PATH.to_vec(),
        }
    }

    #[test]
    fn the_largest_set_that_ends_in_the_disc_is_shown() {
        let half_widths = [0.5, 0.2, 0.01, 0.3];
        assert_eq!(choose(&sets(&PATH, half_widths), &PATH), Some(2));
        let mut outwards = sets(&PATH, half_widths);
        outwards.push([[0.2, 0.2], [0.4, 0.4]]);
        let longer = [&PATH[..], &[[0.3, 0.3]]].concat();
        assert_eq!(choose(&outwards, &longer), Some(2));
        let mut crossing = PATH;
        crossing[3] = [1.1, 0.0];
        assert_eq!(choose(&sets(&crossing, half_widths), &crossing), Some(1));
        let above = PATH.map(|[x, y]| [x, y + 0.5]);
        assert_eq!(choose(&sets(&above, half_widths), &above), Some(3));
        let gone = PATH.map(|[x, y]| [x + 1e30, y]);
        assert_eq!(choose(&sets(&gone, half_widths), &gone), None);
        assert_eq!(choose(&[], &PATH[..1]), None);
    }

    #[test]
    fn the_window_fits_the_set() {
        for (half, least, most) in [
            (1e-4, WIDTHS[0], GROWTH * WIDTHS[0]),
            (0.05, 0.3, 0.3 * GROWTH),
            (3.0, WIDTHS[1], WIDTHS[1]),
        ] {
            let close_up = CloseUp::new(&scene([half; 4]));
            assert_eq!(close_up.step, Some(2));
            let view = close_up.view;
            let width = view.max[0] - view.min[0];
            let allowed = least - 1e-9..=most + 1e-9;
            assert!(allowed.contains(&width), "{half}: {width}");
            assert!(view.contains(PATH[3]), "{half}");
            let [left, right] = COLUMNS[1];
            let size = view.size();
            assert!((size[0] - (right - left)).abs() < 1e-6);
            assert!((size[1] - OVERVIEW.size()[1]).abs() < 1e-6);
        }
    }
}
