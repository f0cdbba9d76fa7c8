//! What the desk answers, request by request.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

use sha2::{Digest, Sha256};
use std::vec::Vec;

use super::{About, Desk, Next, Verdicts};
use crate::gate::Verdict;
use crate::image::Name;
use crate::link::device::Decision;
use crate::link::update::{Answer, Ask, CHUNK, Found, Hash, Objection, Reply, Request};
use crate::slots::tests::nor::Nor;
use crate::slots::tests::{BUNDLE, PLACE, slots};

type Result = std::result::Result<Reply, std::ops::Range<u32>>;

fn found(verdict: Decision) -> Found {
    Found {
        verdict,
        bound: -1.5,
        digest: 7,
    }
}

fn desk() -> Desk<Nor> {
    let about = About {
        board: Name::try_from("a board").unwrap(),
        capacity: BUNDLE,
        found: found(Ok(Verdict::Abstain)),
    };
    Desk::new(slots(Nor::new(2 * PLACE as usize)), about)
}

fn bundle(seed: usize) -> Vec<u8> {
    (0..900 + seed)
        .map(|place| (place * (2 * seed + 1)) as u8)
        .collect()
}

fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

fn ask(desk: &mut Desk<Nor>, number: u32, request: Request) -> Result {
    match desk.ask(&Ask { number, request }) {
        Next::Answer(answer) | Next::Restart(answer) => {
            assert_eq!(answer.number, number);
            Ok(answer.reply)
        }
        Next::Check(range) => Err(range),
    }
}

/// Writes a bundle, from the first byte to the last.
fn write(desk: &mut Desk<Nor>, bytes: &[u8]) {
    let begin = Request::Begin {
        length: bytes.len() as u32,
        hash: hash(bytes),
    };
    assert_eq!(ask(desk, 0, begin), Ok(Reply::Send { from: 0 }));
    for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
        let offset = (number * CHUNK) as u32;
        let bytes = heapless::Vec::from_slice(chunk).unwrap();
        let from = offset + chunk.len() as u32;
        let chunk = Request::Chunk { offset, bytes };
        // Also when it comes twice.
        for _ in 0..2 {
            assert_eq!(ask(desk, 1, chunk.clone()), Ok(Reply::Send { from }));
        }
    }
}

fn check(desk: &mut Desk<Nor>, number: u32, bytes: &[u8]) -> Result {
    let hash = hash(bytes);
    ask(desk, number, Request::Check { hash })
}

fn judged(desk: &mut Desk<Nor>, bytes: &[u8], verdict: Decision, counter: u32) -> Answer {
    let verdicts = Verdicts {
        found: found(verdict),
        counter: Some(counter),
    };
    desk.judged(bytes, verdicts).unwrap()
}

/// The counter of the active bundle.
fn counter(desk: &mut Desk<Nor>) -> Option<u32> {
    desk.slots().active().unwrap().map(|active| active.counter)
}

/// Written, checked and judged.
fn push(desk: &mut Desk<Nor>, bytes: &[u8], verdict: Decision, counter: u32) -> Reply {
    write(desk, bytes);
    let range = check(desk, 2, bytes).unwrap_err();
    assert_eq!(range.len(), bytes.len());
    let answer = judged(desk, bytes, verdict, counter);
    assert_eq!(answer.number, 2);
    answer.reply
}

#[test]
fn only_what_deploys_becomes_active_and_nothing_else_raises_the_counter() {
    let mut desk = desk();
    let active = |reply| match reply {
        Reply::Judged(judged) => judged.active,
        other => panic!("{other:?}"),
    };
    let deploys = push(&mut desk, &bundle(1), Ok(Verdict::Deploy), 7);
    assert_eq!(active(deploys), Some(7));
    assert_eq!(check(&mut desk, 3, &bundle(1)), Ok(Reply::Active));
    for (seed, verdict) in [(2, Verdict::Reject), (5, Verdict::Abstain)] {
        let refused = push(&mut desk, &bundle(seed), Ok(verdict), 9);
        assert_eq!((active(refused), counter(&mut desk)), (None, Some(7)));
    }
    // The counter is still to be used.
    let deploys = push(&mut desk, &bundle(3), Ok(Verdict::Deploy), 8);
    assert_eq!((active(deploys), counter(&mut desk)), (Some(8), Some(8)));
    // An older one is refused, before a check and after one.
    let least = Objection::Counter { least: 9 };
    assert_eq!(desk.ensure_counter(8), Err(least));
    assert_eq!(desk.ensure_counter(9), Ok(()));
    let refused = push(&mut desk, &bundle(4), Ok(Verdict::Deploy), 8);
    assert_eq!(refused, Reply::Refused(least));
    assert_eq!(counter(&mut desk), Some(8));
    let Ok(Reply::Here(here)) = ask(&mut desk, 4, Request::Hello) else {
        panic!("not there");
    };
    let active = here.active.unwrap();
    assert_eq!((active.counter, active.hash), (8, hash(&bundle(3))));
}

