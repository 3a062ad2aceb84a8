//! What the caller decides, beside the profile.

use coalescope_wire::LinkType;

/// What is known of the checksums of incoming frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verification {
    /// TCP and UDP checksums are looked at, where the profile requires them to be right.
    #[default]
    Verify,
    /// They are looked at when two frames are about to merge, as wireguard-go does: a frame that
    /// merges with none goes on without anybody having read its payload. For a
    /// [`crate::Coalescer`], which does not keep frames, it is the same as `Verify`.
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
    /// Complete. It is made of the segments' checksums, so that a segment which was damaged since
    /// it was sent leaves the merged frame damaged too.
    Complete,
}

/// What a [`crate::Coalescer`] is told beside its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What frames start with: Ethernet, or IP for a TUN device ([`LinkType::Raw`]).
    pub link: LinkType,
    /// What is known of incoming checksums.
    pub verification: Verification,
    /// What outgoing checksums are.
    pub checksums: Checksums,
    /// What the hash of flows starts from. A random number keeps senders from choosing
    /// addresses that collide.
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
