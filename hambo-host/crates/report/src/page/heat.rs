//! A heat map: bounds of controllers over log sizes or seeds.

use maud::{Markup, html};

use super::pieces::{described_svg, wide};
use crate::range::Range;
use crate::svg::{label, px};
use crate::words::readable;

const LEFT: f64 = 200.0;
const TOP: f64 = 42.0;
const COLUMN: f64 = 118.0;
const ROW: f64 = 46.0;
const RIGHT: f64 = 12.0;
/// Letters of a name for which there is room.
const MOST_LETTERS: usize = 26;
/// Columns below which the picture is as wide as for these: letters keep their size.
const LEAST_COLUMNS: usize = 6;
/// How opaque the least and the greatest bound are: letters stay readable in both colour schemes.
const OPACITY: [f64; 2] = [0.06, 0.42];

/// Bounds of controllers by a model over a horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The model's name.
    pub model: String,
    /// Steps of a trajectory.
    pub horizon: u32,
    /// What the columns are.
    pub head: &'static str,
    /// Their names.
    pub columns: Vec<String>,
    /// Columns for which there is no room.
    pub left_out: usize,
    /// A controller and its fields; none where nothing was checked.
    pub rows: Vec<(String, Vec<Option<HeatCell>>)>,
}

/// A field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatCell {
    /// The median bound.
    pub bound: f64,
    /// How often it deploys; none without a threshold.
    pub deploy: Option<usize>,
    /// Of how many checks.
    pub checks: usize,
    /// Whether all of them abstain.
    pub abstains: bool,
}

/// The map as a figure.
pub(super) fn heat_map(id: &str, map: &HeatMap) -> Markup {
    let fields = map
        .rows
        .iter()
        .flat_map(|(_, cells)| cells.iter().flatten());
    let bounds: Vec<f64> = fields.map(|field| field.bound).collect();
    let finite = bounds.iter().copied().filter(|bound| bound.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let range = Range::exact(low, high);
    let bottom = TOP + ROW * map.rows.len() as f64;
    let columns = map.columns.len().max(LEAST_COLUMNS);
    let width = LEFT + COLUMN * columns as f64 + RIGHT;
    let body = html! {
        (label("", [LEFT - 14.0, TOP - 12.0], "end", map.head))
        @for (column, name) in map.columns.iter().enumerate() {
            (label("name", [LEFT + COLUMN * (column as f64 + 0.5), TOP - 12.0], "middle", name))
        }
        @for (row, (name, cells)) in map.rows.iter().enumerate() {
            @let y = TOP + ROW * row as f64;
            (label("name", [LEFT - 14.0, y + 0.5 * ROW + 4.0], "end", &short(name)))
            @for (column, cell) in cells.iter().enumerate() {
                (field([LEFT + COLUMN * column as f64, y], cell.as_ref(), &range))
            }
        }
    };
    let title = format!("Model {}, {} steps", map.model, map.horizon);
    let spoken: Vec<String> = map.rows.iter().map(|row| spoken(row, map)).collect();
    let svg = described_svg(
        [id, &title, &spoken.join(". ")],
        [width, bottom + 12.0],
        &body,
    );
    let mut caption = format!("{title}: the median bound by {}", map.head);
    if map.left_out > 0 {
        caption += &format!("; {} more columns are left out", map.left_out);
    }
    wide(id, svg, &html! {}, &(caption + "."))
}

fn field([x, y]: [f64; 2], cell: Option<&HeatCell>, range: &Range) -> Markup {
    let opacity = cell.filter(|cell| cell.bound.is_finite()).map(|cell| {
        let [least, most] = OPACITY;
        least + (most - least) * range.share(cell.bound).clamp(0.0, 1.0)
    });
    let middle = x + 0.5 * COLUMN;
    html! {
        rect class="heat" x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(COLUMN - 2.0))
            height=(px(ROW - 2.0)) rx="4" fill-opacity=(px(opacity.unwrap_or(0.0))) {}
        @match cell {
            None => (label("", [middle, y + 0.5 * ROW + 4.0], "middle", "–")),
            Some(cell) => {
                (label("name", [middle, y + 0.42 * ROW], "middle", &bound(cell)))
                (label("field", [middle, y + 0.8 * ROW], "middle", &counted(cell)))
            }
        }
    }
}

/// A bound that nobody may rely on stands in brackets.
fn bound(cell: &HeatCell) -> String {
    let bound = readable(cell.bound);
    if cell.abstains {
        format!("({bound})")
    } else {
        bound
    }
}

fn counted(cell: &HeatCell) -> String {
    match cell.deploy {
        Some(deploy) => format!("{deploy} of {} deploy", cell.checks),
        None if cell.checks == 1 => "1 check".to_owned(),
        None => format!("{} checks", cell.checks),
    }
}

fn spoken((name, cells): &(String, Vec<Option<HeatCell>>), map: &HeatMap) -> String {
    let fields = map.columns.iter().zip(cells);
    let fields = fields.filter_map(|(column, cell)| {
        let cell = cell.as_ref()?;
        let head = map.head;
        Some(format!(
            "{head} {column}: {}, {}",
            bound(cell),
            counted(cell)
        ))
    });
    format!("{name}: {}", fields.collect::<Vec<_>>().join("; "))
}

/// A name cut to the room there is.
fn short(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let start: String = name.chars().take(MOST_LETTERS - 1).collect();
    start + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_bound_is_the_lightest() {
        let cell = |bound| {
            Some(HeatCell {
                bound,
                deploy: None,
                checks: 3,
                abstains: bound < 0.0,
            })
        };
        let map = HeatMap {
            model: "m".to_owned(),
            horizon: 9,
            head: "seed",
            columns: vec!["0".to_owned(), "1".to_owned(), "2".to_owned()],
            left_out: 0,
            rows: vec![("a".to_owned(), vec![cell(-2.0), cell(3.0), None])],
        };
        let text = heat_map("map", &map).into_string();
        let at = |part: &str| text.find(part).unwrap_or(usize::MAX);
        assert!(
            at("fill-opacity=\"0.06\"") < at("fill-opacity=\"0.42\""),
            "{text}"
        );
        assert!(
            at("fill-opacity=\"0.42\"") < at("fill-opacity=\"0.00\""),
            "{text}"
        );
        assert!(
            text.contains("seed 1: 3, 3 checks") && text.contains("(−2)") && text.contains("–"),
            "{text}"
        );
    }
}
