//! What stands at the left of every line: an indentation, or the time at which the line was printed, as `ts`, `kubectl logs
//! --timestamps` and the logs of terminals have it.

/// The text without a time in front of each line, and without what all lines are indented by.
pub(super) fn cut(text: String) -> String {
    let text = unnumbered(&text).unwrap_or(text);
    let text = straight(&text).unwrap_or(text);
    let text = untimed(&text).unwrap_or(text);
    let text = unsigned(&text).unwrap_or(text);
    straight(&text).unwrap_or(text)
}

/// Without the number that `cat -n` and `nl` put before each line. Numbers of lines count upwards; a single line of numbers is
/// a setting (`net.ipv4.tcp_rmem`).
fn unnumbered(text: &str) -> Option<String> {
    let bare = each(text, |line| numbered(line).map(|(_, rest)| rest))?;
    let numbers = || filled(text).filter_map(numbered).map(|(number, _)| number);
    let mut pairs = numbers().zip(numbers().skip(1)).peekable();
    pairs.peek()?;
    pairs.all(|(above, below)| above < below).then_some(bare)
}

fn numbered(line: &str) -> Option<(u32, &str)> {
    let (number, rest) = line.split_once('\t')?;
    Some((number.trim_start().parse().ok()?, rest))
}

/// Without the host and the program that syslog names behind the time (RFC 3164 section 4.1): `gw netdump[1234]: `.
fn unsigned(text: &str) -> Option<String> {
    let first = filled(text).next()?;
    let end = first.find("]: ")? + 3;
    let sign = &first[..end];
    let is_sign = sign.split(' ').count() == 3 && sign.contains('[');
    is_sign.then_some(())?;
    each(text, |line| {
        // An empty line has the sign alone, without the blank behind it.
        let end = line.trim_end();
        let is_bare = end == sign.trim_end();
        let rest = is_bare.then(|| &line[end.len()..]);
        line.strip_prefix(sign).or(rest)
    })
}

/// The text without what all of its lines begin with; none if that is nothing.
pub(super) fn straight(text: &str) -> Option<String> {
    let first = filled(text).next()?;
    let blank = first.len() - first.trim_start().len();
    let common = first.get(..blank).filter(|common| !common.is_empty())?;
    each(text, |line| line.strip_prefix(common))
}

fn untimed(text: &str) -> Option<String> {
    each(text, time)
}

fn filled(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// All lines without their begin, if each that is not empty has one.
fn each<'t>(text: &'t str, rest: impl Fn(&'t str) -> Option<&'t str>) -> Option<String> {
    if filled(text).next().is_none() || !filled(text).all(|line| rest(line).is_some()) {
        return None;
    }
    let lines = text.split_inclusive('\n');
    Some(lines.map(|line| rest(line).unwrap_or(line)).collect())
}

/// What follows a time and a blank, or nothing where the line ends there.
fn time(line: &str) -> Option<&str> {
    let inner = line.strip_prefix('[');
    let rest = clock(date(inner.unwrap_or(line)))?;
    let rest = match inner {
        Some(_) => rest.strip_prefix(']')?,
        None => rest,
    };
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let blank = rest.strip_prefix(' ').or_else(|| rest.strip_prefix('\t'));
    blank.or_else(|| rest.trim().is_empty().then_some(rest))
}

/// What follows `2026-11-27T`, `2026-11-27 `, or `Nov 27 `; the line itself where no day is named.
fn date(line: &str) -> &str {
    let iso = shaped(line, "0000-00-00").and_then(after_day);
    let named = || {
        let name = line.get(..3)?;
        let is_name = name.bytes().all(|letter| letter.is_ascii_alphabetic());
        let rest = line[3..].strip_prefix(' ').filter(|_| is_name)?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        after_day(shaped(rest, "00").or_else(|| shaped(rest, "0"))?)
    };
    iso.or_else(named).unwrap_or(line)
}

fn after_day(rest: &str) -> Option<&str> {
    rest.strip_prefix(['T', ' '])
}

/// What follows `10:00:00`, parts of a second and a zone.
fn clock(line: &str) -> Option<&str> {
    let rest = shaped(line, "00:00:00")?;
    let parts = rest.strip_prefix(['.', ',']);
    let rest = parts.map_or(rest, |parts| {
        parts.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    let rest = rest.strip_prefix('Z').unwrap_or(rest);
    let offset = rest.strip_prefix(['+', '-']);
    let zone = |offset| shaped(offset, "00:00").or_else(|| shaped(offset, "0000"));
    Some(offset.and_then(zone).unwrap_or(rest))
}

/// What follows a text of this shape, in which 0 is any digit.
fn shaped<'t>(text: &'t str, shape: &str) -> Option<&'t str> {
    let head = text.get(..shape.len())?;
    let fits = |(is, wanted): (u8, u8)| match wanted {
        b'0' => is.is_ascii_digit(),
        _ => is == wanted,
    };
    let fits = head.bytes().zip(shape.bytes()).all(fits);
    fits.then(|| &text[shape.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_kinds_are_cut_off() {
        for time in [
            "[2026-11-27 10:00:00] ",
            "2026-11-27 10:00:00 ",
            "2026-11-27T10:00:00.123456789Z ",
            "2026-11-27T10:00:00+01:00\t",
            "2026-11-27 10:00:00,123+0100 ",
            "Nov 27 10:00:00 ",
            "Nov  7 10:00:00 ",
            "[10:00:00.5]: ",
            "10:00:00: ",
        ] {
            let text = format!(
                "{time}$ ip link\n\n{time}  link/ether\n{}\n",
                time.trim_end()
            );
            assert_eq!(cut(text), "$ ip link\n\n  link/ether\n\n", "{time:?}");
        }
    }

    #[test]
    fn numbers_and_what_syslog_puts_in_front_are_cut_off() {
        let numbered = "     1\t$ ip link\n     2\t  link/ether\n";
        assert_eq!(cut(numbered.to_owned()), "$ ip link\n  link/ether\n");
        let found = "    12\tnet.ipv4.ip_forward = 1\n    40\tnet.ipv6.conf.all.forwarding = 0\n";
        assert_eq!(
            cut(found.to_owned()),
            "net.ipv4.ip_forward = 1\nnet.ipv6.conf.all.forwarding = 0\n"
        );
        let sign = "Nov 27 10:00:00 gw dump[7]: ";
        let logged = format!("{sign}$ ip link\n{}\n{sign}  link/ether\n", sign.trim_end());
        assert_eq!(cut(logged), "$ ip link\n\n  link/ether\n");
    }

    #[test]
    fn lines_keep_what_not_all_of_them_have() {
        for text in [
            "10:00:00 up 3 days\neth0\n",
            "00:11:22:33:44:55 dev eth0\n",
            "10:00:00.0 Ethernet controller\n10:00:00.1 Ethernet\n11:00.0 Other\n",
            "2026-11-27\n",
            "[1] 10:00:00 x\n",
            "  a\n b\nc\n",
            "",
            "\n \n",
            "é: 10\n",
            // Settings of several numbers, as /proc/sys has them.
            "4096\t131072\t6291456\n",
            "1\t0\n",
            "4\tx\n3\ty\n",
            "Nov 27\n",
        ] {
            assert_eq!(cut(text.to_owned()), text);
        }
        assert_eq!(cut("  a\n\n    b\n".to_owned()), "a\n\n  b\n");
    }
}
