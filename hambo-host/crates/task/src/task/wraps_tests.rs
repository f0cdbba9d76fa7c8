//! Entries of `state.wrap`, as a task gives them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::f32::consts::{PI, TAU};

use super::task_file::TaskFile;
use super::wraps::Wrap;

fn parse(state: &str) -> Result<TaskFile, String> {
    let text = format!(
        "name = 'arm'\nhorizon = 5\n[state]\nnames = ['theta', 'omega']\n{state}\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-theta^2'\n\
         [initial]\nkind = 'point'\nvalue = [0, 0]\n"
    );
    TaskFile::parse(&text, "arm.toml").map_err(|error| error.to_string())
}

#[test]
fn names_periods_and_lower_ends() {
    let wraps = |state: &str| parse(state).unwrap().wraps;
    let wrap = |low, period| Some(Wrap { low, period });
    assert_eq!(wraps(""), [None, None]);
    assert_eq!(wraps("wrap = ['theta']"), [Some(Wrap::RADIANS), None]);
    let both = "wrap = [{ name = 'omega', period = 360 }, { name = 'theta', low = 0 }]";
    assert_eq!(wraps(both), [wrap(0.0, TAU), wrap(-180.0, 360.0)]);
    let given = "wrap = [{ name = 'theta', period = 2.5, low = 0.5 }]";
    assert_eq!(wraps(given), [wrap(0.5, 2.5), None]);
    // Limits around the interval are good, rounded ones too.
    assert!(parse("wrap = ['theta']\nlow = [-3.1416, -1]\nhigh = [3.1415, 1]").is_ok());
}

#[test]
fn entries_are_read_as_they_are_written() {
    for (low, period) in [(-PI, TAU), (0.0, TAU), (-180.0, 360.0), (0.5, 2.5)] {
        let wrap = Wrap { low, period };
        let task = parse(&format!("wrap = [{}]", wrap.entry("theta"))).unwrap();
        assert_eq!(task.wraps, [Some(wrap), None]);
    }
    assert_eq!(Wrap::RADIANS.entry("theta"), "\"theta\"");
}

#[test]
fn what_is_wrong_is_named() {
    for (state, words) in [
        ("wrap = ['thta']", "`thta`, which is no state"),
        ("wrap = ['u']", "name one of theta, omega"),
        ("wrap = [3]", "has 3, which is no name"),
        ("wrap = ['theta', 'theta']", "`theta` a second time"),
        ("wrap = [{ period = 360 }]", "an entry without a name"),
        (
            "wrap = [{ name = 'theta', periods = 2 }]",
            "the key `periods`",
        ),
        ("wrap = [{ name = 'theta', period = 0 }]", "the period 0"),
        ("wrap = [{ name = 'theta', period = -6 }]", "the period -6"),
        (
            "wrap = [{ name = 'theta', period = inf }]",
            "the period inf",
        ),
        (
            "wrap = [{ name = 'theta', period = 'x' }]",
            "the period \"x\"",
        ),
        ("wrap = [{ name = 'theta', low = 1e30 }]", "in 1000"),
        (
            "wrap = ['theta']\nlow = [-1, -9]\nhigh = [1, 9]",
            "its limits -1 to 1 are narrower",
        ),
        (
            "wrap = ['theta']\nlow = [0, -9]\nhigh = [7, 9]",
            "its limits 0 to 7 are narrower",
        ),
    ] {
        let error = parse(state).unwrap_err();
        assert!(error.contains(words), "{state}: {error}");
        assert!(error.contains("`state.wrap`"), "{error}");
    }
}

#[test]
fn a_number_is_moved_by_whole_periods_only() {
    let wrap = Wrap::RADIANS;
    for other in [-3.0, 0.0, 3.1] {
        for x in [-9.0, -3.1, 0.2, 3.13, 12.0] {
            let moved = wrap.next_to(x, other);
            assert!((moved - other).abs() <= PI + 1e-5, "{x} {other}: {moved}");
            let periods = (moved - x) / TAU;
            assert!((periods - periods.round()).abs() < 1e-6);
        }
    }
    assert_eq!(wrap.next_to(0.2, 0.1).to_bits(), 0.2_f32.to_bits());
}
