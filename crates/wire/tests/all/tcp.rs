//! TCP options and flags.

use crate::build::{IPV4, as_tcp, ethernet, found, ipv4, tcp_with};
use coalescope_wire::{Flags, LinkType, TcpOptions, walk};

fn parse(bytes: &[u8]) -> TcpOptions {
    TcpOptions::parse(bytes, bytes.len())
}

#[test]
fn options_of_a_syn() {
    let options = parse(&[
        2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7,
    ]);
    assert_eq!(options.mss, Some(1460));
    assert_eq!(options.window_scale, Some(7));
    assert!(options.sack_permitted && !options.cut);
    assert_eq!(options.timestamps, Some((1, 2)));
}

#[test]
fn fast_path_and_loop_agree() {
    let fast = parse(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    let slow = parse(&[8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1]);
    assert_eq!(fast, slow);
    assert_eq!(fast.timestamps, Some((1, 2)));
}

#[test]
fn sack_blocks() {
    let block = |n: u8| [0, 0, 0, n, 0, 0, 1, n];
    for count in 0..=4u8 {
        let mut bytes = vec![5, 2 + count * 8];
        bytes.extend((0..count).flat_map(block));
        let options = parse(&bytes);
        assert_eq!(options.sack_count, count);
        assert!(!options.cut);
        for n in 0..count {
            let edges = (u32::from(n), 256 + u32::from(n));
            assert_eq!(options.sack[usize::from(n)], edges);
        }
    }
}

#[test]
fn window_scale_is_clamped() {
    assert_eq!(parse(&[3, 3, 200]).window_scale, Some(14));
}

#[test]
fn unknown_options_are_skipped() {
    assert_eq!(parse(&[254, 4, 1, 2, 2, 4, 1, 0]).mss, Some(256));
}

#[test]
fn nothing_counts_after_the_end() {
    let options = parse(&[0, 2, 4, 1, 0]);
    assert_eq!(options, TcpOptions::default());
}

#[test]
fn lying_lengths_end_the_parse() {
    for bytes in [
        &[2, 0, 1, 0][..],
        &[2, 1],
        &[8, 10, 0, 0],
        &[2],
        &[5, 40, 0, 0],
    ] {
        let options = parse(bytes);
        assert!(options.cut, "{bytes:?}");
        assert_eq!((options.mss, options.timestamps), (None, None));
    }
}

#[test]
fn a_wrong_length_for_the_kind_is_skipped() {
    let options = parse(&[2, 3, 1, 3, 3, 5]);
    assert_eq!((options.mss, options.window_scale), (None, Some(5)));
    assert!(options.cut);
}

#[test]
fn missing_bytes_are_a_cut() {
    assert!(TcpOptions::parse(&[1, 1], 12).cut);
    assert!(TcpOptions::parse(&[], 12).cut);
    assert!(!TcpOptions::parse(&[], 0).cut);
    assert!(!TcpOptions::parse(&[0], 12).cut);
    // Payload after the options is not taken for options.
    assert_eq!(TcpOptions::parse(&[1, 1, 1, 1, 2, 4, 1, 1], 4).mss, None);
}

/// A capture of 64 bytes a frame ends in the middle of TSecr.
#[test]
fn a_value_is_read_whose_echo_is_cut_off() {
    let whole = [1, 1, 8, 10, 0, 1, 2, 3, 4, 5, 6, 7];
    for len in 0..=whole.len() {
        let options = TcpOptions::parse(&whole[..len], 12);
        let expected = match len {
            0..8 => None,
            8..12 => Some((0x0001_0203, 0)),
            _ => Some((0x0001_0203, 0x0405_0607)),
        };
        assert_eq!(
            (options.timestamps, options.cut),
            (expected, len < 12),
            "{len}"
        );
    }
    // An option of another length is none, nor is one that ends beyond the header.
    assert_eq!(TcpOptions::parse(&whole[..8], 8).timestamps, None);
    let odd = [1, 1, 8, 9, 0, 1, 2, 3];
    assert_eq!(TcpOptions::parse(&odd, 12).timestamps, None);
}

#[test]
fn options_from_the_frame() {
    let bytes = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let frame = ethernet(IPV4, &ipv4(6, &tcp_with(&bytes, 50)));
    let tcp = as_tcp(&found(&frame));
    assert_eq!(tcp.option_bytes(&frame), bytes);
    assert_eq!(tcp.options(&frame).timestamps, Some((1, 2)));

    let cut = &frame[..60];
    let tcp = as_tcp(&walk(LinkType::Ethernet, cut, frame.len() as u32).unwrap());
    assert!(tcp.options(cut).cut);
    assert!(tcp.options(&[]).cut);
}

#[test]
fn flags() {
    let mut segment = tcp_with(&[], 0);
    segment[12..14].copy_from_slice(&[0x51, 0x92]);
    let flags = as_tcp(&found(&ethernet(IPV4, &ipv4(6, &segment)))).flags;
    assert_eq!(flags.0, Flags::AE | Flags::CWR | Flags::ACK | Flags::SYN);
    assert!(flags.has(Flags::SYN) && !flags.has(Flags::FIN));
}
