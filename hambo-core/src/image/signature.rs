//! Which bytes of a bundle or a floor are signed, and where the signature is.
//!
//! The signature is a part of its own behind all others: what reads a bundle or a floor from
//! flash leaves it alone, as all that follows. It covers every byte before it, headers and
//! counter included. Nothing here knows a curve: host and device both take [`Signed::message`]
//! to the Ed25519 of their own.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::container::{Container, HEADER, kind, payload_length};
use super::error::{ImageError, Part, Problem};

/// The length of what Ed25519 signs: 16 bytes for the role, and a SHA-256.
pub const MESSAGE: usize = 48;

/// Whose key signs. What one may sign is no message of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The key of those who make controllers: it signs bundles.
    Controllers,
    /// The key of the robot's owner: it signs the floor.
    Floor,
}

impl Role {
    /// The part that what it signs begins with.
    pub fn part(self) -> Part {
        match self {
            Self::Controllers => Part::Bundle,
            Self::Floor => Part::Floor,
        }
    }

    fn domain(self) -> [u8; 16] {
        match self {
            Self::Controllers => *b"hambo bundle 1\0\0",
            Self::Floor => *b"hambo floor 1\0\0\0",
        }
    }
}

/// The manifest of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureManifest {
    /// The public key that it was made with; nothing is trusted because it stands here.
    pub key: [u8; 32],
    /// R and s.
    pub signature: [[u8; 32]; 2],
}

/// A bundle or a floor with its signature, which nobody has verified yet.
///
/// ```
/// use hambo_core::image::{Part, Problem, Role, Signed};
/// static FLASH: [u128; 8] = [u128::MAX; 8];
/// let error = Signed::parse_prefix(bytemuck::cast_slice(&FLASH), Role::Floor).unwrap_err();
/// assert_eq!((error.part, error.problem), (Part::Floor, Problem::Magic));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// All that is signed: every part, with its header.
    pub bytes: &'a [u8],
    /// Whose key must have made it.
    pub role: Role,
    /// What it says of itself.
    pub manifest: SignatureManifest,
}

impl<'a> Signed<'a> {
    /// Finds the signature of a bundle or a floor that fills `bytes`, such as a file.
    ///
    /// # Errors
    /// If there is none, a byte of it is wrong, or bytes follow it.
    pub fn parse(bytes: &'a [u8], role: Role) -> Result<Self, ImageError> {
        let (signed, rest) = Self::split(bytes, role)?;
        if rest.is_empty() {
            Ok(signed)
        } else {
            Err(Part::Signature.error(Problem::TrailingBytes))
        }
    }

    /// Finds the signature of a bundle or a floor at the start of `bytes`, such as a region of
    /// flash; what follows the signature does not count.
    ///
    /// # Errors
    /// If there is none, or a byte of it is wrong.
    pub fn parse_prefix(bytes: &'a [u8], role: Role) -> Result<Self, ImageError> {
        Ok(Self::split(bytes, role)?.0)
    }

    fn split(bytes: &'a [u8], role: Role) -> Result<(Self, &'a [u8]), ImageError> {
        let (signed, mut rest) = unsigned(bytes, role)?;
        let part = Container::take(&mut rest, Part::Signature)?;
        let read = part.read_manifest().and_then(|manifest| {
            let SignatureManifest { signature, .. } = &manifest;
            let [_, s] = signature;
            Problem::Arena.unless(part.arena.is_empty())?;
            Problem::Signature.unless(is_reduced(s))?;
            Ok(manifest)
        });
        let manifest = read.map_err(|problem| Part::Signature.error(problem))?;
        let signed = Self {
            bytes: signed,
            role,
            manifest,
        };
        Ok((signed, rest))
    }

    /// What the signature is one of.
    pub fn message(&self) -> [u8; MESSAGE] {
        message(self.role, self.bytes)
    }

    /// R and s, one after the other.
    pub fn signature(&self) -> [u8; 64] {
        let mut both = [0; 64];
        let bytes = self.manifest.signature.as_flattened();
        for (byte, own) in both.iter_mut().zip(bytes) {
            *byte = *own;
        }
        both
    }
}

/// The order of Ed25519's base point, little-endian.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// Whether s is below the order, as RFC 8032 asks: another s with the same remainder would be a
/// second signature of the same bytes. Not every crate looks.
fn is_reduced(s: &[u8; 32]) -> bool {
    s.iter().rev().lt(ORDER.iter().rev())
}

/// What Ed25519 signs: the role, and the hash of all headers and payloads.
pub fn message(role: Role, bytes: &[u8]) -> [u8; MESSAGE] {
    let hash: [u8; 32] = Sha256::digest(bytes).into();
    let mut message = [0; MESSAGE];
    for (byte, own) in message
        .iter_mut()
        .zip(role.domain().into_iter().chain(hash))
    {
        *byte = own;
    }
    message
}

