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
pub(crate) const CONFS: [(&str, &str); 3] = [
    ("net/ipv4/conf", "forwarding"),
    ("net/ipv6/conf", "forwarding"),
    ("net/ipv6/conf", "force_forwarding"),
];
/// Longest value that is a setting: some sysctls are bit maps of thousands of bytes.
pub(crate) const LONGEST: usize = 512;

/// Whether a key, dotted as sysctl(8) prints it, is among them. Keys of encryption are nobody's business.
pub(crate) fn is_kept(key: &str) -> bool {
    let path = key.replace('.', "/");
    !is_secret(key) && (is_of_folder(&path) || is_of_interface(&path))
}

/// Whether it is the name, or the path, of a secret (`tcp_fastopen_key`).
pub(crate) fn is_secret(name: &str) -> bool {
    name.ends_with("_key")
}

/// Whether a key is one that roles hang on, and whose value is a number: what stands for it and is none is a prompt, or what somebody
/// wrote below the answer.
pub(crate) fn is_number(key: &str) -> bool {
    let path = key.replace('.', "/");
    key == "net.ipv4.ip_forward" || key.starts_with("net.bridge.") || is_of_interface(&path)
}

fn is_of_folder(path: &str) -> bool {
    FOLDERS.iter().any(|(folder, start)| {
        let file = below(path, folder);
        file.is_some_and(|file| file.starts_with(start) && !file.contains('/'))
    })
}

/// `net/ipv4/conf/eth0/forwarding`
fn is_of_interface(path: &str) -> bool {
    CONFS.iter().any(|(folder, setting)| {
        let parts = below(path, folder).and_then(|rest| rest.rsplit_once('/'));
        parts.is_some_and(|(_, file)| file == *setting)
    })
}

fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
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
