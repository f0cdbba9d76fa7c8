//! The pieces of all pictures, as `maud` markup: lengths with two decimals, lines, dots, labels.

use maud::{Markup, PreEscaped, html};

/// Colours and letters of all figures.
const STYLE: &str = include_str!("style.css");

/// A length with two decimals and no negative zero.
pub fn px(value: impl Into<f64>) -> String {
    let text = format!("{:.2}", value.into());
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}

/// The path data of a line through the points.
pub fn line_data<F: Into<f64>>(points: impl IntoIterator<Item = [F; 2]>) -> String {
    let points = points.into_iter().enumerate();
    let part = |(i, [x, y]): (usize, [F; 2])| {
        let command = if i == 0 { 'M' } else { 'L' };
        format!("{command}{} {}", px(x), px(y))
    };
    points.map(part).collect()
}

/// A line through the points, in the looks of a class.
pub fn stroke<F: Into<f64>>(class: &str, points: impl IntoIterator<Item = [F; 2]>) -> Markup {
    html! { path class=(class) d=(line_data(points)) {} }
}

/// A dot in the looks of a class.
pub fn dot<F: Into<f64>>(class: &str, [x, y]: [F; 2], radius: F) -> Markup {
    html! { circle class=(class) cx=(px(x)) cy=(px(y)) r=(px(radius)) {} }
}

/// Words at a place; `anchor` is `start`, `middle` or `end`.
pub fn label(class: &str, [x, y]: [f64; 2], anchor: &str, words: &str) -> Markup {
    html! { text class=[(!class.is_empty()).then_some(class)] x=(px(x)) y=(px(y)) text-anchor=(anchor) { (words) } }
}

/// A picture that stands alone: paper, the letters and colours of all figures, and what is drawn.
pub fn sheet([width, height]: [f64; 2], title: &str, style: &str, body: &Markup) -> String {
    printable(html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox={ "0 0 " (width) " " (height) } role="img"
            font-family="Inter, 'Helvetica Neue', Arial, sans-serif" font-size="17" fill="#1d232b" {
            title { (title) }
            style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            rect class="paper" x="1" y="1" width=(width - 2.0) height=(height - 2.0) rx="18" {}
            (body)
        }
    })
}

/// Markup without the characters that neither HTML nor XML allows.
pub(crate) fn printable(markup: Markup) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n') || !c.is_control();
    let mut text = markup.into_string();
    text.retain(|c| allowed(c) && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_is_no_negative_zero() {
        assert_eq!(super::px(-0.001_f32), "0.00");
        assert_eq!(super::px(-0.01_f32), "-0.01");
    }
}
