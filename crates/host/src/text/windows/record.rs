//! An object that PowerShell printed, whatever the form.

use crate::model::Setting;
use crate::text::notes::{Notes, quoted};

/// An object.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    pub(super) fields: Vec<(String, Cell)>,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    /// As printed; JSON's numbers and flags as a list would print them.
    One(String),
    Many(Vec<String>),
    /// Its end is missing.
    Cut(String),
    /// An object within the object; only JSON shows its properties.
    Nested(Vec<(String, u64)>),
}

impl Cell {
    /// A value of a table or list.
    pub(super) fn printed(text: &str) -> Self {
        let text = text.trim();
        let Some(inside) = text.strip_prefix('{') else {
            return Self::One(text.to_owned());
        };
        match inside.strip_suffix('}') {
            // PowerShell shows the first four only.
            Some(inside) if inside.ends_with("...") || inside.ends_with('…') => {
                Self::Cut(text.to_owned())
            }
            Some("") => Self::Many(Vec::new()),
            Some(inside) => Self::Many(inside.split(", ").map(str::to_owned).collect()),
            None => Self::Cut(text.to_owned()),
        }
    }
}

impl Record {
    pub(super) fn has(&self, key: &str) -> bool {
        self.cell(key).is_some()
    }

    pub(super) fn cell(&self, key: &str) -> Option<&Cell> {
        let mut fields = self.fields.iter();
        fields
            .find(|(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, cell)| cell)
    }

    /// A value that is whole and not empty.
    pub(super) fn text(&self, key: &str, notes: &mut Notes<'_>) -> Option<&str> {
        match self.cell(key)? {
            Cell::One(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            Cell::Many(list) => match list.as_slice() {
                [one] => Some(one.as_str()),
                _ => None,
            },
            Cell::Cut(text) => {
                cut(key, text, notes);
                None
            }
            Cell::Nested(_) => None,
        }
    }

    /// The first of several keys that there is.
    pub(super) fn any(&self, keys: &[&str], notes: &mut Notes<'_>) -> Option<&str> {
        let key = keys.iter().find(|key| self.has(key))?;
        self.text(key, notes)
    }

    pub(super) fn flag(&self, key: &str, notes: &mut Notes<'_>) -> Option<bool> {
        let text = self.text(key, notes)?;
        match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                not_flag(key, text, notes);
                None
            }
        }
    }

    pub(super) fn number(&self, key: &str, notes: &mut Notes<'_>) -> Option<u64> {
        self.text(key, notes)?.parse().ok()
    }

    /// A flag, a number, or the text.
    pub(super) fn setting(&self, key: &str, notes: &mut Notes<'_>) -> Option<Setting> {
        self.text(key, notes).map(setting)
    }
}

/// A value in the kind that it has.
pub(super) fn setting(text: &str) -> Setting {
    match (text, text.parse::<i64>()) {
        ("True", _) => Setting::Flag(true),
        ("False", _) => Setting::Flag(false),
        (_, Ok(number)) => Setting::Number(number),
        _ => Setting::Text(text.to_owned()),
    }
}

fn cut(key: &str, text: &str, notes: &mut Notes<'_>) {
    let what = format!("{key} {}", quoted(text));
    let why = "cut to fit, or perhaps not whole; `| ConvertTo-Json` or `| fl` prints all of it";
    notes.add(&format!("cut {key}"), &what, why);
}

/// What to do about another language.
pub(super) const LANGUAGE: &str = "Windows output in a language that is not read; use `| \
    ConvertTo-Json`, or `| fl` with registry keywords";

/// True and False, in the languages of most servers.
const FOREIGN: &[&str] = &[
    "wahr",
    "falsch",
    "vrai",
    "faux",
    "verdadero",
    "falso",
    "verdadeiro",
    "vero",
    "waar",
    "onwaar",
    "prawda",
    "sant",
    "falskt",
    "sand",
    "falsk",
];

fn not_flag(key: &str, text: &str, notes: &mut Notes<'_>) {
    let foreign = FOREIGN.contains(&text.to_lowercase().as_str()) || !text.is_ascii();
    let why = if foreign {
        LANGUAGE
    } else {
        "neither True nor False"
    };
    let what = format!("{key} {}", quoted(text));
    notes.add(&format!("flag {text}"), &what, why);
}

/// The name that an object is known by.
pub(super) fn name<'r>(record: &'r Record, notes: &mut Notes<'_>) -> Option<&'r str> {
    let name = record.any(&["Name", "InterfaceAlias", "ifAlias"], notes);
    if name.is_none() {
        notes.add(
            "no name",
            "an object",
            "its name is not there or not whole: left out",
        );
    }
    name
}
