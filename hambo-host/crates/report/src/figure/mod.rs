//! Pictures that stand alone, as SVG and PNG: [`PointSafetyFigure`] is the paper's figure 1,
//! [`Study`] counts which controllers would be deployed, [`SeriesFigure`] draws lines in panels.
//!
//! The same data give the same SVG, byte for byte.

mod error;
mod files;
mod monitor;
#[cfg(feature = "png")]
mod png;
mod point_safety;
mod series;
mod strip;
mod study;

pub use error::FigureError;
pub use files::write_picture;
pub use monitor::{MonitoredEpisode, monitor_figure};
pub use point_safety::{AdversarialStep, PointSafetyFigure};
pub use series::{Mark, Scale, Series, SeriesFigure, SeriesPanel, SeriesPoint, SeriesStyle};
pub use strip::{BAD, CAUTION, GOOD, StripFigure, UNDECIDED};
pub use study::{Study, StudyCounts, StudyPoint};
