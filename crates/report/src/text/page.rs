//! A page of text: paragraphs and tables that keep within the width.

use anstyle::{AnsiColor, Style};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use super::WIDTH;

/// What a text's colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// A heading.
    Heading,
    /// All is well.
    Good,
    /// Merged frames are lost.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// Text that grows downward.
pub(crate) struct Page {
    text: String,
    colour: bool,
}

impl Page {
    pub(crate) fn new(colour: bool) -> Self {
        let text = String::new();
        Self { text, colour }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A heading, with an empty line before it.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.paragraph("", "", text, Tone::Heading);
    }

    /// Text broken into lines: `first` stands before the first one, `rest` before the others.
    pub(crate) fn paragraph(&mut self, first: &str, rest: &str, text: &str, tone: Tone) {
        let options = textwrap::Options::new(WIDTH)
            .initial_indent(first)
            .subsequent_indent(rest)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(&printable(text), options) {
            self.line(&line, tone);
        }
    }

    /// A line of pieces that together are short enough, each with its tone.
    pub(crate) fn pieces<'a>(&mut self, pieces: impl Iterator<Item = (&'a str, Tone)>) {
        for (text, tone) in pieces {
            self.piece(text, tone);
        }
        self.text.push('\n');
    }

    /// A table, `indent` columns from the left.
    pub(crate) fn table(&mut self, table: &Table, indent: usize, tone_of: impl Fn(usize) -> Tone) {
        let lines: Vec<String> = table.lines().collect();
        // A row is one line; only the header may be broken into several.
        let header = lines.len().saturating_sub(table.row_count());
        for (i, line) in lines.iter().enumerate() {
            let tone = i.checked_sub(header).map_or(Tone::Plain, &tone_of);
            self.line(&format!("{:indent$}{}", "", line.trim_end()), tone);
        }
    }

    /// A table with a line above each row that says what the row is about.
    pub(crate) fn table_with_captions(
        &mut self,
        table: &Table,
        indent: usize,
        caption: impl Fn(usize) -> String,
    ) {
        let lines: Vec<String> = table.lines().collect();
        let header = lines.len().saturating_sub(table.row_count());
        for (i, line) in lines.iter().enumerate() {
            if let Some(row) = i.checked_sub(header) {
                let (first, rest) = (" ".repeat(indent), " ".repeat(indent + 2));
                self.paragraph(&first, &rest, &caption(row), Tone::Plain);
            }
            self.line(&format!("{:indent$}{}", "", line.trim_end()), Tone::Plain);
        }
    }

    /// A line that is short enough and has nothing in it that a terminal would obey.
    pub(crate) fn line(&mut self, line: &str, tone: Tone) {
        self.piece(line, tone);
        self.text.push('\n');
    }

    fn piece(&mut self, text: &str, tone: Tone) {
        let style = tone.style();
        if self.colour && tone != Tone::Plain {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.text.push_str(text);
        }
    }
}

/// A table without lines, numbers to the right. Its cells are never broken: they have to fit.
pub(crate) fn table<'a>(header: impl IntoIterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.into_iter().map(Cell::new));
    for column in table.column_iter_mut() {
        column
            .set_padding((0, 2))
            .set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Aligns the cells of a column.
pub(crate) fn align(table: &mut Table, column: usize, alignment: CellAlignment) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(alignment);
    }
}

/// Names come out of files, and a file must not be able to speak to the terminal.
pub(crate) fn printable(text: &str) -> String {
    let replace = |c: char| {
        if c.is_control() && c != '\n' {
            '\u{fffd}'
        } else {
            c
        }
    };
    text.chars().map(replace).collect()
}
