//! What each path says to the question in the title. All of it is computed.

use super::scene::Scene;
use crate::present::figure::geometry::{Point, distance, first_entry, nearest_on_path};

/// Depths that differ by less look the same.
const VISIBLE: f64 = 0.005;

/// The notes under the names of the paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Notes {
    pub truth: &'static str,
    pub neutral: &'static str,
    pub adversary: &'static str,
}

impl Notes {
    pub(super) fn new(scene: &Scene) -> Self {
        notes(&scene.truth, &scene.neutral, &scene.adversary)
    }
}

fn notes(truth: &[Point], neutral: &[Point], adversary: &[Point]) -> Notes {
    let hits = |path: &[Point]| first_entry(path).is_some();
    let deeper = depth(adversary) > depth(neutral).max(depth(truth)) + VISIBLE;
    Notes {
        truth: if hits(truth) {
            "yes, it does"
        } else {
            "no, it stays clear"
        },
        neutral: match (hits(truth), hits(neutral)) {
            (true, true) => "model’s mean: yes",
            (true, false) => "model’s mean: misses it",
            (false, true) => "model’s mean: yes, wrongly",
            (false, false) => "model’s mean: no",
        },
        adversary: match (hits(neutral), hits(adversary)) {
            (true, true) if deeper => "HAMBO-CA: yes, and deeper",
            (true, true) => "HAMBO-CA: yes",
            (false, true) => "HAMBO-CA: it could",
            (true, false) => "HAMBO-CA: stays clear",
            (false, false) => "HAMBO-CA: finds no way",
        },
    }
}

/// How deep the path goes into the unit disc; negative if it stays outside.
fn depth(path: &[Point]) -> f64 {
    let origin = [0.0, 0.0];
    nearest_on_path(path, origin).map_or(f64::NEG_INFINITY, |p| 1.0 - distance(p, origin))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path along y = `height`.
    fn at(height: f64) -> [Point; 2] {
        [[-2.0, height], [2.0, height]]
    }

    #[test]
    fn the_adversary_is_compared_with_the_other_paths() {
        let note =
            |truth, neutral, adversary| notes(&at(truth), &at(neutral), &at(adversary)).adversary;
        assert_eq!(note(0.9, 0.9, 0.8), "HAMBO-CA: yes, and deeper");
        assert_eq!(note(0.9, 0.9, 0.899), "HAMBO-CA: yes");
        assert_eq!(note(0.7, 0.9, 0.8), "HAMBO-CA: yes");
        assert_eq!(note(0.9, 1.1, 0.8), "HAMBO-CA: it could");
        assert_eq!(note(1.1, 1.1, 1.05), "HAMBO-CA: finds no way");
        assert_eq!(note(1.1, 0.9, 1.05), "HAMBO-CA: stays clear");
    }

    #[test]
    fn the_mean_is_compared_with_the_truth() {
        let note = |truth, neutral| {
            let notes = notes(&at(truth), &at(neutral), &at(0.5));
            (notes.truth, notes.neutral)
        };
        let (yes, no) = ("yes, it does", "no, it stays clear");
        assert_eq!(note(0.9, 0.9), (yes, "model’s mean: yes"));
        assert_eq!(note(0.9, 1.1), (yes, "model’s mean: misses it"));
        assert_eq!(note(1.1, 0.9), (no, "model’s mean: yes, wrongly"));
        assert_eq!(note(1.1, 1.1), (no, "model’s mean: no"));
    }
}
