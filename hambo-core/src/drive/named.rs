//! What drives, by name.

/// Bundle and controller of a drive with a permit, by their hashes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub bundle: [u8; 32],
    pub policy: [u8; 32],
}
