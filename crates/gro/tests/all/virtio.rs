//! The virtio-net header, both ways.

use crate::split_stack::{Layer, Step, Tcp, build, checksum, tcp, v4, v6};
use gro::{
    ChecksumOffload, Endian, Gso, GsoKind, IdRun, LinkType, RscInfo, SplitSettings, Splitter,
    VirtioError, VirtioForm, VirtioNetHeader, VirtioTunnel,
};
use proptest::collection::vec;
use proptest::prelude::*;

const ETHERNET: LinkType = LinkType::Ethernet;
const ACK: u16 = 0x10;
const CWR: u16 = 0x80;

const PARTIAL: Step = Step {
    ids: [0; 2],
    offset: 0,
    clear: 0,
    pseudo_only: true,
};

fn gso(kind: GsoKind, segment_size: u16, segments: u16) -> Gso {
    Gso {
        kind,
        segment_size,
        segments,
        outer_id: IdRun::Increasing,
        id: IdRun::Increasing,
        accurate_ecn: false,
    }
}

fn merged(layers: &[Layer], len: usize) -> Vec<u8> {
    let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
    build(layers, &payload, PARTIAL)
}

fn plain_v4(flags: u16) -> Vec<u8> {
    merged(&[Layer::Ethernet, v4(1), tcp(1, flags)], 250)
}

#[test]
fn the_bytes_of_both_forms_and_orders() {
    let header = VirtioNetHeader {
        flags: 1,
        gso_type: 0x84,
        hdr_len: 0x0102,
        gso_size: 0x0304,
        csum_start: 0x0506,
        csum_offset: 0x0708,
        num_buffers: 0x090a,
    };
    let little = [1, 0x84, 2, 1, 4, 3, 6, 5, 8, 7, 0x0a, 9];
    assert_eq!(header.to_bytes(Endian::Little), little);
    assert_eq!(
        header.to_bytes(Endian::Big),
        [1, 0x84, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a]
    );
    assert_eq!(
        VirtioNetHeader::decode(&little, VirtioForm::MODERN),
        Ok(header)
    );
    let short = VirtioForm {
        num_buffers: false,
        endian: Endian::Little,
    };
    let mut bytes = Vec::new();
    header.encode(short, &mut bytes);
    assert_eq!(bytes, little[..10]);
    let without = VirtioNetHeader {
        num_buffers: 0,
        ..header
    };
    assert_eq!(VirtioNetHeader::decode(&bytes, short), Ok(without));
    let error = VirtioNetHeader::decode(&bytes, VirtioForm::MODERN);
    assert_eq!(
        error,
        Err(VirtioError::Short {
            len: 10,
            needed: 12
        })
    );
}

#[test]
fn the_header_of_a_merged_frame() {
    let frame = plain_v4(ACK);
    let gso = gso(GsoKind::TcpV4, 100, 3);
    let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso).unwrap();
    let expected = VirtioNetHeader {
        flags: VirtioNetHeader::NEEDS_CSUM,
        gso_type: VirtioNetHeader::GSO_TCPV4,
        hdr_len: 66,
        gso_size: 100,
        csum_start: 34,
        csum_offset: 16,
        num_buffers: 0,
    };
    assert_eq!(header, expected);
    assert_eq!(
        header.checksum(),
        ChecksumOffload::Partial {
            start: 34,
            offset: 16
        }
    );
    assert_eq!(header.gso(ETHERNET, &frame), Ok(Some(gso)));
}

#[test]
fn cwr_is_told_and_accurate_ecn_cannot_be() {
    let frame = plain_v4(ACK | CWR);
    let plain = gso(GsoKind::TcpV4, 100, 3);
    let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &plain).unwrap();
    assert_eq!(
        header.gso_type,
        VirtioNetHeader::GSO_TCPV4 | VirtioNetHeader::GSO_ECN
    );
    assert_eq!(header.gso(ETHERNET, &frame), Ok(Some(plain)));
    let accurate = Gso {
        accurate_ecn: true,
        ..plain
    };
    let got = VirtioNetHeader::for_merged(ETHERNET, &frame, &accurate);
    assert_eq!(got, Err(VirtioError::AccurateEcn));
    assert!(VirtioNetHeader::for_merged(ETHERNET, &plain_v4(ACK), &accurate).is_ok());
}

