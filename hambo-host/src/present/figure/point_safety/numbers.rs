//! The numbers under the plane: returns against the threshold, and the verdict.

use super::{COLUMNS, PointSafetyFigure};
use crate::present::figure::style::{
    ADVERSARY, DANGER, DANGER_TEXT, FRAME, INK, NEUTRAL, PANEL, QUIET, SAFE, SAFE_TEXT, dot, label,
    line, readable, shorten, with_controller,
};
use crate::present::figure::svg::Element;

const TOP: f64 = 640.0;
const BOTTOM: f64 = 824.0;
const LEFT: f64 = COLUMNS[0][0];
const RIGHT: f64 = COLUMNS[0][1];
/// Where the returns are drawn to scale.
const TRACK: [f64; 2] = [LEFT + 210.0, RIGHT - 250.0];
const ROW: f64 = 40.0;

/// Draws both panels.
pub(super) fn draw(figure: &PointSafetyFigure) -> Element {
    Element::new("g")
        .with(returns(figure))
        .with(verdict(figure))
}

fn panel(left: f64, right: f64, fill: &'static str, stroke: &'static str) -> Element {
    Element::new("rect")
        .set("x", left)
        .set("y", TOP)
        .set("width", right - left)
        .set("height", BOTTOM - TOP)
        .set("rx", 10.0)
        .set("fill", fill)
        .set("stroke", stroke)
}

fn rect(left: f64, right: f64, fill: &'static str) -> Element {
    Element::new("rect")
        .set("x", left)
        .set("y", TOP + 44.0)
        .set("width", right - left)
        .set("height", 3.0 * ROW)
        .set("fill", fill)
        .set("fill-opacity", 0.10)
}

/// What a return would mean for the controller.
fn decision(value: f32, threshold: f32) -> (&'static str, &'static str) {
    if value >= threshold {
        ("deploy", SAFE_TEXT)
    } else {
        ("reject", DANGER_TEXT)
    }
}

fn returns(figure: &PointSafetyFigure) -> Element {
    let rows = [
        ("truth", figure.true_return, INK),
        ("neutral estimate", figure.neutral_return, NEUTRAL),
        ("lower bound", figure.bound, ADVERSARY),
    ];
    let values = rows.map(|row| f64::from(row.1));
    let threshold = f64::from(figure.threshold);
    let low = values.iter().fold(threshold, |a, b| a.min(*b));
    let high = values.iter().fold(threshold, |a, b| a.max(*b));
    let span = (high - low).max(1e-6);
    let place = |value: f64| {
        let share = 0.08 + 0.84 * (value - low) / span;
        TRACK[0] + share * (TRACK[1] - TRACK[0])
    };
    let decimals = match low.abs().max(high.abs()) {
        largest if largest < 10.0 => 2,
        largest if largest < 1000.0 => 1,
        _ => 0,
    };

    let x = place(threshold);
    let mut group = Element::new("g")
        .with(panel(LEFT, RIGHT, PANEL, FRAME))
        .with(rect(TRACK[0], x, DANGER))
        .with(rect(x, TRACK[1], SAFE));
    let title = label([LEFT + 20.0, TOP + 30.0], 17.0, "start").set("fill", QUIET);
    group.push(with_controller(
        title.text("return of "),
        &shorten(&figure.controller, 12),
        17.0,
    ));
    let ends = [TOP + 40.0, TOP + 44.0 + 3.0 * ROW];
    group.push(line(ends.map(|y| [x, y]), INK, 1.6).set("stroke-dasharray", "2 5"));
    let text = format!("threshold {}", readable(figure.threshold, decimals));
    let at = x.clamp(TRACK[0] + 70.0, TRACK[1] - 70.0);
    group.push(label([at, TOP + 30.0], 17.0, "middle").text(&text));
    for (i, (name, value, color)) in rows.into_iter().enumerate() {
        let y = TOP + 44.0 + (i as f64 + 0.5) * ROW;
        let (word, word_color) = decision(value, figure.threshold);
        let name = label([LEFT + 20.0, y + 6.5], 19.0, "start").text(name);
        group.push(name.set("font-weight", "600"));
        group.push(line([[TRACK[0], y], [TRACK[1], y]], FRAME, 1.2));
        group.push(line([[x, y], [place(f64::from(value)), y]], color, 4.0));
        group.push(
            dot([place(f64::from(value)), y], 9.0, color)
                .set("stroke", PANEL)
                .set("stroke-width", 2.0),
        );
        let number = label([TRACK[1] + 110.0, y + 6.5], 19.0, "end").set("font-weight", "600");
        group.push(number.text(&readable(value, decimals)));
        let word_at = [TRACK[1] + 136.0, y + 6.5];
        group.push(
            label(word_at, 19.0, "start")
                .set("fill", word_color)
                .text(&format!("→ {word}")),
        );
    }
    group
}

fn verdict(figure: &PointSafetyFigure) -> Element {
    let [left, right] = COLUMNS[1];
    let middle = 0.5 * (left + right);
    let word = shorten(figure.verdict.trim(), 24);
    let color = match word.to_ascii_lowercase().as_str() {
        "deploy" => SAFE_TEXT,
        "reject" => DANGER_TEXT,
        _ => INK,
    };
    let tint = panel(left, right, color, color).set("fill-opacity", 0.07);
    let size = if word.chars().count() <= 12 {
        58.0
    } else {
        28.0
    };
    let relation = if figure.bound >= figure.threshold {
        "lower bound ≥ threshold"
    } else {
        "lower bound < threshold"
    };
    Element::new("g")
        .with(panel(left, right, PANEL, FRAME))
        .with(tint)
        .with(
            label([middle, TOP + 38.0], 17.0, "middle")
                .set("fill", QUIET)
                .text("verdict"),
        )
        .with(
            label([middle, TOP + 106.0], size, "middle")
                .set("font-weight", "600")
                .set("fill", color)
                .text(&word),
        )
        .with(label([middle, TOP + 150.0], 19.0, "middle").text(relation))
}