/// A host that did not hear the answer asks again: the check does not run twice.
#[test]
fn a_check_that_is_asked_again_is_answered_from_memory() {
    let mut desk = desk();
    let reply = push(&mut desk, &bundle(1), Ok(Verdict::Reject), 7);
    assert_eq!(check(&mut desk, 2, &bundle(1)), Ok(reply));
    // Under another number it is another check.
    assert!(check(&mut desk, 3, &bundle(1)).is_err());
    assert_eq!(desk.checking(), Some(3));
    let answer = desk.refuse(Objection::Flash).unwrap();
    assert_eq!(answer.reply, Reply::Refused(Objection::Flash));
    assert_eq!(desk.refuse(Objection::Flash), None);
}

/// The bytes that were checked lie in another memory than those that become active.
#[test]
fn only_the_bytes_that_were_checked_become_active() {
    let mut desk = desk();
    let bytes = bundle(1);
    write(&mut desk, &bytes);
    check(&mut desk, 2, &bytes).unwrap_err();
    let mut other = bytes.clone();
    other[500] ^= 1;
    let answer = judged(&mut desk, &other, Ok(Verdict::Deploy), 7);
    assert_eq!(answer.reply, Reply::Refused(Objection::Hash));
    assert_eq!(counter(&mut desk), None);
    // Nor without having been asked, nor after another request.
    let verdicts = Verdicts {
        found: found(Ok(Verdict::Deploy)),
        counter: Some(7),
    };
    assert_eq!(desk.judged(&bytes, verdicts), None);
    check(&mut desk, 3, &bytes).unwrap_err();
    ask(&mut desk, 4, Request::Hello).unwrap();
    assert_eq!(desk.judged(&bytes, verdicts), None);
    assert_eq!(counter(&mut desk), None);
    // Nor another bundle than the one that was begun.
    let objection = Reply::Refused(Objection::NotBegun);
    assert_eq!(check(&mut desk, 5, &bundle(2)), Ok(objection));
}

#[test]
fn bytes_of_another_bundle_are_not_gone_on_with() {
    let mut desk = desk();
    let (new, other) = (bundle(1), bundle(2));
    write(&mut desk, &new);
    // The first piece of another bundle, as a frame that was late.
    let begin = |bytes: &[u8]| Request::Begin {
        length: bytes.len() as u32,
        hash: hash(bytes),
    };
    ask(&mut desk, 1, begin(&other)).unwrap();
    let chunk = |bytes: &[u8], offset: usize| Request::Chunk {
        offset: offset as u32,
        bytes: heapless::Vec::from_slice(&bytes[offset..(offset + CHUNK).min(bytes.len())])
            .unwrap(),
    };
    ask(&mut desk, 2, chunk(&new, 0)).unwrap();
    for offset in [256, 512, 768] {
        ask(&mut desk, 3, chunk(&other, offset)).unwrap();
    }
    let refused = check(&mut desk, 4, &other);
    assert_eq!(refused, Ok(Reply::Refused(Objection::Hash)));
    assert_eq!(
        ask(&mut desk, 5, begin(&other)),
        Ok(Reply::Send { from: 0 })
    );
    write(&mut desk, &new);
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_erased() {
    let mut desk = desk();
    push(&mut desk, &bundle(1), Ok(Verdict::Deploy), 7);
    write(&mut desk, &bundle(2));
    for length in [0, BUNDLE + 1, u32::MAX] {
        let begin = Request::Begin {
            length,
            hash: [0; 32],
        };
        let capacity = BUNDLE;
        let objection = Reply::Refused(Objection::Length { capacity });
        assert_eq!(ask(&mut desk, 1, begin), Ok(objection));
    }
    let bytes = heapless::Vec::from_slice(&[0; CHUNK]).unwrap();
    for offset in [1, 1024, u32::MAX - 255] {
        let chunk = Request::Chunk {
            offset,
            bytes: bytes.clone(),
        };
        let objection = Reply::Refused(Objection::Offset);
        assert_eq!(ask(&mut desk, 1, chunk), Ok(objection));
    }
    assert!(check(&mut desk, 2, &bundle(2)).is_err());
}