/// All parts before the signature, and what begins with it. Headers alone are read: whether a part
/// is intact is for whoever reads it, and for the signature.
fn unsigned(bytes: &[u8], role: Role) -> Result<(&[u8], &[u8]), ImageError> {
    let wrong = |problem| role.part().error(problem);
    let mut length = 0_usize;
    loop {
        let (signed, rest) = bytes
            .split_at_checked(length)
            .ok_or(wrong(Problem::Truncated))?;
        let header = rest.first_chunk::<HEADER>();
        let found = header.and_then(|header| kind(header).ok());
        match (length, found) {
            (0, Some(found)) if found == role.part() as u8 => {}
            (0, _) => {
                let problem = header.map_or(Err(Problem::Truncated), kind);
                return Err(wrong(problem.err().unwrap_or(Problem::Kind)));
            }
            (_, Some(found)) if found == Part::Signature as u8 => return Ok((signed, rest)),
            // A floor has one part.
            (_, Some(_)) if role == Role::Controllers => {}
            _ => return Err(Part::Signature.error(Problem::Unsigned)),
        }
        let payload = header.and_then(payload_length);
        length = payload
            .and_then(|payload| length.checked_add(HEADER)?.checked_add(payload))
            .ok_or(wrong(Problem::Length))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::container::header;

    const MANIFEST: SignatureManifest = SignatureManifest {
        key: [3; 32],
        signature: [[4; 32], [5; 32]],
    };

    fn aligned(bytes: &[u8]) -> Vec<u128> {
        let mut blocks = vec![0_u128; bytes.len().div_ceil(16)];
        bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
        blocks
    }

    fn with_signature(bytes: &[u8]) -> Vec<u8> {
        let mut payload = [0; 96];
        postcard::to_slice(&MANIFEST, &mut payload).unwrap();
        let header = header(Part::Signature, payload.len(), &payload).unwrap();
        [bytes, &header, &payload].concat()
    }

    const BUNDLE: &[u8] = include_bytes!("../../examples/point_bundle.hmb");
    const FLOOR: &[u8] = include_bytes!("../../examples/point.floor");

    #[test]
    fn every_byte_before_the_signature_is_signed() {
        for (bytes, role) in [(BUNDLE, Role::Controllers), (FLOOR, Role::Floor)] {
            let whole = with_signature(bytes);
            let blocks = aligned(&whole);
            let whole = &bytemuck::cast_slice::<u128, u8>(&blocks)[..whole.len()];
            let signed = Signed::parse(whole, role).unwrap();
            assert_eq!(signed.bytes, bytes);
            assert_eq!(signed.manifest, MANIFEST);
            assert_eq!(signed.signature()[31..33], [4, 5]);
            let own = signed.message();
            for place in (0..bytes.len()).step_by(if cfg!(miri) { 997 } else { 13 }) {
                let mut other = bytes.to_vec();
                other[place] ^= 1;
                assert_ne!(message(role, &other), own, "{place}");
            }
            let other = match role {
                Role::Controllers => Role::Floor,
                Role::Floor => Role::Controllers,
            };
            assert_ne!(message(other, bytes), own);
            let error = Signed::parse(whole, other).unwrap_err();
            assert_eq!((error.part, error.problem), (other.part(), Problem::Kind));
        }
    }

    #[test]
    fn s_is_below_the_order() {
        let mut below = ORDER;
        below[0] -= 1;
        let mut above = ORDER;
        above[0] += 1;
        for (s, reduced) in [
            (below, true),
            (ORDER, false),
            (above, false),
            ([0; 32], true),
            ([0xff; 32], false),
            ([0x0f; 32], true),
            ([0x11; 32], false),
        ] {
            assert_eq!(is_reduced(&s), reduced, "{s:?}");
            let mut payload = [0; 96];
            let manifest = SignatureManifest {
                signature: [[4; 32], s],
                ..MANIFEST
            };
            postcard::to_slice(&manifest, &mut payload).unwrap();
            let header = header(Part::Signature, payload.len(), &payload).unwrap();
            let whole = [FLOOR, &header, &payload].concat();
            let blocks = aligned(&whole);
            let signed = Signed::parse_prefix(bytemuck::cast_slice(&blocks), Role::Floor);
            assert_eq!(signed.is_ok(), reduced);
        }
    }

    #[test]
    fn without_a_whole_signature_there_is_none() {
        for (bytes, role) in [(BUNDLE, Role::Controllers), (FLOOR, Role::Floor)] {
            let whole = with_signature(bytes);
            let blocks = aligned(&[&whole, [0xff_u8; 64].as_slice()].concat());
            let flash: &[u8] = bytemuck::cast_slice(&blocks);
            let of_file = Signed::parse(flash, role).unwrap_err();
            assert_eq!(of_file.problem, Problem::TrailingBytes);
            assert!(Signed::parse_prefix(flash, role).is_ok());
            let unsigned = Signed::parse(&flash[..bytes.len()], role).unwrap_err();
            assert_eq!(
                (unsigned.part, unsigned.problem),
                (Part::Signature, Problem::Unsigned)
            );
            let step = if cfg!(miri) { 199 } else { 1 };
            for length in (0..whole.len()).step_by(step) {
                assert!(Signed::parse_prefix(&flash[..length], role).is_err());
            }
        }
    }
}
