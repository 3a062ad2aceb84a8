//! Patterns for names, as shells and files of managers have them: `*` is any text, `?` any letter. Of what users and files
//! say; the table of ethtool's names in `netlink`, beneath this crate, has a star of its own.

/// Whether a name fits a pattern.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<_>, Vec<_>) = (pattern.chars().collect(), name.chars().collect());
    // Where to go on if what follows the last star does not fit: one letter further each time.
    let (mut at, mut to, mut star) = (0, 0, None);
    while to < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, to));
                at += 1;
            }
            Some(&letter) if letter == '?' || letter == name[to] => {
                at += 1;
                to += 1;
            }
            _ => {
                let Some((last, from)) = star else {
                    return false;
                };
                star = Some((last, from + 1));
                (at, to) = (last + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|&letter| letter == '*')
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
        ] {
            assert_eq!(fits(pattern, name), does, "{pattern} {name}");
        }
    }
}
