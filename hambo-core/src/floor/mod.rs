//! What a robot asks of every bundle, whatever the bundle says of itself.
//!
//! A bundle brings its own threshold, its own effort and its own word that the model is
//! calibrated. The floor belongs to the robot: the least that a bundle must ask of its
//! controller, the question that it must ask, and transitions of this very robot, on
//! which the gate counts again how many lie in the model's set. A bundle that asks for
//! less is refused, with the field in which it does.
//!
//! The floor cannot see everything: of starts that were taken from a log or searched for
//! as the worst it compares the kind alone, and the region that the log covers is the
//! model's own word.

mod admission;
mod admitted;
mod identity;
mod part;
#[cfg(test)]
mod tests;

pub use admission::Shortfall;
pub use admitted::{Admitted, AdmittedFallback};
pub use identity::{constraint_identity, question};
pub use part::{Floor, FloorManifest, Question};
