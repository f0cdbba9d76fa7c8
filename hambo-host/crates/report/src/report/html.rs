//! Small pieces of HTML. Whatever comes from outside goes through [`escape`].

/// Text that cannot become markup, in an element or in a quoted attribute.
///
/// ```
/// use hambo_report::report::escape;
/// assert_eq!(escape("<b a='1'>&\"\u{7}"), "&lt;b a=&#39;1&#39;&gt;&amp;&quot;");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && !matches!(c, '\t' | '\n') => {}
            c => out.push(c),
        }
    }
    out
}

/// A cell of a table.
pub(in crate::report) enum Cell {
    /// Words, escaped.
    Text(String),
    /// A number, set to the right.
    Number(String),
    /// Ready markup.
    Markup(String),
}

/// Words for a cell.
pub(in crate::report) fn text(words: impl Into<String>) -> Cell {
    Cell::Text(words.into())
}

/// A number for a cell.
pub(in crate::report) fn figure(value: f64) -> Cell {
    Cell::Number(readable(value))
}

/// A table with a caption; the first cell of each row is its header. Wide
/// tables scroll in their own frame, which the keyboard can reach; on a narrow screen each row
/// is a card, and each cell says its own head. The roles are said, because such cards would
/// lose them.
pub(in crate::report) fn table(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    let numeric = |column: usize| {
        let cell = rows.first().and_then(|row| row.get(column));
        matches!(cell, Some(Cell::Number(_)))
    };
    let names: Vec<String> = heads.iter().map(|head| escape(head)).collect();
    let heads: String = heads
        .iter()
        .enumerate()
        .map(|(column, head)| {
            let class = if numeric(column) {
                " class=\"number\""
            } else {
                ""
            };
            format!(
                "<th role=\"columnheader\" scope=\"col\"{class}>{}</th>",
                escape(head)
            )
        })
        .collect();
    let body: String = rows
        .iter()
        .map(|row| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let head = names.get(column).map_or("", String::as_str);
                let (tag, scope) = match column {
                    0 => ("th", " role=\"rowheader\" scope=\"row\"".to_owned()),
                    _ => ("td", format!(" role=\"cell\" data-head=\"{head}\"")),
                };
                match cell {
                    Cell::Text(words) => format!("<{tag}{scope}>{}</{tag}>", escape(words)),
                    Cell::Number(words) => {
                        format!("<{tag}{scope} class=\"number\">{}</{tag}>", escape(words))
                    }
                    Cell::Markup(markup) => format!("<{tag}{scope}>{markup}</{tag}>"),
                }
            });
            format!("<tr role=\"row\">{}</tr>\n", cells.collect::<String>())
        })
        .collect();
    let caption = escape(caption);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\
         <table role=\"table\"><caption>{caption}</caption>\n\
         <thead role=\"rowgroup\"><tr role=\"row\">{heads}</tr></thead>\n\
         <tbody role=\"rowgroup\">\n{body}</tbody></table></div>\n"
    )
}

/// A wide figure with its caption, which is markup. On a narrow screen it scrolls, and says so.
pub(in crate::report) fn picture(svg: &str, caption: &str) -> String {
    // Several regions of one name could not be told apart by ear.
    let title = svg.split_once("<title id=\"");
    let title = title.and_then(|(_, rest)| rest.split_once('"'));
    let name = match title {
        Some((id, _)) => format!("aria-labelledby=\"{id}\""),
        None => "aria-label=\"picture\"".to_owned(),
    };
    format!(
        "<figure><p class=\"sideways\">The picture goes on to the right: move it sideways.</p>\
         <div class=\"wide\" role=\"region\" tabindex=\"0\" {name}>{svg}</div>\
         <figcaption>{caption}</figcaption></figure>\n"
    )
}

/// A key to a line or a band of a chart: a swatch and its name.
pub(in crate::report) fn key(class: &str, name: &str) -> String {
    let shape = if class.starts_with("band") {
        format!("<rect class=\"{class}\" x=\"0\" y=\"2\" width=\"26\" height=\"10\"/>")
    } else if class.starts_with("dot") {
        format!("<circle class=\"{class}\" cx=\"13\" cy=\"7\" r=\"5\"/>")
    } else {
        format!("<path class=\"{class}\" d=\"M0 7H26\"/>")
    };
    format!(
        "<span class=\"key\"><svg width=\"26\" height=\"14\" aria-hidden=\"true\">{shape}</svg> {}</span> ",
        escape(name)
    )
}

/// A number for the reader: four digits that matter, a true minus sign.
pub(in crate::report) fn readable(value: f64) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    let size = value.abs();
    let text = if !value.is_finite() {
        "∞".to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e7).contains(&size) {
        format!("{size:.2e}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 4);
        let text = format!("{size:.0$}", decimals as usize);
        match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        }
    };
    if value < 0.0 {
        format!("−{text}")
    } else {
        text
    }
}

/// A share in per cent. Little is not none, and nearly all is not all.
pub(in crate::report) fn percent(share: f64) -> String {
    match 100.0 * share {
        part if part > 0.0 && part < 0.1 => "below 0.1 %".to_owned(),
        part if part > 99.9 && part < 100.0 => "above 99.9 %".to_owned(),
        part if part.is_finite() => format!("{part:.1} %"),
        _ => "unknown".to_owned(),
    }
}

/// A count with thin spaces between thousands.
pub(in crate::report) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (-1234.56, "−1235"),
            (12.3456, "12.35"),
            (-400.0, "−400"),
            (0.999_999_9, "1"),
            (1e6, "1000000"),
            (0.012_345, "0.0123"),
            (1e-5, "1.00e-5"),
            (-3e9, "−3.00e9"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::NAN, "not a number"),
        ];
        for (value, text) in cases {
            assert_eq!(readable(value), text);
        }
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(percent(0.0001), "below 0.1 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.9999), "above 99.9 %");
    }

    #[test]
    fn a_table_has_headers_and_escapes() {
        let table = table(
            "a <caption>",
            &["x", "y"],
            &[vec![text("<i>"), figure(1.0)]],
        );
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
