//! What people look at: [`page`] makes the report about a check, [`ranking_page`] that about several, [`sweep_page`] that about a sweep, [`figure`] holds the pictures.
//!
//! **In:** finished checks and plain numbers. **Out:** HTML, SVG, PNG. Nothing here decides.

pub mod figure;
mod page;
mod range;
mod svg;
mod words;

pub use page::{
    FittedModels, HeatCell, HeatMap, RankedPolicy, SweepFailure, SweepPage, SweepRanking, page,
    ranking_page, sweep_page,
};
