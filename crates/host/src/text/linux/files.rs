//! Files as the kernel and the distribution write them, as functions on their text: a saved file and
//! one of the host that this runs on are read by the same. Lines that are not understood are handed
//! back.

use std::collections::BTreeMap;

use crate::model::Distribution;

/// `/proc/net/snmp` and `netstat`: pairs of lines, names and values. Named as nstat(8) does; the few
/// values that may be negative (`TcpMaxConn`: "no limit") count nothing and are left out.
pub fn paired_counters(table: &str) -> Vec<Result<(String, u64), String>> {
    let mut counters = Vec::new();
    let mut names: Option<(&str, &str)> = None;
    for line in lines(table) {
        let here = line.split_once(':').map(|(of, rest)| (of, rest.trim()));
        match (names.take(), here) {
            (Some(names), Some(values)) if are_pair(names, values) => {
                counters.extend(pairs(names, values));
            }
            (left, _) => {
                counters.extend(left.map(without_values));
                names = here;
                if here.is_none() {
                    counters.push(Err(line.to_owned()));
                }
            }
        }
    }
    counters.extend(names.map(without_values));
    counters
}

fn without_values<T>((of, _): (&str, &str)) -> Result<T, String> {
    Err(format!("{of} without values"))
}

/// Whether these are a line of names and its line of numbers.
pub(super) fn are_pair((of, names): (&str, &str), (also, values): (&str, &str)) -> bool {
    let protocol = |letter: char| letter.is_ascii_alphanumeric();
    let name = |name: &str| name.starts_with(|letter: char| letter.is_ascii_uppercase());
    of == also
        && of.chars().all(protocol)
        && names.split_whitespace().all(name)
        && values
            .split_whitespace()
            .all(|value| value.parse::<i128>().is_ok())
}

fn pairs(
    (of, names): (&str, &str),
    (_, values): (&str, &str),
) -> Vec<Result<(String, u64), String>> {
    let (names, values) = (names.split_whitespace(), values.split_whitespace());
    if names.clone().count() != values.clone().count() {
        return vec![Err(format!("{of}: another number of values than of names"))];
    }
    let known = names
        .zip(values)
        .filter_map(|(name, value)| Some(Ok((format!("{of}{name}"), value.parse().ok()?))));
    known.collect()
}

/// `/proc/net/snmp6`: a name and a value a line.
pub fn listed_counters(table: &str) -> impl Iterator<Item = Result<(&str, u64), &str>> {
    lines(table).map(|line| listed_counter(line).ok_or(line))
}

pub(super) fn listed_counter(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.split_once(char::is_whitespace)?;
    let known = ["Ip6", "Icmp6", "Udp6", "UdpLite6"]
        .iter()
        .any(|of| name.starts_with(of));
    known.then_some((name, value.trim().parse().ok()?))
}

/// Columns of `/proc/net/softnet_stat` that are counters; hexadecimal, a line for each processor.
const SOFTNET: [(usize, &str); 5] = [
    (0, "processed"),
    (1, "dropped"),
    (2, "time_squeeze"),
    (9, "received_rps"),
    (10, "flow_limit"),
];

/// Sums over all processors of `/proc/net/softnet_stat`, an older kernel's has fewer columns; or
/// the lines that are not understood: a sum over some processors is no sum over all.
pub fn softnet(table: &str) -> Result<BTreeMap<String, u64>, Vec<&str>> {
    let mut unknown = Vec::new();
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines(table) {
        let Some(numbers) = softnet_line(line) else {
            unknown.push(line);
            continue;
        };
        for (column, name) in SOFTNET {
            if let Some(number) = numbers.get(column) {
                let sum = sums.entry(name.to_owned()).or_default();
                *sum = sum.saturating_add(*number);
            }
        }
    }
    if unknown.is_empty() {
        Ok(sums)
    } else {
        Err(unknown)
    }
}

