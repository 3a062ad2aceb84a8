//! Drawing the table, on a terminal of any size.

use coalescope_host::safe::printable_line;
use coalescope_report::WatchReport;
use coalescope_watch::facts::{Drop, Interface, Level};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState, Wrap};

use super::Shown;

const KEYS: &str =
    "q end  s sort  p pause  c connections  Enter open  up, down: which  PgUp, PgDn: interfaces";
const FEW_KEYS: &str = "q end  s sort  p pause  Enter open";
const OPEN_KEYS: &str = "Esc back  p pause  up, down scroll";

/// Most rows of places where merged frames were dropped.
const DROPS: usize = 8;
/// Most rows above the table.
const HEAD: usize = 5;
/// Width of the name's column; longer names are cut where there is no more room.
const NAMES: u16 = 32;

/// A column: its head, its width, and its rank for being left out on a narrow terminal (the highest first).
type Column = (&'static str, u16, u8);

const INTERFACES: [Column; 8] = [
    ("frames in", 9, 4),
    ("segments\nin each", 8, 2),
    ("merged in", 9, 3),
    ("merged\nforwarded", 9, 6),
    ("merged\nout", 7, 7),
    ("cut in\nsoftware", 8, 5),
    ("merged\ndied", 13, 1),
    ("roles", 12, 8),
];

impl Shown {
    /// Draws the table.
    pub(in super::super) fn draw(&self, frame: &mut Frame<'_>) {
        let head = self.head();
        let died = self.died().count().min(DROPS);
        let low = if died > 0 && !self.is_open() {
            died + 2
        } else {
            0
        };
        let [top, middle, low, keys] = Layout::vertical([
            Constraint::Length(rows(&head, frame.area().width).min(HEAD) as u16),
            Constraint::Fill(1),
            Constraint::Length(low as u16),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(paragraph(&head), top);
        if self.is_open() {
            let above = u16::try_from(self.above.opened).unwrap_or(u16::MAX);
            frame.render_widget(paragraph(&self.lines()).scroll((above, 0)), middle);
        } else {
            self.interfaces(frame, middle);
            self.drops(frame, low);
        }
        frame.render_widget(Paragraph::new(self.keys(keys.width)).style(faint()), keys);
    }

    fn keys(&self, width: u16) -> &'static str {
        match self.is_open() {
            true => OPEN_KEYS,
            false if KEYS.len() <= usize::from(width) => KEYS,
            false => FEW_KEYS,
        }
    }

    /// The summary, and what is not visible.
    fn head(&self) -> Vec<String> {
        let paused = if self.is_paused { "PAUSED, " } else { "" };
        let order = self.order.name();
        let mut lines = vec![
            WatchReport::line(&self.look),
            format!("{paused}sorted by {order}"),
        ];
        lines.extend(WatchReport::unseen(&self.look));
        lines
    }

    fn interfaces(&self, frame: &mut Frame<'_>, area: Rect) {
        let all = self.order.sorted(&self.look);
        let longest = all.iter().map(|(one, _)| one.name.chars().count()).max();
        let longest = u16::try_from(longest.unwrap_or(0)).unwrap_or(NAMES);
        let name = longest.clamp(9, NAMES).min((area.width / 2).max(9));
        let columns = columns(area.width.saturating_sub(name));
        let rows = all.into_iter().skip(self.above.interfaces);
        let rows = rows.take(area.height.into()).map(|(one, died)| {
            let cells = cells(one, died, self.look.level);
            let shown = columns.iter().filter_map(|n| cells.get(*n)?.clone().into());
            let first = Cell::new(tail(&printable_line(&one.name), name.into()));
            let row = Row::new(std::iter::once(first).chain(shown));
            row.style(match died {
                0 => Style::new(),
                _ => Style::new().add_modifier(Modifier::BOLD),
            })
        });
        let heads = columns.iter().filter_map(|n| INTERFACES.get(*n));
        let heads = heads.clone().map(|(head, width, _)| (*head, *width));
        let titles = heads.clone().map(|(head, _)| title(head));
        let titles = std::iter::once(title("interface").left_aligned()).chain(titles);
        let widths = heads.map(|(head, width)| match head {
            "roles" => Constraint::Fill(1),
            _ => Constraint::Length(width),
        });
        let widths = std::iter::once(Constraint::Length(name)).chain(widths);
        let header = Row::new(titles.map(Cell::new)).height(2).style(faint());
        frame.render_widget(Table::new(rows, widths).header(header), area);
    }

    fn drops(&self, frame: &mut Frame<'_>, area: Rect) {
        let rows: Vec<Row<'_>> = self.died().map(drop).collect();
        if rows.is_empty() {
            return;
        }
        let heads = ["merged died", "where and why"];
        let widths = [Constraint::Length(11), Constraint::Fill(1)];
        let table = Table::new(rows, widths)
            .header(Row::new(heads).style(faint()).top_margin(1))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        let mut state = TableState::default().with_selected(self.selected());
        frame.render_stateful_widget(table, area, &mut state);
    }
}

/// The columns that have room beside the name.
fn columns(width: u16) -> Vec<usize> {
    let mut all: Vec<usize> = (0..INTERFACES.len()).collect();
    let of = |n: &usize| INTERFACES.get(*n).copied().unwrap_or_default();
    while all.iter().map(|n| of(n).1 + 1).sum::<u16>() > width {
        let Some(last) = all.iter().copied().max_by_key(|n| of(n).2) else {
            break;
        };
        all.retain(|n| *n != last);
    }
    all
}

/// The cells of an interface, without its name.
fn cells(interface: &Interface, died: u64, level: Level) -> Vec<Cell<'static>> {
    let mut cells = WatchReport::row(interface, level);
    cells.remove(0);
    cells.insert(cells.len() - 1, WatchReport::died(interface, died));
    let last = cells.len() - 1;
    let all = cells.iter().enumerate().map(|(n, cell)| {
        let line = Line::from(printable_line(cell).into_owned());
        Cell::new(match n == last {
            true => line,
            false => line.alignment(Alignment::Right),
        })
    });
    all.collect()
}

fn drop(drop: &Drop) -> Row<'static> {
    let (died, where_and_why) = WatchReport::died_where(drop);
    let died = Line::from(died).alignment(Alignment::Right);
    let where_and_why = printable_line(&where_and_why).into_owned();
    Row::new([Cell::new(died), Cell::new(where_and_why)])
}

