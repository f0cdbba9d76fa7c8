//! Pseudorandom numbers by hashing where they are used (trajectory and
//! start, sweep, step, component): a search needs no stream and no memory for them, and its
//! choices do not depend on the order in which they are made.

/// A hash of four numbers: the finaliser of MurmurHash3 over their sum, each
/// times an odd constant.
fn hash(place: [u32; 4]) -> u32 {
    const FACTORS: [u32; 4] = [0x9E37_79B9, 0x85EB_CA6B, 0xC2B2_AE35, 0x27D4_EB2F];
    let mut hash = 1_u32;
    for (number, factor) in place.iter().zip(FACTORS) {
        hash = hash.wrapping_add(number.wrapping_mul(factor));
    }
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xC2B2_AE35);
    hash ^ (hash >> 16)
}

/// One number for a trajectory and a start: the first of the four.
pub(super) fn place(trajectory: u32, start: u32) -> u32 {
    hash([trajectory, start, 0, 0])
}

/// +1 or −1.
pub(super) fn sign(place: [u32; 4]) -> f32 {
    if hash(place) & 1 == 0 { 1.0 } else { -1.0 }
}

/// A number in [−1, 1], uniform.
pub(super) fn uniform(place: [u32; 4]) -> f32 {
    // 24 bits are exact.
    (hash(place) >> 8) as f32 / 8_388_607.5 - 1.0
}

/// An integer below `count`; 0 if there is none.
pub(super) fn below(place: [u32; 4], count: u32) -> u32 {
    hash(place).checked_rem(count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_spread_over_their_range() {
        let places = || (0..1000).map(|i| [i / 100, i % 100, i % 3, 7]);
        let signs: f32 = places().map(sign).sum();
        assert!(signs.abs() < 100.0, "{signs}");
        let numbers: Vec<f32> = places().map(uniform).collect();
        assert!(numbers.iter().all(|x| (-1.0..=1.0).contains(x)));
        let squares: f32 = numbers.iter().map(|x| x * x).sum();
        assert!((squares / 1000.0 - 1.0 / 3.0).abs() < 0.05, "{squares}");
        for kind in 0..5 {
            let count = places().filter(|place| below(*place, 5) == kind).count();
            assert!((150..250).contains(&count), "{kind}: {count}");
        }
        assert_eq!(below([1, 2, 3, 4], 0), 0);
    }

    /// Computed from the definition of the finaliser in another language.
    #[test]
    fn it_is_the_finaliser_of_murmur() {
        assert_eq!(hash([0; 4]), 0x514E_28B7);
        assert_eq!(hash([1, 2, 3, 4]), 0x9551_ED00);
        assert_eq!(hash([7, 0, 0, 0]), 0xF8ED_16A2);
        assert_eq!(hash([u32::MAX; 4]), 0x4696_B9E1);
        assert_eq!(place(7, 0), 0xF8ED_16A2);
    }

    #[test]
    fn the_numbers_of_a_hash() {
        // The first hash is odd, the second even.
        assert_eq!((sign([0; 4]), sign([1, 2, 3, 4])), (-1.0, 1.0));
        assert!((uniform([0; 4]) + 0.364_802_3).abs() < 1e-6);
        assert!((uniform([7, 0, 0, 0]) - 0.944_735_4).abs() < 1e-6);
        assert_eq!((below([0; 4], 5), below([7, 0, 0, 0], 5)), (2, 4));
    }
}
