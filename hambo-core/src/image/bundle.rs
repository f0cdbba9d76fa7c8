//! What a device takes: an image behind a manifest that lists the hash of every part and
//! says for which board and robot it is meant.
//!
//! A bundle is a manifest part, the parts of an image, and, if the manifest says so, one
//! policy more: the fallback, which drives when the monitor stops the controller that was
//! checked. A part that is not the manifest's is refused. A signature may follow; whoever reads a
//! bundle from flash leaves it alone.

use heapless::String;
use serde::{Deserialize, Serialize};

use super::container::kind;
use super::error::{ImageError, Part, Problem};
use super::part_reader::{PartHashes, PartReader};
use super::signature::{Role, Signed};
use super::validated::{Image, NamedPolicy, Taken};
#[cfg(test)]
use crate::model::Model;
use crate::numeric::checksum::Checksum;
use crate::policy::StoredPolicy;

/// The name of a board or a robot.
pub type Name = String<24>;

/// When the monitor trips.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MonitorSettings {
    /// z: how many aleatoric standard deviations noise may take.
    pub noise_width: f32,
    /// p0: the share of surprises that is usual.
    pub surprise_rate: f32,
    /// The probability of ever tripping as long as surprises and steps without
    /// data are no more frequent than usual.
    pub alpha: f32,
}

impl MonitorSettings {
    /// Whether a monitor takes them.
    pub fn is_sound(&self) -> bool {
        let is_share = |x: f32| x > 0.0 && x < 1.0;
        let width = self.noise_width;
        width >= 0.0 && width.is_finite() && is_share(self.surprise_rate) && is_share(self.alpha)
    }
}

/// The manifest of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BundleManifest {
    /// The board that it was sized for.
    pub board: Name,
    /// The robot that it is meant for.
    pub robot: Name,
    /// Grows with every bundle that is written for a robot.
    pub counter: u32,
    /// The time between two actions in microseconds; without one it cannot drive.
    pub period: Option<u32>,
    /// When the monitor trips; without this it cannot drive.
    pub monitor: Option<MonitorSettings>,
    /// Whether a fallback controller follows the image.
    pub has_fallback: bool,
    /// The hash of the payload of every part behind the manifest.
    pub parts: PartHashes,
}

/// Takes the manifest, and from then on only the parts that it lists.
#[inline(never)]
fn read_manifest(parts: &mut PartReader<'_>) -> Result<BundleManifest, ImageError> {
    let part = parts.take(Part::Bundle)?;
    let manifest: BundleManifest = part
        .read_manifest()
        .map_err(|problem| Part::Bundle.error(problem))?;
    if !part.arena.is_empty() {
        return Err(Part::Bundle.error(Problem::Arena));
    }
    if manifest.period == Some(0) {
        return Err(Part::Bundle.error(Problem::Number));
    }
    parts.allow_only(manifest.parts.clone());
    Ok(manifest)
}

/// An image with its manifest. Only bytes make one.
///
/// ```
/// use hambo_core::image::{Bundle, Part, Problem};
/// static FLASH: [u128; 8] = [0; 8];
/// let error = Bundle::parse_prefix(bytemuck::cast_slice(&FLASH)).map(|_| ()).unwrap_err();
/// assert_eq!((error.part, error.problem), (Part::Bundle, Problem::Magic));
/// ```
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    board: Name,
    robot: Name,
    pub(super) counter: u32,
    pub(super) period: Option<u32>,
    pub(super) monitor: Option<MonitorSettings>,
    image: Image<'a>,
    /// The hash of the controller's part.
    pub(super) policy_hash: [u8; 32],
    fallback: Option<NamedPolicy<'a>>,
    /// All of it as it was read, without its signature or what else follows.
    pub(super) bytes: &'a [u8],
}

