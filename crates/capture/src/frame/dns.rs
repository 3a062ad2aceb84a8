//! Where the first DNS message of a payload ends (RFC 1035, section 4.1): two queries of a resolver, for A and AAAA,
//! are merged into one datagram, and servers do not look for a second query in a datagram.

/// DNS's port.
pub(super) const PORT: u16 = 53;
const HEADER: usize = 12;
/// Type, class, TTL and length of a resource record, behind its name.
const RECORD: usize = 10;
/// The longest name (RFC 1035, 2.3.4).
const LONGEST_NAME: usize = 255;

/// The length of the first message, if another of the same kind begins behind it, and all have lengths that Linux
/// merges: that of the first message, and for the last one at most that (`udp_gro_receive_segment`).
pub(super) fn first_message(captured: &[u8], payload: u32) -> Option<u32> {
    let length = message(captured)?;
    let length = u32::try_from(length)
        .ok()
        .filter(|length| *length < payload)?;
    let next = captured.get(length as usize..)?.get(..HEADER)?;
    let kind = |header: &[u8]| header.get(2).map(|flags| flags & 0xf8);
    let is_one = |header: &[u8]| header.get(4..6) == Some(&[0, 1]);
    (kind(next) == kind(captured) && is_one(next)).then_some(length)
}

/// Bytes of the message that begins here, if all of it is there.
fn message(bytes: &[u8]) -> Option<usize> {
    let count = |at: usize| {
        Some(usize::from(u16::from_be_bytes(
            *bytes.get(at..)?.first_chunk()?,
        )))
    };
    let questions = count(4).filter(|questions| *questions == 1)?;
    let records = count(6)? + count(8)? + count(10)?;
    let mut at = HEADER;
    for _ in 0..questions {
        at = name(bytes, at)? + 4;
    }
    for _ in 0..records {
        let data = name(bytes, at)? + RECORD;
        at = data + count(data - 2)?;
    }
    (at <= bytes.len()).then_some(at)
}

/// Where a name ends: at its empty label, or behind a pointer.
fn name(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at - from <= LONGEST_NAME {
        match usize::from(*bytes.get(at)?) {
            0 => return Some(at + 1),
            0xc0.. => return Some(at + 2),
            label @ 1..=63 => at += 1 + label,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(id: u8, kind: u8) -> Vec<u8> {
        let header = [0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        let name = b"\x03www\x07example\x03org\x00";
        [&header[..], name, &[0, kind, 0, 1]].concat()
    }

    #[test]
    fn two_queries_in_one_datagram_are_two_and_one_is_one() {
        let (one, two) = (query(1, 1), query(2, 28));
        let both = [&one[..], &two].concat();
        let length = one.len() as u32;
        assert_eq!(first_message(&both, both.len() as u32), Some(length));
        assert_eq!(first_message(&one, length), None);
        // Of the second at least its header has to be there, and it has to be one.
        let cut = &both[..one.len() + 11];
        assert_eq!(first_message(cut, both.len() as u32), None);
        let padded = [&one[..], &[0; 33]].concat();
        assert_eq!(first_message(&padded, padded.len() as u32), None);
    }

    #[test]
    fn records_behind_the_question_are_the_messages() {
        let mut edns = query(1, 1);
        edns[11] = 1;
        edns.extend([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 2, 7, 7]);
        let both = [&edns[..], &edns].concat();
        assert_eq!(
            first_message(&both, both.len() as u32),
            Some(edns.len() as u32)
        );
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let both = [query(1, 1), query(2, 28)].concat();
        for at in 0..both.len() {
            for value in [0, 1, 63, 64, 191, 192, 255] {
                let mut bytes = both.clone();
                bytes[at] = value;
                for end in 0..=bytes.len() {
                    let _ = first_message(&bytes[..end], u32::MAX);
                }
            }
        }
    }
}
