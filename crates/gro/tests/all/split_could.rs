//! What a merged frame tells about the engine that built it.

use crate::split_stack::{Layer, Step, Tcp, build, tcp, v4, v6};
use gro::{
    CopyingCoalescer, Gso, Loss, OutgoingBytes, Profile, Reason, SegmentSizes, Settings,
    SplitError, SplitSettings, Splitter, UdpTunnels, could_have_built,
};
use proptest::collection::vec;
use proptest::prelude::*;

const FIN: u16 = 0x001;
const SYN: u16 = 0x002;
const PSH: u16 = 0x008;
const ACK: u16 = 0x010;
const CWR: u16 = 0x080;

const LINUX: Profile = Profile::linux_gro();

fn profiles() -> [Profile; 8] {
    [
        Profile::linux_gro(),
        Profile::linux_gro_udp(),
        Profile::linux_lro(),
        Profile::freebsd_lro(),
        Profile::ndis_rsc(),
        Profile::virtio_rsc(),
        Profile::dpdk_gro(),
        Profile::wireguard(),
    ]
}

fn frame(layers: &[Layer], len: usize) -> Vec<u8> {
    let layers = [&[Layer::Ethernet][..], layers].concat();
    build(&layers, &vec![0xa5; len], Step::default())
}

fn bare(flags: u16) -> Layer {
    Layer::Tcp(Tcp {
        seq: 1,
        flags,
        options: vec![],
    })
}

#[track_caller]
fn objects(layers: &[Layer], len: usize, profile: &Profile) -> Vec<Reason> {
    could_have_built(&frame(layers, len), Some(1000), profile).objections
}

#[test]
fn linux_builds_and_splits_what_it_merges() {
    for layers in [
        &[v4(1), tcp(1, ACK | PSH | FIN)][..],
        &[v6(), tcp(1, ACK | CWR)],
        &[Layer::Vlan(3), v4(1), tcp(1, ACK)],
        &[v4(1), v4(2), tcp(1, ACK)],
        &[
            v4(1),
            Layer::Vxlan { checksum: true },
            Layer::Ethernet,
            v6(),
            tcp(1, ACK),
        ],
    ] {
        let verdict = could_have_built(&frame(layers, 3500), Some(1000), &LINUX);
        assert!(verdict.merged);
        assert_eq!(
            (verdict.objections, verdict.losses),
            (vec![], vec![]),
            "{layers:?}"
        );
        assert_eq!(
            verdict.segment_sizes,
            Some(SegmentSizes {
                min: 1000,
                max: 1000
            })
        );
    }
}

#[test]
fn headers_that_an_engine_does_not_enter() {
    let vlan = [Layer::Vlan(3), v4(1), tcp(1, ACK)];
    assert_eq!(objects(&vlan, 3000, &Profile::dpdk_gro()), [Reason::Vlan]);
    let gre = Layer::Gre {
        key: None,
        checksum: false,
    };
    let tunnel = [v4(1), gre, v4(2), tcp(1, ACK)];
    assert_eq!(
        objects(&tunnel, 3000, &Profile::freebsd_lro()),
        [Reason::Tunnel]
    );
    assert_eq!(
        objects(&[v6(), tcp(1, ACK)], 3000, &Profile::linux_lro()),
        [Reason::NotIp]
    );
    let options = Layer::Ipv4 {
        id: 1,
        dont_fragment: true,
        options: 4,
    };
    assert_eq!(
        objects(&[options, tcp(1, ACK)], 3000, &LINUX),
        [Reason::Ipv4Options]
    );
    let udp = [v4(1), Layer::Udp { checksum: true }];
    assert_eq!(objects(&udp, 3000, &LINUX), [Reason::Protocol]);
    assert_eq!(objects(&udp, 3000, &Profile::linux_gro_udp()), []);
}

#[test]
fn flags_that_no_merged_frame_has() {
    assert_eq!(
        objects(&[v4(1), tcp(1, ACK | SYN)], 3000, &LINUX),
        [Reason::FlagForbids]
    );
    let fin = [v4(1), tcp(1, ACK | FIN)];
    assert_eq!(
        objects(&fin, 3000, &Profile::ndis_rsc()),
        [Reason::FlagForbids]
    );
    assert_eq!(objects(&fin, 3000, &Profile::dpdk_gro()), []);
    let without_ack = [v4(1), tcp(1, PSH)];
    assert_eq!(
        objects(&without_ack, 3000, &Profile::linux_lro()),
        [Reason::FlagMissing]
    );
    let cwr = [v4(1), tcp(1, ACK | CWR)];
    assert_eq!(objects(&cwr, 3000, &LINUX), []);
    assert_eq!(
        objects(&cwr, 3000, &Profile::linux_lro()),
        [Reason::FlagForbids]
    );
}

