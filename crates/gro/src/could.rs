//! Whether a merged frame can come from an engine, and can be cut again without loss.
//!
//! # What one frame can show
//!
//! A merged frame holds one set of headers. So it shows
//! - whether an engine enters such headers at all: link, tags, tunnels, options, fragments;
//! - flags that no merged frame of the engine has, since they are never held, or never join;
//! - whether it is longer, or has more segments, than the engine merges;
//! - which sizes its segments can have had, where the engine merges equal ones.
//!
//! These are the [`Verdict::objections`]: with one of them the engine did not build the frame. Without any the engine
//! could have built it, which does not prove that it did: two engines may build the same frame.
//!
//! What one frame cannot show, whatever the engine, is what its segments differed in: their acknowledgment numbers,
//! windows, timestamps, TTLs, identifications, sizes and times, and whether their checksums were right. The stored
//! transport checksum is not looked at either: in a merged frame it may be complete, the pseudo-header's sum, or left
//! from the first segment. But the engine's rules define which of these fields it compares. The fields that it does not
//! compare are the [`Verdict::losses`]: the segments **may** have differed in them, and no splitter can restore them. A
//! frame that lacks the field of a rule loses nothing by that rule: no timestamps without the option, no
//! identifications in IPv6.
//!
//! How identifications run is known to the engine that merged, and cannot be read from the frame: take it from
//! [`Gso`](crate::Gso).
//!
//! ```
//! use gro::{Profile, could_have_built};
//!
//! # let frame: &[u8] = &[];
//! let verdict = could_have_built(frame, Some(1448), &Profile::linux_gro());
//! for reason in &verdict.objections {
//!     println!("not built by GRO: {reason} ({})", reason.source());
//! }
//! for loss in &verdict.losses {
//!     println!("splitting it loses {loss}");
//! }
//! ```

mod losses;
mod rules;

use alloc::vec::Vec;

use coalescope_wire::LinkType;

use crate::profile::Profile;
use crate::reason::Reason;
pub use losses::Loss;
use rules::View;

/// What is known of a merged frame, if a given engine built it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the frame has more payload than one segment. If not, no engine has merged it: each passes it as it came,
    /// and there is no objection and no loss. A frame whose headers the engine does not parse counts as merged.
    pub merged: bool,
    /// Rules by which the engine cannot have built the frame. Of the rules that keep a frame from being held at all,
    /// the first.
    pub objections: Vec<Reason>,
    /// What cannot be restored by splitting the frame.
    pub losses: Vec<Loss>,
    /// The sizes that its segments can have had, as far as the frame shows; the given size, if one was given. `None`
    /// where there is no such size, or the headers cannot be read.
    pub segment_sizes: Option<SegmentSizes>,
}

/// Payload bytes of a segment: of all but the last where the engine merges equal ones, else of the
/// largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentSizes {
    /// At least as many: with fewer bytes there would be more segments than the engine merges.
    pub min: u16,
    /// At most as many: with more there would be only one.
    pub max: u16,
}

impl Verdict {
    /// Whether the engine can have built the frame.
    #[must_use]
    pub fn could_have_built(&self) -> bool {
        self.objections.is_empty()
    }

    /// Whether a splitter restores exactly the segments, if the engine built the frame.
    #[must_use]
    pub fn can_be_split(&self) -> bool {
        self.losses.is_empty()
    }
}

/// Judges a merged Ethernet frame by the rules of an engine.
///
/// `segment_size` is what is known of the segments' size in bytes (`gso_size`); `None` or 0 if
/// nothing is.
#[must_use]
pub fn could_have_built(frame: &[u8], segment_size: Option<u16>, profile: &Profile) -> Verdict {
    could_have_built_on(LinkType::Ethernet, frame, segment_size, profile)
}

/// Like [`could_have_built`], for a frame of any link type.
#[must_use]
pub fn could_have_built_on(
    link: LinkType,
    frame: &[u8],
    segment_size: Option<u16>,
    profile: &Profile,
) -> Verdict {
    let segment_size = segment_size.filter(|&size| size > 0);
    match View::new(link, frame, profile) {
        Ok(view) if view.is_single(profile, segment_size) => Verdict::default(),
        Ok(view) => Verdict::of_merged(&view, segment_size, profile),
        Err(objection) => Verdict::unreadable(objection),
    }
}

impl Verdict {
    fn of_merged(view: &View<'_>, segment_size: Option<u16>, profile: &Profile) -> Self {
        let given = segment_size.map(|size| SegmentSizes {
            min: size,
            max: size,
        });
        Self {
            merged: true,
            objections: view.objections(profile, segment_size),
            losses: losses::find(view, profile, segment_size),
            segment_sizes: given.or_else(|| view.segment_sizes(profile)),
        }
    }

    /// The verdict on a frame that no engine with these rules holds.
    fn unreadable(objection: Reason) -> Self {
        Self {
            merged: true,
            objections: Vec::from([objection]),
            losses: Vec::new(),
            segment_sizes: None,
        }
    }
}
