//! What every page is: a head with the style, and a body that loads nothing from elsewhere.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::svg::printable;

/// What a page says, from its title down.
pub(super) struct Document<'a> {
    /// Of hambo.
    pub version: &'a str,
    pub title: String,
    pub header: Markup,
    pub main: Markup,
    /// From what it was written.
    pub source: &'static str,
}

impl Document<'_> {
    /// The page's text.
    pub fn text(&self) -> String {
        let version = self.version;
        printable(html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content={ "hambo " (version) };
                    title { (self.title) }
                    style { (PreEscaped(include_str!("style.css"))) }
                }
                body {
                    a class="skip" href="#main" { "Skip to the results" }
                    header { (self.header) }
                    main id="main" { (self.main) }
                    footer {
                        p {
                            "Written by hambo " (version)
                            " from " (self.source) "; nothing here is loaded from elsewhere."
                        }
                    }
                }
            }
        })
    }
}
