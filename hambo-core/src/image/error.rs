//! What can be wrong with an image, and where.

use serde::{Deserialize, Serialize};

use crate::numeric::ParameterError;

/// The parts of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Part {
    /// Dynamics, confidence set and support.
    Model = 1,
    /// Horizon, reward, limits and threshold.
    Task = 2,
    /// The controller.
    Policy = 3,
    /// How a model came about; only in model files, not in images.
    Provenance = 4,
    /// A trained adversary; the task says how many follow the policy.
    Adversary = 5,
    /// The manifest of a bundle.
    Bundle = 6,
    /// What a robot asks of every bundle.
    Floor = 7,
    /// What the parts before it are signed with.
    Signature = 8,
    /// The whole, for what concerns no single part.
    Image = 0,
}

impl Part {
    pub(crate) fn error(self, problem: Problem) -> ImageError {
        ImageError {
            part: self,
            problem,
        }
    }
}

impl Problem {
    /// This problem unless something holds.
    pub(crate) fn unless(self, holds: bool) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(self) }
    }
}

/// A part that cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ImageError {
    /// The part that was being read.
    pub part: Part,
    /// What is wrong with it.
    pub problem: Problem,
}

impl From<ParameterError> for Problem {
    fn from(error: ParameterError) -> Self {
        match error {
            ParameterError::Size(_) => Self::Dimension,
            ParameterError::Number(_) => Self::Number,
        }
    }
}

/// What is wrong with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Problem {
    /// The bytes end before the part does.
    Truncated,
    /// Bytes follow where none may.
    TrailingBytes,
    /// This is not a hambo part.
    Magic,
    /// A format version before the one that this program reads.
    EarlierVersion,
    /// A format version after the one that this program reads.
    LaterVersion,
    /// Another kind of part than expected here.
    Kind,
    /// Bytes of the header that must be zero are not, or the signature is not that of its key.
    Signature,
    /// A length that no part can have.
    Length,
    /// The bytes do not start on a multiple of 16.
    Alignment,
    /// The checksum disagrees: a damaged part.
    Checksum,
    /// The hash of the payload disagrees.
    Hash,
    /// The manifest is not what its kind promises.
    Manifest,
    /// The weights do not have the size that the manifest promises.
    Arena,
    /// A dimension is zero, too large, or differs from the model's.
    Dimension,
    /// A number is not finite or out of its range.
    Number,
    /// The reward's byte code is invalid.
    Program,
    /// A variant that needs ensemble members, of which the model has none.
    Variant,
    /// Not a part of the bundle's manifest, or not in its order; or one of the
    /// manifest's is missing.
    NotListed,
    /// There is no signature.
    Unsigned,
}
