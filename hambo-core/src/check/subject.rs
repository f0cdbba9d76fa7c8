//! Whose check it is: what a permit may be asked for.

use crate::floor::Admitted;
use crate::gate::Hashes;

/// Whose check it is. The types below are the only ones.
pub trait Subject: sealed::Named {}

/// Any policy on an image's model and task: an outcome for people, and no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anybody;

/// The controller of an admitted bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfController;

/// The fallback of an admitted bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfFallback;

/// A controller in Rust, which is part of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfOwnCode;

mod sealed {
    use crate::image::Bundle;

    pub trait Named {
        /// The hash of its part in a bundle.
        fn hash_in(bundle: &Bundle<'_>) -> Option<[u8; 32]>;
    }

    impl Named for super::Anybody {
        fn hash_in(_: &Bundle<'_>) -> Option<[u8; 32]> {
            None
        }
    }

    impl Named for super::OfController {
        fn hash_in(bundle: &Bundle<'_>) -> Option<[u8; 32]> {
            Some(*bundle.policy_hash())
        }
    }

    impl Named for super::OfFallback {
        fn hash_in(bundle: &Bundle<'_>) -> Option<[u8; 32]> {
            bundle.fallback_hash().copied()
        }
    }

    impl Named for super::OfOwnCode {
        fn hash_in(_: &Bundle<'_>) -> Option<[u8; 32]> {
            None
        }
    }
}

impl Subject for Anybody {}
impl Subject for OfController {}
impl Subject for OfFallback {}
impl Subject for OfOwnCode {}

/// What a check of an admitted bundle is about. `None` if it cannot be told.
pub(super) fn hashes_of<S: Subject>(admitted: &Admitted<'_>) -> Option<Hashes> {
    let bundle = admitted.bundle();
    Some(Hashes {
        floor: *admitted.floor_hash(),
        bundle: *bundle.image().hash(),
        policy: S::hash_in(bundle),
        read: bundle.checksum()?,
    })
}
