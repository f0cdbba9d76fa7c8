//! Writing parts, images and model files, and reading them back into aligned
//! memory. The formats themselves are the core's.

mod aligned;
mod encode;

pub use aligned::AlignedBytes;
pub use encode::{EncodeError, Uncertainty, encode_ensemble, encode_image, encode_part};