#[test]
fn a_frame_of_one_segment_is_not_merged_but_needs_its_checksum() {
    let mut frame = plain_v4(ACK);
    let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso(GsoKind::TcpV4, 250, 1));
    let header = header.unwrap();
    assert_eq!(
        (header.gso_type, header.gso_size),
        (VirtioNetHeader::GSO_NONE, 0)
    );
    assert_eq!(header.gso(ETHERNET, &frame), Ok(None));
    assert_eq!(header.complete_checksum(&mut frame), Ok(true));
    let payload: Vec<u8> = (0..250).map(|i| i as u8).collect();
    let whole = build(
        &[Layer::Ethernet, v4(1), tcp(1, ACK)],
        &payload,
        Step::default(),
    );
    assert_eq!(frame, whole);
}

#[test]
fn a_datagram_without_checksum_needs_none() {
    let mut frame = merged(
        &[Layer::Ethernet, v4(1), Layer::Udp { checksum: false }],
        250,
    );
    let before = frame.clone();
    let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso(GsoKind::Udp, 250, 1));
    let header = header.unwrap();
    assert_eq!(header, VirtioNetHeader::default());
    assert_eq!(header.complete_checksum(&mut frame), Ok(false));
    assert_eq!(frame, before);
}

#[test]
fn udp_tunnels_have_bits_flags_and_offsets() {
    for (outer, bit, at) in [
        (v4(1), VirtioNetHeader::GSO_UDP_TUNNEL_IPV4, 34),
        (v6(), VirtioNetHeader::GSO_UDP_TUNNEL_IPV6, 54),
    ] {
        for checksum in [true, false] {
            let vxlan = [outer.clone(), Layer::Vxlan { checksum }, Layer::Ethernet];
            let layers = [&[Layer::Ethernet][..], &vxlan, &[v6(), tcp(1, ACK)]].concat();
            let frame = merged(&layers, 250);
            let gso = gso(GsoKind::TcpV6, 100, 3);
            let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso).unwrap();
            assert_eq!(header.gso_type, VirtioNetHeader::GSO_TCPV6 | bit);
            assert_eq!(header.has(VirtioNetHeader::UDP_TUNNEL_CSUM), checksum);
            assert_eq!(usize::from(header.csum_start), at + 8 + 8 + 14 + 40);
            assert_eq!(header.gso(ETHERNET, &frame), Ok(Some(gso)));
            let offsets = VirtioTunnel {
                outer_transport: at as u16,
                inner_network: at as u16 + 30,
            };
            assert_eq!(VirtioNetHeader::tunnel(ETHERNET, &frame), Ok(Some(offsets)));
            assert_eq!(VirtioTunnel::from_bytes(offsets.to_bytes()), offsets);
        }
    }
}

#[test]
fn what_virtio_cannot_say() {
    let tcp_gso = gso(GsoKind::TcpV4, 100, 3);
    for between in [
        vec![],
        vec![Layer::Gre {
            key: None,
            checksum: false,
        }],
    ] {
        let layers = [
            &[Layer::Ethernet, v4(1)][..],
            &between,
            &[v4(2), tcp(1, ACK)],
        ]
        .concat();
        let frame = merged(&layers, 250);
        let got = VirtioNetHeader::for_merged(ETHERNET, &frame, &tcp_gso);
        assert_eq!(got, Err(VirtioError::NoTypeForTunnel));
    }
    let udp = merged(
        &[Layer::Ethernet, v4(1), Layer::Udp { checksum: false }],
        250,
    );
    let got = VirtioNetHeader::for_merged(ETHERNET, &udp, &gso(GsoKind::Udp, 100, 3));
    assert_eq!(got, Err(VirtioError::NoChecksum));
    let got = VirtioNetHeader::for_merged(ETHERNET, &udp, &tcp_gso);
    assert_eq!(
        got,
        Err(VirtioError::Mismatch {
            gso_type: 1,
            offset: 14
        })
    );
}

