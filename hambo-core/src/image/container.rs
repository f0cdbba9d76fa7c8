//! The frame around a part: magic, version, lengths, CRC-32 and SHA-256.
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | `HMBO` |
//! | 4..6 | format version, little-endian like all that follows |
//! | 6 | kind of the part |
//! | 7 | zero |
//! | 8..12 | length of the payload, a multiple of 16 |
//! | 12..16 | length of the manifest |
//! | 16..20 | CRC-32 of the header without these four bytes, and the payload |
//! | 20..52 | SHA-256 of the payload |
//! | 52..64 | zero |
//! | 64.. | payload: the manifest in postcard, zeros to a multiple of 16, then the arena of f32 |
//!
//! A part's name is the SHA-256 of its header, which holds the payload's: it covers kind, version
//! and lengths too.

use core::cmp::Ordering;

use sha2::{Digest, Sha256};

use super::error::{ImageError, Part, Problem};
use crate::numeric::checksum::CRC;

/// Length of the header.
pub const HEADER: usize = 64;
/// Parts and arenas start on multiples of this.
pub const ALIGNMENT: usize = 16;
/// The format version that this program writes and reads, of every kind of part.
pub const VERSION: u16 = 13;
const MAGIC: [u8; 4] = *b"HMBO";

/// A part whose bytes are intact.
///
/// ```
/// use hambo_core::image::Part;
/// use hambo_core::image::container::{Container, header};
/// // A manifest of one byte, zeros to a multiple of 16, and four numbers.
/// let mut payload = [0; 32];
/// payload[0] = 7;
/// let header = header(Part::Provenance, 1, &payload).ok_or("bad lengths")?;
/// let mut blocks = [0_u128; 6];
/// let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
/// bytes[..64].copy_from_slice(&header);
/// bytes[64..].copy_from_slice(&payload);
/// let mut rest = &bytes[..];
/// let part = Container::take(&mut rest, Part::Provenance).map_err(|_| "damaged")?;
/// assert_eq!((part.read_manifest(), part.arena.len()), (Ok(7_u8), 16));
/// assert!(rest.is_empty());
/// // Any wrong byte is an error.
/// bytes[70] ^= 1;
/// assert!(Container::take(&mut &bytes[..], Part::Provenance).is_err());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Container<'a> {
    /// The manifest in postcard.
    pub manifest: &'a [u8],
    /// The aligned arena of f32.
    pub arena: &'a [u8],
    /// SHA-256 of the payload, as a bundle's manifest lists it.
    pub payload_hash: [u8; 32],
    /// The part's name: SHA-256 of the header.
    pub hash: [u8; 32],
}

/// The header of a part, for writers.
///
/// `payload` is the manifest, zeros to a multiple of [`ALIGNMENT`], and the
/// arena, padded in the same way. `None` if it is not aligned or too long.
pub fn header(part: Part, manifest_length: usize, payload: &[u8]) -> Option<[u8; HEADER]> {
    let length = u32::try_from(payload.len()).ok()?;
    let manifest_length = u32::try_from(manifest_length).ok()?;
    if manifest_length > length || !payload.len().is_multiple_of(ALIGNMENT) {
        return None;
    }
    let hash: [u8; 32] = Sha256::digest(payload).into();
    let mut header = [0; HEADER];
    let fields = MAGIC
        .into_iter()
        .chain(VERSION.to_le_bytes())
        .chain([part as u8, 0])
        .chain(length.to_le_bytes())
        .chain(manifest_length.to_le_bytes())
        .chain([0; 4])
        .chain(hash);
    for (byte, field) in header.iter_mut().zip(fields) {
        *byte = field;
    }
    let checksum = checksum(&header, payload)?;
    for (byte, field) in header.iter_mut().skip(16).zip(checksum.to_le_bytes()) {
        *byte = field;
    }
    Some(header)
}

/// The kind of a part, by its header.
pub(super) fn kind(header: &[u8; HEADER]) -> Result<u8, Problem> {
    let [m0, m1, m2, m3, v0, v1, kind, ..] = *header;
    Problem::Magic.unless([m0, m1, m2, m3] == MAGIC)?;
    match u16::from_le_bytes([v0, v1]).cmp(&VERSION) {
        Ordering::Less => Err(Problem::EarlierVersion),
        Ordering::Greater => Err(Problem::LaterVersion),
        Ordering::Equal => Ok(kind),
    }
}

