//! The state of the table, and the effect of keys.

mod drawn;
mod order;

use coalescope_watch::facts::{Drop, Watched};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::opened;
use order::Order;

/// The state of the table.
#[derive(Debug, Default)]
pub(super) struct Shown {
    look: Watched,
    order: Order,
    is_paused: bool,
    open: Open,
    /// Lines of details, or rows of interfaces, that are scrolled out at the top.
    above: Above,
    selected: Option<Place>,
}

/// Details in place of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    #[default]
    Nothing,
    Drop,
    Connections,
}

#[derive(Debug, Default)]
struct Above {
    opened: usize,
    interfaces: usize,
}

/// Identifies a drop in the next look, whatever its position.
type Place = [Option<String>; 4];

fn place(drop: &Drop) -> Place {
    let Drop {
        interface,
        from,
        reason,
        location,
        ..
    } = drop;
    [interface, from, reason, location].map(Clone::clone)
}

impl Shown {
    /// Takes a new look, unless paused; counting goes on.
    pub(super) fn take(&mut self, look: &Watched) {
        if !self.is_paused {
            self.look = look.clone();
        }
    }

    /// Handles a key; true if it ends the program.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return true,
            KeyCode::Char('q') if !self.is_open() => return true,
            KeyCode::Char('q') | KeyCode::Esc => self.close(),
            KeyCode::Char('s') => self.order = self.order.next(),
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('c') => self.open(Open::Connections),
            KeyCode::Enter if self.opened().is_some() => self.open(Open::Drop),
            code => self.go(code),
        }
        false
    }

    /// Moves to another drop or another line.
    fn go(&mut self, code: KeyCode) {
        let shift = |at: usize, by: isize, all: usize| {
            at.saturating_add_signed(by).min(all.saturating_sub(1))
        };
        let by = match code {
            KeyCode::Up | KeyCode::Char('k') => -1,
            KeyCode::Down | KeyCode::Char('j') => 1,
            KeyCode::PageUp => -10,
            KeyCode::PageDown => 10,
            _ => return,
        };
        if self.is_open() {
            let lines = self.lines().len();
            self.above.opened = shift(self.above.opened, by, lines);
        } else if by.abs() > 1 {
            let rows = self.look.interfaces.len();
            self.above.interfaces = shift(self.above.interfaces, by, rows);
        } else {
            let next = shift(self.selected(), by, self.died().count());
            let selected = self.died().nth(next).map(place);
            self.selected = selected;
        }
    }

    fn open(&mut self, what: Open) {
        if self.open != what {
            self.close();
        }
        self.open = what;
    }

    fn close(&mut self) {
        self.open = Open::Nothing;
        self.above.opened = 0;
    }

    fn is_open(&self) -> bool {
        self.open != Open::Nothing
    }

    /// Places where merged frames were dropped.
    fn died(&self) -> impl Iterator<Item = &Drop> {
        let all = self.look.drops.iter();
        all.filter(|drop| drop.died() > 0)
    }

    /// The index of the selected place.
    fn selected(&self) -> usize {
        let wanted = self.selected.as_ref();
        let at = wanted.and_then(|wanted| self.died().position(|drop| place(drop) == *wanted));
        at.unwrap_or(0)
    }

    fn opened(&self) -> Option<&Drop> {
        self.died().nth(self.selected())
    }

    /// The lines of open details.
    fn lines(&self) -> Vec<String> {
        match self.open {
            Open::Nothing => Vec::new(),
            Open::Drop => self
                .opened()
                .map_or_else(Vec::new, |drop| opened::lines(drop, &self.look)),
            Open::Connections => opened::connections(&self.look),
        }
    }
}

#[cfg(test)]
mod tests;
