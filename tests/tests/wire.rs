//! The story of an update on the emulated AST1030: push, check, deploy, drive; a worse one, an older
//! one, and power that fails in the middle.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::path::PathBuf;

use hambo_base::study::Study;
use hambo_core::drive::{Mode, Stop};
use hambo_core::gate::Verdict;
use hambo_core::link::update::Judged;
use hambo_device::remote::Pushed;
use hambo_tests::point_robot::PointBundle;
use hambo_tests::study::unplugged::Unplugged;
use hambo_tests::wire::{Wired, bytes, drive, point};

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("hambo-wire-{name}-{}", std::process::id()))
}

fn judged(pushed: Pushed) -> Judged {
    match pushed {
        Pushed::Judged(judged) => judged,
        Pushed::Active => panic!("active already"),
    }
}

#[test]
fn a_controller_comes_over_the_wire_and_only_a_better_one_takes_its_place() {
    let folder = folder("story");
    let mut wired = Wired::new(&folder, 6).unwrap();
    let mut board = wired.start().unwrap();

    // A board without a bundle.
    let here = wired.hello(&board).unwrap();
    assert_eq!((here.board.as_str(), here.active), ("ast1030-evb", None));
    assert!(here.found.verdict.is_err(), "{here:?}");

    // Push, check, deploy, drive.
    let first = bytes(&point(7)).unwrap();
    let (_, pushed) = wired.push(&board, &first).unwrap();
    let deployed = judged(pushed);
    assert_eq!(deployed.found.verdict, Ok(Verdict::Deploy), "{deployed:?}");
    assert_eq!(deployed.active, Some(7));
    assert!(!board.look().unwrap().pin);
    let driving = wired.restart_and_drive(&mut board, 7).unwrap();

    // While it drives nothing is taken.
    let busy = wired.hello(&board).unwrap_err().to_string();
    assert!(busy.contains("a controller drives"), "{busy}");
    board.take_line_back().unwrap();
    assert_eq!(board.stop().unwrap(), Mode::Stopped(Stop::Asked));

    // A worse one is checked and rejected; its counter is not used up.
    let worse = PointBundle {
        threshold: Some(-0.5),
        fallback: None,
        ..point(8)
    };
    let worse = bytes(&worse).unwrap();
    let (_, pushed) = wired.push(&board, &worse).unwrap();
    let rejected = judged(pushed);
    assert_eq!(rejected.found.verdict, Ok(Verdict::Reject), "{rejected:?}");
    assert_eq!(rejected.active, None);
    let here = wired.hello(&board).unwrap();
    assert_eq!(here.active.unwrap().counter, 7);
    // The start found what the push had deployed, in every bit.
    assert_eq!(here.found.verdict, Ok(Verdict::Deploy));
    assert_eq!(here.found.bound.to_bits(), deployed.found.bound.to_bits());
    assert_eq!(here.found.digest, deployed.found.digest);

    // After a restart the old one drives on.
    assert_eq!(wired.restart_and_drive(&mut board, 7).unwrap(), driving);
    board.stop().unwrap();

    // Roll-back is refused, properly made as the older one is; so is a damaged one.
    let older = bytes(&point(6)).unwrap();
    let refused = wired.push(&board, &older).unwrap_err().to_string();
    assert!(refused.contains("the least is 8"), "{refused}");
    let mut damaged = bytes(&point(9)).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    let (_, pushed) = wired.push(&board, &damaged).unwrap();
    let refused = judged(pushed);
    assert!(refused.found.verdict.is_err(), "{refused:?}");
    assert_eq!(refused.active, None);

    // A better one takes its place.
    let better = PointBundle {
        gain: -0.6,
        ..point(8)
    };
    let better = bytes(&better).unwrap();
    let (_, pushed) = wired.push(&board, &better).unwrap();
    assert_eq!(judged(pushed).active, Some(8));
    let (_, pushed) = wired.push(&board, &better).unwrap();
    assert_eq!(pushed, Pushed::Active);
    assert_ne!(wired.restart_and_drive(&mut board, 7).unwrap(), driving);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_plug_that_is_pulled_in_the_middle_costs_the_rest_of_the_push_and_nothing_else() {
    let folder = folder("plug");
    let mut wired = Wired::new(&folder, 6).unwrap();
    let board = wired.start().unwrap();
    let first = bytes(&point(7)).unwrap();
    wired.push(&board, &first).unwrap();
    let second = bytes(&point(8)).unwrap();
    // A greeting and three pieces, of five.
    assert!(!wired.pull_the_plug(board, &second, 4).unwrap());

    // The old one drives.
    let mut board = wired.start().unwrap();
    drive(&mut board, 5).unwrap();
    board.stop().unwrap();
    let here = wired.hello(&board).unwrap();
    assert_eq!(here.active.unwrap().counter, 7);
    // The push goes on where it was.
    let (resumed, pushed) = wired.push(&board, &second).unwrap();
    assert!(resumed.is_some_and(|from| from >= 512), "{resumed:?}");
    assert_eq!(judged(pushed).active, Some(8));
    wired.restart_and_drive(&mut board, 5).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// One cell of `cargo xtask study unplugged`.
#[test]
fn a_board_that_is_unplugged_is_back_in_service() {
    let rows = Unplugged.run(0).unwrap();
    let column = Unplugged.columns().iter().position(|name| *name == "end");
    for row in rows {
        println!("{row:?}");
        assert_eq!(row[column.unwrap()], "in service", "{row:?}");
    }
}
