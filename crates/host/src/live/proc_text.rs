//! Texts of /proc and /sys. Their readers take any text: what is not understood is left out.

use crate::model::Distribution;
use std::collections::BTreeMap;

/// `/proc/net/snmp` and `netstat`: pairs of lines, names and values. Named as nstat(8) does; the few
/// values that may be negative (`TcpMaxConn`) are no counters and left out.
pub(super) fn paired_counters(text: &str) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((protocol, names)), Some((same, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            break;
        };
        if protocol != same {
            break;
        }
        let pairs = names.split_whitespace().zip(values.split_whitespace());
        let known = pairs.filter_map(|(name, value)| Some((name, value.parse().ok()?)));
        counters.extend(known.map(|(name, value)| (format!("{protocol}{name}"), value)));
    }
    counters
}

/// `/proc/net/snmp6`: a name and a value a line.
pub(super) fn listed_counters(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
    });
    lines.collect()
}

/// Columns of `/proc/net/softnet_stat` that are counters; hexadecimal, a line for each processor.
const SOFTNET: [(usize, &str); 5] = [
    (0, "processed"),
    (1, "dropped"),
    (2, "time_squeeze"),
    (9, "received_rps"),
    (10, "flow_limit"),
];

/// Sums over all processors; an older kernel's table has fewer columns.
pub(super) fn softnet(text: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for line in text.lines() {
        let columns: Vec<_> = line.split_whitespace().collect();
        for (column, name) in SOFTNET {
            let value = columns.get(column).map(|hex| u64::from_str_radix(hex, 16));
            if let Some(Ok(value)) = value {
                *sums.entry(name.to_owned()).or_default() += value;
            }
        }
    }
    sums
}

/// os-release(5).
pub(super) fn os_release(text: &str) -> Option<Distribution> {
    let value = |key: &str| {
        let mut lines = text.lines().filter_map(|line| line.trim().split_once('='));
        let (_, value) = lines.find(|(found, _)| *found == key)?;
        let bare = value
            .trim()
            .trim_matches(|quote| matches!(quote, '"' | '\''));
        Some(bare.to_owned()).filter(|bare| !bare.is_empty())
    };
    Some(Distribution {
        // What the file's format says of a missing one.
        id: value("ID").unwrap_or_else(|| "linux".to_owned()),
        version: value("VERSION_ID"),
        name: value("PRETTY_NAME"),
    })
    .filter(|_| text.contains('='))
}

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

/// The first word of each line.
pub(super) fn first_words(text: &str) -> Vec<String> {
    let words = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

/// A packet socket in `/proc/net/packet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) inode: Option<u32>,
    pub(super) interface: Option<u32>,
    pub(super) protocol: Option<u16>,
}

/// `/proc/net/packet`: a heading, then `sk RefCnt Type Proto Iface R Rmem User Inode`.
pub(super) fn packets(text: &str) -> Vec<Packet> {
    let rows = text.lines().skip(1).filter_map(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let interface: u32 = columns.get(4)?.parse().ok()?;
        Some(Packet {
            inode: columns.get(8).and_then(|inode| inode.parse().ok()),
            interface: Some(interface).filter(|&index| index != 0),
            protocol: u16::from_str_radix(columns.get(3)?, 16).ok(),
        })
    });
    rows.collect()
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
    fn counters_are_named_as_nstat_does() {
        let text = "Tcp: MaxConn RetransSegs\nTcp: -1 12\nTcpExt: TCPRcvCoalesce\nTcpExt: 7\n";
        let counters = paired_counters(text);
        assert_eq!(counters.get("TcpRetransSegs"), Some(&12));
        assert_eq!(counters.get("TcpExtTCPRcvCoalesce"), Some(&7));
        assert_eq!(counters.get("TcpMaxConn"), None);
        assert_eq!(counters.len(), 2);
    }

    #[test]
    fn damaged_counters_end_the_table() {
        assert!(paired_counters("Tcp: A B\nUdp: 1 2\n").is_empty());
        assert!(paired_counters("Tcp: A\n").is_empty());
        assert!(paired_counters("nothing\nat all\n").is_empty());
        assert_eq!(paired_counters("Ip: A B\nIp: 1\n").len(), 1);
    }

    #[test]
    fn counters_of_version_6_have_their_names() {
        let counters = listed_counters("Ip6InReceives   \t5\nbroken\nIcmp6OutMsgs x\n");
        assert_eq!(counters, [("Ip6InReceives".to_owned(), 5)].into());
    }

    #[test]
    fn softnet_is_summed() {
        let line = "0000000a 00000001 00000002 0 0 0 0 0 0 00000003 00000004 0 0";
        let sums = softnet(&format!("{line}\n{line}\nxyz\n"));
        assert_eq!(sums.get("processed"), Some(&20));
        assert_eq!(sums.get("time_squeeze"), Some(&4));
        assert_eq!(sums.get("received_rps"), Some(&6));
        assert_eq!(sums.get("flow_limit"), Some(&8));
        assert_eq!(softnet("0a 01 02\n").len(), 3);
    }

    #[test]
    fn a_distribution_is_read_with_and_without_quotes() {
        let debian = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nVERSION_ID='12'\nID=debian\n";
        let read = os_release(debian).expect("a distribution");
        assert_eq!(
            (read.id.as_str(), read.version.as_deref()),
            ("debian", Some("12"))
        );
        assert_eq!(read.name.as_deref(), Some("Debian GNU/Linux 12"));
        assert_eq!(os_release(""), None);
    }

    #[test]
    fn processors_are_counted() {
        assert_eq!(cpu_list("0-3,8\n"), Some(5));
        assert_eq!(cpu_list("0"), Some(1));
        assert_eq!(cpu_list("3-1"), None);
        assert_eq!(cpu_list("0-4294967295"), None);
        assert_eq!(cpu_list(""), None);
    }

    #[test]
    fn packet_sockets_are_read() {
        let text = "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n\
            0000000000000000 3      3    0003   2     1 0      0      4711\n\
            0000000000000000 3      3    88cc   0     1 0      0      4712\nbroken\n";
        let read = packets(text);
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].interface, Some(2));
        assert_eq!(read[0].protocol, Some(3));
        assert_eq!(read[1].interface, None);
        assert_eq!(read[1].inode, Some(4712));
    }

    #[test]
    fn a_tun_is_found_in_fdinfo() {
        let text = "pos:\t0\nflags:\t02\niff:\ttap0\n";
        assert_eq!(keyed(text, "iff"), Some("tap0"));
        assert_eq!(keyed(text, "nothing"), None);
    }
}
