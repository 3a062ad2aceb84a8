//! Whether a merged frame can be split again into the frames that it was made of.

use coalescope_wire::LinkType;
use gro::split::{SegmentChecksum, SplitSettings, Splitter};
use gro::{About, Part, Profile};

use crate::token::Token;

/// Splits merged frames and compares.
#[derive(Debug, Default)]
pub(crate) struct Reverser {
    /// A merged frame's headers, and zeros: splitting does not depend on the payload.
    frame: Vec<u8>,
    settings: SplitSettings,
}

impl Reverser {
    /// Splits frames that a profile merges.
    pub(crate) fn new(profile: &Profile) -> Self {
        let settings = SplitSettings {
            tunnels: profile.tunnels.in_udp(),
            checksum: SegmentChecksum::PseudoHeader,
            ..SplitSettings::default()
        };
        Self {
            frame: Vec::new(),
            settings,
        }
    }

    /// Whether splitting restores exactly the frames, in the order in which they came.
    ///
    /// Checksums are not compared: they follow from the rest of a frame, and those of the segments were right, or
    /// assumed to be.
    pub(crate) fn restores(
        &mut self,
        link: LinkType,
        header: &[u8],
        parts: &[Part<Token>],
        about: &About,
    ) -> bool {
        let Some(gso) = about.gso else {
            return false;
        };
        let in_order = parts.is_sorted_by_key(|part| part.token.number);
        let settings = SplitSettings {
            link,
            ..self.settings
        };
        self.lay_out(header, parts);
        match Splitter::new(&self.frame, gso, settings) {
            Ok(splitter) if in_order => gives(splitter, parts, about),
            _ => false,
        }
    }

    fn lay_out(&mut self, header: &[u8], parts: &[Part<Token>]) {
        let payload: usize = parts.iter().map(|part| part.payload.len()).sum();
        self.frame.clear();
        self.frame.extend_from_slice(header);
        self.frame.resize(header.len() + payload, 0);
    }
}

fn gives(mut splitter: Splitter<'_>, parts: &[Part<Token>], about: &About) -> bool {
    let each = parts.iter().all(|part| {
        let start = part.payload.start as usize;
        let (Some(segment), Some(header)) =
            (splitter.next_segment(), part.token.bytes.get(..start))
        else {
            return false;
        };
        segment.payload.len() == part.payload.len() && is_alike(segment.header(), header, about)
    });
    each && splitter.next_segment().is_none()
}

/// Whether headers are equal except for the checksums of the innermost ones.
fn is_alike(a: &[u8], b: &[u8], about: &About) -> bool {
    let (ip, transport) = (usize::from(about.ip_at), usize::from(about.transport_at));
    let is_udp = about.gso.is_some_and(|gso| gso.kind == gro::GsoKind::Udp);
    let field = transport + if is_udp { 6 } else { 16 };
    let is_v4 = a.get(ip).is_some_and(|first| first >> 4 == 4);
    let left_out =
        |at: usize| (field..field + 2).contains(&at) || is_v4 && (ip + 10..ip + 12).contains(&at);
    let mut bytes = a.iter().zip(b).enumerate();
    a.len() == b.len() && bytes.all(|(at, (a, b))| a == b || left_out(at))
}
