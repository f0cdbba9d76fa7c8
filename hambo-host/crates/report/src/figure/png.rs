//! SVG to PNG with the fonts that are linked into the library; no system font is needed.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::error::FigureError;

const REGULAR: &[u8] = include_bytes!("../../assets/Inter-Regular.subset.otf");
const SEMI_BOLD: &[u8] = include_bytes!("../../assets/Inter-SemiBold.subset.otf");

/// The name of the fonts.
const FONT_NAME: &str = "Inter";

/// The longest side of a picture in pixels.
const MAX_SIDE: f32 = 16_384.0;

/// Parses an SVG with the bundled fonts.
pub fn parse(svg: &str) -> Result<Tree, FigureError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    fonts.set_sans_serif_family(FONT_NAME);
    let options = Options {
        font_family: FONT_NAME.to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    Ok(Tree::from_str(svg, &options)?)
}

/// Renders an SVG to the bytes of a PNG with `scale` pixels per SVG unit.
pub fn render_png(svg: &str, scale: f32) -> Result<Vec<u8>, FigureError> {
    render(svg, scale)?
        .encode_png()
        .map_err(|error| FigureError::Png(error.to_string()))
}

/// Renders an SVG to pixels.
pub(super) fn render(svg: &str, scale: f32) -> Result<Pixmap, FigureError> {
    let tree = parse(svg)?;
    let side = |length: f32| {
        let pixels = (length * scale).round();
        // Also false for NaN.
        let fits = (1.0..=MAX_SIDE).contains(&pixels);
        fits.then_some(pixels as u32)
            .ok_or(FigureError::Scale(scale))
    };
    let (width, height) = (side(tree.size().width())?, side(tree.size().height())?);
    let mut pixels = Pixmap::new(width, height).ok_or(FigureError::Scale(scale))?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_picture_becomes_a_png_of_its_size() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>"#;
        let png = super::render_png(svg, 2.0).unwrap_or_default();
        assert_eq!(png.get(1..4), Some(b"PNG".as_slice()));
        assert_eq!(png.get(16..24), Some([0, 0, 0, 8, 0, 0, 0, 6].as_slice()));
    }
}
