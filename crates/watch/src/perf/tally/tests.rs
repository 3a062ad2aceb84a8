//! Events as a kernel could have written them.

use super::*;

/// An event with these fields of 4 bytes each behind the name.
fn described(fields: &[&str]) -> Description {
    let all = fields.iter().enumerate().map(|(n, name)| {
        let at = 4 + 4 * n;
        format!("\tfield:u32 {name};\toffset:{at};\tsize:4;\tsigned:0;\n")
    });
    let all: String = all.collect();
    let name = "\tfield:__data_loc char[] name;\toffset:0;\tsize:4;\tsigned:0;\n";
    Description::read(&format!("ID: 7\nformat:\n{name}{all}")).unwrap()
}

fn raw(fields: &[u32], name: &str) -> Vec<u8> {
    let at = 4 * (fields.len() as u32 + 1);
    let location = (name.len() as u32 + 1) << 16 | at;
    let words = std::iter::once(&location).chain(fields);
    let bytes = words.flat_map(|word| word.to_ne_bytes());
    bytes.chain(name.bytes()).chain([0]).collect()
}

fn layout(kind: Kind, fields: &[&str]) -> Layout {
    Layout::of("net/any", kind, &described(fields)).unwrap()
}

#[test]
fn segments_of_a_merged_frame_are_told_by_its_length() {
    let fields = ["len", "gso_size", "gso_type", "protocol"];
    let entered = layout(Kind::Entered, &fields);
    // Length, segment size, type and protocol: how many segments.
    let cases = [
        ([52 + 5 * 1448, 1448, 1, IPV4 as u32], 5),
        ([52 + 4 * 1448 + 1, 1448, 1, IPV4 as u32], 5),
        ([72 + 5 * 1428, 1428, 0x10, IPV6 as u32], 5),
        ([28 + 5 * 1400, 1400, 0, IPV4 as u32], 5),
        // Without timestamps of TCP.
        ([40 + 5 * 1460, 1460, 1, IPV4 as u32], 5),
        ([1500, 0, 0, IPV4 as u32], 1),
        ([40, 1460, 1, IPV4 as u32], 1),
    ];
    for (fields, segments) in cases {
        let mut tally = Tally::default();
        tally.add(&entered, &raw(&fields, "eth0"));
        let counted = tally.counted()["eth0"];
        assert_eq!(counted.entered_segments, segments, "{fields:?}");
    }
}

#[test]
fn a_frame_longer_than_the_mtu_is_merged() {
    let queued = layout(Kind::Queued, &["len"]);
    let mut tally = Tally::default();
    tally.set_mtu("jumbo", Some(9000));
    for (name, bytes) in [
        ("jumbo", 9014),
        ("jumbo", 9100),
        ("new", 1514),
        ("new", 1600),
    ] {
        tally.add(&queued, &raw(&[bytes], name));
    }
    let counted = tally.counted();
    let of = |name: &str| (counted[name].queued, counted[name].queued_long);
    assert_eq!([of("jumbo"), of("new")], [(2, 1); 2]);
}

#[test]
fn only_packets_of_ip_are_drops() {
    let drop = layout(Kind::Dropped, &["location", "protocol", "reason"]);
    let mut tally = Tally::default();
    for (location, protocol, reason) in [(1, IPV4, 12), (1, IPV6, 12), (1, IPV4, 2), (1, 0, 12)] {
        tally.add(&drop, &raw(&[location, protocol as u32, reason], ""));
    }
    let place = |reason| Place {
        location: 1,
        reason: Some(reason),
    };
    assert_eq!(tally.drops, BTreeMap::from([(place(2), 1), (place(12), 2)]));
}

#[test]
fn an_event_that_is_cut_off_is_none() {
    let queued = layout(Kind::Queued, &["len"]);
    let whole = raw(&[1600], "eth0");
    let mut tally = Tally::default();
    for end in 0..whole.len() {
        tally.add(&queued, &whole[..end]);
    }
    assert!(tally.counted().is_empty(), "{tally:?}");
}

#[test]
fn what_finds_no_room_is_counted() {
    let queued = layout(Kind::Queued, &["len"]);
    let drop = layout(Kind::Dropped, &["location", "protocol"]);
    let mut tally = Tally::default();
    let most = MOST as u32 * 4;
    for n in 0..most + 3 {
        tally.add(&queued, &raw(&[100], &n.to_string()));
        tally.add(&drop, &raw(&[n, IPV4 as u32], ""));
    }
    assert_eq!(tally.lost_frames, 3);
    assert_eq!(tally.lost_drops, u64::from(most + 3) - MOST as u64);
}

#[test]
fn an_event_without_what_is_needed_is_refused() {
    let said = described(&["len"]);
    assert!(matches!(
        Layout::of("net/any", Kind::Sent, &said),
        Err(PerfError::NoField {
            field: "gso_size",
            ..
        })
    ));
    assert!(matches!(
        Layout::of("skb/any", Kind::Dropped, &said),
        Err(PerfError::NoField {
            field: "location",
            ..
        })
    ));
}
