//! Host and board in lock-step, over a line that damages what it carries.
//!
//! Whatever the line does, what comes of a push is what would have come of it without a fault:
//! the same bundle is active, and the host says so. Afterwards the next push succeeds.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod board;
mod faults;

use std::io;
use std::time::Duration;

use hambo_core::gate::Verdict;
use hambo_core::link::drive::DriveMessage;
use hambo_core::link::frame::encode;
use hambo_core::link::update::{Answer, Found, Judged, Objection, Reply};

use self::board::{Board, CAPACITY, Draw, bundle};
use self::faults::{FaultyLine, Kind};
use super::{Patience, Pushed, Remote, RemoteError, Wire};

const PATIENCE: Patience = Patience {
    answer: Duration::from_millis(1),
    tries: 60,
};

/// Runs; every one has some faults.
const RUNS: u64 = 400;

/// What a push is of, and so what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Deploys,
    Rejected,
    OldCounter,
    TooLong,
    ActiveAlready,
}

const CASES: [Case; 5] = [
    Case::Deploys,
    Case::Rejected,
    Case::OldCounter,
    Case::TooLong,
    Case::ActiveAlready,
];

const OLD: u32 = 5;

fn old() -> Vec<u8> {
    bundle(Verdict::Deploy, OLD, 900, 1)
}

impl Case {
    fn bundle(self, seed: u64) -> Vec<u8> {
        let length = 300 + (seed as usize * 97) % 3000;
        match self {
            Self::Deploys => bundle(Verdict::Deploy, OLD + 1, length, seed),
            Self::Rejected => bundle(Verdict::Reject, OLD + 1, length, seed),
            Self::OldCounter => bundle(Verdict::Deploy, OLD, length, seed + 1),
            Self::TooLong => bundle(Verdict::Deploy, OLD + 1, CAPACITY + 1, seed),
            Self::ActiveAlready => old(),
        }
    }

    /// Whether this may come of it: what a line without faults gives.
    fn allows(self, came: &Result<Pushed, RemoteError>) -> bool {
        match (self, came) {
            // The answer may be lost with the board's memory of it; asked again, the board says
            // that the bundle is active.
            (Self::Deploys, Ok(Pushed::Judged(judged))) => {
                (judged.found.verdict, judged.active) == (Ok(Verdict::Deploy), Some(OLD + 1))
            }
            (Self::Deploys | Self::ActiveAlready, Ok(Pushed::Active)) => true,
            (Self::Rejected, Ok(Pushed::Judged(judged))) => {
                (judged.found.verdict, judged.active) == (Ok(Verdict::Reject), None)
            }
            (Self::OldCounter, Err(RemoteError::Refused { why })) => {
                *why == Objection::Counter {
                    least: u64::from(OLD) + 1,
                }
            }
            (Self::TooLong, Err(RemoteError::Refused { why })) => {
                let capacity = CAPACITY as u32;
                *why == Objection::Length { capacity }
            }
            _ => false,
        }
    }

    /// What is active afterwards.
    fn leaves(self, seed: u64) -> Vec<u8> {
        if self == Self::Deploys {
            self.bundle(seed)
        } else {
            old()
        }
    }
}

fn push(board: Board, faults: FaultyLine, bytes: &[u8]) -> (Board, FaultyLine, Came) {
    let mut line = faults;
    line.attach(board);
    let (mut line, came) = push_over(line, 0x5eed, bytes);
    (line.detach(), line, came)
}

fn push_over(line: FaultyLine, first: u32, bytes: &[u8]) -> (FaultyLine, Came) {
    let mut remote = Remote::new(line, first, PATIENCE);
    let came = remote.push(bytes, &mut |_| {});
    (remote.into_wire(), came)
}

type Came = Result<Pushed, RemoteError>;

/// A board on which the old bundle is active.
fn board() -> Board {
    let line = FaultyLine::clean();
    let (board, _, came) = push(Board::new(), line, &old());
    assert!(matches!(came, Ok(Pushed::Judged(_))), "{came:?}");
    board
}

