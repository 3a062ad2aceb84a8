//! `ss -0 -p`: who captures packets.

use super::out::{Out, is_name};
use crate::model::{PacketSocket, Snapshot};
use crate::text::Reader;
use crate::text::notes::first_lines;

/// `ss -0`, with or without `-p`; of other sockets nothing is used.
pub(super) const SS: Reader = Reader {
    name: "ss -0",
    recognises: |text| {
        let mut lines = first_lines(text);
        let titles = lines.next().unwrap_or_default();
        // `-H` leaves the titles out, and so do some versions for `-0`.
        if socket(titles).is_some() {
            return true;
        }
        let is_list = titles.contains("Recv-Q") && titles.contains("Peer Address:Port");
        is_list && lines.any(|line| socket(line).is_some())
    },
    read: |text, snapshot: &mut Snapshot| {
        let mut out = Out::linux(text, SS.name, snapshot);
        let sockets: Vec<PacketSocket> = out.lines().filter_map(socket).collect();
        out.snapshot.stack.packet_sockets = Some(sockets);
        out.finish();
    },
};

/// What ss(8) prints in place of `ETH_P_ALL` (misc/ss.c, `packet_show_line`), and its number.
const ALL: (&str, u16) = ("*", 3);

/// `p_raw UNCONN 0 0 *:eno2 * users:(("Suricata-Main",pid=1201,fd=9))`; the state may lack. Of other protocols the
/// number is not told.
fn socket(line: &str) -> Option<PacketSocket> {
    let mut words = line.split_whitespace();
    if !matches!(words.next()?, "p_raw" | "p_dgr") {
        return None;
    }
    let (protocol, interface) = words.find_map(|word| word.rsplit_once(':'))?;
    Some(PacketSocket {
        interface: Some(interface.to_owned()).filter(|name| name != "*" && is_name(name)),
        protocol: (protocol == ALL.0).then_some(ALL.1),
        process: process(line),
        ring: None,
    })
}

/// The first of `users:(("lldpd",pid=900,fd=12))`.
fn process(line: &str) -> Option<String> {
    let (_, users) = line.split_once("users:((\"")?;
    let (name, _) = users.split_once('"')?;
    Some(name.to_owned())
}
