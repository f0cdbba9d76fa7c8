//! The code words of decisions.
//!
//! A decision in memory is a word of 32 bits. The words differ from each other, from 0 and from
//! all ones in at least twelve bits. A permit's word is the exclusive or of the verdict's and of
//! the floor's: no other pair of words comes nearer than sixteen bits to the one that opens.

/// Every lower bound reaches its threshold.
pub(crate) const DEPLOY: u32 = 0x5aa3_96c5;
/// A lower bound lies below its threshold.
pub(crate) const REJECT: u32 = 0x96c5_3a5c;
/// The evidence is unfit for either.
pub(crate) const ABSTAIN: u32 = 0x6a10_7b75;

/// The bundle asks for as much as its robot.
pub(crate) const ADMITTED: u32 = 0x377e_8e04;
/// It asks for less.
pub(crate) const REFUSED: u32 = 0xa846_baf4;

/// What opens: a deploy of a bundle that is admitted.
pub(crate) const OPEN: u32 = DEPLOY ^ ADMITTED;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [u32; 7] = [DEPLOY, REJECT, ABSTAIN, ADMITTED, REFUSED, 0, u32::MAX];

    #[test]
    fn code_words_are_far_apart() {
        for (place, word) in ALL.iter().enumerate() {
            for other in &ALL[place + 1..] {
                let distance = (word ^ other).count_ones();
                assert!(distance >= 12, "{word:08x} {other:08x}: {distance}");
                assert!((word ^ !other).count_ones() >= 12 || *other == u32::MAX);
            }
        }
    }

    #[test]
    fn no_other_pair_comes_near_to_what_opens() {
        let both =
            |words: &[u32]| -> Vec<u32> { words.iter().flat_map(|word| [*word, !word]).collect() };
        for verdict in both(&[DEPLOY, REJECT, ABSTAIN, 0]) {
            for floor in both(&[ADMITTED, REFUSED, 0]) {
                let distance = (verdict ^ floor ^ OPEN).count_ones();
                match (verdict == DEPLOY, floor == ADMITTED) {
                    (true, true) => assert_eq!(distance, 0),
                    // Both complemented: no word of a decision is.
                    _ if (verdict, floor) == (!DEPLOY, !ADMITTED) => {}
                    _ => assert!(distance >= 16, "{verdict:08x} {floor:08x}: {distance}"),
                }
            }
        }
        assert!((12..=20).contains(&OPEN.count_ones()));
    }
}
