//! What the segments of a merged frame may have differed in.

use alloc::vec::Vec;
use core::fmt;

use coalescope_wire::{Flags, HeaderKind};

use super::rules::View;
use crate::gso::{Gso, GsoKind, IdRun};
use crate::profile::{
    Field, IpId, Ipv4Rules, Ipv6Rules, Options, Order, Profile, PureAck, SegmentSize, TcpRules,
};
use crate::split::{SplitError, SplitSettings, Splitter};

/// What splitting a merged frame does not restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// The size of the segments was not recorded.
    SegmentSizeUnknown,
    /// Segments of any size are merged, and their sizes are not recorded.
    SegmentSizes,
    /// The order in which segments came: the engine also puts segments in front.
    ArrivalOrder,
    /// Acknowledgment numbers of all but one segment.
    Acknowledgments,
    /// Windows of all but one segment.
    Windows,
    /// Timestamps of all but one segment.
    Timestamps,
    /// Acknowledgments without payload that were taken in.
    PureAcks,
    /// Flags of later segments that the merged frame did not get, or reserved bits.
    Flags,
    /// Which segment had a flag that the merged frame has.
    FlagPlace,
    /// TTLs or hop limits of all but one segment.
    HopLimits,
    /// DSCPs of all but the first segment.
    Dscp,
    /// ECN fields of all but the first segment.
    Ecn,
    /// Don't Fragment of all but the first segment.
    DontFragment,
    /// Flow labels of all but the first segment.
    FlowLabels,
    /// IPv4 identifications of all but the first segment.
    Identifications,
    /// MAC addresses of all but the first segment.
    LinkAddresses,
    /// The frame cannot be split at all.
    Split(SplitError),
}

impl Loss {
    /// The name of what is lost.
    const fn name(self) -> &'static str {
        match self {
            Self::SegmentSizeUnknown => "the segment size, which was not given",
            Self::SegmentSizes => "the size of each segment",
            Self::ArrivalOrder => "the order in which segments came",
            Self::Acknowledgments => "acknowledgment numbers of all but one segment",
            Self::Windows => "windows of all but one segment",
            Self::Timestamps => "timestamps of all but one segment",
            Self::PureAcks => "acknowledgments without payload",
            Self::Flags => "flags of later segments",
            Self::FlagPlace => "which segment had PSH or FIN",
            Self::HopLimits => "TTLs of all but one segment",
            Self::Dscp => "DSCPs of all but the first segment",
            Self::Ecn => "ECN fields of all but the first segment",
            Self::DontFragment => "Don't Fragment of all but the first segment",
            Self::FlowLabels => "flow labels of all but the first segment",
            Self::Identifications => "IPv4 identifications of all but the first segment",
            Self::LinkAddresses => "MAC addresses of all but the first segment",
            Self::Split(_) => "everything, since it cannot be split",
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Split(error) => write!(f, ": {error}"),
            _ => Ok(()),
        }
    }
}

/// Losses as they are found, each once.
#[derive(Default)]
struct Losses(Vec<Loss>);

impl Losses {
    fn add(&mut self, lost: bool, loss: Loss) {
        if lost && !self.0.contains(&loss) {
            self.0.push(loss);
        }
    }

    /// A field that is not compared keeps one segment's value.
    fn field(&mut self, rule: Field, loss: Loss) {
        self.add(!matches!(rule, Field::Flow | Field::Equal), loss);
    }
}

/// All that splitting the frame loses, if the engine built it.
pub(super) fn find(view: &View<'_>, profile: &Profile, segment_size: Option<u16>) -> Vec<Loss> {
    let mut losses = Losses::default();
    sizes(&mut losses, view, profile, segment_size);
    let has_ethernet = has(view, HeaderKind::Ethernet);
    losses.add(
        has_ethernet && !matches!(profile.link.addresses, Field::Flow | Field::Equal),
        Loss::LinkAddresses,
    );
    if let Some(rules) = &profile.ipv4 {
        ipv4(&mut losses, view, rules);
    }
    if let (Some(rules), true) = (&profile.ipv6, has(view, HeaderKind::Ipv6)) {
        ipv6(&mut losses, rules);
    }
    if view.tcp().is_some() {
        tcp(&mut losses, view, &profile.tcp);
    }
    losses.0
}