fn title(head: &'static str) -> Text<'static> {
    // Heads of one line stand above the numbers.
    let text = match head.contains('\n') {
        true => Text::from(head),
        false => Text::from(vec![Line::default(), Line::from(head)]),
    };
    match head {
        "roles" => text,
        _ => text.right_aligned(),
    }
}

/// The end of a name that is too long: the interface rather than the namespace.
fn tail(name: &str, room: usize) -> String {
    let length = name.chars().count();
    if length <= room {
        return name.to_owned();
    }
    let kept = name.chars().skip(length + 1 - room.max(1));
    std::iter::once('~').chain(kept).collect()
}

fn paragraph(lines: &[String]) -> Paragraph<'static> {
    let lines = lines.iter().map(|line| printable_line(line).into_owned());
    let text: Vec<Line<'_>> = lines.map(Line::from).collect();
    Paragraph::new(text).wrap(Wrap { trim: false })
}

/// The number of rows of lines wrapped between words.
fn rows(lines: &[String], width: u16) -> usize {
    let width = usize::from(width.max(1));
    let of = |line: &String| {
        let mut rows = 1;
        let mut at = 0;
        for word in line.split(' ').map(|word| word.chars().count()) {
            if at > 0 && at + 1 + word > width {
                (rows, at) = (rows + 1, word);
            } else {
                at += word + usize::from(at > 0);
            }
        }
        rows
    };
    lines.iter().map(of).sum()
}

fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}
