//! Pictures as SVG and PNG: [`PointSafetyFigure`] is the paper's figure 1, [`StudyFigure`]
//! counts which controllers would be deployed.
//!
//! The same data give the same SVG, byte for byte.

mod callout;
mod error;
mod files;
mod geometry;
pub mod png;
pub mod point_safety;
pub mod study;
mod style;
pub mod svg;
mod view;

#[cfg(test)]
mod tests;

pub use error::FigureError;
pub use files::write_svg_and_png;
pub use point_safety::{ConfidenceSet, PointSafetyFigure};
pub use study::{StudyFigure, StudyPoint};