#[test]
fn a_driver_refuses_contradictions() {
    use VirtioError as E;
    let frame = plain_v4(ACK);
    let right =
        VirtioNetHeader::for_merged(ETHERNET, &frame, &gso(GsoKind::TcpV4, 100, 3)).unwrap();
    let refused = |change: fn(&mut VirtioNetHeader)| {
        let mut header = right;
        change(&mut header);
        header.gso(ETHERNET, &frame).unwrap_err()
    };
    assert_eq!(refused(|h| h.gso_size = 0), E::NoSegmentSize);
    assert_eq!(refused(|h| h.flags = 0), E::NoChecksumPlace);
    assert_eq!(
        refused(|h| h.gso_type = 4),
        E::Mismatch {
            gso_type: 4,
            offset: 14
        }
    );
    assert_eq!(
        refused(|h| h.gso_type = 5),
        E::Mismatch {
            gso_type: 5,
            offset: 14
        }
    );
    assert_eq!(refused(|h| h.gso_type = 3), E::UdpFragments);
    assert_eq!(refused(|h| h.gso_type = 2), E::UnknownType { gso_type: 2 });
    assert_eq!(
        refused(|h| h.gso_type = 0x80),
        E::UnknownType { gso_type: 0x80 }
    );
    assert_eq!(refused(|h| h.gso_type = 0x21), E::Tunnel { gso_type: 0x21 });
    assert_eq!(
        refused(|h| h.csum_start = 20),
        E::ChecksumPlace {
            start: 20,
            transport: 34
        }
    );
    assert_eq!(
        refused(|h| h.csum_offset = 6),
        E::ChecksumPlace {
            start: 34,
            transport: 34
        }
    );
    let outside = E::ChecksumOutside {
        at: 65_535 + 16,
        len: frame.len(),
    };
    assert_eq!(refused(|h| h.csum_start = 65_535), outside);
    // The last field that fits, and the first that does not.
    let none = VirtioNetHeader {
        gso_type: 0,
        csum_offset: 0,
        ..right
    };
    let at = |csum_start| VirtioNetHeader { csum_start, ..none }.gso(ETHERNET, &frame);
    let len = frame.len() as u16;
    assert_eq!(at(len - 2), Ok(None));
    assert!(matches!(at(len - 1), Err(E::ChecksumOutside { .. })));
}

#[test]
fn a_tunnel_needs_its_bit() {
    let vxlan = [
        v4(1),
        Layer::Vxlan { checksum: true },
        Layer::Ethernet,
        v4(2),
    ];
    let frame = merged(
        &[&[Layer::Ethernet][..], &vxlan, &[tcp(1, ACK)]].concat(),
        250,
    );
    let right = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso(GsoKind::TcpV4, 100, 3));
    for bits in [
        0,
        VirtioNetHeader::GSO_UDP_TUNNEL_IPV6,
        VirtioNetHeader::GSO_UDP_TUNNEL,
    ] {
        let gso_type = VirtioNetHeader::GSO_TCPV4 | bits;
        let header = VirtioNetHeader {
            gso_type,
            ..right.unwrap()
        };
        let got = header.gso(ETHERNET, &frame);
        assert_eq!(got, Err(VirtioError::Tunnel { gso_type }));
    }
}

#[test]
fn coalesced_frames_tell_their_segments() {
    let frame = plain_v4(ACK);
    let header = VirtioNetHeader {
        flags: VirtioNetHeader::RSC_INFO | VirtioNetHeader::DATA_VALID,
        gso_type: VirtioNetHeader::GSO_TCPV4,
        gso_size: 100,
        csum_start: 5,
        csum_offset: 2,
        ..VirtioNetHeader::default()
    };
    assert_eq!(
        header.rsc(),
        Some(RscInfo {
            segments: 5,
            duplicate_acks: 2
        })
    );
    assert_eq!(header.checksum(), ChecksumOffload::Verified);
    let got = header.gso(ETHERNET, &frame).unwrap().unwrap();
    assert_eq!(got.segments, 5);
    assert_eq!(VirtioNetHeader::default().rsc(), None);
    assert_eq!(
        VirtioNetHeader::verified().checksum(),
        ChecksumOffload::Verified
    );
    assert_eq!(
        VirtioNetHeader::default().checksum(),
        ChecksumOffload::Unchecked
    );
}

#[test]
fn completing_a_checksum() {
    let mut frame = plain_v4(ACK);
    let before = frame.clone();
    let merged_header =
        VirtioNetHeader::for_merged(ETHERNET, &frame, &gso(GsoKind::TcpV4, 100, 3)).unwrap();
    assert_eq!(
        merged_header.complete_checksum(&mut frame),
        Err(VirtioError::Merged)
    );
    assert_eq!(
        VirtioNetHeader::verified().complete_checksum(&mut frame),
        Ok(false)
    );
    let none = VirtioNetHeader {
        gso_type: 0,
        ..merged_header
    };
    let outside = VirtioNetHeader {
        csum_start: 400,
        ..none
    };
    assert!(outside.complete_checksum(&mut frame).is_err());
    let unknown = VirtioNetHeader { flags: 5, ..none };
    assert_eq!(
        unknown.complete_checksum(&mut frame),
        Err(VirtioError::ChecksumPlaceUnknown)
    );
    assert_eq!(frame, before);
}

