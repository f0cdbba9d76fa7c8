//! What is said of broken assumptions, counted from the committed rows, and the plants themselves.

use super::rows::{committed, place_of};
use hambo_base::study::Study;
use hambo_base::study::rows::Table;
use hambo_tests::fixture::Draw;
use hambo_tests::study::assumption::{ASSUMPTIONS, Assumption};
use hambo_tests::study::broken::{Broken, CONTROLLERS, LOGS, LogCell};
use hambo_tests::study::broken_summary::Counts as BrokenCounts;
use hambo_tests::study::plant::{Feature, MARGIN, MOST, Plant};
use hambo_tests::study::statistics::Count;

/// What a log can show does not lead to wrong deploys.
#[test]
fn the_claims_of_the_broken_assumptions_hold() {
    let table = committed(&Broken);
    for assumption in ASSUMPTIONS {
        let counts = BrokenCounts::of(&table, assumption);
        assert!((3..=LOGS).contains(&counts.wrong_logs.of));
        assert_eq!(counts.wrong.of, counts.wrong_logs.of * CONTROLLERS);
        let above = counts.too_many();
        assert!(
            !above || !assumption.can_be_seen(),
            "{assumption:?}: {counts:?}"
        );
    }
    for row in table.rows() {
        let reaches = |share: f64| {
            let wanted = row.number("truth") + share * row.number("spread");
            row.yes("fit") && row.number("bound") >= wanted
        };
        let place = || format!("cell {}, {}", row.text("cell"), row.text("controller"));
        assert_eq!(
            reaches(row.number("miss")),
            row.yes("wrong_deploy"),
            "{}",
            place()
        );
        assert_eq!(reaches(-MARGIN), row.yes("good_deploy"), "{}", place());
    }
}

/// A log counts once, however many of its controllers are deployed wrongly.
#[test]
fn broken_assumptions_are_counted_by_log() {
    let mut text = Broken.columns().join(",") + "\n";
    // Two logs of a sound system; both controllers of the first are deployed wrongly.
    for (cell, wrong, good) in [(0, "yes", "yes"), (ASSUMPTIONS.len(), "no", "no")] {
        for controller in 0..CONTROLLERS {
            let log = cell / ASSUMPTIONS.len();
            let name = ASSUMPTIONS[0].name();
            text += &format!(
                "{cell},{name},{log},{controller},-3,0.1,10,0.1,-3,-5,yes,{wrong},{good},\n"
            );
        }
    }
    let table = Table::parse(&text, &Broken).unwrap();
    let counts = BrokenCounts::of(&table, ASSUMPTIONS[0]);
    let [logs, controllers] = [2, 2 * CONTROLLERS].map(|of| Count { hits: of / 2, of });
    assert_eq!((counts.wrong_logs, counts.refused_logs), (logs, logs));
    assert_eq!((counts.wrong, counts.refused), (controllers, controllers));
    assert!(!counts.too_many() && counts.above.hits == 0);
    // Of fifty logs five may mislead, and six are too many.
    for (hits, many) in [(5, false), (6, true)] {
        let wrong_logs = Count { hits, of: LOGS };
        assert_eq!(
            BrokenCounts {
                wrong_logs,
                ..counts
            }
            .too_many(),
            many
        );
    }
}

/// Both disasters are the same logs, controllers and truths under two searches.
#[test]
fn rows_that_share_logs_share_controllers_and_truths() {
    let [mut even, mut focused] =
        [Assumption::Disaster, Assumption::DisasterFocused].map(|one| LogCell::of(place_of(one)));
    assert_ne!(even.case.allocation, focused.case.allocation);
    assert_eq!(even.controllers(), focused.controllers());
    let rows = |cell: &LogCell| {
        cell.log()
            .unwrap()
            .rows()
            .map(|row| row.next_state.to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&even), rows(&focused));
}

/// What is broken is what its name says.
#[test]
fn plants_break_what_they_say() {
    let draw = &mut Draw::new(5);
    let mut still = Plant::linear("still", 2, [[0.0; MOST]; MOST], [1.0, 1.0, 0.0, 0.0]);
    let many = |plant: &Plant, draw: &mut Draw| -> Vec<[f32; MOST]> {
        let mut hidden = plant.hidden(draw);
        let steps = (0..20_000).map(|_| plant.next(&[0.0; MOST], 0.0, &mut hidden, draw));
        steps.collect()
    };
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    // One gust for both states.
    let gusty = Plant {
        gust: [0.5, 0.25, 0.0, 0.0],
        ..still.clone()
    };
    for step in many(&gusty, draw) {
        assert_eq!(step[0], 2.0 * step[1]);
    }
    // The same variance, and most of the noise of one step in the next.
    let coloured = Plant {
        noise: [0.5, 0.0, 0.0, 0.0],
        colour: 0.9,
        ..still.clone()
    };
    let noise: Vec<f32> = many(&coloured, draw).iter().map(|step| step[0]).collect();
    let variance = mean(&noise.iter().map(|x| x * x).collect::<Vec<_>>());
    let pairs: Vec<f32> = noise.windows(2).map(|pair| pair[0] * pair[1]).collect();
    assert!((variance / 0.25 - 1.0).abs() < 0.15, "{variance}");
    assert!((mean(&pairs) / variance - 0.9).abs() < 0.03);
    // Small actions do nothing.
    still.dead_zone = 0.5;
    let mut hidden = still.hidden(draw);
    let of = |action: f32| still.next(&[0.0; MOST], action, &mut hidden, draw)[0];
    assert_eq!([0.4, -0.5, 0.75, -2.0].map(of), [0.0, 0.0, 0.25, -1.5]);
    // In mud a hundredth of a force is left.
    let muddy = Plant {
        dead_zone: 0.0,
        feature: Feature::Mud(1.5),
        ..still.clone()
    };
    let mut hidden = muddy.hidden(draw);
    let places = [1.4, 1.6, -1.6]
        .map(|place| muddy.next(&[place, 0.0, 0.0, 0.0], 2.0, &mut hidden, draw)[0]);
    assert_eq!(places, [2.0, 0.02, 0.02]);
}
