//! The gate on a board with a watchdog, under QEMU: whatever starves, hangs or breaks ends with a
//! dead line and a reset within two periods, and the line stays dead until a new check and
//! a robot.
//!
//! The level of the line is read from the emulated port at every look.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;

use hambo_base::study::Study;
use hambo_task::image::floor_of_trust;
use hambo_tests::point_robot::PointBundle;
use hambo_tests::study::drive_flips::{DriveFlips, End};
use hambo_tests::study::kept::kept;
use hambo_tests::study::stop_in_reply::StopInReply;
use hambo_tests::watchdog::{Board, Contents, Moment};

/// Two periods of 50 ms; an instruction takes a nanosecond.
const TWO_PERIODS: u64 = 100_000_000;
/// Two limits of a slice, 200 ms each.
const TWO_SLICES: u64 = 400_000_000;

/// Registers of the board's watchdog.
const WDT_RELOAD: u32 = 0x7e78_5004;
const WDT_CONTROL: u32 = 0x7e78_500c;

/// The function that answers a sample.
const LOOP: &str = "ControlLoop10on_message17h";

fn firmware() -> PathBuf {
    let variable = std::env::var_os("HAMBO_FIRMWARE_WATCHDOG");
    variable
        .expect("HAMBO_FIRMWARE_WATCHDOG names the firmware: run `cargo xtask test`")
        .into()
}

/// A board with a bundle that deploys, before its first instruction.
fn board() -> Board {
    board_with("reset")
}

fn board_with(watchdog: &str) -> Board {
    board_and_candidate(&[], watchdog)
}

fn point() -> PointBundle {
    let mut point = PointBundle::default();
    point.about.board = "ast1030-evb".into();
    point
}

fn board_and_candidate(candidate: &[u8], watchdog: &str) -> Board {
    let bundle = point().bundle().unwrap();
    let floor = floor_of_trust(bundle.as_bytes()).unwrap();
    let contents = Contents {
        bundle: bundle.as_bytes(),
        floor: floor.as_bytes(),
        candidate,
    };
    Board::new(&firmware(), contents, watchdog).unwrap()
}

/// A board that has driven for some periods and halts, and what is seen of it.
fn driving() -> (Board, Moment) {
    drive_some(board())
}

fn drive_some(mut board: Board) -> (Board, Moment) {
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    board.drive(7).unwrap();
    board.halt().unwrap();
    let before = board.look().unwrap();
    assert_eq!(before.resets, 0, "{before:?}");
    // An odd number of edges: a level would stay high.
    assert!(before.pin, "{before:?}");
    (board, before)
}

/// Lets a board run on until its reset: by the watchdog, in time, with the line low from then
/// on. The moments until then.
fn reset_in_time(board: &mut Board, before: Moment, limit: u64, what: &str) -> Vec<Moment> {
    let seen = board.look_until(|now| now.resets > 0).unwrap();
    let last = *seen.last().unwrap();
    let after = last.instructions - before.instructions;
    assert_eq!((last.resets, last.watchdog_resets), (1, 1), "{what}");
    assert!(
        after <= limit,
        "{what}: {after} instructions until the reset"
    );
    // No robot answers any more, so nothing raises the line again.
    let dead = board.look_while_busy(150_000_000).unwrap();
    for moment in std::iter::once(&last).chain(&dead) {
        assert!(!moment.pin, "{what}: {moment:?}");
    }
    println!("{what}: reset within {after} instructions, line dead");
    seen
}

#[test]
fn the_line_beats_while_loop_and_monitor_go_on() {
    let mut board = board();
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    let levels = board.drive(40).unwrap();
    let wanted: Vec<bool> = (0..40).map(|period| period % 2 == 0).collect();
    assert_eq!(levels, wanted);
    assert_eq!(board.look().unwrap().resets, 0);
}

/// Samples as fast as the line carries them: the edges keep their time.
#[test]
fn early_samples_make_no_extra_edges() {
    let mut board = board();
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    board.drive(1).unwrap();
    let begin = board.look().unwrap();
    let levels = board.drive(40).unwrap();
    let end = board.look().unwrap();
    assert_eq!((levels.len(), end.resets), (40, 0));
    // Seven eighths of a period each, and the first edge a little before the first look.
    let taken = end.instructions - begin.instructions;
    println!("40 edges in {taken} ns");
    assert!(taken > 39 * (TWO_PERIODS / 16 * 7), "{taken}");
}

