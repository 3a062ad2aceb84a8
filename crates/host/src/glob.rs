//! Patterns for names, as shells and files of managers have them: `*` is any text, `?` any letter, `[a-z]` and
//! `[!a-z]` one of a list or none. Of what users and files say; the table of ethtool's names in `netlink`, beneath this crate, has a star of its own.

/// Whether a name fits a pattern.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    // Where to go on if what follows the last star does not fit: one letter further each time.
    let (mut at, mut to, mut star) = (0, 0, None);
    while to < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, to));
            at += 1;
        } else if let Some(length) = one(&pattern[at..], name[to]) {
            at += length;
            to += 1;
        } else {
            let Some((last, from)) = star else {
                return false;
            };
            star = Some((last, from + 1));
            (at, to) = (last + 1, from + 1);
        }
    }
    pattern[at..].iter().all(|&letter| letter == '*')
}

/// Whether a name has more than itself as a pattern.
#[must_use]
pub fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// How much of a pattern's beginning stands for a letter, if the letter fits.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match class(pattern) {
            Some((length, is_negated)) => {
                let from = if is_negated { 2 } else { 1 };
                let is_in = is_among(&pattern[from..length - 1], letter);
                (is_in != is_negated).then_some(length)
            }
            // fnmatch(3): a bracket that nothing closes stands for itself.
            None => (letter == '[').then_some(1),
        },
        own => (*own == letter).then_some(1),
    }
}

/// The length of a list in brackets, and whether letters are not to be in it.
fn class(pattern: &[char]) -> Option<(usize, bool)> {
    let is_negated = matches!(pattern.get(1), Some('!' | '^'));
    // A bracket that comes first belongs to the list.
    let from = if is_negated { 3 } else { 2 };
    let closing = pattern.get(from..)?.iter().position(|&one| one == ']')?;
    Some((from + closing + 1, is_negated))
}

/// Whether a letter is in a list, in which `a-z` is a range.
fn is_among(mut list: &[char], letter: char) -> bool {
    while let [first, rest @ ..] = list {
        let (last, rest) = match rest {
            ['-', last, rest @ ..] => (last, rest),
            _ => (first, rest),
        };
        if (*first..=*last).contains(&letter) {
            return true;
        }
        list = rest;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit() {
        for (pattern, name, does) in [
            ("*", "eth0", true),
            ("*", "", true),
            ("en*s?", "enp3s0", true),
            ("en*s?", "enp3s10", false),
            ("*s*s1", "ens0s1s1", true),
            ("eth0", "eth0", true),
            ("eth0", "eth01", false),
            ("eth0", "eth", false),
            ("?", "", false),
            ("", "", true),
            ("", "x", false),
            ("a*c", "abc", true),
            ("a*c", "abcd", false),
            ("*.5", "eth0.5", true),
            ("é*", "é1", true),
            ("*x", "é", false),
            ("eth[0-3]", "eth2", true),
            ("eth[0-3]", "eth4", false),
            ("eth[!0-3]*", "eth4x", true),
            ("eth[^0-3]", "eth0", false),
            ("[]a]x", "]x", true),
            ("a[", "a[", true),
            ("[xy-]", "-", true),
            ("*[0-9]", "ens3", true),
            ("[]", "a", false),
        ] {
            assert_eq!(fits(pattern, name), does, "{pattern} {name}");
        }
    }
}
