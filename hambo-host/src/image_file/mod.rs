//! Writing parts, images and model files, and reading them back into aligned
//! memory. The formats themselves are the core's.

mod aligned;
mod encode;
mod gaussian_process;

pub use aligned::AlignedBytes;
pub use encode::{EncodeError, Uncertainty, encode_ensemble, encode_image, encode_part};
pub use gaussian_process::encode_gaussian_process;
