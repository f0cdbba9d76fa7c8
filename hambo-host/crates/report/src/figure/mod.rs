//! Pictures as SVG and PNG: [`PointSafetyFigure`] is the paper's figure 1, [`Study`] counts
//! which controllers would be deployed.
//!
//! In go plain numbers, out comes an SVG template that is filled with them. The same data
//! give the same SVG, byte for byte.

mod error;
mod files;
pub mod monitor;
#[cfg(feature = "png")]
pub mod png;
pub mod point_safety;
pub mod series;
pub mod study;
pub mod svg;
mod template;

pub use error::FigureError;
pub use files::write_picture;
pub use point_safety::{AdversarialStep, PointSafetyFigure};
pub use series::{Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle};
pub use study::{Study, StudyCounts, StudyPoint};
