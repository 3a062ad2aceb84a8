//! The text of one interface: its first line, and the others with broken lists put together.

use crate::text::notes::{Notes, quoted};

/// First line of an interface.
pub(super) struct Head<'a> {
    pub(super) name: &'a str,
    /// Names of the flags; `None` where a web page swallowed them with their brackets.
    flags: Option<Vec<&'a str>>,
    pub(super) metric: bool,
    pub(super) mtu: u64,
}

/// An interface.
pub(super) struct Block<'a> {
    pub(super) head: Head<'a>,
    /// Without indentation.
    pub(super) lines: Vec<String>,
}

impl Head<'_> {
    pub(super) fn has(&self, flag: &str) -> bool {
        self.flag(flag) == Some(true)
    }

    /// Whether a flag is set; `None` if the names are not there.
    pub(super) fn flag(&self, flag: &str) -> Option<bool> {
        self.flags.as_ref().map(|flags| flags.contains(&flag))
    }
}

/// `ix0: flags=8843<UP,RUNNING> metric 0 mtu 1500`.
pub(super) fn head(line: &str) -> Option<Head<'_>> {
    let (name, rest) = line.trim_end().split_once(": flags=")?;
    let bare = name.trim_start();
    if bare.is_empty() || bare.contains(char::is_whitespace) {
        return None;
    }
    let (flags, rest) = flags(rest)?;
    let metric = rest.strip_prefix(" metric ");
    let rest = match metric {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    // OpenBSD's routing domain.
    let rest = match rest.strip_prefix(" rdomain ") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let mtu = rest.strip_prefix(" mtu ")?.parse().ok()?;
    Some(Head {
        name: bare,
        flags,
        metric: metric.is_some(),
        mtu,
    })
}

/// The text with first lines put together that a mail program broke.
pub(super) fn mended(body: &str) -> String {
    let mut text = String::with_capacity(body.len());
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        if let Some(glue) = lines.peek().and_then(|next| glue(line, next)) {
            text.push_str(glue);
            text.push_str(lines.next().unwrap_or_default().trim());
        }
        text.push('\n');
    }
    text
}

/// What was between two halves of a first line: nothing, or the blank at which it was broken.
pub(super) fn glue(line: &str, next: &str) -> Option<&'static str> {
    if !line.contains(": flags=") || head(line).is_some() {
        return None;
    }
    let next = next.trim();
    let whole = |glue: &&str| head(&format!("{}{glue}{next}", line.trim_end())).is_some();
    ["", " "].into_iter().find(|glue| whole(glue))
}

type Flags<'a> = (Option<Vec<&'a str>>, &'a str);

fn flags(text: &str) -> Option<Flags<'_>> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    if rest.len() == text.len() || rest.starts_with('x') {
        return None;
    }
    let Some(list) = rest.strip_prefix('<') else {
        return Some((None, rest));
    };
    let (list, rest) = list.split_once('>')?;
    let names = list.split(',').filter(|name| !name.is_empty()).collect();
    Some((Some(names), rest))
}

/// All interfaces of a text.
pub(super) fn blocks<'a>(body: &'a str, notes: &mut Notes<'_>) -> Vec<Block<'a>> {
    let mut blocks: Vec<Block<'a>> = Vec::new();
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(head) = head(line) {
            let lines = Vec::new();
            blocks.push(Block { head, lines });
        } else if line.contains(": flags=") && !line.trim_start().starts_with("member") {
            // Its lines must not go to the interface before it.
            notes.add(
                "head",
                &quoted(line),
                "an interface whose first line is damaged",
            );
            blocks.push(nameless());
        } else if let Some(block) = blocks.last_mut() {
            put(&mut block.lines, line.trim());
        }
    }
    blocks.retain(|block| !block.head.name.is_empty());
    blocks
}

fn nameless<'a>() -> Block<'a> {
    let head = Head {
        name: "",
        flags: None,
        metric: false,
        mtu: 0,
    };
    let lines = Vec::new();
    Block { head, lines }
}

/// Adds a line, or what a mail program or a narrow terminal broke off the list before it.
fn put(lines: &mut Vec<String>, line: &str) {
    match lines.last_mut() {
        Some(last) if open(last) && continues(line) => last.push_str(line),
        _ => lines.push(line.to_owned()),
    }
}

/// A list of options without its end.
fn open(line: &str) -> bool {
    let list = line.starts_with("options=") || line.starts_with("capabilities=");
    list && line.contains('<') && !line.contains('>')
}

fn continues(line: &str) -> bool {
    let body = line.strip_suffix('>').unwrap_or(line);
    let name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || "_,".contains(c);
    !line.is_empty() && body.chars().all(name)
}
