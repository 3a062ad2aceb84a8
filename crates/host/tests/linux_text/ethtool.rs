//! ethtool.

use super::{Sample, named, plain};

pub(super) const SAMPLES: &[Sample] = &[
    plain("ethtool_k_old", K_OLD),
    plain("ethtool_k_new", K_NEW),
    plain("ethtool_k_two_hosts", K_TWICE),
    plain(
        "ethtool_k_cut",
        "Features for eth0:\nrx-checksumming: on\nlarge-receive-offload: o",
    ),
    plain("ethtool_k_json", K_JSON),
    named(
        "ethtool_k_grep",
        "ethtool -k eth0 | grep offload",
        "tcp-segmentation-offload: on\nlarge-receive-offload: off [fixed]\n",
    ),
    named("ethtool_i", "ethtool -i eth0", I),
    named(
        "ethtool_i_sosreport",
        "sos_commands/networking/ethtool_-i_my_bond0",
        I_BOND,
    ),
    plain("ethtool_i_unnamed", I),
    named("ethtool_s", "/usr/sbin/ethtool -S eth0", S),
    plain("ethtool_c", C),
    plain("ethtool_c_json", C_JSON),
    plain("ethtool_g", G),
    plain("ethtool_g_json", G_JSON),
    plain("ethtool_l", L),
    plain("ethtool_l_json", L_JSON),
    plain("ethtool", SETTINGS),
    named("ethtool_n_hash", "ethtool -n eth0 rx-flow-hash udp4", HASH),
    named(
        "ethtool_n_hash_none",
        "ethtool -n eth0 rx-flow-hash udp4",
        HASH_NONE,
    ),
];

const K_OLD: &str = "\
Offload parameters for eth0:
Cannot get device udp large send offload settings: Operation not supported
rx-checksumming: on
tx-checksumming: on
scatter-gather: on
tcp segmentation offload: on
udp fragmentation offload: off
generic segmentation offload: on
generic-receive-offload: on
large receive offload: off
";

const K_NEW: &str = "\
Features for eth0:
rx-checksumming: on
tx-checksumming: on
\ttx-checksum-ipv4: off [fixed]
\ttx-checksum-ip-generic: on
scatter-gather: on
\ttx-scatter-gather: on
tcp-segmentation-offload: off
\ttx-tcp-segmentation: off [requested on]
\ttx-tcp6-segmentation: off [not requested]
generic-receive-offload: on [requested off]
large-receive-offload: off [fixed]
rx-gro-hw: maybe
Features for br0:
generic-receive-offload: on
large-receive-offload: off
";

const K_TWICE: &str = "\
Features for eth0:
generic-receive-offload: on
large-receive-offload: on
Features for eth0:
generic-receive-offload: off
large-receive-offload: on
";

const K_JSON: &str = r#"[ {
        "ifname": "eth0",
        "tx-checksumming": {
            "active": true,
            "fixed": null,
            "requested": null
        },
        "generic-receive-offload": {
            "active": true,
            "fixed": false,
            "requested": true
        },
        "rx-gro-hw": {
            "active": false,
            "fixed": true,
            "requested": false
        }
    },{
        "ifname": "eth1",
        "generic-receive-offload": {
            "active": false,
            "fixed": false,
            "requested": true
        }
    } ]
"#;

const I: &str = "\
driver: ixgbe
version: 6.1.0-25-amd64
firmware-version: 0x800007f6, 1.1824.0
expansion-rom-version: 
bus-info: 0000:3b:00.0
supports-statistics: yes
supports-priv-flags: yes
";

const I_BOND: &str = "\
driver: bonding
version: 3.7.1
firmware-version: 2
bus-info: 
supports-statistics: no
";

const S: &str = "\
NIC statistics:
     rx_packets: 100200
     rx_bytes: 18446744073709551615
     lro_aggregated: 77
     [0]: rx_ucast_packets: 12
     rx_queue_0_packets: none
";

const C: &str = "\
Coalesce parameters for eth0:
Adaptive RX: on  TX: off
stats-block-usecs: 0
rx-usecs: 50
rx-frames: n/a
tx-usecs: 125

CQE mode RX: n/a  TX: n/a
";

const C_JSON: &str = r#"[ {
        "ifname": "eth0",
        "adaptive-rx": true,
        "adaptive-tx": null,
        "rx-usecs": 50,
        "tx-usecs": 125
    } ]
"#;

const G: &str = "\
Ring parameters for eth0:
Pre-set maximums:
RX:\t\t\t4096
RX Mini:\t\tn/a
RX Jumbo:\t\tn/a
TX:\t\t\t4096
TX push buff len:\tn/a
Current hardware settings:
RX:\t\t\t512
RX Mini:\t\tn/a
TX:\t\t\t256
RX Buf Len:\t\t2048
TX Push:\t\toff
TCP data split:\ton
Ring parameters for eth1:
Pre-set maximums:
RX: 1024
Current hardware settings:
RX: many
";

const G_JSON: &str = r#"[ {
        "ifname": "eth0",
        "rx-max": 4096,
        "tx-max": 4096,
        "rx": 512,
        "tx": 256,
        "tcp-data-split": "off",
        "tx-push": true
    } ]
"#;

const L: &str = "\
Channel parameters for eth0:
Pre-set maximums:
RX:\t\tn/a
TX:\t\tn/a
Other:\t\t1
Combined:\t63
Current hardware settings:
RX:\t\t0
TX:\t\t0
Other:\t\t1
Combined:\t8
";

const L_JSON: &str = r#"[ {
        "ifname": "eth0",
        "other-max": 1,
        "combined-max": 63,
        "other": 1,
        "combined": 8
    } ]
"#;

const SETTINGS: &str = "\
Settings for eth0:
\tSupported ports: [ FIBRE ]
\tSupported link modes:   1000baseKX/Full
\t                        10000baseKR/Full
\tSpeed: 10000Mb/s
\tDuplex: Full
\tCurrent message level: 0x00000007 (7)
\t\t\t       drv probe link
\tLink detected: yes
Settings for eth1:
\tSpeed: Unknown!
\tLink detected: no (Autoneg)
\tSome new thing: 5
";

const HASH_NONE: &str = "\
UDP over IPV4 flows use these fields for computing Hash flow key:
None
";

const HASH: &str = "\
UDP over IPV4 flows use these fields for computing Hash flow key:
IP SA
IP DA

";
