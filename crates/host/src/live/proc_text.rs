//! Texts of /proc and /sys that only a running host has; what is saved as well is read in
//! [`crate::text::linux::files`].

/// How many processors a list such as `0-3,8` names.
pub(super) fn cpu_list(list: &str) -> Option<u32> {
    let mut count: u32 = 0;
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// The value of a line `key:\tvalue` of `/proc/PID/fdinfo/N` and the like.
pub(super) fn keyed<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(found, _)| found.trim() == key)?;
    Some(value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted() {
        assert_eq!(cpu_list("0-3,8\n"), Some(5));
        assert_eq!(cpu_list("0"), Some(1));
        assert_eq!(cpu_list("3-1"), None);
        assert_eq!(cpu_list("0-4294967295"), None);
        assert_eq!(cpu_list(""), None);
    }

    #[test]
    fn a_tun_is_found_in_fdinfo() {
        let text = "pos:\t0\nflags:\t02\niff:\ttap0\n";
        assert_eq!(keyed(text, "iff"), Some("tap0"));
        assert_eq!(keyed(text, "nothing"), None);
    }
}
