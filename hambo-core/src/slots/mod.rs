//! Two places for bundles in a flash memory, of which one is active.
//!
//! A new bundle is written into the place that is not active, compared with its hash, checked by
//! the gate, and made active by one last record. Power may fail at any moment: before that record
//! is whole the old bundle is the active one, afterwards the new one.
//!
//! | file | what |
//! |---|---|
//! | [`layout`] | where the places lie |
//! | [`record`] | what is noted beside a bundle: that it was begun, that it is active |
//! | [`error`] | why something cannot be done |
//! | [`flash`] | reads, writes and erasures in pieces |
//! | [`store`] | the steps, from the first byte to the active bundle |
//!
//! Active is the place whose record has the largest counter. That record is never erased while
//! it is the largest, so the least counter that a robot takes does not fall: not by a bundle that
//! was refused, nor by one whose bytes were lost. A place says which bytes are active and not
//! that they may drive: the gate hashes and checks them at every start.
//!
//! While flash is erased or written a controller with one bank does not run, so this is for a
//! robot whose outputs are parked.

pub mod error;
pub mod flash;
pub mod layout;
pub mod record;
pub mod store;

#[cfg(test)]
pub(crate) mod tests;

pub use error::SlotError;
pub use layout::{Layout, Place, Slot};
pub use store::{Active, Begun, Slots};