#[test]
fn options_that_no_merged_frame_has() {
    let options = vec![3, 3, 7, 1];
    let scaled = [
        v4(1),
        Layer::Tcp(Tcp {
            seq: 1,
            flags: ACK,
            options,
        }),
    ];
    assert_eq!(objects(&scaled, 3000, &LINUX), []);
    assert_eq!(
        objects(&scaled, 3000, &Profile::ndis_rsc()),
        [Reason::Options]
    );
    let options = [&crate::split_stack::TIMESTAMPS[..8], &[0; 4]].concat();
    let unechoed = [
        v4(1),
        Layer::Tcp(Tcp {
            seq: 1,
            flags: ACK,
            options,
        }),
    ];
    assert_eq!(objects(&unechoed, 3000, &Profile::freebsd_lro()), []);
    assert_eq!(
        objects(&unechoed, 3000, &Profile::linux_lro()),
        [Reason::NoTimestampEcho]
    );
}

/// A byte at each side of every limit.
#[test]
fn sizes_at_the_limit() {
    let bare_v4 = [v4(1), bare(ACK)];
    assert_eq!(objects(&bare_v4, 65_535 - 40, &LINUX), []);
    assert_eq!(objects(&bare_v4, 65_536 - 40, &LINUX), [Reason::SizeLimit]);
    assert_eq!(objects(&bare_v4, 65_280 - 40, &Profile::freebsd_lro()), []);
    assert_eq!(
        objects(&bare_v4, 65_281 - 40, &Profile::freebsd_lro()),
        [Reason::SizeLimit]
    );
    let bare_v6 = [v6(), bare(ACK)];
    let mut big = LINUX;
    big.limits.ip_len_big = 150_000;
    assert_eq!(objects(&bare_v6, 150_000 - 60, &big), []);
    assert_eq!(objects(&bare_v6, 150_001 - 60, &big), [Reason::SizeLimit]);
    assert_eq!(objects(&bare_v4, 150_000 - 60, &big), [Reason::SizeLimit]);
    // 20 segments of 1,000 bytes, and 21.
    assert_eq!(objects(&bare_v4, 20_000, &Profile::dpdk_gro()), []);
    assert_eq!(
        objects(&bare_v4, 20_001, &Profile::dpdk_gro()),
        [Reason::SegmentLimit]
    );
}

#[test]
fn bytes_behind_the_packet_and_missing_ones() {
    let mut padded = frame(&[v4(1), tcp(1, ACK)], 3000);
    padded.push(0);
    assert_eq!(
        could_have_built(&padded, None, &LINUX).objections,
        [Reason::Length]
    );
    padded.truncate(padded.len() - 2);
    assert_eq!(
        could_have_built(&padded, None, &LINUX).objections,
        [Reason::Length]
    );
}

/// Without a size only its range is known: 64 datagrams at most, and more than one.
#[test]
fn the_sizes_that_are_possible() {
    let datagrams = frame(&[v4(1), Layer::Udp { checksum: true }], 6401);
    let verdict = could_have_built(&datagrams, None, &Profile::linux_gro_udp());
    assert_eq!(
        verdict.segment_sizes,
        Some(SegmentSizes {
            min: 101,
            max: 6400
        })
    );
    assert_eq!(verdict.losses, [Loss::SegmentSizeUnknown]);
    assert!(verdict.could_have_built() && !verdict.can_be_split());
    let verdict = could_have_built(&datagrams, Some(100), &Profile::linux_gro_udp());
    assert_eq!(verdict.objections, [Reason::SegmentLimit]);
}

#[test]
fn what_fits_in_one_segment_is_nobodys_work() {
    for (len, size) in [(1000, Some(1000)), (1, None), (0, None), (0, Some(5))] {
        let single = frame(&[v4(1), tcp(1, ACK | SYN)], len);
        let verdict = could_have_built(&single, size, &LINUX);
        assert!(!verdict.merged && verdict.could_have_built() && verdict.can_be_split());
    }
}

