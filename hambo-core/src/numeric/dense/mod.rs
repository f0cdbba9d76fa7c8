//! The one kernel for dense layers: a tile of four outputs × `B` lanes.
//!
//! Weights are stored in blocks of four outputs, input-major inside a block
//! (`[[w0, w1, w2, w3]; inputs]`), so that a block is read in one straight
//! run. The sum over the inputs has one order, and each lane is its own sum:
//! the same bits for every `B`.
//!
//! With vectors, inputs and derivatives that are zero in every lane are passed
//! over. A sum that starts from `bias + 0` is never −0, so adding a zero
//! changes no bit.

mod active;
mod forward;
mod layer;
mod pull_back;
#[cfg(test)]
mod tests;

pub use layer::{Dense, TILE, padded};
pub(super) use pull_back::add_tile;
