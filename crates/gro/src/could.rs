//! Whether a merged frame can come from an engine, and can be cut again without loss.
//!
//! # What one frame can tell
//!
//! A merged frame holds one set of headers. So it shows
//! - whether an engine enters such headers at all: link, tags, tunnels, options, fragments;
//! - flags that no merged frame of the engine has, since they are never held, or never join;
//! - whether it is longer, or has more segments, than the engine merges;
//! - which sizes its segments can have had, where the engine merges equal ones.
//!
//! These are the [`Verdict::objections`]: with one of them the engine did not build the frame.
//! Without any it could have, which is not to say that it did: two engines may build the same.
//!
//! What one frame cannot tell, whatever the engine, is what its segments differed in: their
//! acknowledgment numbers, windows, timestamps, TTLs, identifications, sizes and times, and
//! whether their checksums were right. Nor is the stored transport checksum looked at: in a merged
//! frame it may be complete, the pseudo-header's sum, or left from the first segment. But the
//! engine's rules say which of these it compares and which it passes over. Those it passes over
//! are the [`Verdict::losses`]: what the segments **may** have differed in, and what no splitter
//! can restore. A frame without what a rule speaks of loses nothing by it: no timestamps without
//! the option, no identifications in IPv6.
//!
//! How identifications run is known to the engine that merged, and not to be read from the frame:
//! take it from [`Gso`](crate::Gso).
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

/// What is known of a merged frame, an engine given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the frame has more payload than one segment. If not, it is nothing that an engine
    /// built: any hands it on as it came, and there is nothing to object to or to lose. A frame
    /// whose headers the engine does not enter counts as merged.
    pub merged: bool,
    /// Rules by which the engine cannot have built it. Of the rules that keep a frame from being
    /// held at all, the first.
    pub objections: Vec<Reason>,
    /// What cannot be restored by cutting it.
    pub losses: Vec<Loss>,
    /// Which sizes its segments can have had, as far as the frame says; the given one, if one was
    /// given. `None` where there is no such size, or the headers cannot be read.
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
    /// Whether nothing speaks against the engine's having built it.
    #[must_use]
    pub fn could_have_built(&self) -> bool {
        self.objections.is_empty()
    }

    /// Whether a splitter restores the very segments it was made of, if the engine built it.
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

/// As [`could_have_built`], for a frame of any link type.
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

    /// A frame that no engine with these rules holds.
    fn unreadable(objection: Reason) -> Self {
        Self {
            merged: true,
            objections: Vec::from([objection]),
            losses: Vec::new(),
            segment_sizes: None,
        }
    }
}
