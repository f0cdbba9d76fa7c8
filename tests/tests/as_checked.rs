//! What was checked is what drives, on the emulated board with a watchdog: one bit of what was read
//! from the bundle flips in memory during the check or the drive, or the bundle's bytes change
//! while its controller drives.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::time::Duration;

use hambo_core::drive::{Mode, Stop};
use hambo_core::task::{Allocation, Effort};
use hambo_task::image::{AlignedBytes, floor_of_trust};
use hambo_tests::fixture::Draw;
use hambo_tests::point_robot::PointBundle;
use hambo_tests::watchdog::{Board, Contents, Heard};

/// The static of the firmware that says where the bundle lies that was read last.
const PLACE: &str = "BUNDLE_PLACE";

/// Where the bundle's bytes lie.
const FLASH: &str = "_model_start";

/// Periods from a change of the bundle's bytes to a dead line.
const IN_TIME: u32 = 100;

/// Flips of each kind; `HAMBO_GLITCHES=200 cargo xtask test` tries more.
fn flips() -> usize {
    let wanted = std::env::var("HAMBO_GLITCHES").ok();
    wanted.map_or(12, |wanted| wanted.parse().unwrap())
}

/// A bundle that deploys, and whose numbers are found again in memory.
fn point() -> PointBundle {
    let mut point = PointBundle {
        horizon: 5,
        delta: 0.0937,
        threshold: Some(-2.3125),
        discount: 0.968_75,
        effort: Effort {
            trajectories: 23,
            searched: 7,
            iterations: 9,
            seed: 0x5eed_1234,
            allocation: Allocation::Even,
        },
        ..PointBundle::default()
    };
    point.about.board = "ast1030-evb".into();
    point
}

fn board(bundle: &AlignedBytes) -> Board {
    board_with(bundle, "reset")
}

fn board_with(bundle: &AlignedBytes, watchdog: &str) -> Board {
    let variable = std::env::var_os("HAMBO_FIRMWARE_WATCHDOG");
    let firmware: PathBuf = variable
        .expect("HAMBO_FIRMWARE_WATCHDOG names the firmware: run `cargo xtask test`")
        .into();
    let floor = floor_of_trust(bundle.as_bytes()).unwrap();
    let contents = Contents {
        bundle: bundle.as_bytes(),
        floor: floor.as_bytes(),
        candidate: &[],
    };
    Board::new(&firmware, contents, watchdog).unwrap()
}

/// Addresses of words of a bundle in memory whose every bit counts, number by number: where it
/// stands, and where an earlier reading may have left it between the fields.
fn aimed(board: &mut Board) -> Vec<Vec<u32>> {
    let (address, length) = board.place(PLACE).unwrap();
    assert!((1000..32_000).contains(&length), "{length}");
    let monitor = point().about.monitor.unwrap();
    let numbers = [
        point().delta,
        point().threshold.unwrap(),
        point().discount,
        monitor.noise_width,
        monitor.surprise_rate,
        monitor.alpha,
    ];
    let numbers = numbers.map(f32::to_bits);
    let numbers = numbers.iter().chain(&[0x5eed_1234, 50_000, 23]);
    let bytes = board.memory(address, length).unwrap();
    let (words, _) = bytes.as_chunks();
    let places = |number: &u32| -> Vec<u32> {
        let words = words.iter().map(|word| u32::from_le_bytes(*word));
        let own = words.enumerate().filter(|(_, word)| word == number);
        let places: Vec<u32> = own.map(|(place, _)| address + 4 * place as u32).collect();
        assert!(!places.is_empty(), "the bundle's number {number:08x}");
        places
    };
    numbers.map(places).collect()
}

/// Addresses of slices of the bundle's bytes, by place and length: those that are in use, and what
/// an earlier reading left between them.
fn slices(board: &mut Board, bundle: &AlignedBytes) -> Vec<u32> {
    let (address, length) = board.place(PLACE).unwrap();
    let flash = board.label(FLASH).unwrap();
    let flash = flash..flash + bundle.as_bytes().len() as u32;
    let bytes = board.memory(address, length).unwrap();
    let (words, _) = bytes.as_chunks();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let pairs = words.windows(2).enumerate();
    let places = pairs.filter(|(_, pair)| flash.contains(&pair[0]) && (1..300).contains(&pair[1]));
    let places: Vec<u32> = places
        .map(|(place, _)| address + 4 * place as u32)
        .collect();
    assert!(places.len() >= 8, "{}", places.len());
    places
}

/// Whether the gate becomes ready to drive before it comes to rest, or hangs, on a board without a
/// watchdog: after a reset another check would open.
fn opens(board: &mut Board) -> bool {
    for _ in 0..60 {
        if board.is_ready_within(Duration::from_millis(200)).unwrap() {
            return true;
        }
        let seen = board.look_while_busy(1).unwrap();
        assert!(
            seen.iter().all(|now| !now.pin && now.resets == 0),
            "{seen:?}"
        );
        let (first, last) = (seen[0], seen[seen.len() - 1]);
        if last.instructions - first.instructions < 1_000_000 {
            return false;
        }
    }
    false
}