/// A store that was not executed at the start leaves a watchdog that does not run, or that waits
/// for too long: nothing drives.
#[test]
fn without_a_running_watchdog_nothing_drives() {
    for (register, value) in [(WDT_CONTROL, 0), (WDT_RELOAD, u32::MAX)] {
        let mut board = board();
        board.offer_robot().unwrap();
        board.run_to("hambo_gate*5drive3run17h").unwrap();
        if register == WDT_CONTROL {
            board.store(register, value).unwrap();
        } else {
            // After the drive's own limit.
            board.run_to("Watchdog*9runs_with").unwrap();
            board.store(register, value).unwrap();
        }
        board.go_on().unwrap();
        let refused = board.wait_until_ready().unwrap_err().to_string();
        assert!(refused.contains("Refused(Watchdog)"), "{refused}");
        let seen = board.look_while_busy(200_000_000).unwrap();
        assert!(seen.iter().all(|now| !now.pin), "{seen:?}");
    }
}

#[test]
fn a_starved_loop_is_reset() {
    let (mut board, before) = driving();
    // No sample comes any more.
    board.go_on().unwrap();
    reset_in_time(&mut board, before, TWO_PERIODS, "loop without samples");
}

#[test]
fn a_hanging_loop_is_reset() {
    let (mut board, before) = driving();
    board.hang_in(LOOP).unwrap();
    board.go_on().unwrap();
    board.send_sample().unwrap();
    reset_in_time(&mut board, before, TWO_PERIODS, "loop that hangs");
}

#[test]
fn a_starved_monitor_is_reset() {
    let (mut board, before) = driving();
    // The loop goes on and gets its samples; the monitor looks at nothing.
    board.empty("Monitor7observe").unwrap();
    board.go_on().unwrap();
    board.send_sample().unwrap();
    let seen = reset_in_time(&mut board, before, TWO_PERIODS, "monitor that does nothing");
    // The line is dead before the reset.
    assert!(
        seen.iter().any(|now| !now.pin && now.resets == 0),
        "{seen:?}"
    );
}

#[test]
fn a_hanging_monitor_is_reset() {
    let (mut board, before) = driving();
    board.hang_in("Monitor7observe").unwrap();
    board.go_on().unwrap();
    board.send_sample().unwrap();
    reset_in_time(&mut board, before, TWO_PERIODS, "monitor that hangs");
}

#[test]
fn a_hanging_check_is_reset_and_never_opened_the_line() {
    let mut board = board();
    for _ in 0..50 {
        board.run_to("Slices*5pause").unwrap();
    }
    let before = board.look().unwrap();
    board.hang_here().unwrap();
    board.go_on().unwrap();
    let seen = reset_in_time(&mut board, before, TWO_SLICES, "check that hangs");
    assert!(seen.iter().all(|now| !now.pin), "{seen:?}");
}

#[test]
fn a_stack_overflow_kills_the_line_and_is_reset() {
    let (mut board, before) = driving();
    board.exhaust_stack(8).unwrap();
    board.go_on().unwrap();
    board.send_sample().unwrap();
    let seen = reset_in_time(&mut board, before, TWO_PERIODS, "stack overflow");
    assert!(
        seen.iter().any(|now| !now.pin && now.resets == 0),
        "{seen:?}"
    );
}

#[test]
fn a_fault_kills_the_line_and_is_reset() {
    let (mut board, before) = driving();
    board.derail().unwrap();
    board.go_on().unwrap();
    let seen = reset_in_time(&mut board, before, TWO_PERIODS, "fault");
    assert!(
        seen.iter().any(|now| !now.pin && now.resets == 0),
        "{seen:?}"
    );
}

/// QEMU ends when a processor locks up. A fault handler that never does anything is the
/// same for all that lies outside the processor.
#[test]
fn a_locked_up_processor_is_reset() {
    let (mut board, before) = driving();
    board.hang_in("HardFault").unwrap();
    board.derail().unwrap();
    board.go_on().unwrap();
    reset_in_time(&mut board, before, TWO_PERIODS, "fault without a handler");
}

/// A loop that lives elsewhere computes the checked controller's action by itself, a = −s / 2.
#[test]
fn a_loop_elsewhere_needs_the_token_and_the_checked_controllers_action() {
    let ready = || {
        let mut board = board();
        board.elsewhere = true;
        board.go_on().unwrap();
        let ready = board.wait_until_ready().unwrap();
        (board, ready)
    };
    let (mut board, first) = ready();
    let token = first.token.unwrap();
    for period in 0..9 {
        assert!(board.claim(token, -0.5).unwrap(), "period {period}");
    }
    assert_eq!(board.look().unwrap().resets, 0);
    // An action of its own.
    assert!(!board.claim(token, -0.4).unwrap());
    let seen = board.look_until(|now| now.resets > 0).unwrap();
    assert!(seen.iter().all(|now| !now.pin), "{seen:?}");

    // A token that was made up, and a sample without one.
    for wrong in [true, false] {
        let (mut board, ready) = ready();
        assert_eq!(ready.image_hash, first.image_hash);
        assert!(board.claim(ready.token.unwrap(), -0.5).unwrap());
        if wrong {
            assert!(!board.claim([7; 16], -0.5).unwrap());
        } else {
            board.send_sample().unwrap();
        }
        let seen = board.look_until(|now| now.resets > 0).unwrap();
        let last = seen.last().unwrap();
        assert!(!last.pin && last.watchdog_resets == 1, "{seen:?}");
    }
}

