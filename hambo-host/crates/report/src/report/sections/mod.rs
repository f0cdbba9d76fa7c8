//! The sections of the page, one file each.

pub mod adversaries;
pub mod backtest;
pub mod bound;
pub mod calibration;
pub mod known;
pub mod limits;
pub mod log_next;
pub mod losses;
pub mod repeat;
pub mod support;
pub mod theory;
pub mod trajectories;

/// A section: its anchor, its heading, and its markup.
pub struct Section {
    /// Unique on the page.
    pub id: &'static str,
    /// Plain words.
    pub title: &'static str,
    /// Escaped markup.
    pub body: String,
}