/// The gate never becomes ready, and the line stays low.
#[test]
fn a_flip_of_what_was_read_during_the_check_opens_nothing() {
    let bundle = point().bundle().unwrap();
    let draw = &mut Draw::new(0x0001_F11B);
    for run in 0..=flips() {
        let mut board = board_with(&bundle, "none");
        board.offer_robot().unwrap();
        let pauses = 20 + 40 * draw.below(6);
        for _ in 0..pauses {
            board.run_to("Slices*5pause").unwrap();
        }
        let places = aimed(&mut board);
        let places = &places[draw.below(places.len())];
        let (byte, bit) = (draw.below(4) as u32, draw.below(8) as u32);
        // The first run is without a flip.
        for place in places.iter().filter(|_| run > 0) {
            board.flip(place + byte, bit).unwrap();
        }
        board.go_on().unwrap();
        let what = format!("{places:08x?}.{byte}.{bit} after {pauses} slices");
        assert_eq!(opens(&mut board), run == 0, "{what}");
    }
}

/// From a flip on every period is as without it, or the last one.
#[test]
fn a_flip_of_what_was_read_ends_the_drive() {
    let bundle = point().bundle().unwrap();
    let draw = &mut Draw::new(0x000D_217E);
    let (mut noticed, mut reset, mut same) = (0, 0, 0);
    let mut open: Option<Board> = None;
    for run in 0..3 * flips() {
        let mut board = open.take().unwrap_or_else(|| {
            let mut board = board(&bundle);
            board.go_on().unwrap();
            board.wait_until_ready().unwrap();
            board.drive(3).unwrap();
            board
        });
        board.halt().unwrap();
        // Numbers, slices, and anywhere, also between fields.
        let is_aimed = run % 3 == 0;
        let places = match run % 3 {
            0 => {
                let numbers = aimed(&mut board);
                let byte = draw.below(4) as u32;
                let places = &numbers[draw.below(numbers.len())];
                places.iter().map(|place| place + byte).collect()
            }
            1 => {
                let places = slices(&mut board, &bundle);
                vec![places[draw.below(places.len())] + draw.below(4) as u32]
            }
            _ => {
                let (address, length) = board.place(PLACE).unwrap();
                vec![address + draw.below(length as usize) as u32]
            }
        };
        let bit = draw.below(8) as u32;
        let flip = |board: &mut Board| {
            for place in &places {
                board.flip(*place, bit).unwrap();
            }
        };
        flip(&mut board);
        board.go_on().unwrap();
        let what = format!("{places:08x?}.{bit}, aimed: {is_aimed}");
        let position = board.position();
        match board.period().unwrap() {
            Heard::Acted(acted) if acted.mode == Mode::Stopped(Stop::Memory) => noticed += 1,
            Heard::Acted(acted) if acted.mode == Mode::Driving => {
                assert!(!is_aimed, "{what}: {acted:?}");
                let [action] = acted.action.as_slice() else {
                    unreachable!("one action: {what}");
                };
                assert_eq!(action.to_bits(), (-0.5 * position).to_bits(), "{what}");
                same += 1;
                // It goes on without the flip.
                board.halt().unwrap();
                flip(&mut board);
                board.go_on().unwrap();
                open = Some(board);
                continue;
            }
            Heard::Restarted => reset += 1,
            other => unreachable!("{what}: {other:?}"),
        }
        assert!(!board.look().unwrap().pin, "{what}");
    }
    println!("{noticed} noticed, {reset} resets, {same} without effect");
    assert!(noticed + reset >= flips() && noticed > 0);
}

/// Bytes change that were hashed in this round already.
#[test]
fn bytes_that_change_during_a_drive_end_it_in_time() {
    let bundle = point().bundle().unwrap();
    let mut board = board(&bundle);
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    board.drive(20).unwrap();
    board.halt().unwrap();
    let flash = board.label(FLASH).unwrap();
    // Among the 480 bytes and more that are hashed by now. The padding of a manifest: nobody reads it.
    let place = padding(bundle.as_bytes());
    assert!(place < 300, "{place}");
    board.flip(flash + place, 0).unwrap();
    board.go_on().unwrap();
    let mut periods = 0;
    let end = loop {
        match board.period().unwrap() {
            Heard::Acted(acted) if !acted.mode.is_stopped() => periods += 1,
            other => break other,
        }
        assert!(periods < IN_TIME);
    };
    assert_eq!(end, Heard::Ended(Mode::Stopped(Stop::Flash)));
    assert!(!board.look().unwrap().pin);
    println!("found after {periods} periods");
    // The rest of this round, and the first part of the next.
    assert!(periods > 20, "{periods}");
}

/// A byte behind the manifest of a bundle's first part.
fn padding(bytes: &[u8]) -> u32 {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (length, manifest) = (word(8), word(12));
    assert!(manifest < length, "{manifest} of {length}");
    64 + length - 1
}

/// What a period spends on all of this.
#[test]
fn a_piece_and_a_checksum_take_little_of_a_period() {
    let bundle = point().bundle().unwrap();
    let mut board = board(&bundle);
    board.go_on().unwrap();
    board.wait_until_ready().unwrap();
    board.drive(2).unwrap();
    board.halt().unwrap();
    let (mut checksums, mut pieces) = (Vec::new(), Vec::new());
    for _ in 0..8 {
        board.send_sample().unwrap();
        checksums.push(board.instructions_of("Bundle8checksum").unwrap());
        pieces.push(board.instructions_of("Rounds*5go_on").unwrap());
    }
    let (checksum, piece) = (
        *checksums.iter().max().unwrap(),
        *pieces.iter().max().unwrap(),
    );
    let bytes = bundle.as_bytes().len().div_ceil(48) as u64;
    println!("checksum {checksum}, pieces of {bytes} bytes {pieces:?} instructions");
    // One block of 64 bytes, or the end of a part: one or two blocks, and two of what is chained.
    assert!(piece > 1000 && piece < 20_000, "{piece}");
    assert!(checksum < 20_000, "{checksum}");
}
