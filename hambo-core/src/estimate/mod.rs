//! Means over trajectories, and how far they may be off (DESIGN 3.13).

mod moments;
mod student;

pub use moments::{Margin, SampleMoments};
pub use student::student_quantile;
