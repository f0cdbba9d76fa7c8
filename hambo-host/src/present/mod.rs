//! What people look at: the report's page and the figures.

pub mod figure;
pub mod report;
