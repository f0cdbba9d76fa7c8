//! The code words of the permit as the pin's own code gets them: one pair opens, and no other.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::path::PathBuf;

use hambo_tests::fixture::Draw;
use hambo_tests::glitch::images::Verdict;
use hambo_tests::glitch::timeline::Timeline;
use hambo_tests::glitch::victim::Bench;

/// Words of each kind; `HAMBO_GLITCHES=256 cargo xtask test` tries all 256 small ones.
fn words() -> u32 {
    let wanted = std::env::var("HAMBO_GLITCHES").ok();
    wanted.map_or(24, |wanted| wanted.parse().unwrap())
}

#[test]
fn exactly_one_pair_of_code_words_opens() {
    let firmware = PathBuf::from(std::env::var_os("HAMBO_FIRMWARE").expect("cargo xtask test"));
    let folder = std::env::temp_dir().join(format!("hambo-words-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("deploy.hmb");
    let flash = Verdict::Deploy.flash(true).unwrap();
    fs::write(&file, flash.bytes).unwrap();
    fs::write(file.with_extension("floor"), flash.floor).unwrap();

    let bench = Bench::new(&firmware).unwrap();
    let address = |pattern: &str| bench.program.matching(pattern).next().unwrap().address;
    let timeline = Timeline::record(&bench, &file, address("hambo_gate*4gate*3run17h")).unwrap();
    let raise = timeline.first(address("output_enable*5raise17h"), 0..usize::MAX);
    let raise = raise.expect("a deploy gets to the pin");
    let mut victim = bench.victim(&file).unwrap();

    // Both words come in registers; the second is the complement of the first.
    assert!(timeline.reach(&mut victim, raise).unwrap());
    let registers: Vec<u32> = (0..4).map(|r| victim.gdb.register(r).unwrap()).collect();
    let (first, second, deploy) = (0..4_u8)
        .flat_map(|first| (0..4_u8).map(move |second| (first, second)))
        .map(|(first, second)| (first, second, registers[usize::from(first)]))
        .find(|(_, second, word)| registers[usize::from(*second)] == !word && word.count_ones() > 8)
        .expect("a word and its complement in the first registers");
    let mut opens = |code: u32, complement: u32| {
        assert!(timeline.reach(&mut victim, raise).unwrap());
        victim.gdb.set_register(first, code).unwrap();
        victim.gdb.set_register(second, complement).unwrap();
        victim.finish().unwrap().pin
    };
    assert!(opens(deploy, !deploy));

    let draw = &mut Draw::new(0xC0DE);
    let drawn =
        (0..words()).map(|_| draw.below(1 << 16) as u32 | (draw.below(1 << 16) as u32) << 16);
    let flipped = (0..32).map(|bit| deploy ^ (1 << bit));
    let others: Vec<u32> = (0..words())
        .chain(drawn)
        .chain(flipped)
        .chain([u32::MAX])
        .collect();
    for word in &others {
        assert!(!opens(*word, !deploy), "{word:08x} in place of the first");
        assert!(!opens(deploy, *word), "{word:08x} in place of the second");
        assert!(!opens(*word, !*word), "{word:08x} and its complement");
    }
    // Each in the other's place.
    assert!(!opens(!deploy, deploy));
    println!("1 pair of words opens, {} others do not", 3 * others.len());
    drop(victim);
    fs::remove_dir_all(folder).unwrap();
}
