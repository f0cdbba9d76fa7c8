//! What every district stands on: errors, places in texts, files that are written whole.

pub mod checkpoint;
pub mod error;
pub mod files;
pub mod network;
pub mod place;
pub mod random;
