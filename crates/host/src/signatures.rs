//! Lines of a kernel's log that rules know.

/// Words of the kernels that identify a line; they have been the same for years.
const SIGNATURES: [&str; 11] = [
    "dev_disable_lro",
    "skb_warn_bad_offload",
    // How that function names the frame: `eth0: caps=(0x..., 0x...)`.
    "caps=(0x",
    // "failed to disable LRO!", "XDP: not support LRO"
    "LRO",
    "suspect GRO implementation",
    "Detected Hardware Unit Hang",
    "skb rides the rocket",
    "NETDEV WATCHDOG",
    "generic_netmap_",
    "netmap queues",
    // FreeBSD, netmap
    "drop mbuf that needs",
];

/// Lines that are kept.
pub(crate) const KEPT: usize = 100;

/// Whether rules know a line.
pub(crate) fn is_known(line: &str) -> bool {
    SIGNATURES.iter().any(|known| line.contains(known))
}
