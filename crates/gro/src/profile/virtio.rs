//! virtio-net.

use super::{Limits, Padding, Profile, TUNNELS_NONE};

impl Profile {
    /// Frames as a virtio-net device with guest TSO passes them to a guest. The specification has no rules of merging,
    /// only of delivery: one type per frame, `gso_size` the segment size, checksums verified. These are the rules of
    /// Linux GRO, which runs behind most such devices, without tunnels, and within 16 bits of length.
    #[must_use]
    pub const fn virtio_rsc() -> Self {
        let mut profile = Self::linux_gro();
        profile.name = "virtio-rsc";
        profile.source = "OASIS virtio 1.3, 5.1.6.4: delivery; rules of merging as linux-gro";
        profile.link.vlans = false;
        profile.link.padding = Padding::Refuse;
        profile.tunnels = TUNNELS_NONE;
        profile.limits = Limits {
            ip_len: 65_535,
            ip_len_big: 65_535,
            segments: u16::MAX,
        };
        profile.table.budget = 0;
        profile
    }
}
