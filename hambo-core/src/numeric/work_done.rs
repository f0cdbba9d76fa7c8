//! What a watchdog is fed against: a proof that work went on, which only the work itself
//! can give.

/// A proof that the gate went on since the last one: the control loop and the
/// monitor by one period (`Heartbeat::beat`), the
/// check by one slice ([`Pause`](super::Pause)), or a level that is still permitted
/// (`OutputEnable::hold`).
///
/// Nothing else makes one. A driver that takes one for every feed resets a processor that
/// hangs, and one whose loop runs without its monitor. A proof cannot be made up:
///
/// ```compile_fail,E0423
/// use hambo_core::WorkDone;
/// fn feed(proof: WorkDone) -> WorkDone {
///     let forged = WorkDone(());
///     proof
/// }
/// ```
///
/// and the same without the forging line compiles:
///
/// ```
/// use hambo_core::WorkDone;
/// fn feed(proof: WorkDone) -> WorkDone {
///     proof
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct WorkDone(());

impl WorkDone {
    pub(crate) fn new() -> Self {
        Self(())
    }
}
