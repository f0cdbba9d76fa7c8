//! The policy part: small policies live in the manifest alone.

use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::container::Container;
use super::error::Problem;
use crate::policy::{StoredPolicy, Waypoints};

/// The manifest of a policy part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PolicyManifest {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
}

/// Reads a policy part.
///
/// # Errors
/// If a number is out of range.
#[inline(never)]
pub fn parse_policy(part: &Container<'_>) -> Result<StoredPolicy, Problem> {
    let manifest: PolicyManifest = part.read_manifest()?;
    let arena = ArenaReader::new(part.arena)?;
    match manifest {
        PolicyManifest::Waypoints(policy) => {
            arena.finish()?;
            if !policy.is_valid() {
                return Err(Problem::Number);
            }
            Ok(StoredPolicy::Waypoints(policy))
        }
    }
}
