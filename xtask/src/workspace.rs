//! How the workspace is built for the tests.

use crate::command::CommandLine;

/// The whole workspace in one choice of features, so that no crate is built twice. Tests read
/// a few rows of Parquet and HDF5; optimised, these two take three minutes to build.
pub const WORKSPACE: &str = "--release --workspace --features hambo-tests/qemu \
     --config profile.release.package.parquet.opt-level=0 \
     --config profile.release.package.hdf5-pure.opt-level=0";

/// An example of `tests/`, built as the tests are.
pub fn example_build() -> CommandLine {
    CommandLine::new("cargo build").words(WORKSPACE)
}
