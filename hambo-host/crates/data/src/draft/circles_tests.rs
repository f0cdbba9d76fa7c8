//! Circles in simulated logs: what was built in is found, and no more.

use super::rows::LoggedRows;
use super::simulated::{log, without_starts};
use super::text::draft;

/// A pendulum of cosine, sine and angular velocity.
fn pendulum(radius: f32) -> LoggedRows {
    log("c s omega", move |s, u, noise| {
        let omega = 0.95 * s[2] + 0.5 * s[1] + u + 0.02 * noise.next();
        let angle = s[1].atan2(s[0]) + 0.05 * omega;
        vec![radius * angle.cos(), radius * angle.sin(), omega]
    })
}

#[test]
fn cosine_and_sine_are_on_the_circle() {
    let circle = without_starts(pendulum(1.0));
    let circles = circle.circles();
    assert_eq!((circles.len(), circles[0].columns), (1, [0, 1]));
    assert!(circles[0].residual < 1e-6);
    assert!(circle.known(&[], &[]).is_empty() && circle.known(&[], &circles).is_empty());
    let text = draft(&circle, "pendulum");
    assert!(text.contains("\ncircle = [[\"c\", \"s\"]]\n"), "{text}");
    assert!(text.contains("\n# low = [-1, -1, "), "{text}");
    assert!(text.contains("\n# high = [1, 1, "), "{text}");
    assert!(!text.contains("[known]"), "{text}");
    // A little beside it, or with one row beside it.
    assert!(without_starts(pendulum(1.002)).circles().is_empty());
    assert!(pendulum(1.0).circles().is_empty());
    // Two flags of which one is up are on the circle too, and constants.
    let flags = log("a b", |_, u, _| {
        [[0.0, 1.0], [1.0, 0.0]][usize::from(u > 0.0)].to_vec()
    });
    assert!(without_starts(flags).circles().is_empty());
    let still = log("c s", |_, _, _| vec![0.6, 0.8]);
    assert!(without_starts(still).circles().is_empty());
}

#[test]
fn every_state_has_one_circle_at_most() {
    let arm = without_starts(log("c0 c1 s0 s1 copy", |s, u, noise| {
        let first = s[2].atan2(s[0]) + 0.1 * u;
        let second = s[3].atan2(s[1]) + 0.2 * noise.next();
        vec![
            first.cos(),
            second.cos(),
            first.sin(),
            second.sin(),
            second.sin(),
        ]
    }));
    let columns: Vec<_> = arm.circles().iter().map(|circle| circle.columns).collect();
    assert_eq!(columns, [[0, 2], [1, 3]]);
}
