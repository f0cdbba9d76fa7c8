//! Sweeps: controllers × models × seeds × log sizes × horizons as cells, each one command line.
//!
//! A cell can be run anywhere, any number of times and by two machines at once: its row is written
//! beside its place and linked into it, a second result is held against the first, and a row that
//! is there is skipped. So an engine needs no memory of its own: it hands out what is left.
//!
//! | module | what it holds |
//! |---|---|
//! | [`commands`] | fits and checks, as the command does them |
//! | [`plan`] | the plan file, and the sweep that it asks for |
//! | [`cells`] | the number of each cell |
//! | [`keep`] | results that are there once, whole |
//! | [`row`] | what a cell finds |
//! | [`folder`] | a sweep's folder: the frozen plan, models, rows |
//! | [`work`] | works off one cell |
//! | [`engine`] | hands cells out: this machine, Ray, Slurm |
//! | [`gather`] | the table of all rows, and the page about them |
//! | [`study`] | the same engines for a study's cells |
//!
//! Each stands on those above it; `study` on `engine` and `keep` alone.

pub mod cells;
pub mod commands;
pub mod engine;
pub mod folder;
pub mod gather;
pub mod keep;
pub mod plan;
pub mod row;
pub mod study;
pub mod work;