/// The loop runs above the check of a candidate.
#[test]
fn a_candidate_whose_check_hangs_does_not_stop_the_drive() {
    let mut candidate = point();
    // Its check must not end before the board is halted, also on a busy computer.
    candidate.effort.trajectories = 20_000;
    let candidate = candidate.bundle().unwrap();
    let mut board = board_and_candidate(candidate.as_bytes(), "reset");
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    board.drive(1).unwrap();
    board.halt().unwrap();
    for _ in 0..50 {
        board.run_to("WhileDriving*5pause").unwrap();
    }
    board.hang_here().unwrap();
    board.go_on().unwrap();
    let levels = board.drive(40).unwrap();
    let wanted: Vec<bool> = (0..40).map(|period| period % 2 == 1).collect();
    assert_eq!(levels, wanted);
    assert_eq!(board.look().unwrap().resets, 0);
    assert_eq!(board.candidate, None);
}

/// The verdict on a candidate comes while the first bundle drives, and changes nothing.
#[test]
fn a_candidate_is_judged_while_the_first_bundle_drives() {
    let stricter = PointBundle {
        threshold: Some(-0.5),
        fallback: None,
        ..point()
    };
    let bytes = |point: PointBundle| point.bundle().unwrap().as_bytes().to_vec();
    let mut damaged = bytes(point());
    damaged[500] ^= 1;
    let mut bounds = Vec::new();
    for (candidate, wanted) in [
        (bytes(point()), "deploy"),
        (bytes(stricter), "reject"),
        (damaged, "refused"),
    ] {
        let mut board = board_and_candidate(&candidate, "reset");
        board.go_on().unwrap();
        board.wait_until_ready().unwrap();
        let mut levels = Vec::new();
        while board.candidate.is_none() {
            assert!(levels.len() < 20_000, "{wanted}: no verdict");
            levels.extend(board.drive(1).unwrap());
        }
        let result = board.candidate.unwrap();
        println!("{wanted} after {} periods: {result:?}", levels.len());
        assert_eq!(result.decision(), wanted);
        levels.extend(board.drive(40).unwrap());
        // An edge in every period, before and after.
        let edges = levels
            .iter()
            .enumerate()
            .map(|(at, high)| *high == (at % 2 == 0));
        assert!(edges.into_iter().all(|edge| edge));
        assert_eq!(board.look().unwrap().resets, 0);
        if result.verdict.is_ok() {
            bounds.push(result.bound.to_bits());
        }
    }
    // The threshold does not move the bound.
    assert_eq!(bounds[0], bounds[1]);
}

/// A few of the flips of `cargo xtask study drive_flips`.
#[test]
fn a_flipped_bit_of_loop_or_monitor_never_keeps_the_line_alive() {
    let cells = DriveFlips.cells();
    for cell in (0..cells).step_by(cells / 12) {
        let row = DriveFlips.run(cell).unwrap().remove(0);
        println!("{row:?}");
        let column = DriveFlips.columns().iter().position(|name| *name == "end");
        assert_ne!(row[column.unwrap()], End::GoesOn.name(), "{row:?}");
    }
}

/// What the kept rows of all flips say.
#[test]
fn the_kept_flips_are_noticed_or_have_no_effect() {
    let table = kept(&DriveFlips).unwrap();
    assert_eq!(table.rows().count(), 1000);
    let mut ends = table.rows().map(|row| row.text("end"));
    assert!(ends.all(|end| end != End::GoesOn.name()));
}

/// One board of `cargo xtask study stop_in_reply`.
#[test]
fn a_stop_that_comes_while_a_reply_is_sent_is_honoured() {
    let column = StopInReply.columns().iter().position(|name| *name == "end");
    for row in StopInReply.run(0).unwrap() {
        println!("{row:?}");
        assert_eq!(row[column.unwrap()], "honoured", "{row:?}");
    }
}

/// What the tests above would see on a board whose watchdog does nothing.
#[test]
fn without_a_watchdog_a_hang_keeps_the_line_high() {
    let (mut board, before) = drive_some(board_with("none"));
    board.hang_in(LOOP).unwrap();
    board.go_on().unwrap();
    board.send_sample().unwrap();
    let later = before.instructions + 2 * TWO_PERIODS;
    let seen = board.look_until(|now| now.instructions > later).unwrap();
    assert!(
        seen.iter().all(|now| now.pin && now.resets == 0),
        "{seen:?}"
    );
}
