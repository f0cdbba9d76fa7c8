//! A small SVG writer: nested elements, escaped text, numbers with two decimals.

use std::fmt::Write;

/// An SVG element with its attributes and children.
///
/// ```
/// # use hambo_report::figure::svg::Element;
/// let dot = Element::new("circle").set("r", 1.5).set("class", "a<b");
/// assert_eq!(dot.to_text(), "<circle r=\"1.50\" class=\"a&lt;b\"/>\n");
/// ```
#[derive(Debug, Clone)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Debug, Clone)]
enum Node {
    Element(Element),
    Text(String),
}

/// Something that can be the value of an attribute.
pub trait Value {
    /// The unescaped text of the value.
    fn to_value(&self) -> String;
}

impl Value for f64 {
    fn to_value(&self) -> String {
        number(*self)
    }
}

impl Value for &str {
    fn to_value(&self) -> String {
        (*self).to_owned()
    }
}

impl Value for String {
    fn to_value(&self) -> String {
        self.clone()
    }
}

impl Element {
    /// An element without attributes or children.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl Value) -> Self {
        self.attributes.push((name, value.to_value()));
        self
    }

    /// Adds a child element.
    #[must_use]
    pub fn with(mut self, child: Element) -> Self {
        self.push(child);
        self
    }

    /// Adds text; it is escaped when written.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.children.push(Node::Text(text.to_owned()));
        self
    }

    /// Adds a child element in place.
    pub fn push(&mut self, child: Element) {
        self.children.push(Node::Element(child));
    }

    /// The element as SVG text, one element per line except inside text.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, true);
        out
    }

    fn write(&self, out: &mut String, lines: bool) {
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            out.push(' ');
            out.push_str(name);
            out.push_str("=\"");
            escape(value, out);
            out.push('"');
        }
        // Line breaks between spans of text would be drawn as spaces.
        let lines_inside = lines && self.name != "text";
        if self.children.is_empty() {
            out.push_str("/>");
        } else {
            let only_text = self.children.iter().all(|c| matches!(c, Node::Text(_)));
            out.push('>');
            if lines_inside && !only_text {
                out.push('\n');
            }
            for child in &self.children {
                match child {
                    Node::Element(element) => element.write(out, lines_inside),
                    Node::Text(text) => escape(text, out),
                }
            }
            out.push_str("</");
            out.push_str(self.name);
            out.push('>');
        }
        if lines {
            out.push('\n');
        }
    }
}

/// A number with two decimals and no negative zero.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" {
        "0.00".to_owned()
    } else {
        text
    }
}

/// The path data of a line through the points.
pub fn line_data(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut data = String::new();
    for (i, [x, y]) in points.into_iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        // Writing to a String cannot fail.
        let _ = write!(data, "{command}{} {}", number(x), number(y));
    }
    data
}

/// Escapes markup and drops the characters that XML does not allow.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() && !matches!(c, '\t' | '\n') => {}
            c => out.push(c),
        }
    }
}
