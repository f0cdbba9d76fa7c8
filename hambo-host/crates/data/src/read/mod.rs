//! Reading logs from CSV, NPZ, HDF5 in D4RL's and Minari's layouts, and Parquet. The last two bring
//! heavy dependencies; a build without their cargo features says so when it meets such a file.

mod arrays;
mod clock;
mod column_roles;
mod columns;
#[cfg(feature = "parquet")]
mod contained;
mod csv;
#[cfg(feature = "hdf5")]
mod hdf5;
#[cfg(feature = "hdf5")]
mod hdf5_arrays;
mod held;
mod limits;
#[cfg(feature = "hdf5")]
mod minari;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod separator;

pub use held::{HeldArray, HeldNumbers};
#[cfg(feature = "hdf5")]
pub(crate) use npz::{Archive, Entry};
pub use paths::{read_held_table, read_held_task_log, read_logs, read_table, read_task_logs};
