//! What people look at: the report's page and the figures.
//!
//! Goes in: finished outcomes and plain numbers. Comes out: HTML, SVG, PNG.
//! May use: `check` and below, and computes nothing that decides.

pub mod figure;
pub mod report;
