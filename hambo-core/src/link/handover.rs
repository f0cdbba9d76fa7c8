//! What the verifier leaves in memory for the gate, which starts after it.
//!
//! The verifier is a program of its own: it reads the signatures of bundle, candidate and floor,
//! and says of each by which hash it was verified, or why not. Every word is there twice, the
//! second time with all bits the other way round: what nobody wrote is never taken for a word.

use sha2::{Digest, Sha256};

use crate::image::Role;

/// Words of a slot: its state, and a hash.
const SLOT: usize = 9;
/// The words of all slots.
const PLAIN: usize = 3 * SLOT;
/// The length of a handover in words.
pub const WORDS: usize = 2 * PLAIN;

/// The state of a slot whose hash was verified. Far from all others, from 0 and from erased flash.
const VERIFIED: u32 = 0xa5c3_963c;

/// Why what lies in flash counts as unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Doubt {
    /// No verifier ran, or what it left is damaged.
    NoVerifier,
    /// The verifier was built without keys.
    NoKeys,
    /// There is no signature, or one that cannot be read.
    Unsigned,
    /// Another key made it.
    OtherKey,
    /// It is not a signature of these bytes.
    Wrong,
    /// What was verified is not what lies there now.
    Changed,
}

const DOUBTS: [(Doubt, u32); 4] = [
    (Doubt::NoKeys, 0x3c96_c3a5),
    (Doubt::Unsigned, 0x5a69_3cc3),
    (Doubt::OtherKey, 0xc33c_5a96),
    (Doubt::Wrong, 0x9669_a55a),
];

/// What the verifier found of one place in flash.
pub type Verified = Result<[u8; 32], Doubt>;

/// What the verifier found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// Of the bundle.
    pub bundle: Verified,
    /// Of the second bundle, which is checked during a drive.
    pub candidate: Verified,
    /// Of the floor.
    pub floor: Verified,
}

impl Handover {
    /// The words for the gate.
    pub fn to_words(&self) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        let slots = [&self.bundle, &self.candidate, &self.floor];
        for (words, slot) in words.chunks_exact_mut(SLOT).zip(slots) {
            let state = match slot {
                Ok(_) => VERIFIED,
                Err(doubt) => {
                    let found = DOUBTS.iter().find(|(other, _)| other == doubt);
                    found.map_or(0, |(_, word)| *word)
                }
            };
            let hash = slot.unwrap_or([0; 32]);
            let (hash, _) = hash.as_chunks::<4>();
            let hash = hash.iter().map(|bytes| u32::from_le_bytes(*bytes));
            for (word, own) in words.iter_mut().zip(core::iter::once(state).chain(hash)) {
                *word = own;
            }
        }
        let (plain, complement) = words.split_at_mut(PLAIN);
        for (other, word) in complement.iter_mut().zip(plain) {
            *other = !*word;
        }
        words
    }

    /// What the verifier left; none if a single bit of it is wrong.
    pub fn of_words(words: &[u32; WORDS]) -> Option<Self> {
        let (plain, complement) = words.split_at_checked(PLAIN)?;
        let whole = plain.iter().zip(complement).all(|(a, b)| *a == !*b);
        let (slots, _) = plain.as_chunks::<SLOT>();
        let [bundle, candidate, floor] = slots else {
            return None;
        };
        let handover = Self {
            bundle: verified(bundle)?,
            candidate: verified(candidate)?,
            floor: verified(floor)?,
        };
        whole.then_some(handover)
    }

    /// Whether the verifier verified these bytes, which are hashed now.
    ///
    /// # Errors
    /// Why they count as unsigned.
    pub fn ensure(&self, role: Role, bytes: &[u8]) -> Result<(), Doubt> {
        let found: [u8; 32] = Sha256::digest(bytes).into();
        match role {
            // The same key signs both, so that neither takes the other's place unsigned.
            Role::Controllers if self.candidate == Ok(found) => Ok(()),
            Role::Controllers => same(&self.bundle, &found),
            Role::Floor => same(&self.floor, &found),
        }
    }
}

fn same(verified: &Verified, found: &[u8; 32]) -> Result<(), Doubt> {
    match verified {
        Ok(hash) if hash == found => Ok(()),
        Ok(_) => Err(Doubt::Changed),
        Err(doubt) => Err(*doubt),
    }
}

fn verified(slot: &[u32; SLOT]) -> Option<Verified> {
    let [state, hash @ ..] = slot;
    let mut bytes = [0; 32];
    let (chunks, _) = bytes.as_chunks_mut::<4>();
    for (bytes, word) in chunks.iter_mut().zip(hash) {
        *bytes = word.to_le_bytes();
    }
    if *state == VERIFIED {
        return Some(Ok(bytes));
    }
    let doubt = DOUBTS.iter().find(|(_, word)| word == state);
    doubt.map(|(doubt, _)| Err(*doubt))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover() -> Handover {
        Handover {
            bundle: Ok(Sha256::digest(b"bundle").into()),
            candidate: Err(Doubt::Unsigned),
            floor: Ok(Sha256::digest(b"floor").into()),
        }
    }

    #[test]
    fn only_what_was_written_is_read() {
        let own = handover();
        let mut words = own.to_words();
        assert_eq!(Handover::of_words(&words), Some(own));
        for bit in 0..32 * WORDS {
            words[bit / 32] ^= 1 << (bit % 32);
            assert_eq!(Handover::of_words(&words), None, "{bit}");
            words[bit / 32] ^= 1 << (bit % 32);
        }
        for word in [0, u32::MAX, 0xaaaa_aaaa, VERIFIED] {
            assert_eq!(Handover::of_words(&[word; WORDS]), None);
        }
        for (doubt, _) in DOUBTS {
            let other = Handover {
                floor: Err(doubt),
                ..own
            };
            assert_eq!(Handover::of_words(&other.to_words()), Some(other));
        }
        // What has no word is never written as verified.
        let none = Handover {
            floor: Err(Doubt::Changed),
            ..own
        };
        assert_eq!(Handover::of_words(&none.to_words()), None);
    }

    #[test]
    fn states_lie_far_apart() {
        let words = DOUBTS.map(|(_, word)| word);
        let [a, b, c, d] = words;
        let all = [VERIFIED, a, b, c, d, 0, u32::MAX];
        for (place, one) in all.iter().enumerate() {
            for other in &all[place + 1..] {
                assert!((one ^ other).count_ones() >= 8, "{one:x} {other:x}");
            }
        }
    }

    #[test]
    fn each_place_takes_its_own_hash() {
        let own = handover();
        let both = Handover {
            candidate: Ok(Sha256::digest(b"other").into()),
            ..own
        };
        assert_eq!(own.ensure(Role::Controllers, b"bundle"), Ok(()));
        assert_eq!(own.ensure(Role::Floor, b"floor"), Ok(()));
        assert_eq!(own.ensure(Role::Floor, b"bundle"), Err(Doubt::Changed));
        assert_eq!(own.ensure(Role::Controllers, b"other"), Err(Doubt::Changed));
        assert_eq!(both.ensure(Role::Controllers, b"other"), Ok(()));
        assert_eq!(both.ensure(Role::Controllers, b"bundle"), Ok(()));
        let unsigned = Handover {
            bundle: Err(Doubt::Wrong),
            ..own
        };
        assert_eq!(
            unsigned.ensure(Role::Controllers, b"bundle"),
            Err(Doubt::Wrong)
        );
    }
}
