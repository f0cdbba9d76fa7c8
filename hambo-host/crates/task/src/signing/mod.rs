//! Keys, and signatures of bundles and floors.
//!
//! Which bytes are signed is the core's word ([`hambo_core::image::Signed`]); here is Ed25519 on
//! the host. A key is for one thing: controllers' bundles, or floors.

mod key_file;
mod signature;
#[cfg(test)]
mod tests;

pub use key_file::{KeyError, PublicKey, SecretKey, role_name};
pub use signature::{SignatureError, role_of, sign, verify};
