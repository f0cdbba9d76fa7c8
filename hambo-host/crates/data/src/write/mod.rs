//! Writing logs as CSV, NPZ, HDF5 in D4RL's and Minari's layouts, and Parquet.

mod arrays;
mod columns;
mod csv;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "hdf5")]
mod hdf5_plain;
#[cfg(feature = "hdf5")]
mod minari;
mod npz;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
mod plain;

#[cfg(feature = "hdf5")]
pub(crate) use arrays::{Array, Kind};
#[cfg(feature = "hdf5")]
pub(crate) use hdf5_plain::beginning;
#[cfg(all(test, feature = "hdf5"))]
pub(crate) use npz::write_npz;
#[cfg(feature = "hdf5")]
pub(crate) use output::write_beside;
pub use output::{OutputOptions, write_table};
pub use plain::{PlainColumn, PlainValues, write_plain_parquet};
