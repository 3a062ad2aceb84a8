//! Text: paragraphs and tables that keep within the width.

use anstyle::{AnsiColor, Style};
use coalescope_host::safe::{printable, printable_line};

use super::TextOptions;
use super::grid::{Grid, Laid};
use super::wrap::{fits, wrapped};

/// The meaning of a text's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// A heading.
    Heading,
    /// All is well.
    Good,
    /// Something was not read, or not correctly.
    Warning,
    /// Merged frames are lost.
    Bad,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Heading => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// Text that grows line by line.
pub(crate) struct Page {
    text: String,
    colour: bool,
    width: usize,
    is_brief: bool,
}

impl Page {
    pub(crate) fn new(options: &TextOptions) -> Self {
        Self {
            text: String::new(),
            colour: options.colour,
            width: options.width,
            is_brief: options.brief,
        }
    }

    /// Columns of a line.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether only the result is printed.
    pub(crate) fn is_brief(&self) -> bool {
        self.is_brief
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

    /// Wrapped text: `first` stands before the first line, `rest` before the others.
    pub(crate) fn paragraph(&mut self, first: &str, rest: &str, text: &str, tone: Tone) {
        for line in wrapped(&printable_line(text), self.width, first, rest) {
            self.line(&line, tone);
        }
    }

    /// A command after its label. The command is not wrapped, so that it can be copied: on the
    /// label's line, or below.
    pub(crate) fn command(&mut self, label: &str, below: &str, command: &str) {
        let command = printable(command);
        let line = format!("{label} {command}");
        if command.lines().count() == 1 && fits(&line, self.width) {
            self.line(&line, Tone::Plain);
            return;
        }
        self.line(label, Tone::Plain);
        for line in command.lines() {
            self.line(&format!("{below}{line}"), Tone::Plain);
        }
    }

    /// A line of pieces that fit together, each with its tone.
    pub(crate) fn pieces<'a>(&mut self, pieces: impl Iterator<Item = (&'a str, Tone)>) {
        for (text, tone) in pieces {
            self.piece(text, tone);
        }
        self.text.push('\n');
    }

    /// A table, `indent` columns from the left.
    pub(crate) fn table(&mut self, grid: &Grid, indent: usize, tone_of: impl Fn(usize) -> Tone) {
        let laid = self.head(grid, indent);
        for (n, row) in laid.rows.iter().enumerate() {
            self.indented(row, indent, tone_of(n));
        }
    }

    /// A table with a caption above each row.
    pub(crate) fn table_with_captions(
        &mut self,
        grid: &Grid,
        indent: usize,
        caption: impl Fn(usize) -> String,
    ) {
        let laid = self.head(grid, indent);
        let (first, rest) = (" ".repeat(indent), " ".repeat(indent + 2));
        for (n, row) in laid.rows.iter().enumerate() {
            self.paragraph(&first, &rest, &caption(n), Tone::Plain);
            self.indented(row, indent, Tone::Plain);
        }
    }

    fn head(&mut self, grid: &Grid, indent: usize) -> Laid {
        let laid = grid.laid(self.width.saturating_sub(indent));
        self.indented(&laid.head, indent, Tone::Plain);
        laid
    }

    fn indented(&mut self, lines: &[String], indent: usize, tone: Tone) {
        for line in lines {
            self.line(&format!("{:indent$}{line}", ""), tone);
        }
    }

    /// A line that fits.
    pub(crate) fn line(&mut self, line: &str, tone: Tone) {
        self.piece(line, tone);
        self.text.push('\n');
    }

    /// All text goes through here: names come from files, and a file must not send escape sequences
    /// to the terminal.
    fn piece(&mut self, text: &str, tone: Tone) {
        let (text, style) = (printable_line(text), tone.style());
        if self.colour && tone != Tone::Plain {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.text.push_str(&text);
        }
    }
}
