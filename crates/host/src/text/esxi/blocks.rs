//! `esxcli ... get` and `list`: `Key: value`, the values indented below a name.

use crate::model::Setting;
use crate::text::notes::Notes;

/// An object.
#[derive(Default)]
pub(super) struct Block<'a> {
    /// The line above it; empty if there is none.
    pub(super) title: &'a str,
    pub(super) fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Block<'a> {
    /// A value that is not empty.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        let mut fields = self.fields.iter();
        let (_, value) = fields.find(|(name, _)| *name == key)?;
        (!value.is_empty()).then_some(*value)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == key)
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.parse().ok()
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.get(key)?.parse().ok()
    }
}

/// `Key: value` of an indented line.
pub(super) fn field(line: &str) -> Option<(&str, &str)> {
    let indented = line.starts_with([' ', '\t']);
    let (key, value) = line.trim().split_once(':')?;
    let apart = value.is_empty() || value.starts_with(' ');
    (indented && apart && !key.is_empty()).then_some((key, value.trim()))
}

/// All objects: a line that is not indented is the title of the next.
pub(super) fn blocks<'a>(body: &'a str, notes: &mut Notes<'_>) -> Vec<Block<'a>> {
    let mut all: Vec<Block<'a>> = Vec::new();
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        if !line.starts_with([' ', '\t']) {
            let title = line.trim_end();
            let fields = Vec::new();
            all.push(Block { title, fields });
        } else if let Some(field) = field(line) {
            if all.is_empty() {
                all.push(Block::default());
            }
            all.last_mut()
                .into_iter()
                .for_each(|block| block.fields.push(field));
        } else {
            notes.line(line);
        }
    }
    all
}

/// Cuts objects without titles where their first key comes again.
pub(super) fn split<'a>(block: Block<'a>, first: &str) -> Vec<Block<'a>> {
    let mut all: Vec<Block<'a>> = Vec::new();
    for field in block.fields {
        if field.0 == first || all.is_empty() {
            all.push(Block::default());
        }
        all.last_mut()
            .into_iter()
            .for_each(|block| block.fields.push(field));
    }
    all
}

/// A flag, a number, or the text.
pub(super) fn setting(text: &str) -> Setting {
    match (text, text.parse()) {
        ("true", _) => Setting::Flag(true),
        ("false", _) => Setting::Flag(false),
        (_, Ok(number)) => Setting::Number(number),
        _ => Setting::Text(text.to_owned()),
    }
}
