//! What went on in a period of a drive.

/// What went on in a period: counters of a drive, and whose it is. Only a drive with a permit
/// makes one.
///
/// Nobody else can say that work was done:
///
/// ```compile_fail,E0451
/// use hambo_core::{Pulse, drive::Drive};
/// fn pulse<'d>(drive: &'d Drive<'_>, hash: &'d [u8; 32]) -> Option<Pulse<'d>> {
///     let forged = Pulse { ticks: 2, observed: 1, bundle: hash, policy: hash };
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
    /// The bundle that drives.
    pub(crate) bundle: &'d [u8; 32],
    /// The controller that was permitted.
    pub(crate) policy: &'d [u8; 32],
}
