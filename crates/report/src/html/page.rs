//! The frame of a page: head, navigation, sections.

use std::io::{self, Write};

use coalescope_host::safe::printable;
use maud::{DOCTYPE, Markup, html};

use super::embed;

/// The page fetches nothing, whatever it contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
const STYLE: &str = include_str!("assets/page.css");
const LINKS: &str = include_str!("assets/links.js");
const SCRIPT: &str = include_str!("assets/table.js");

/// A page that grows section by section.
pub(crate) struct Page {
    title: String,
    sections: Vec<Section>,
    styles: Vec<&'static str>,
    scripts: Vec<&'static str>,
}

/// A part of a page with a heading.
struct Section {
    /// For links; letters, digits and `-`, once in a page.
    id: String,
    heading: String,
    body: Markup,
}

impl Page {
    /// An empty page; `title` names the command of coalescope, and its subject.
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            sections: Vec::new(),
            styles: vec![STYLE],
            scripts: vec![LINKS, SCRIPT],
        }
    }

    /// Adds a section. Its `id` is for links: letters, digits and `-`, once in a page.
    pub(crate) fn section(
        &mut self,
        id: impl Into<String>,
        heading: impl Into<String>,
        body: Markup,
    ) {
        self.sections.push(Section {
            id: id.into(),
            heading: heading.into(),
            body,
        });
    }

    /// Adds a style sheet once, even if several sections use it.
    pub(crate) fn style(&mut self, style: &'static str) {
        if !self.styles.contains(&style) {
            self.styles.push(style);
        }
    }

    /// Adds a script once, even if several sections use it. The script runs when the page is parsed.
    pub(crate) fn script(&mut self, script: &'static str) {
        if !self.scripts.contains(&script) {
            self.scripts.push(script);
        }
    }

    /// Writes the page without bidirectional control characters, which would make a browser show
    /// other names than there are.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(printable(&self.markup().0).as_bytes())?;
        out.flush()
    }

    fn markup(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body {
                    a.skip href="#main" { "Skip to the report" }
                    header { h1 { (self.title) } }
                    (self.navigation())
                    main #main tabindex="-1" {
                        @for section in &self.sections { (section.markup()) }
                    }
                    footer { p { "Written by coalescope " (env!("CARGO_PKG_VERSION")) "." } }
                    @for script in &self.scripts { (embed::script(script)) }
                }
            }
        }
    }

    fn head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (self.title) }
                @for style in &self.styles { (embed::style(style)) }
            }
        }
    }

    fn navigation(&self) -> Markup {
        html! {
            nav aria-label="Sections" {
                ul {
                    @for section in &self.sections {
                        li { a href={ "#" (section.id) } { (section.heading) } }
                    }
                }
            }
        }
    }
}

impl Section {
    fn markup(&self) -> Markup {
        let heading = format!("{}-heading", self.id);
        html! {
            section id=(self.id) aria-labelledby=(heading) {
                h2 id=(heading) { (self.heading) }
                (self.body)
            }
        }
    }
}
