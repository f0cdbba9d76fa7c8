//! What was checked, by name: SHA-256 of the bytes that a robot has in flash.

/// Floor, bundle and controller of a check, and the bundle as it lay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hashes {
    /// The floor that admitted the bundle.
    pub floor: [u8; 32],
    /// The bundle, all of it.
    pub bundle: [u8; 32],
    /// The part of the controller that was checked; none for one that is part of the firmware.
    pub policy: Option<[u8; 32]>,
    /// The checksum of what was read from the bundle.
    pub read: u32,
}