/// Where all words add up to 0xffff the checksum is 0, which UDP must not say.
#[test]
fn a_checksum_of_zero_is_written_as_ones() {
    let mut bytes = [0xff, 0xff, 0, 0];
    let header = VirtioNetHeader {
        flags: VirtioNetHeader::NEEDS_CSUM,
        csum_offset: 2,
        ..VirtioNetHeader::default()
    };
    assert_eq!(header.complete_checksum(&mut bytes), Ok(true));
    assert_eq!(bytes, [0xff; 4]);
    assert_eq!(checksum(&[&[0xff, 0xff, 0, 0]]), 0);
}

/// wireguard-go's handleVirtioRead cases, as `tests/vectors.md` section 2 has them: a
/// header and 200 bytes of payload from a TUN device.
#[test]
fn packets_read_from_a_tun_device() {
    let plain = Layer::Tcp(Tcp {
        seq: 1,
        flags: ACK,
        options: vec![],
    });
    let udp = Layer::Udp { checksum: true };
    for (layers, kind, gso_type, start, offset, len) in [
        ([v4(0), plain.clone()], GsoKind::TcpV4, 1, 20, 16, 140),
        ([v6(), plain], GsoKind::TcpV6, 4, 40, 16, 160),
        ([v4(0), udp.clone()], GsoKind::Udp, 5, 20, 6, 128),
        ([v6(), udp], GsoKind::Udp, 5, 40, 6, 148),
    ] {
        let packet = merged(&layers, 200);
        let mut read = vec![1, gso_type, 0, 0, 100, 0, start, 0, offset, 0];
        read.extend(&packet);
        let form = VirtioForm {
            num_buffers: false,
            endian: Endian::Little,
        };
        let header = VirtioNetHeader::decode(&read, form).unwrap();
        let packet = &read[form.len()..];
        let found = header.gso(LinkType::Raw, packet).unwrap().unwrap();
        assert_eq!(found, gso(kind, 100, 2));
        let settings = SplitSettings {
            link: LinkType::Raw,
            ..SplitSettings::default()
        };
        let mut splitter = Splitter::new(packet, found, settings).unwrap();
        for _ in 0..2 {
            assert_eq!(splitter.next_segment().unwrap().frame_len(), len);
        }
        assert!(splitter.next_segment().is_none());
    }
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(bytes: [u8; 12], num_buffers: bool, big: bool) {
        let endian = if big { Endian::Big } else { Endian::Little };
        let form = VirtioForm { num_buffers, endian };
        let header = VirtioNetHeader::decode(&bytes, form).unwrap();
        let mut again = Vec::new();
        header.encode(form, &mut again);
        prop_assert_eq!(&again[..], &bytes[..form.len()]);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200), dlt in 0..300_u16) {
        let link = LinkType::from_dlt(dlt);
        let Ok(header) = VirtioNetHeader::decode(&bytes, VirtioForm::MODERN) else {
            return Ok(());
        };
        let mut frame = bytes[12..].to_vec();
        let _ = header.gso(link, &frame);
        let _ = VirtioNetHeader::for_merged(link, &frame, &gso(GsoKind::TcpV4, 100, 3));
        let _ = header.complete_checksum(&mut frame);
    }

    /// Whatever a driver accepts can be split.
    #[test]
    fn what_is_accepted_can_be_split(
        at in 0..70_usize, value: u8, field in 0..10_usize, field_value: u8, change: bool
    ) {
        let mut frame = plain_v4(ACK);
        let gso = gso(GsoKind::TcpV4, 100, 3);
        let header = VirtioNetHeader::for_merged(ETHERNET, &frame, &gso).unwrap();
        frame[at] = value;
        let mut bytes = header.to_bytes(Endian::Little);
        if change {
            bytes[field] = field_value;
        }
        let header = VirtioNetHeader::decode(&bytes, VirtioForm::MODERN).unwrap();
        if let Ok(Some(gso)) = header.gso(ETHERNET, &frame) {
            let split = Splitter::new(&frame, gso, SplitSettings::default());
            let refused = matches!(
                split,
                Err(gro::SplitError::Fragment { .. } | gro::SplitError::Truncated { .. })
            );
            prop_assert!(split.is_ok() || refused);
        }
    }
}