#[test]
fn whatever_the_line_does_the_outcome_is_that_of_a_sound_line() {
    let mut counts = [0_usize; Kind::ALL.len()];
    for seed in 0..RUNS {
        let case = CASES[seed as usize % CASES.len()];
        let bytes = case.bundle(seed);
        let mut draw = Draw::new(seed);
        let rate = [100, 200, 400][draw.below(3)];
        let mut line = FaultyLine::new(draw, rate, 80);
        line.attach(board());
        // Another host before it, whose answers may come late.
        let (line, came) = push_over(line, 0x1000, &Case::Rejected.bundle(seed + 1));
        assert!(Case::Rejected.allows(&came), "{seed}: {came:?}");
        let (mut line, came) = push_over(line, 0x2000, &bytes);
        assert!(case.allows(&came), "{seed} {case:?}: {came:?}");
        let board = line.detach();
        let mut clean = FaultyLine::clean();
        clean.attach(board);
        let mut remote = Remote::new(clean, 0x3000, PATIENCE);
        let hello = remote.hello();
        let mut board = remote.into_wire().detach();
        let active = board.active();
        assert_eq!(active, Some(case.leaves(seed)), "{seed} {case:?}");
        assert!(board.never_activated_unchecked, "{seed} {case:?}");
        assert!(hello.is_ok(), "{seed} {case:?}: {hello:?}");
        for (count, seen) in counts.iter_mut().zip(line.counts) {
            *count += seen;
        }
        // Back in service.
        let next = bundle(Verdict::Deploy, OLD + 2, 500, seed + 9);
        let (mut board, _, came) = push(board, FaultyLine::clean(), &next);
        assert!(matches!(came, Ok(Pushed::Judged(_))), "{seed}: {came:?}");
        assert_eq!(board.active(), Some(next));
    }
    let faults: usize = counts.iter().sum();
    println!(
        "{faults} faults in {RUNS} pushes: {:?} {counts:?}",
        Kind::ALL
    );
    assert!(faults >= 2000, "{faults}");
    assert!(counts.iter().all(|count| *count >= 50), "{counts:?}");
}

/// A board that is off, and a line that is stuck for good.
#[test]
fn a_line_that_stays_silent_is_an_error_and_leaves_the_board_as_it_was() {
    for rate in [1000, 1001] {
        let line = FaultyLine::new(Draw::new(3), rate, usize::MAX);
        let (mut board, _, came) = push(board(), line, &Case::Deploys.bundle(1));
        assert!(matches!(came, Err(RemoteError::Silent { .. })), "{came:?}");
        assert_eq!(board.active(), Some(old()));
    }
}

/// Answers of an earlier host that come again and again, also while its own are awaited.
struct Haunted {
    line: FaultyLine,
    late: Vec<u8>,
}

impl Wire for Haunted {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line.overhear(&self.late);
        self.line.send(bytes)
    }

    fn receive(&mut self, limit: Duration) -> io::Result<Vec<u8>> {
        self.line.receive(limit)
    }
}

#[test]
fn an_answer_to_another_request_is_nobodys() {
    let found = Found {
        verdict: Ok(Verdict::Reject),
        bound: -9.0,
        digest: 0,
    };
    let judged = Judged {
        found,
        active: None,
    };
    let bytes = Case::Deploys.bundle(2);
    for reply in [
        Reply::Active,
        Reply::Judged(judged),
        Reply::Send { from: 0 },
    ] {
        let answer = Answer { number: 8, reply };
        let mut line = FaultyLine::clean();
        line.attach(board());
        let late = encode(&DriveMessage::Answer(answer)).unwrap().to_vec();
        let mut remote = Remote::new(Haunted { line, late }, 9, PATIENCE);
        let came = remote.push(&bytes, &mut |_| {});
        assert!(matches!(came, Ok(Pushed::Judged(_))), "{came:?}");
        assert!(Case::Deploys.allows(&came), "{came:?}");
        let mut board = remote.into_wire().line.detach();
        assert_eq!(board.active(), Some(bytes.clone()));
    }
}

/// A board that takes longer than the first pause is not asked so often that it falls behind.
#[test]
fn a_slow_board_is_given_time() {
    let patience = Patience::of(Duration::from_secs(60));
    let waits = (0..patience.tries).map(|tries| patience.after(tries, 1));
    let waits: Vec<u128> = waits.map(|wait| wait.as_millis()).collect();
    assert_eq!(waits[..6], [500, 1000, 2000, 4000, 8000, 8000]);
    let all = Duration::from_millis(waits.iter().sum::<u128>() as u64);
    assert_eq!(all, patience.waited());
    assert!((60..68).contains(&all.as_secs()), "{all:?}");
}

/// A host that is killed in the middle: the next one goes on where it was.
#[test]
fn a_push_that_is_cut_off_is_resumed() {
    use super::Step;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let bytes = bundle(Verdict::Deploy, OLD + 1, 4000, 4);
    let mut line = FaultyLine::clean();
    line.attach(board());
    let mut remote = Remote::new(line, 1, PATIENCE);
    let cut = catch_unwind(AssertUnwindSafe(|| {
        remote.push(&bytes, &mut |step| {
            if matches!(step, Step::Sent { done, .. } if done > 2000) {
                std::panic::resume_unwind(Box::new(()));
            }
        })
    }));
    assert!(cut.is_err());
    let mut board = remote.into_wire().detach();
    board.restart();
    let mut line = FaultyLine::clean();
    line.attach(board);
    let mut remote = Remote::new(line, 1000, PATIENCE);
    let mut resumed = None;
    let came = remote.push(&bytes, &mut |step| {
        if let Step::Resumed(from) = step {
            resumed = Some(from);
        }
    });
    assert!(matches!(came, Ok(Pushed::Judged(_))), "{came:?}");
    assert!(resumed.is_some_and(|from| from >= 1500), "{resumed:?}");
    assert_eq!(remote.into_wire().detach().active(), Some(bytes));
}
