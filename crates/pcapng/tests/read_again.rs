//! What is written here is what `coalescope-capture` reads.

use std::io::Cursor;

use coalescope_capture::file::{Direction, Source};
use coalescope_pcapng::{Interface, Record, Writer};

fn written(records: &[Record<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, Some("test")).expect("in memory");
    for (number, (link_number, name, snap_len)) in [(1, Some("eth0"), 0), (101, None, 61)]
        .into_iter()
        .enumerate()
    {
        let interface = Interface {
            link_number,
            name,
            snap_len,
        };
        assert_eq!(
            writer.interface(&interface).expect("in memory"),
            number as u32
        );
    }
    for record in records {
        writer.packet(record).expect("in memory");
    }
    writer.flush().expect("in memory");
    bytes
}

#[test]
fn what_was_written_is_read() {
    let data: Vec<u8> = (0..=255).cycle().take(70_001).collect();
    let whole = Record {
        interface: 0,
        time_ns: 1_700_000_000_123_456_789,
        original_len: 70_001,
        data: &data,
        inbound: Some(true),
        comment: Some("made of 3 frames"),
    };
    let cut = Record {
        interface: 1,
        time_ns: 0,
        original_len: 1_500,
        data: &data[..61],
        inbound: None,
        comment: None,
    };
    let sent = Record {
        inbound: Some(false),
        ..cut
    };
    let bytes = written(&[whole, cut, sent]);
    let mut source = Source::from_reader("x", Box::new(Cursor::new(bytes)), None).expect("pcapng");
    let directions = [Direction::Inbound, Direction::Unknown, Direction::Outbound];
    for (record, direction) in [whole, cut, sent].iter().zip(directions) {
        let frame = source.next().expect("a frame");
        assert_eq!(frame.time_ns, record.time_ns as i64);
        assert_eq!(frame.interface, record.interface);
        assert_eq!(frame.original_len, record.original_len);
        assert_eq!(frame.data, record.data);
        assert_eq!(frame.direction, direction);
    }
    assert!(source.next().is_none());
    assert_eq!(source.warnings(), []);
    assert_eq!(source.interfaces()[0].name.as_deref(), Some("eth0"));
    assert_eq!(source.interfaces()[1].link_number, 101);
}
