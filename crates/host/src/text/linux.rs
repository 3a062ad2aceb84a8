//! Saved output of Linux: what its tools print, and files of /proc.
//!
//! Readers take whole lines only, and note what they do not understand ([`out`]).

mod bonding;
mod collected;
mod counters;
pub(crate) mod ethtool;
pub(crate) mod files;
pub(crate) mod filters;
mod identity;
mod ifconfig;
mod ip;
mod ipvs;
mod json;
mod kernel;
mod managers;
mod merge;
mod nat;
pub(crate) mod net_files;
mod netstat;
mod netstat_words;
mod out;
mod ovs;
mod passages;
mod sockets;
mod sysctl;
mod team;
#[cfg(test)]
mod tests;
mod virsh;
mod xfrm;

use super::Reader;

/// Readers of this platform, the most particular first.
pub(super) const READERS: &[Reader] = &[
    ethtool::FEATURES,
    ethtool::FEATURES_JSON,
    ethtool::COALESCING,
    ethtool::COALESCING_JSON,
    ethtool::RINGS,
    ethtool::RINGS_JSON,
    ethtool::CHANNELS,
    ethtool::CHANNELS_JSON,
    ethtool::DRIVER,
    ethtool::STATISTICS,
    ethtool::HASHING,
    ethtool::SETTINGS,
    ip::PORTS,
    ip::PORTS_JSON,
    ip::LINKS,
    ip::LINKS_JSON,
    ip::BRIEF,
    ip::ROUTES,
    ip::ROUTES_JSON,
    ip::ROUTES_OLD,
    ifconfig::IFCONFIG,
    bonding::BONDING,
    bonding::BRCTL,
    virsh::LIST,
    virsh::XML,
    team::STATE,
    team::PORTS,
    sockets::SS,
    sysctl::ALL,
    sysctl::CONF,
    sysctl::FILE,
    sysctl::GREPPED,
    counters::NSTAT,
    counters::JSON,
    counters::SNMP,
    counters::SNMP6,
    netstat::NETSTAT,
    net_files::SOFTNET,
    net_files::DEV,
    net_files::VLAN,
    net_files::PACKET,
    ipvs::IPVS,
    ipvs::SAVED,
    xfrm::POLICY,
    nat::NFT,
    nat::SAVE,
    nat::LIST,
    nat::RULES,
    filters::TC,
    filters::QUEUES,
    ovs::SHOW,
    ovs::DATAPATHS,
    collected::SYS,
    collected::SYS_FILE,
    collected::TUNS,
    managers::NETWORKCTL_STATUS,
    managers::NETWORKCTL,
    managers::NMCLI_SHOW,
    managers::NMCLI,
    kernel::LOG,
    kernel::LSMOD,
    kernel::MODULES,
    identity::VERSION,
    identity::UNAME,
    identity::RELEASE,
    identity::OS_RELEASE,
    identity::REDHAT_RELEASE,
    identity::HOSTNAMECTL,
    identity::HOSTNAME,
    identity::VIRT,
];
