//! Pictures as SVG and PNG.