#[test]
fn what_each_engine_forgets() {
    use Loss as L;
    let losses = |profile: Profile, layers: &[Layer]| {
        could_have_built(&frame(layers, 3000), Some(1000), &profile).losses
    };
    let plain = [v4(1), tcp(1, ACK | PSH)];
    assert_eq!(losses(Profile::linux_gro(), &plain), []);
    assert_eq!(losses(Profile::virtio_rsc(), &plain), []);
    let wireguard = losses(Profile::wireguard(), &plain);
    assert!(wireguard.contains(&L::ArrivalOrder) && wireguard.contains(&L::Windows));
    assert!(wireguard.contains(&L::Identifications));
    let freebsd = losses(Profile::freebsd_lro(), &plain);
    for loss in [
        L::SegmentSizes,
        L::Acknowledgments,
        L::Windows,
        L::Timestamps,
        L::PureAcks,
    ] {
        assert!(freebsd.contains(&loss), "{loss}");
    }
    assert!(freebsd.contains(&L::FlagPlace) && freebsd.contains(&L::HopLimits));
    // What is not there cannot be lost.
    let other = losses(Profile::freebsd_lro(), &[v6(), bare(ACK)]);
    for loss in [
        L::Timestamps,
        L::FlagPlace,
        L::Identifications,
        L::DontFragment,
    ] {
        assert!(!other.contains(&loss), "{loss}");
    }
    assert!(losses(Profile::linux_lro(), &plain).contains(&L::Flags));
    // DPDK looks at identifications where DF is clear (RFC 6864).
    let fragmentable = Layer::Ipv4 {
        id: 1,
        dont_fragment: false,
        options: 0,
    };
    assert!(losses(Profile::dpdk_gro(), &plain).contains(&L::Identifications));
    let kept = losses(Profile::dpdk_gro(), &[fragmentable, tcp(1, ACK)]);
    assert!(!kept.contains(&L::Identifications));
}

#[test]
fn a_profile_is_reversible_if_it_forgets_nothing() {
    for profile in profiles() {
        let layers = [v4(1), tcp(1, ACK | PSH)];
        let verdict = could_have_built(&frame(&layers, 3000), Some(1000), &profile);
        assert_eq!(
            verdict.can_be_split(),
            profile.reversible,
            "{}",
            profile.name
        );
    }
}

#[test]
fn a_size_that_cannot_be_is_no_way_to_split() {
    let big = frame(&[v6(), bare(ACK)], 140_000);
    let mut profile = LINUX;
    profile.limits.ip_len_big = 200_000;
    let verdict = could_have_built(&big, Some(65_535), &profile);
    assert_eq!(
        verdict.losses,
        [Loss::Split(SplitError::SegmentTooLong { len: 65_555 })]
    );
}

/// Merges frames, and gives each that came out with what is known of it.
fn merge(profile: &Profile, frames: &[Vec<u8>]) -> Vec<(Vec<u8>, Option<Gso>)> {
    let mut coalescer = CopyingCoalescer::new(profile, Settings::default());
    let mut out = Vec::new();
    let mut take = OutgoingBytes::each(|it| out.push((it.bytes.to_vec(), it.about.gso)));
    for frame in frames {
        coalescer.push(frame, 0, &mut take);
    }
    coalescer.flush(&mut take);
    out
}

/// Without a device that listens, Linux merges VXLAN as it would any datagrams, and so they are cut:
/// whether the tunnel may have been entered is said, or told by the lengths.
#[test]
fn datagrams_that_look_like_a_tunnel() {
    let mut profile = Profile::linux_gro_udp();
    profile.tunnels.vxlan = false;
    let vxlan = Layer::Vxlan { checksum: true };
    let inner = [tcp(1, ACK), Layer::Udp { checksum: true }];
    for inner in inner {
        let stack = [
            Layer::Ethernet,
            v4(1),
            vxlan.clone(),
            Layer::Ethernet,
            v4(2),
            inner,
        ];
        let frames = series(&stack, &[(300, 0); 4], 1);
        let merged = merge(&profile, &frames);
        let [(bytes, Some(gso))] = &merged[..] else {
            panic!("not merged: {stack:?}");
        };
        assert_eq!(
            could_have_built(bytes, Some(gso.segment_size), &profile).losses,
            []
        );
        for tunnels in [UdpTunnels::ALL, profile.tunnels.in_udp()] {
            let settings = SplitSettings {
                tunnels,
                ..SplitSettings::default()
            };
            assert_eq!(cut(bytes, *gso, settings), frames);
        }
    }
}

fn cut(merged: &[u8], gso: Gso, settings: SplitSettings) -> Vec<Vec<u8>> {
    let mut splitter = Splitter::new(merged, gso, settings).expect("a frame that can be cut");
    let mut frames = Vec::new();
    while let Some(segment) = splitter.next_segment() {
        let mut frame = Vec::new();
        segment.copy_to(&mut frame);
        frames.push(frame);
    }
    frames
}

fn any_stack() -> impl Strategy<Value = Vec<Layer>> {
    proptest::sample::select(stacks())
}

