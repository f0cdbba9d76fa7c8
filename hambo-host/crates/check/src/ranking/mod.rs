//! Several controllers in order: which to try first, and which not at all.

pub mod certain;
pub mod judge_all;
mod numbered;
pub mod order;
mod places;
pub mod table;
#[cfg(test)]
mod table_tests;
mod why;
