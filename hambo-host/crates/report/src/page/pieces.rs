//! Small pieces of the page. `maud` escapes whatever is put into its markup.

use maud::{Markup, Render, html};

use crate::words::readable;

/// The most states that get a chart of their own.
pub(super) const MOST_CHARTS: usize = 24;

/// A cell of a table. Numbers are set to the right.
pub(super) struct Cell {
    number: bool,
    body: Markup,
}

pub(super) fn text(body: impl Render) -> Cell {
    Cell {
        number: false,
        body: body.render(),
    }
}

pub(super) fn number(body: impl Render) -> Cell {
    Cell {
        number: true,
        body: body.render(),
    }
}

/// A number that is rounded for the reader.
pub(super) fn figure(value: f64) -> Cell {
    number(readable(value))
}

pub(super) fn code(words: &str) -> Cell {
    text(html! { code { (words) } })
}

/// A table with a caption; the first cell of each row is its header. Wide tables scroll in their
/// own frame, which the keyboard can reach; on a narrow screen each row is a card, and each cell
/// says its own head. The roles are said, because such cards would lose them.
pub(super) fn table(
    caption: &str,
    heads: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Markup {
    let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    let right = |cell: Option<&Cell>| cell.and_then(|cell| cell.number.then_some("number"));
    let numeric = |column: usize| right(rows.first().and_then(|row| row.get(column)));
    html! {
        div class="scroll" role="region" tabindex="0" aria-label=(caption) {
            table role="table" {
                caption { (caption) }
                thead role="rowgroup" {
                    tr role="row" {
                        @for (column, head) in heads.iter().enumerate() {
                            th role="columnheader" scope="col" class=[numeric(column)] { (head) }
                        }
                    }
                }
                tbody role="rowgroup" {
                    @for row in &rows {
                        tr role="row" {
                            @if let Some(cell) = row.first() {
                                th role="rowheader" scope="row" class=[right(Some(cell))] { (cell.body) }
                            }
                            @for (column, cell) in row.iter().enumerate().skip(1) {
                                @let head = heads.get(column).copied().unwrap_or_default();
                                td role="cell" data-head=(head) class=[right(Some(cell))] { (cell.body) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A wide chart with its caption. On a narrow screen it scrolls, and says so. The region has the
/// name of its chart: several of one name could not be told apart by ear.
pub(super) fn wide(id: &str, chart: Markup, keys: &Markup, caption: &str) -> Markup {
    html! {
        figure {
            p class="sideways" { "The picture goes on to the right: move it sideways." }
            div class="wide" role="region" tabindex="0" aria-labelledby={ (id) "-title" } { (chart) }
            figcaption { (keys) br; (caption) }
        }
    }
}

/// A small chart below its name.
pub(super) fn small(name: &str, chart: Markup) -> Markup {
    html! { figure { figcaption { (name) } (chart) } }
}

/// Keys to the lines, bands and dots of a chart: class and name.
pub(super) fn keys(entries: &[(&str, &str)]) -> Markup {
    html! {
        @for (class, name) in entries {
            span class="key" {
                svg width="26" height="14" aria-hidden="true" {
                    @if class.starts_with("band") {
                        rect class=(class) x="0" y="2" width="26" height="10" {}
                    } @else if class.starts_with("dot") {
                        circle class=(class) cx="13" cy="7" r="5" {}
                    } @else {
                        path class=(class) d="M0 7H26" {}
                    }
                }
                " " (name)
            }
            " "
        }
    }
}

/// An SVG that says to those who do not see it what it shows.
pub(super) fn described_svg(
    [id, title, description]: [&str; 3],
    [width, height]: [f64; 2],
    body: &Markup,
) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}"))
            height=(format!("{height:.0}")) role="img" aria-labelledby={ (id) "-title " (id) "-text" } {
            title id={ (id) "-title" } { (title) }
            desc id={ (id) "-text" } { (description) }
            (body)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_headers_and_escapes() {
        let rows = [vec![text("<i>"), figure(1.0)]];
        let table = table("a <caption>", &["x", "y"], rows).into_string();
        for part in [
            "a &lt;caption&gt;",
            "<th role=\"columnheader\" scope=\"col\" class=\"number\">y",
            "<th role=\"rowheader\" scope=\"row\">&lt;i&gt;</th>",
        ] {
            assert!(table.contains(part), "{part} is not in {table}");
        }
        assert!(!table.contains("<i>"));
    }
}