/// What Linux merges, and other engines a part of.
fn stacks() -> Vec<Vec<Layer>> {
    let v4 = || Layer::Ipv4 {
        id: 0xfffe,
        dont_fragment: true,
        options: 0,
    };
    let options = |options: &[u8]| {
        Layer::Tcp(Tcp {
            seq: 0xffff_f000,
            flags: ACK,
            options: options.to_vec(),
        })
    };
    let stamped = options(&crate::split_stack::TIMESTAMPS);
    vec![
        vec![Layer::Ethernet, v4(), stamped.clone()],
        vec![Layer::Ethernet, v6(), stamped.clone()],
        vec![Layer::Ethernet, v4(), options(&[])],
        vec![
            Layer::Ethernet,
            v4(),
            options(&[5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1]),
        ],
        vec![Layer::Ethernet, Layer::Vlan(7), v6(), stamped.clone()],
        vec![Layer::Ethernet, v4(), v6(), stamped.clone()],
        vec![
            Layer::Ethernet,
            v4(),
            Layer::Gre {
                key: Some(1),
                checksum: false,
            },
            v4(),
            stamped.clone(),
        ],
        vec![
            Layer::Ethernet,
            v6(),
            Layer::Vxlan { checksum: true },
            Layer::Ethernet,
            v4(),
            stamped,
        ],
        vec![Layer::Ethernet, v4(), Layer::Udp { checksum: true }],
        vec![Layer::Ethernet, v6(), Layer::Udp { checksum: true }],
    ]
}

/// So that the property below is about merged frames.
#[test]
fn linux_merges_every_stack() {
    for stack in stacks() {
        let frames = series(&stack, &[(300, 0); 4], 1);
        let merged = merge(&Profile::linux_gro_udp(), &frames);
        assert_eq!(merged.len(), 1, "{stack:?}");
        assert_eq!(merged[0].1.unwrap().segments, 4);
    }
}

/// Segments of one size and a last one, some with flags, in order, identifications counting on or
/// standing still.
fn series(stack: &[Layer], lens: &[(usize, u16)], id_step: u16) -> Vec<Vec<u8>> {
    let mut offset = 0;
    let mut frames = Vec::new();
    for (index, &(len, flags)) in lens.iter().enumerate() {
        let mut layers = stack.to_vec();
        if let Some(Layer::Tcp(tcp)) = layers.last_mut() {
            tcp.flags |= flags;
        }
        let ids = [index as u16 * id_step; 2];
        let payload: Vec<u8> = (0..len).map(|i| (offset as usize + i) as u8).collect();
        frames.push(build(
            &layers,
            &payload,
            Step {
                ids,
                offset,
                ..Step::default()
            },
        ));
        offset += len as u32;
    }
    frames
}

fn any_flags() -> impl Strategy<Value = u16> {
    prop_oneof![8 => Just(0), 1 => Just(PSH), 1 => Just(FIN), 1 => Just(CWR)]
}

fn any_len() -> impl Strategy<Value = usize> {
    prop_oneof![6 => Just(300), 1 => 1..300_usize]
}

proptest! {
    /// No engine's work is denied, and what a reversible one merged comes apart into what it was
    /// given.
    #[test]
    fn engines_could_have_built_what_they_built(
        stack in any_stack(),
        lens in vec((any_len(), any_flags()), 1..12),
        id_step in 0..2_u16,
    ) {
        let frames = series(&stack, &lens, id_step);
        for profile in profiles() {
            let mut again = Vec::new();
            for (bytes, gso) in merge(&profile, &frames) {
                let Some(gso) = gso else {
                    again.push(bytes);
                    continue;
                };
                for size in [None, Some(gso.segment_size)] {
                    let verdict = could_have_built(&bytes, size, &profile);
                    prop_assert_eq!(&verdict.objections, &[], "{} {:?}", profile.name, size);
                    let sizes = verdict.segment_sizes.unwrap();
                    prop_assert!((sizes.min..=sizes.max).contains(&gso.segment_size));
                }
                again.extend(cut(&bytes, gso, SplitSettings::default()));
            }
            if profile.reversible {
                prop_assert_eq!(&again, &frames, "{}", profile.name);
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..200), size: Option<u16>) {
        for profile in profiles() {
            let _ = could_have_built(&bytes, size, &profile);
        }
    }

    #[test]
    fn no_change_makes_it_panic(
        stack in any_stack(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        cut in any::<prop::sample::Index>(),
        size: Option<u16>,
    ) {
        let mut bytes = build(&stack, &[7; 900], Step::default());
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 3);
        for profile in profiles() {
            let _ = could_have_built(&bytes, size, &profile);
        }
    }
}
