//! Writes a figure to disk, whole or not at all.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::FigureError;
use super::png::render_png;
use crate::foundation::files::write_whole;

/// Writes `<stem>.svg` and `<stem>.png` and returns both paths.
///
/// Both are made in memory first and each is renamed into place, so that no half-written file
/// is left. The PNG has `scale` pixels per SVG unit.
pub fn write_svg_and_png(
    svg: &str,
    path_stem: &Path,
    scale: f32,
) -> Result<[PathBuf; 2], FigureError> {
    let png = render_png(svg, scale)?;
    let paths = [
        with_suffix(path_stem, ".svg"),
        with_suffix(path_stem, ".png"),
    ];
    for (path, bytes) in paths.iter().zip([svg.as_bytes(), &png]) {
        write_whole(path, bytes).map_err(FigureError::Io)?;
    }
    Ok(paths)
}

/// Appends to the name; `Path::with_extension` would cut `pi_1.1` short.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
