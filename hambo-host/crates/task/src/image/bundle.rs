//! An image behind a manifest that lists its parts: what a device takes.

use hambo_core::image::container::HEADER;
use hambo_core::image::{BundleManifest, MonitorSettings, Name, Part, PartHashes};

use super::aligned::AlignedBytes;
use super::part::{EncodeError, encode_part};

/// Whom a bundle is for, and how its controller drives.
#[derive(Clone, Debug, PartialEq)]
pub struct BundleAbout {
    /// The board that it was sized for.
    pub board: String,
    /// The robot that it is meant for.
    pub robot: String,
    /// Grows with every bundle that is written for a robot.
    pub counter: u32,
    /// The time between two actions in microseconds.
    pub period: Option<u32>,
    /// When the monitor trips.
    pub monitor: Option<MonitorSettings>,
}

impl Default for BundleAbout {
    fn default() -> Self {
        Self {
            board: "stm32f405".into(),
            robot: "robot".into(),
            counter: 0,
            period: None,
            monitor: None,
        }
    }
}

/// A bundle of an image and, if there is one, the policy part of a fallback controller.
///
/// # Errors
/// If a name is too long, or the image is no row of parts.
pub fn encode_bundle(
    image: &[u8],
    about: &BundleAbout,
    fallback: Option<&[u8]>,
) -> Result<AlignedBytes, EncodeError> {
    let mut parts = PartHashes::new();
    for bytes in [Some(image), fallback].into_iter().flatten() {
        add_hashes(bytes, &mut parts)?;
    }
    let manifest = BundleManifest {
        board: name("the board's name", &about.board)?,
        robot: name("the robot's name", &about.robot)?,
        counter: about.counter,
        period: about.period,
        monitor: about.monitor,
        has_fallback: fallback.is_some(),
        parts,
    };
    let mut bytes = encode_part(Part::Bundle, &manifest, &[])?;
    bytes.extend(image);
    bytes.extend(fallback.into_iter().flatten());
    Ok(AlignedBytes::new(&bytes))
}

/// A name as manifests keep it.
pub fn name(what: &'static str, text: &str) -> Result<Name, EncodeError> {
    let limit = Name::new().capacity();
    Name::try_from(text).map_err(|_| EncodeError::TooLarge { what, limit })
}

/// The hash that stands in the header of every part.
fn add_hashes(mut parts: &[u8], hashes: &mut PartHashes) -> Result<(), EncodeError> {
    let too_large = EncodeError::TooLarge {
        what: "the number of parts",
        limit: hashes.capacity(),
    };
    while !parts.is_empty() {
        let hash = part_hash(&mut parts).ok_or(EncodeError::NoParts)?;
        hashes.push(hash).map_err(|_| too_large.clone())?;
    }
    Ok(())
}

/// Takes a part off bytes and gives the hash of its payload.
fn part_hash(parts: &mut &[u8]) -> Option<[u8; 32]> {
    let header = parts.get(..HEADER)?;
    let length = u32::from_le_bytes(*header.get(8..)?.first_chunk()?);
    let hash = *header.get(20..)?.first_chunk()?;
    *parts = parts.get(HEADER..)?.get(usize::try_from(length).ok()?..)?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_is_no_row_of_parts_is_refused() {
        let about = BundleAbout::default();
        let refused = encode_bundle(&[1; 100], &about, None);
        assert!(matches!(refused, Err(EncodeError::NoParts)), "{refused:?}");
        let long = BundleAbout {
            robot: "a name that is longer than a manifest keeps".into(),
            ..about
        };
        let refused = encode_bundle(&[], &long, None).unwrap_err();
        assert!(
            refused.to_string().contains("the robot's name"),
            "{refused}"
        );
    }
}
