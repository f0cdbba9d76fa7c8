//! Writes a figure to disk, whole or not at all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::FigureError;
use hambo_base::files::write_whole;

/// Pixels of a PNG per unit of its SVG.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 1.5;

/// Writes `<stem>.svg`, and with the feature `png` also `<stem>.png`; returns the last.
///
/// Both are made in memory first and each is renamed into place, so that no half-written file
/// is left.
pub fn write_picture(svg: &str, path_stem: &Path) -> Result<PathBuf, FigureError> {
    #[cfg(feature = "png")]
    let png = super::png::render_png(svg, PNG_SCALE)?;
    let path = with_suffix(path_stem, ".svg");
    write_whole(&path, svg.as_bytes()).map_err(FigureError::Io)?;
    #[cfg(feature = "png")]
    let path = {
        let path = with_suffix(path_stem, ".png");
        write_whole(&path, &png).map_err(FigureError::Io)?;
        path
    };
    Ok(path)
}

/// Appends to the name; `Path::with_extension` would cut `pi_1.1` short.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
