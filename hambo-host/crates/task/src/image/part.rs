//! One part of an image: its weights, its header, its sizes.

use hambo_core::image::container::{ALIGNMENT, header};
use hambo_core::image::{Part, Problem};
use hambo_core::numeric::dense::TILE;
use serde::Serialize;

use hambo_base::error::Explained;
use hambo_base::network::Layer;
use hambo_base::refused::problem_text;

/// Why a part cannot be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EncodeError {
    /// More than the format has room for.
    #[error("{what} is too large for an image: at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The largest that fits.
        limit: usize,
    },
    /// The initial states are those of a log, and none was given.
    #[error("the task's initial states come from the data: give the log they are listed in")]
    NoInitialStates,
    /// The sizes of a policy's numbers do not fit together.
    #[error("the policy's {what} has size {found}, not {expected}: correct the policy")]
    PolicySize {
        /// What is too long or too short.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits the rest.
        expected: usize,
    },
    /// The core would refuse the policy.
    #[error("the policy cannot be used: {}; make every size and number finite and in range", problem_text(.0))]
    Policy(Problem),
    /// An image that is no row of parts.
    #[error("the image is no row of parts; export it again")]
    NoParts,
    /// The manifest cannot be serialised.
    #[error("the manifest cannot be written: {0}")]
    Manifest(#[from] postcard::Error),
}

impl Explained for EncodeError {}

/// Runs of numbers, each padded to whole tiles.
#[derive(Default)]
pub struct ArenaWriter {
    pub(super) numbers: Vec<f32>,
}

impl ArenaWriter {
    pub fn put(&mut self, numbers: impl IntoIterator<Item = f32>) {
        self.numbers.extend(numbers);
        self.numbers
            .resize(self.numbers.len().next_multiple_of(TILE), 0.0);
    }

    /// Integers, each with its own bits.
    pub fn put_integers(&mut self, integers: impl IntoIterator<Item = i32>) {
        let integers = integers.into_iter();
        self.put(integers.map(|x| f32::from_bits(x.cast_unsigned())));
    }

    /// Bias tiles, then blocks of four outputs, input-major.
    pub fn put_layer(&mut self, layer: &Layer) {
        self.put(layer.bias.iter().copied());
        for block in layer.weights.chunks(TILE * layer.inputs) {
            for input in 0..layer.inputs {
                self.put(block.iter().skip(input).step_by(layer.inputs).copied());
            }
        }
    }
}

/// A part: header, manifest and arena.
///
/// # Errors
/// If the manifest cannot be serialised or the part is larger than 4 GiB.
pub fn encode_part(
    part: Part,
    manifest: &impl Serialize,
    arena: &[f32],
) -> Result<Vec<u8>, EncodeError> {
    let mut payload = postcard::to_stdvec(manifest)?;
    let manifest_length = payload.len();
    payload.resize(manifest_length.next_multiple_of(ALIGNMENT), 0);
    payload.extend(arena.iter().flat_map(|x| x.to_le_bytes()));
    payload.resize(payload.len().next_multiple_of(ALIGNMENT), 0);
    let header = header(part, manifest_length, &payload).ok_or(EncodeError::TooLarge {
        what: "a part",
        limit: u32::MAX as usize,
    })?;
    let mut bytes = header.to_vec();
    bytes.extend(payload);
    Ok(bytes)
}

pub fn small(what: &'static str, size: usize) -> Result<u16, EncodeError> {
    u16::try_from(size).map_err(|_| EncodeError::TooLarge {
        what,
        limit: usize::from(u16::MAX),
    })
}

pub fn limited<T: Clone, const N: usize>(
    what: &'static str,
    items: &[T],
) -> Result<heapless::Vec<T, N>, EncodeError> {
    heapless::Vec::from_slice(items).map_err(|_| EncodeError::TooLarge { what, limit: N })
}
