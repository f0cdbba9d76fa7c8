//! The signature behind a bundle or a floor: made, and verified.

use ed25519_dalek::{Signature, Signer};
use hambo_base::error::Explained;
use hambo_base::refused::problem_text;
use hambo_core::floor::Floor;
use hambo_core::image::{
    Bundle, ImageError, Part, Role, SignatureManifest, Signed, container, message,
};

use super::key_file::{PublicKey, SecretKey, hexadecimal};
use crate::image::{AlignedBytes, EncodeError, encode_part};

/// Why a signature is not made, or not taken.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// Neither a bundle nor a floor, or a damaged one.
    #[error("{}", damage(.0))]
    Damaged(ImageError),
    /// A key that is for other files.
    #[error(
        "the key is one for {}, and this is {}\nhelp: `hambo key new` makes keys for controllers, \
         `hambo key new --floor` for floors", files(*.key), thing(*.file)
    )]
    Role {
        /// What the key is for.
        key: Role,
        /// What it was to be used for.
        file: Role,
    },
    /// Signed already.
    #[error("it is signed already\nhelp: export it again, or leave it as it is")]
    Signed,
    /// Another key made the signature.
    #[error(
        "it is signed with another key: {}\nhelp: give that key's file, if you trust it, or have it \
         signed with yours", hexadecimal(.0)
    )]
    OtherKey([u8; 32]),
    /// The signature is not one of these bytes.
    #[error(
        "its signature is not that of its bytes: something was changed after it was signed\n\
         help: do not use it; export and sign it again"
    )]
    Wrong,
    /// It cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl Explained for SignatureError {}

fn files(role: Role) -> &'static str {
    match role {
        Role::Controllers => "controllers' bundles",
        Role::Floor => "floors",
    }
}

fn thing(role: Role) -> &'static str {
    match role {
        Role::Controllers => "a bundle",
        Role::Floor => "a floor",
    }
}

fn damage(error: &ImageError) -> String {
    let problem = problem_text(&error.problem);
    match error.part {
        Part::Signature => format!(
            "the signature: {problem}\nhelp: sign with --sign of `hambo export` or `hambo floor`"
        ),
        Part::Floor => format!("the floor: {problem}\nhelp: write it again with `hambo floor`"),
        _ => format!("the bundle: {problem}\nhelp: export it again"),
    }
}

/// What a file is, by its first part: a bundle, or else a floor.
#[must_use]
pub fn role_of(bytes: &[u8]) -> Role {
    // The kind of a part is the byte after mark and version.
    let kind = bytes
        .first_chunk::<{ container::HEADER }>()
        .map(|header| header[6]);
    match kind {
        Some(kind) if kind == Part::Floor as u8 => Role::Floor,
        _ => Role::Controllers,
    }
}

/// The same bundle or floor with a signature behind it.
///
/// # Errors
/// If the bytes are neither, the key is for the other, or a signature is there.
pub fn sign(bytes: &AlignedBytes, key: &SecretKey) -> Result<AlignedBytes, SignatureError> {
    let plain = bytes.as_bytes();
    let role = role_of(plain);
    ensure_role(key.role(), role)?;
    ensure_intact(plain, role)?;
    match Signed::parse(plain, role) {
        Ok(_) => return Err(SignatureError::Signed),
        Err(error) if error.part == Part::Signature => {}
        Err(error) => return Err(SignatureError::Damaged(error)),
    }
    let signature = key.key.sign(&message(role, plain));
    let manifest = SignatureManifest {
        key: key.key.verifying_key().to_bytes(),
        signature: [*signature.r_bytes(), *signature.s_bytes()],
    };
    let part = encode_part(Part::Signature, &manifest, &[])?;
    Ok(AlignedBytes::new(&[plain, &part].concat()))
}

/// Verifies the signature of a bundle or a floor with the key that must have made it, and that
/// what it signs is intact.
///
/// # Errors
/// If the key is for the other kind, there is no signature, or it is not this key's of these bytes.
pub fn verify(bytes: &AlignedBytes, key: &PublicKey) -> Result<(), SignatureError> {
    let whole = bytes.as_bytes();
    let role = role_of(whole);
    let signed = Signed::parse(whole, role).map_err(SignatureError::Damaged)?;
    ensure_role(key.role, role)?;
    if signed.manifest.key != *key.as_bytes() {
        return Err(SignatureError::OtherKey(signed.manifest.key));
    }
    let signature = Signature::from_bytes(&signed.signature());
    key.key
        .verify_strict(&signed.message(), &signature)
        .map_err(|_| SignatureError::Wrong)?;
    ensure_intact(whole, role)
}

fn ensure_role(key: Role, file: Role) -> Result<(), SignatureError> {
    if key == file {
        Ok(())
    } else {
        Err(SignatureError::Role { key, file })
    }
}

/// Nobody signs, or takes, what no device reads.
fn ensure_intact(bytes: &[u8], role: Role) -> Result<(), SignatureError> {
    let read = match role {
        Role::Controllers => Bundle::parse(bytes).map(|_| ()),
        Role::Floor => Floor::parse_prefix(bytes).map(|_| ()),
    };
    read.map_err(SignatureError::Damaged)
}
