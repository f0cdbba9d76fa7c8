//! What lies behind and around the paths: disc, grid, frames and the close-up's ruler.

use super::OVERVIEW;
use crate::present::figure::geometry::between;
use crate::present::figure::style::{DANGER, GRID, INK, QUIET, dot, label, line};
use crate::present::figure::svg::{Element, line_data, number};
use crate::present::figure::view::View;

/// Lengths that the ruler may have, in data units.
const RULERS: [f64; 5] = [0.2, 0.1, 0.05, 0.02, 0.01];

/// A group that shows only what lies inside the window.
pub(super) fn clipped(view: &View, id: &'static str) -> Element {
    let clip = Element::new("clipPath").set("id", id).with(view.frame());
    Element::new("g")
        .with(clip)
        .set("clip-path", format!("url(#{id})"))
}

/// The danger zone: soft fill, hatching, firm edge.
pub(super) fn disc(view: &View, spacing: f64) -> Element {
    let circle = || dot(view.map([0.0, 0.0]), view.scale, DANGER);
    let id = format!("hatch-{spacing:.0}");
    let hatch = Element::new("pattern")
        .set("id", id.clone())
        .set("width", spacing)
        .set("height", spacing)
        .set("patternUnits", "userSpaceOnUse")
        .set("patternTransform", "rotate(45)")
        .with(
            Element::new("path")
                .set("d", format!("M0 0V{}", number(spacing)))
                .set("stroke", DANGER)
                .set("stroke-width", 0.22 * spacing),
        );
    let [x, y] = view.map([0.0, 0.0]);
    let hatched = Element::new("circle")
        .set("cx", x)
        .set("cy", y)
        .set("r", view.scale)
        .set("fill", format!("url(#{id})"))
        .set("fill-opacity", 0.16);
    Element::new("g")
        .with(hatch)
        .with(circle().set("fill-opacity", 0.13))
        .with(hatched)
        .with(
            circle()
                .set("fill-opacity", 0.0)
                .set("stroke", DANGER)
                .set("stroke-width", 2.2),
        )
}

pub(super) fn grid(view: &View) -> Element {
    let mut group = Element::new("g").set("fill", QUIET);
    let [left, top] = view.corner;
    let [width, height] = view.size();
    for tick in -2..=2 {
        let value = f64::from(tick);
        let text = if tick < 0 {
            format!("−{}", -tick)
        } else {
            tick.to_string()
        };
        let [x, y] = view.map([value, value]);
        group.push(line([[x, top], [x, top + height]], GRID, 1.2));
        group.push(label([x, top + height + 22.0], 16.0, "middle").text(&text));
        if (view.min[1]..view.max[1]).contains(&value) {
            group.push(line([[left, y], [left + width, y]], GRID, 1.2));
            group.push(label([left + 8.0, y - 6.0], 16.0, "start").text(&text));
        }
    }
    group
}

/// A pale wedge from the close-up's window in the overview to the close-up.
pub(super) fn wedge(view: &View, close_up: &View) -> Element {
    let [x, y] = close_up.corner;
    let bottom = y + close_up.size()[1];
    let corner = |y| view.map([close_up.max[0], y]);
    let points = [
        corner(close_up.max[1]),
        [x, y],
        [x, bottom],
        corner(close_up.min[1]),
    ];
    let fill = Element::new("path")
        .set("d", format!("{}Z", line_data(points)))
        .set("fill", QUIET)
        .set("fill-opacity", 0.045);
    let [a, b, c, d] = points;
    let mut group = Element::new("g").with(fill);
    for edge in [[a, b], [d, c]] {
        group.push(line(edge, QUIET, 0.9).set("stroke-opacity", 0.3));
    }
    group
}

/// The close-up's window in the overview.
pub(super) fn close_up_mark(view: &View, close_up: &View) -> Element {
    let center = between(close_up.min, close_up.max, 0.5);
    let half = [0, 1].map(|i| 0.5 * (close_up.max[i] - close_up.min[i]));
    view.rect(center, half)
        .set("rx", 4.0)
        .set("fill", "none")
        .set("stroke", QUIET)
        .set("stroke-width", 1.5)
        .set("stroke-dasharray", "5 4")
}

/// Under the close-up: how long a piece of the plane is there, and how much larger.
pub(super) fn ruler(close_up: &View) -> Element {
    let [left, top] = close_up.corner;
    let [width, height] = close_up.size();
    let longest = 0.34 * width / close_up.scale;
    let length = RULERS.into_iter().find(|l| *l <= longest).unwrap_or(0.01);
    let y = top + height + 16.0;
    let [from, to] = [left + 2.0, left + 2.0 + length * close_up.scale];
    let mut group = Element::new("g").set("id", "ruler");
    group.push(line([[from, y], [to, y]], INK, 2.0));
    for x in [from, to] {
        group.push(line([[x, y - 5.0], [x, y + 5.0]], INK, 2.0));
    }
    let quiet = |x, anchor| label([x, y + 6.0], 16.0, anchor).set("fill", QUIET);
    group.push(quiet(to + 10.0, "start").text(&length.to_string()));
    let times = close_up.scale / OVERVIEW.scale;
    let times = if times < 9.95 {
        format!("{times:.1}")
    } else {
        format!("{times:.0}")
    };
    group.push(quiet(left + width, "end").text(&format!("the dashed frame, ×{times}")));
    group
}