/// At least the nine columns of Linux 2.6, each of eight digits.
pub(super) fn softnet_line(line: &str) -> Option<Vec<u64>> {
    let words: Vec<&str> = line.split(' ').collect();
    let whole = words.len() >= 9 && words.iter().all(|word| word.len() == 8);
    let numbers = words.iter().map(|word| u64::from_str_radix(word, 16).ok());
    numbers.collect::<Option<_>>().filter(|_| whole)
}

/// A packet socket in `/proc/net/packet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) inode: u32,
    /// The interface's index; `None` is all of them.
    pub(crate) interface: Option<u32>,
    pub(crate) protocol: u16,
    /// Who holds it, where whoever saved the table looked.
    pub(crate) process: Option<String>,
}

/// `/proc/net/packet`: a heading, then `sk RefCnt Type Proto Iface R Rmem User Inode`.
pub(crate) fn packets(table: &str) -> impl Iterator<Item = Result<Packet, &str>> {
    let rows = table.lines().skip(1).map(str::trim_end);
    let rows = rows.filter(|line| !line.is_empty());
    rows.map(|line| packet(line).ok_or(line))
}

fn packet(line: &str) -> Option<Packet> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, protocol, index, _, _, _, inode, process @ ..] = words.as_slice() else {
        return None;
    };
    let process = process.join(" ");
    let index: u32 = index.parse().ok()?;
    Some(Packet {
        inode: inode.parse().ok()?,
        interface: Some(index).filter(|&index| index != 0),
        protocol: u16::from_str_radix(protocol, 16).ok()?,
        process: Some(process).filter(|process| !process.is_empty()),
    })
}

/// Names of an interface that is known by its index only, as iproute2 writes it.
pub(crate) fn unnamed(index: u32) -> String {
    format!("if{index}")
}

/// `/proc/modules`: the modules' names. Only a live look reads it at once.
#[cfg(any(target_os = "linux", test))]
pub(crate) fn modules(list: &str) -> impl Iterator<Item = Result<&str, &str>> {
    lines(list).map(|line| module(line).ok_or(line))
}

/// `bridge 319488 1 br_netfilter, Live 0x0000000000000000`
pub(super) fn module(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split(' ').collect();
    let state = ["Live", "Loading", "Unloading"];
    let whole = words.get(4).is_some_and(|word| state.contains(word));
    let address = words.get(5).is_some_and(|word| word.starts_with("0x"));
    module_and_users(line).filter(|_| whole && address)
}

/// What `lsmod` and the kernel begin a line with: name, size and users, `-` if the kernel unloads
/// none.
pub(super) fn module_and_users(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let (size, users) = (words.next()?, words.next()?);
    let counted = users.parse::<i64>().is_ok() || users == "-";
    let numbers = size.parse::<u64>().is_ok() && counted;
    (numbers && is_module(name)).then_some(name)
}

fn is_module(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    name.chars().all(letter)
}

/// os-release(5), whose last value of a key applies; `id` is empty if there is none.
pub(crate) fn os_release(text: &str) -> Option<Distribution> {
    let assigned = lines(text).filter(|line| !line.starts_with('#'));
    let mut values: BTreeMap<&str, String> = assigned.filter_map(assignment).collect();
    let is_any = !values.is_empty();
    let mut value = |key: &str| values.remove(key).filter(|value| !value.is_empty());
    is_any.then(|| Distribution {
        id: value("ID").unwrap_or_default(),
        version: value("VERSION_ID"),
        name: value("PRETTY_NAME"),
    })
}

/// Name and value of `ID="debian"`.
pub(super) fn assignment(line: &str) -> Option<(&str, String)> {
    let (key, value) = line.split_once('=')?;
    let letter =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    let bare = value.trim_matches(['"', '\'']);
    (!key.is_empty() && key.chars().all(letter)).then(|| (key, bare.replace("\\\"", "\"")))
}