fn has(view: &View<'_>, kind: HeaderKind) -> bool {
    let headers = view.headers.as_slice();
    headers.iter().any(|header| header.kind == kind)
}

fn sizes(losses: &mut Losses, view: &View<'_>, profile: &Profile, segment_size: Option<u16>) {
    // UDP datagrams merge only in one size, in every engine.
    let any = view.tcp().is_some() && profile.tcp.segment_size == SegmentSize::Any;
    losses.add(any, Loss::SegmentSizes);
    match segment_size {
        Some(size) => {
            if let Err(error) = try_split(view, size) {
                losses.add(true, Loss::Split(error));
            }
        }
        None => losses.add(!any, Loss::SegmentSizeUnknown),
    }
}

fn try_split(view: &View<'_>, segment_size: u16) -> Result<(), SplitError> {
    let gso = Gso {
        kind: match (view.tcp(), view.packet.ip.version) {
            (None, _) => GsoKind::Udp,
            (Some(_), 4) => GsoKind::TcpV4,
            (Some(_), _) => GsoKind::TcpV6,
        },
        segment_size,
        segments: 0,
        outer_id: IdRun::Increasing,
        id: IdRun::Increasing,
        accurate_ecn: false,
    };
    let settings = SplitSettings {
        link: view.link,
        tunnels: view.tunnels,
        ..SplitSettings::default()
    };
    Splitter::new(view.frame, gso, settings).map(|_| ())
}

/// Losses of every IPv4 header: the engine compares a tunnel's by the same rules.
fn ipv4(losses: &mut Losses, view: &View<'_>, rules: &Ipv4Rules) {
    let headers = view.headers.as_slice().iter();
    for header in headers.filter(|header| header.kind == HeaderKind::Ipv4) {
        let at = usize::from(header.offset);
        losses.field(rules.ttl, Loss::HopLimits);
        losses.field(rules.dscp, Loss::Dscp);
        losses.field(rules.ecn, Loss::Ecn);
        losses.field(rules.dont_fragment, Loss::DontFragment);
        let outer = view.is_tunneled() && at < view.packet.ip.offset;
        let df = view.frame.get(at + 6).is_some_and(|byte| byte & 0x40 != 0);
        losses.add(forgets_id(rules.id, df, outer), Loss::Identifications);
    }
}

/// Whether identifications are not compared.
fn forgets_id(rule: IpId, df: bool, outer: bool) -> bool {
    match rule {
        IpId::Ignored => true,
        IpId::IncreasingWithoutDf => df,
        IpId::IncreasingOrFixedWithDf => df && outer,
        IpId::IncreasingOrFixed | IpId::IncreasingWithDf => false,
    }
}

fn ipv6(losses: &mut Losses, rules: &Ipv6Rules) {
    losses.field(rules.hop_limit, Loss::HopLimits);
    losses.field(rules.dscp, Loss::Dscp);
    losses.field(rules.ecn, Loss::Ecn);
    losses.field(rules.flow_label, Loss::FlowLabels);
}

fn tcp(losses: &mut Losses, view: &View<'_>, rules: &TcpRules) {
    losses.add(rules.order == Order::Beside, Loss::ArrivalOrder);
    losses.field(rules.ack, Loss::Acknowledgments);
    losses.field(rules.window, Loss::Windows);
    losses.field(rules.reserved, Loss::Flags);
    let stamped = rules.options != Options::Equal && view.has_timestamps_alone();
    losses.add(stamped, Loss::Timestamps);
    losses.add(rules.pure_ack != PureAck::Pass, Loss::PureAcks);
    // Flags with which a segment may join.
    let free = Flags::ALL & !(rules.equal | rules.never_join | rules.required);
    losses.add(free & !rules.carried != 0, Loss::Flags);
    // A flag that ends a merge was the last segment's, where splitting puts it.
    let anywhere = free & rules.carried & !rules.closing;
    losses.add(view.flags_set(anywhere), Loss::FlagPlace);
}
