//! Which of Linux's sysctls a host's settings are made of, read live or from saved output alike: `sysctl -a` prints 1,500,
//! and 300 more for each interface.

/// Folders below `/proc/sys` of which the files that begin so are read.
pub(crate) const FOLDERS: [(&str, &str); 5] = [
    ("net/core", ""),
    ("net/ipv4", "tcp_"),
    ("net/ipv4", "ip_"),
    ("net/ipv4", "udp_"),
    ("net/bridge", ""),
];
/// Settings of each interface, and of `all` and `default`.
pub(crate) const CONFS: [(&str, &str); 2] = [
    ("net/ipv4/conf", "forwarding"),
    ("net/ipv6/conf", "forwarding"),
];
/// Longest value that is a setting: some sysctls are bit maps of thousands of bytes.
pub(crate) const LONGEST: usize = 512;

/// Whether a key, dotted as sysctl(8) prints it, is among them. Keys of encryption are nobody's business.
pub(crate) fn is_kept(key: &str) -> bool {
    !is_secret(key) && (is_of_folder(key) || is_of_interface(key))
}

/// Whether it is the name, or the path, of a secret (`tcp_fastopen_key`).
pub(crate) fn is_secret(name: &str) -> bool {
    name.ends_with("_key")
}

fn is_of_folder(key: &str) -> bool {
    FOLDERS.iter().any(|(folder, start)| {
        let file = below(key, folder);
        file.is_some_and(|file| file.starts_with(start) && !file.contains('.'))
    })
}

/// `net.ipv4.conf.eth0.forwarding`; a dot of the name is a slash.
fn is_of_interface(key: &str) -> bool {
    CONFS.iter().any(|(folder, setting)| {
        let parts = below(key, folder).and_then(|rest| rest.rsplit_once('.'));
        parts.is_some_and(|(_, file)| file == *setting)
    })
}

/// What stands behind a folder and a dot.
fn below<'a>(key: &'a str, folder: &str) -> Option<&'a str> {
    let (head, rest) = (key.get(..folder.len())?, key.get(folder.len()..)?);
    let is_same = |(a, b): (u8, u8)| a == b || (a, b) == (b'.', b'/');
    let is_in = head.bytes().zip(folder.bytes()).all(is_same);
    rest.strip_prefix('.').filter(|_| is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_hosts_and_interfaces_are_kept() {
        for key in [
            "net.core.rmem_max",
            "net.ipv4.tcp_rmem",
            "net.ipv4.ip_forward",
            "net.bridge.bridge-nf-call-iptables",
            "net.ipv4.conf.all.forwarding",
            "net.ipv6.conf.eth0/5.forwarding",
            "net.ipv4.conf.eth0.5.forwarding",
        ] {
            assert!(is_kept(key), "{key}");
        }
        for key in [
            "net.ipv4.tcp_fastopen_key",
            "net.ipv4.conf.eth0.arp_filter",
            "net.ipv4.conf.forwarding",
            "net.ipv4.neigh.eth0.gc_stale_time",
            "net.ipv6.conf.all.mtu",
            "net.coreless",
            "net.ipv4",
            "",
        ] {
            assert!(!is_kept(key), "{key}");
        }
    }
}