impl<'a> Bundle<'a> {
    /// Reads a bundle that fills `bytes`, such as a file, with or without a signature, which is
    /// not verified: see [`Signed`](super::Signed).
    ///
    /// # Errors
    /// If any byte is wrong, missing or too many, or a part is not the manifest's.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let mut rest = bytes;
        let bundle = Self::parse_parts(&mut rest)?;
        if rest.first_chunk().and_then(|header| kind(header).ok()) == Some(Part::Signature as u8) {
            rest = Signed::parse(bytes, Role::Controllers).map(|_| &[][..])?;
        }
        if rest.is_empty() {
            Ok(bundle)
        } else {
            Err(Part::Bundle.error(Problem::TrailingBytes))
        }
    }

    /// Reads a bundle from the start of `bytes`, such as a region of flash; what
    /// follows it does not count.
    ///
    /// # Errors
    /// If any byte of it is wrong or missing, or a part is not the manifest's.
    pub fn parse_prefix(bytes: &'a [u8]) -> Result<Self, ImageError> {
        Self::parse_parts(&mut { bytes })
    }

    #[inline(never)]
    fn parse_parts(bytes: &mut &'a [u8]) -> Result<Self, ImageError> {
        let mut parts = PartReader::new(bytes);
        let manifest = read_manifest(&mut parts)?;
        let (mut taken, mut fallback) = (Taken::default(), None);
        taken.read(&mut parts)?;
        if manifest.has_fallback {
            taken.read_fallback(&mut parts, &mut fallback)?;
        }
        let (hash, rest) = parts.finish()?;
        let length = bytes.len().saturating_sub(rest.len());
        let own = bytes.get(..length).unwrap_or_default();
        *bytes = rest;
        Ok(Self {
            board: manifest.board,
            robot: manifest.robot,
            counter: manifest.counter,
            period: manifest.period,
            monitor: manifest.monitor,
            policy_hash: taken.policy_hash()?,
            image: taken.image(hash)?,
            fallback,
            bytes: own,
        })
    }

    /// A bundle of an image and a fallback that fit together; for the example of this crate.
    pub(crate) fn of(image: Image<'a>, fallback: Option<StoredPolicy<'a>>) -> Self {
        Self {
            board: Name::new(),
            robot: Name::new(),
            counter: 0,
            period: Some(50_000),
            monitor: Some(MonitorSettings {
                noise_width: 2.576,
                surprise_rate: 0.1,
                alpha: 0.01,
            }),
            image,
            policy_hash: [1; 32],
            fallback: fallback.map(|policy| NamedPolicy {
                policy,
                hash: [2; 32],
            }),
            bytes: &[],
        }
    }

    /// The same under another name, for tests.
    #[cfg(all(test, feature = "embedded-hal"))]
    pub(crate) fn with_hash(self, hash: [u8; 32]) -> Self {
        Self {
            image: self.image.with_hash(hash),
            ..self
        }
    }

    /// One number for what was read: every number that lies in memory, and where those lie that
    /// stayed where they were. Two readings of the same bytes have the same; a bit that flipped
    /// in either changes it. `None` if it cannot be told.
    #[inline(never)]
    pub(crate) fn checksum(&self) -> Option<u32> {
        let Self {
            board,
            robot,
            counter,
            period,
            monitor,
            image,
            policy_hash,
            fallback,
            bytes,
        } = self;
        let mut sum = Checksum::new();
        sum.value(&(board, robot, counter, period, monitor));
        image.add_to(&mut sum);
        sum.bytes(policy_hash);
        sum.value(&fallback.is_some());
        if let Some(NamedPolicy { policy, hash }) = fallback {
            policy.add_to(&mut sum);
            sum.bytes(hash);
        }
        sum.place(*bytes);
        sum.finish()
    }

    /// The bytes that it was read from, without a signature or what else follows them.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The model, for tests.
    #[cfg(test)]
    pub(super) fn model_mut(&mut self) -> &mut Model<'a> {
        self.image.model_mut()
    }

    /// Model, task and controller. Its hash is that of the whole bundle.
    pub fn image(&self) -> &Image<'a> {
        &self.image
    }

    /// The controller that drives after the monitor's stop.
    pub fn fallback(&self) -> Option<&StoredPolicy<'a>> {
        self.fallback.as_ref().map(|named| &named.policy)
    }

    /// The hash of the controller's part.
    pub fn policy_hash(&self) -> &[u8; 32] {
        &self.policy_hash
    }

    /// The hash of the fallback's part.
    pub fn fallback_hash(&self) -> Option<&[u8; 32]> {
        self.fallback.as_ref().map(|named| &named.hash)
    }

    /// The board that it was sized for.
    pub fn board(&self) -> &str {
        &self.board
    }

    /// The robot that it is meant for.
    pub fn robot(&self) -> &str {
        &self.robot
    }

    /// Grows with every bundle that is written for a robot.
    pub fn counter(&self) -> u32 {
        self.counter
    }

    /// The time between two actions in microseconds.
    pub fn period(&self) -> Option<u32> {
        self.period
    }

    /// When the monitor trips.
    pub fn monitor(&self) -> Option<MonitorSettings> {
        self.monitor
    }
}
