//! The Internet checksum of RFC 1071, in the simplest form.
//!
//! Not shared with the engine under test, so that both cannot be wrong in the same way.

/// Ones' complement of the sum of `parts` as 16-bit words; all parts but the last have even length.
pub fn internet_checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = parts.iter().map(|part| sum_words(part)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Completes the checksum of the bytes from `start` on. The checksum field, at `start + offset`,
/// holds the sum of the pseudo-header. A field outside of the frame is ignored.
pub(crate) fn complete(frame: &mut [u8], start: usize, offset: usize) {
    let Some(part) = frame.get_mut(start..) else {
        return;
    };
    let sum = internet_checksum(&[part]);
    // In UDP a checksum of 0 means none; 0 and 0xffff are equal in ones' complement, so that this
    // is right for TCP too.
    let sum = if sum == 0 { 0xffff } else { sum };
    if let Some(field) = part.get_mut(offset..offset + 2) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

fn sum_words(bytes: &[u8]) -> u64 {
    let words = bytes
        .chunks(2)
        .map(|pair| (u64::from(pair[0]) << 8) | u64::from(*pair.get(1).unwrap_or(&0)));
    words.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_finished_over_its_pseudo_header() {
        let mut frame = [9, 9, 0x12, 0x34, 0x00, 0x05, 0x56];
        complete(&mut frame, 2, 2);
        assert_eq!(
            frame[4..6],
            internet_checksum(&[&[0x00, 0x05], &[0x12, 0x34, 0, 0, 0x56]]).to_be_bytes()
        );
        complete(&mut frame, 2, 9);
        complete(&mut frame, 20, 0);
    }

    #[test]
    fn example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet_checksum(&[&bytes]), !0xddf2);
    }
}