/// A path below `/proc/sys` as sysctl(8) writes it: slashes are dots, and the other way round.
pub(crate) fn dotted(path: &str) -> String {
    let swap = |letter| match letter {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    path.chars().map(swap).collect()
}

/// Lines that are not empty, without spaces at their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(table: &str) -> BTreeMap<String, u64> {
        paired_counters(table).into_iter().flatten().collect()
    }

    #[test]
    fn counters_are_named_as_nstat_does() {
        let text = "Tcp: MaxConn RetransSegs\nTcp: -1 12\nTcpExt: TCPRcvCoalesce\nTcpExt: 7\n";
        let counters = counters(text);
        assert_eq!(counters.get("TcpRetransSegs"), Some(&12));
        assert_eq!(counters.get("TcpExtTCPRcvCoalesce"), Some(&7));
        assert_eq!(counters.get("TcpMaxConn"), None);
        assert_eq!(counters.len(), 2);
    }

    #[test]
    fn damaged_counters_are_handed_back() {
        assert!(counters("Tcp: A B\nUdp: 1 2\n").is_empty());
        assert!(counters("Tcp: A\n").is_empty());
        assert!(counters("Ip: A B\nIp: 1\n").is_empty());
        let unknown: Vec<_> = paired_counters("nothing\nIp: A\nTcp: B\nTcp: 1\n");
        let expected = [
            Err("nothing".to_owned()),
            Err("Ip without values".to_owned()),
            Ok(("TcpB".to_owned(), 1)),
        ];
        assert_eq!(unknown, expected);
    }

    #[test]
    fn counters_of_version_6_have_their_names() {
        let counters: Vec<_> =
            listed_counters("Ip6InReceives   \t5\nbroken\nIcmp6OutMsgs x\n").collect();
        let expected = [
            Ok(("Ip6InReceives", 5)),
            Err("broken"),
            Err("Icmp6OutMsgs x"),
        ];
        assert_eq!(counters, expected);
    }

    #[test]
    fn softnet_is_summed() {
        let words =
            "0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000";
        let line = format!("{words} 00000003 00000004 00000000 00000000");
        let sums = softnet(&format!("{line}\n{line}\n")).expect("a table");
        assert_eq!(sums.get("processed"), Some(&20));
        assert_eq!(sums.get("time_squeeze"), Some(&4));
        assert_eq!(sums.get("received_rps"), Some(&6));
        assert_eq!(sums.get("flow_limit"), Some(&8));
        assert_eq!(softnet(words).map(|sums| sums.len()), Ok(3));
        assert_eq!(softnet(&format!("{line}\nxyz\n")), Err(vec!["xyz"]));
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
    fn packet_sockets_are_read() {
        let text = "sk       RefCnt Type Proto  Iface R Rmem   User   Inode\n\
            0000000000000000 3      3    0003   2     1 0      0      4711\n\
            0000000000000000 3      3    88cc   0     1 0      0      4712   \nbroken\n";
        let read: Vec<_> = packets(text).collect();
        let packet = |inode, interface, protocol| {
            Ok(Packet {
                inode,
                interface,
                protocol,
                process: None,
            })
        };
        let expected = [
            packet(4711, Some(2), 3),
            packet(4712, None, 0x88cc),
            Err("broken"),
        ];
        assert_eq!(read, expected);
    }

    /// Also of a kernel that is built without unloading.
    #[test]
    fn modules_have_names() {
        let list = "bridge 319488 1 br_netfilter, Live 0x0000000000000000\n\
            stp 16384 - - Live 0x0000000000000000 (E)\nno module\n";
        let read: Vec<_> = modules(list).collect();
        assert_eq!(read, [Ok("bridge"), Ok("stp"), Err("no module")]);
    }

    #[test]
    fn a_dot_in_an_interfaces_name_is_a_slash() {
        assert_eq!(
            dotted("net/ipv4/conf/eth0.100/forwarding"),
            "net.ipv4.conf.eth0/100.forwarding"
        );
    }
}
