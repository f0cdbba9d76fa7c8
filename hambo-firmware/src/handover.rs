//! What the verifier found, before the gate takes a bundle or a floor.
//!
//! With the feature `development` there is no verifier, and nothing is verified: for an emulator
//! or a bench, never for a robot that others can reach.

use hambo_core::image::{Part, Role};
use hambo_core::link::device::Refusal;

#[cfg(not(feature = "development"))]
use crate::{board, counter::Counter};

/// Said at the start, before the counter is started anew: the work of the verifier, in
/// instructions under QEMU and else in cycles, if it is less than 2²⁴ ticks, and its stack.
pub fn tell() {
    #[cfg(feature = "development")]
    defmt::info!("development: signatures are not verified");
    #[cfg(not(feature = "development"))]
    {
        let work = Counter::work_of(Counter::ticks_between(0, Counter::now()).into());
        let stack = board::verifier_stack();
        defmt::info!("the verifier took {=u64}, stack {=u32}", work, stack);
    }
}

/// Whether the verifier verified the bytes of a bundle or a floor, which are hashed again here.
///
/// # Errors
/// Why they count as unsigned.
#[inline(never)]
pub fn ensure(role: Role, bytes: &[u8]) -> Result<(), Refusal> {
    #[cfg(feature = "development")]
    let found = {
        let _ = bytes;
        Ok(())
    };
    #[cfg(not(feature = "development"))]
    let found = match hambo_core::link::handover::Handover::of_words(&board::handover()) {
        Some(handover) => handover.ensure(role, bytes),
        None => Err(hambo_core::link::handover::Doubt::NoVerifier),
    };
    let part: Part = role.part();
    found.map_err(|doubt| Refusal::Unverified(part, doubt))
}
