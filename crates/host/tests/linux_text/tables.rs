//! Counters and sysctls.

use super::{Sample, named, plain};

pub(super) const SAMPLES: &[Sample] = &[
    plain("sysctl_a", SYSCTL),
    named("sysctl_conf", "/etc/sysctl.d/90-router.conf", CONF),
    named(
        "proc_sys",
        "/proc/sys/net/ipv4/conf/eth0.5/forwarding",
        "1\n",
    ),
    named("proc_sys_cut", "cat /proc/sys/net/ipv4/ip_forward", "1"),
    named(
        "sysctl_n",
        "sysctl -n net.ipv4.tcp_rmem",
        "4096\t131072\t6291456\n",
    ),
    named("nstat", "nstat -az", NSTAT),
    named("nstat_relative", "nstat", NSTAT),
    plain(
        "nstat_json",
        "{\"kernel\":{\"IpInReceives\":66,\"TcpExtTCPRcvCoalesce\":0}}\n",
    ),
    plain(
        "nstat_json_cut",
        "{\"kernel\":{\"IpInReceives\":66,\"TcpExtTCP",
    ),
    plain("netstat_s_old", NETSTAT_OLD),
    plain("netstat_s", NETSTAT),
    plain("proc_net_snmp", SNMP),
    plain("proc_net_snmp6", SNMP6),
    plain("proc_net_netstat", NETSTAT_FILE),
    plain("proc_net_dev", DEV),
    plain("softnet_stat", SOFTNET),
];

const SYSCTL: &str = "\
sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'
sysctl: reading key \"net.ipv6.conf.all.stable_secret\"
sysctl: permission denied on key 'net.ipv6.route.flush'
kernel.hostname = hv1.example
kernel.osrelease = 5.14.0-427.el9.x86_64
kernel.random.boot_id = 11111111-2222-3333-4444-555555555555
net.ipv4.conf.eth0/5.forwarding = 1
net.ipv4.ip_forward = 1
net.ipv4.ip_local_reserved_ports = 
net.ipv4.tcp_rmem = 4096\t131072\t6291456
net.ipv4.ip_forward = 0
vm.swappiness = 60
this is no setting
";

const CONF: &str = "\
# forwards
net.ipv4.ip_forward=1
-net.ipv4.conf.eth0/5.rp_filter = 2
net/ipv4/conf/eth0.7/rp_filter = 0
; kernel.panic = 10
";

const NSTAT: &str = "\
#kernel
IpInReceives                    6684               0.0
TcpRetransSegs                  12                 0.0
TcpExtTCPRcvCoalesce            18446744073709551615 1.5
TcpExtTCPOFOQueue               many               0.0
";

const NETSTAT_OLD: &str = "\
Ip:
    100 total packets received
    3 with invalid addresses
    0 forwarded
    4 fragments received ok
Icmp:
    5 ICMP messages received
    0 input ICMP message failed.
    ICMP input histogram:
        destination unreachable: 5
    6 ICMP messages sent
    ICMP output histogram:
        destination unreachable: 6
IcmpMsg:
        InType3: 5
Tcp:
    16 active connections openings
    2886 segments received
    2890 segments send out
    42 segments retransmited
    7 bad segments received.
    Quick ack mode was activated 3 times
TcpExt:
    Quick ack mode was activated 9 times
    54 other TCP timeouts
    1 times something else happened
    TCPRcvCoalesce: 2610
Other:
    12 segments received
IpExt:
    InOctets: 865450302
";

const NETSTAT: &str = "\
Tcp:
    67 active connection openings
    5768 segments received
    3678 segments sent out
    8 segments retransmitted
Udp6:
    3 packets received
    Udp6RcvbufErrors: 2
TcpExt:
    Detected reordering 4 times using SACK
";

const SNMP: &str = "\
Ip: Forwarding DefaultTTL InReceives
Ip: 1 64 6684
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn RetransSegs
Tcp: 1 200 120000 -1 5
Udp: InDatagrams NoPorts
Udp: 139
UdpLite: InDatagrams
";

const SNMP6: &str = "\
Ip6InReceives                   \t17
Ip6InTooBigErrors               \t2
Icmp6InPktTooBigs               \t3
Udp6InErrors                    \tnone
";

const NETSTAT_FILE: &str = "\
TcpExt: SyncookiesSent TCPRcvCoalesce TCPOFOQueue
TcpExt: 0 2610 595
IpExt: InNoRoutes InOctets
IpExt: 9 865450302
";

const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0:1000 10 1 2 3 4 5 6 2000 20 7 8 9 10 11 12
  eth1: 1 2 3
";

const SOFTNET: &str = "\
00000015 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000000 00000000 00000000
00001a16 00000000 00000002 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000004 00000000 00000001
";
