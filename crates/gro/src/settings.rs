//! Settings of the caller, beside the profile.

use coalescope_wire::LinkType;

/// What is known of the checksums of incoming frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// TCP and UDP checksums are verified, where the profile requires them to be right.
    #[default]
    Verify,
    /// They are verified when two frames are about to merge, as in wireguard-go: the payload of a frame that merges
    /// with none is never read. A [`crate::Coalescer`], which does not keep frames, treats this like `Verify`.
    WhenMerging,
    /// The caller vouches for them, as a network card's receive checksum offload does.
    Trusted,
}

/// What the transport checksum of a merged frame is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// The pseudo-header's sum, for a device or a kernel to complete (`CHECKSUM_PARTIAL`,
    /// virtio's `NEEDS_CSUM`).
    #[default]
    Partial,
    /// Complete. It is computed from the segments' checksums, so that a segment which was damaged on its way leaves the
    /// merged frame's checksum wrong too.
    Complete,
}

/// Settings of a [`crate::Coalescer`] beside its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What frames start with: Ethernet, or IP for a TUN device ([`LinkType::Raw`]).
    pub link: LinkType,
    /// What is known of incoming checksums.
    pub verification: Verification,
    /// What outgoing checksums are.
    pub checksums: Checksums,
    /// Start value of the flow hash. A random number keeps senders from choosing addresses that collide.
    pub seed: u64,
    /// Whether frames without a receive hash share one bucket, as those of TAP, veth and AF_PACKET
    /// do in Linux; otherwise the flow's hash chooses the bucket, as a network card's does.
    pub one_bucket: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            link: LinkType::Ethernet,
            verification: Verification::Verify,
            checksums: Checksums::Partial,
            seed: 0,
            one_bucket: false,
        }
    }
}
