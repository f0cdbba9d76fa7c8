//! What can go wrong with a figure.

use hambo_base::error::Explained;

/// Why a figure was not drawn or not written.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// A number to draw is NaN or infinite.
    #[error("{what} holds a number that is not finite (entry {index})")]
    NonFinite {
        /// The field with the bad number.
        what: &'static str,
        /// Its place in that field, from 0.
        index: usize,
    },
    /// A field that must hold something is empty.
    #[error("{what} is empty, so there is nothing to draw")]
    Empty {
        /// The empty field.
        what: &'static str,
    },
    /// More models would deploy than there are.
    #[error("study point {index} counts more deployments than models")]
    MoreDeploymentsThanModels {
        /// The point, from 0.
        index: usize,
    },
    /// The scale is not a positive number, or the picture would be too large.
    #[cfg(feature = "png")]
    #[error("cannot draw at scale {0}: each side must have 1 to 16384 pixels")]
    Scale(f32),
    /// The SVG text is not valid.
    #[cfg(feature = "png")]
    #[error("the SVG cannot be read back: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// The pixels could not be compressed.
    #[cfg(feature = "png")]
    #[error("the PNG cannot be encoded: {0}")]
    Png(String),
    /// A file could not be written; the message names it.
    #[error("cannot write {0}")]
    Io(std::io::Error),
}

impl Explained for FigureError {}

/// Checks that every number is finite; `values` yields the numbers of each entry.
pub(super) fn check_finite<const N: usize>(
    what: &'static str,
    values: impl IntoIterator<Item = [f32; N]>,
) -> Result<(), FigureError> {
    for (index, entry) in values.into_iter().enumerate() {
        if !entry.iter().all(|v| v.is_finite()) {
            return Err(FigureError::NonFinite { what, index });
        }
    }
    Ok(())
}