/// The name of a part, by its header.
pub(super) fn name(header: &[u8; HEADER]) -> [u8; 32] {
    Sha256::digest(header).into()
}

/// The hash of a part's payload, by its header.
pub(super) fn payload_hash(header: &[u8; HEADER]) -> [u8; 32] {
    let hash = header.get(20..).and_then(|tail| tail.first_chunk());
    hash.copied().unwrap_or_default()
}

/// How long the payload of a part is, by its header.
pub(super) fn payload_length(header: &[u8; HEADER]) -> Option<usize> {
    let word = header.get(8..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*word)).ok()
}

fn checksum(header: &[u8; HEADER], payload: &[u8]) -> Option<u32> {
    let mut digest = CRC.digest();
    digest.update(header.get(..16)?);
    digest.update(header.get(20..)?);
    digest.update(payload);
    Some(digest.finalize())
}

impl<'a> Container<'a> {
    /// Takes the first part off `bytes`, which must be of the given kind, and
    /// leaves the bytes after it.
    ///
    /// # Errors
    /// If a byte of it is wrong or missing.
    #[inline(never)]
    pub fn take(bytes: &mut &'a [u8], part: Part) -> Result<Self, ImageError> {
        let (container, rest) = Self::open(bytes, part).map_err(|problem| part.error(problem))?;
        *bytes = rest;
        Ok(container)
    }

    fn open(bytes: &'a [u8], part: Part) -> Result<(Self, &'a [u8]), Problem> {
        let aligned = (bytes.as_ptr() as usize).is_multiple_of(ALIGNMENT);
        Problem::Alignment.unless(aligned)?;
        let (header, rest) = bytes
            .split_first_chunk::<HEADER>()
            .ok_or(Problem::Truncated)?;
        let word = |at: usize| -> Result<usize, Problem> {
            let word = header.get(at..).and_then(|tail| tail.first_chunk::<4>());
            let word = u32::from_le_bytes(*word.ok_or(Problem::Truncated)?);
            usize::try_from(word).map_err(|_| Problem::Length)
        };
        let kind = kind(header)?;
        let (length, manifest_length) = (word(8)?, word(12)?);
        let arena_start = manifest_length
            .checked_next_multiple_of(ALIGNMENT)
            .ok_or(Problem::Length)?;
        Problem::Length.unless(length.is_multiple_of(ALIGNMENT) && arena_start <= length)?;
        let (payload, rest) = rest.split_at_checked(length).ok_or(Problem::Truncated)?;
        Problem::Checksum.unless(checksum(header, payload) == u32::try_from(word(16)?).ok())?;
        let payload_hash: [u8; 32] = Sha256::digest(payload).into();
        Problem::Hash.unless(header.get(20..52) == Some(payload_hash.as_slice()))?;
        // Intact from here on; but is it what belongs here?
        Problem::Kind.unless(kind == part as u8)?;
        let reserved = header.iter().skip(7).take(1);
        let is_zero = reserved
            .chain(header.iter().skip(52))
            .all(|byte| *byte == 0);
        Problem::Signature.unless(is_zero)?;
        let (manifest, _) = payload
            .split_at_checked(manifest_length)
            .ok_or(Problem::Length)?;
        let (_, arena) = payload
            .split_at_checked(arena_start)
            .ok_or(Problem::Length)?;
        let container = Self {
            manifest,
            arena,
            payload_hash,
            hash: name(header),
        };
        Ok((container, rest))
    }

    /// Reads the manifest, all of it.
    ///
    /// # Errors
    /// If it is not a `T` from the first byte to the last.
    pub fn read_manifest<T: serde::Deserialize<'a>>(&self) -> Result<T, Problem> {
        match postcard::take_from_bytes(self.manifest) {
            Ok((manifest, [])) => Ok(manifest),
            _ => Err(Problem::Manifest),
        }
    }
}
