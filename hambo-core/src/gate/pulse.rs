//! What went on in a period of a drive.

/// Pieces of a round in which a bundle is hashed once more during a drive: a changed byte is found
/// before the second round from then on has ended.
pub(crate) const ROUND: u32 = 48;

/// How a drive goes on with hashing its bundle once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reread<'d> {
    /// Pieces that were hashed.
    pub pieces: u32,
    /// Rounds that have ended.
    pub rounds: u32,
    /// The hash that the last of them came to.
    pub found: &'d [u8; 32],
}

/// What went on in a period: counters of a drive, and whose it is. Only a drive with a permit
/// makes one.
///
/// Nobody else can say that work was done:
///
/// ```compile_fail,E0451
/// use hambo_core::{Pulse, drive::Drive};
/// fn pulse<'d>(drive: &'d Drive<'_>, hash: &'d [u8; 32]) -> Option<Pulse<'d>> {
///     let forged = Pulse { ticks: 2, observed: 1, reread: todo!(), bundle: hash, policy: hash };
///     drive.pulse()
/// }
/// ```
///
/// and the same without the forging line compiles:
///
/// ```
/// use hambo_core::{Pulse, drive::Drive};
/// fn pulse<'d>(drive: &'d Drive<'_>, hash: &'d [u8; 32]) -> Option<Pulse<'d>> {
///     drive.pulse()
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Pulse<'d> {
    /// Periods of the control loop.
    pub(crate) ticks: u32,
    /// Transitions that the monitor has looked at.
    pub(crate) observed: u32,
    /// How far the bundle was hashed once more.
    pub(crate) reread: Reread<'d>,
    /// The bundle that drives.
    pub(crate) bundle: &'d [u8; 32],
    /// The controller that was permitted.
    pub(crate) policy: &'d [u8; 32],
}
