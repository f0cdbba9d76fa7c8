//! A window of the plane drawn into a rectangle with equal scales on both axes.

use super::geometry::Point;
use super::svg::Element;

/// Far outside every window; keeps wild data from overflowing the picture's numbers.
const FAR: f64 = 1e4;

/// Maps data to the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    /// The lower left corner of the window in data units.
    pub min: Point,
    /// The upper right corner of the window in data units.
    pub max: Point,
    /// The upper left corner in the picture.
    pub corner: Point,
    /// Picture units per data unit.
    pub scale: f64,
}

impl View {
    /// Width and height in the picture.
    pub fn size(&self) -> Point {
        [0, 1].map(|i| (self.max[i] - self.min[i]) * self.scale)
    }

    /// A data point in the picture.
    pub fn map(&self, p: Point) -> Point {
        let [x, y] = p.map(|v| v.clamp(-FAR, FAR));
        [
            self.corner[0] + (x - self.min[0]) * self.scale,
            self.corner[1] + (self.max[1] - y) * self.scale,
        ]
    }

    /// Whether the window holds the point.
    pub fn contains(&self, p: Point) -> bool {
        (0..2).all(|i| (self.min[i]..=self.max[i]).contains(&p[i]))
    }

    /// The window's rounded frame.
    pub fn frame(&self) -> Element {
        let [width, height] = self.size();
        Element::new("rect")
            .set("x", self.corner[0])
            .set("y", self.corner[1])
            .set("width", width)
            .set("height", height)
            .set("rx", 10.0)
    }

    /// A rectangle of data space.
    pub fn rect(&self, center: Point, half_width: Point) -> Element {
        let [x, y] = self.map([center[0] - half_width[0], center[1] + half_width[1]]);
        let [right, bottom] = self.map([center[0] + half_width[0], center[1] - half_width[1]]);
        Element::new("rect")
            .set("x", x)
            .set("y", y)
            .set("width", right - x)
            .set("height", bottom - y)
    }
}
