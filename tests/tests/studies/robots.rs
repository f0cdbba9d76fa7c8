//! What is said of backtest, known physics and monitor on robots, counted from the committed rows.

use super::rows::committed;
use hambo_data::{LoggedRows, draft};
use hambo_tests::fixture::Draw;
use hambo_tests::study::backtest_summary::Counts as BacktestCounts;
use hambo_tests::study::backtests::Backtests;
use hambo_tests::study::condition::{CONDITIONS, Condition, EPISODES};
use hambo_tests::study::faults::DRIVE_CONDITIONS;
use hambo_tests::study::known_physics::KnownPhysics;
use hambo_tests::study::known_summary::Counts as KnownCounts;
use hambo_tests::study::monitored::{ALPHA, Monitored};
use hambo_tests::study::monitored_summary::Counts as MonitoredCounts;
use hambo_tests::study::plant::DELTA;
use hambo_tests::study::robots::ROBOTS;
use hambo_tests::study::simulate::Felt;

#[test]
fn the_claims_of_the_backtest_hold() {
    let table = committed(&Backtests);
    let [shorter, longer] = EPISODES;
    for condition in CONDITIONS {
        let of = |episodes| BacktestCounts::of(&table, condition, episodes);
        let (few, many) = (of(shorter), of(longer));
        match condition {
            Condition::Right => {
                assert!(few.failed.share() <= DELTA, "{few:?}");
                assert!(many.failed.share() <= DELTA, "{many:?}");
                assert!(many.own_failed.share() <= DELTA, "{many:?}");
            }
            _ => assert!(many.failed.share() >= 0.9, "{condition:?}: {many:?}"),
        }
        assert_eq!(many.shortest.iter().sum::<usize>(), many.failed.hits);
        assert!(many.own_either.hits >= many.own_failed.hits.max(many.own_uncalibrated.hits));
    }
}

#[test]
fn a_late_and_a_lagging_action_by_hand() {
    let actions = [1.0, 2.0, 4.0];
    assert_eq!(Felt::AtOnce.of(&actions), 4.0);
    assert_eq!(Felt::Late(1).of(&actions), 2.0);
    assert_eq!(Felt::Late(3).of(&actions), 0.0);
    // 0.5, then 0.5 + 0.75, then 1.25 + 1.375.
    assert_eq!(Felt::Lagging(0.5).of(&actions), 2.625);
}

/// On the same logs the bound comes at least twice as close to the truth, for every robot, and
/// stays below it.
#[test]
fn known_physics_halves_the_gap() {
    let table = committed(&KnownPhysics);
    for robot in &ROBOTS {
        let counts = KnownCounts::of(&table, Some(robot.name));
        assert!(counts.gaps[1] <= 0.5 * counts.gaps[0], "{counts:?}");
        assert!(counts.ratio <= 0.5, "{counts:?}");
        for violations in counts.violations {
            assert!(!violations.above(DELTA), "{counts:?}");
        }
        assert!(
            counts.deployed[1].hits >= counts.deployed[0].hits,
            "{counts:?}"
        );
    }
}

/// Robots that are as they were logged drive on, and faults that show in the transitions are
/// found within 20 steps.
#[test]
fn the_monitor_finds_faults_and_seldom_stops_the_same_robot() {
    let table = committed(&Monitored);
    for robot in &ROBOTS {
        for condition in DRIVE_CONDITIONS {
            let counts = MonitoredCounts::of(&table, |row| {
                row.text("system") == robot.name && row.text("condition") == condition
            });
            if condition == DRIVE_CONDITIONS[0] {
                assert_eq!(counts.stopped.of, 1000);
                // Ten of a thousand, and what chance adds.
                assert!(counts.stopped.hits <= 17, "{}: {counts:?}", robot.name);
                assert!(!counts.stopped.above(f64::from(ALPHA)), "{counts:?}");
            } else if counts.residual > 1.5 {
                let found = counts.stopped.share() >= 0.95 && counts.step <= 20.0;
                assert!(found, "{}, {condition}: {counts:?}", robot.name);
            }
        }
    }
    // Where a fault is not found the bound holds for it.
    let missed = MonitoredCounts::of(&table, |row| {
        row.number("stopped") < 0.95 * row.number("drives")
    });
    assert!(missed.above.of >= 100, "{missed:?}");
    assert_eq!(missed.above.hits, 0, "{missed:?}");
}

/// What `hambo task new` finds in the robots' logs is what is known of them.
#[test]
fn a_draft_finds_integrators_and_circles() {
    for (robot, lines) in ROBOTS.iter().zip([
        &[
            "x = \"x + 0.05 * next.v\"",
            "theta = \"theta + 0.05 * next.omega\"",
        ][..],
        &[
            "x = \"x + 0.05 * next.vx\"",
            "z = \"z + 0.05 * next.vz\"",
            "theta = \"theta + 0.05 * next.omega\"",
        ],
        &["circle = [[\"c\", \"s\"]]"],
    ]) {
        for seed in 0..20 {
            let log = robot.log(20, &mut Draw::new(seed)).unwrap();
            let task = robot.task(false, 0.0).unwrap();
            let path = format!("hambo-draft-{}-{}.csv", robot.name, std::process::id());
            let path = std::env::temp_dir().join(path);
            log.write_csv(&path, &task.state_names, &task.action_names)
                .unwrap();
            let rows = LoggedRows::discover(std::slice::from_ref(&path), &[]).unwrap();
            std::fs::remove_file(&path).unwrap();
            let text = draft(&rows, "robot");
            let found = text.lines().filter(|line| {
                let known = line.contains(" = \"") && line.contains("0.05");
                known || line.starts_with("circle")
            });
            assert_eq!(found.collect::<Vec<_>>(), lines, "{} {seed}", robot.name);
        }
    }
}
