//! Output of the BSDs, written for the tests.

/// Name, command, text.
pub(crate) type Sample = (&'static str, Option<&'static str>, &'static str);

/// Story B: a jail on a bridge with a NIC that merges.
pub(crate) const STORY_B: &str = "\
ix0: flags=1008943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
	options=4e53fbb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,TSO6,LRO,WOL_UCAST,WOL_MCAST,WOL_MAGIC,VLAN_HWFILTER,VLAN_HWTSO,RXCSUM_IPV6,TXCSUM_IPV6,MEXTPG>
	ether a0:36:9f:00:00:01
	inet 192.0.2.10 netmask 0xffffff00 broadcast 192.0.2.255
	media: Ethernet autoselect (10Gbase-T <full-duplex,rxpause,txpause>)
	status: active
	nd6 options=29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>
lo0: flags=1008049<UP,LOOPBACK,RUNNING,MULTICAST,LOWER_UP> metric 0 mtu 16384
	options=680003<RXCSUM,TXCSUM,LINKSTATE,RXCSUM_IPV6,TXCSUM_IPV6>
	inet 127.0.0.1 netmask 0xff000000
	inet6 ::1 prefixlen 128
	inet6 fe80::1%lo0 prefixlen 64 scopeid 0x2
	groups: lo
bridge0: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
	options=10<VLAN_HWTAGGING>
	ether 58:9c:fc:00:00:01
	id 00:00:00:00:00:00 priority 32768 hellotime 2 fwddelay 15
	maxage 20 holdcnt 6 proto rstp maxaddr 2000 timeout 1200
	root id 00:00:00:00:00:00 priority 32768 ifcost 0 port 0
	member: epair0a flags=143<LEARNING,DISCOVER,AUTOEDGE,AUTOPTP>
	        ifmaxaddr 0 port 5 priority 128 path cost 2000
	member: ix0 flags=147<LEARNING,DISCOVER,STP,AUTOEDGE,AUTOPTP>
	        ifmaxaddr 0 port 1 priority 128 path cost 2000 proto rstp
	        role designated state forwarding
	groups: bridge
	nd6 options=9<PERFORMNUD,IFDISABLED>
epair0a: flags=1008943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
	description: jail backup
	options=8<VLAN_MTU>
	ether 02:00:00:00:00:0a
	groups: epair
	media: Ethernet 10Gbase-T (10Gbase-T <full-duplex>)
	status: active
	nd6 options=29<PERFORMNUD,IFDISABLED,AUTO_LINKLOCAL>
enc0: flags=1000041<UP,RUNNING> metric 0 mtu 1536
	options=0
	groups: enc
";

/// Options that a mail program wrapped, capabilities, and the kinds that story B has not.
const IFCONFIG_M: &str = "\
mce0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000
        options=e03bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,
VLAN_HWCSUM,TSO4,TSO6,POLLING_NOCOUNT,VLAN_HWTSO,LINKSTATE>
        capabilities=e07bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWT
AGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,TSO6,LRO,POLLING_NOCOUNT,VLAN_HWTSO,LINKSTATE>
        ether 0c:42:a1:00:00:02
        hwaddr 0c:42:a1:00:00:03     media: Ethernet 25GBase-CR <full-duplex,rxpause,txpause>
        status: active
        supported media:
                media autoselect
                media 25GBase-CR
        plugged: SFP28 (No separable connector)
        drivername: mce0
mce1: flags=8802<BROADCAST,SIMPLEX,MULTICAST> metric 0 mtu 1500
        options=e07bb
        media: Ethernet autoselect
        status: no carrier
        quantum entanglement: none
mce2: flags=8802<BROADCAST,SIMPLEX,MULTICAST> metric 0 mtu 1500
        options=e03bb<RXCSUM,TXCSUM,TSO4,TSO6,LRO,VLAN_HWTSO>
        capabilities=e07bb<RXCSUM,TXCSUM,TSO4,TSO6,LRO,VLAN_HWTSO>
lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 9000
        laggproto lacp lagghash l2,l3,l4
        laggport: mce0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>
        laggport: mce1 flags=0<>
        groups: lagg
        media: Ethernet autoselect
        status: active
lagg0.7: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
        inet 198.51.100.1/25 broadcast 198.51.100.127
        groups: vlan
        vlan: 7 vlanproto: 802.1ad vlanpcp: 0 parent interface: lagg0
        status: active
tap3: flags=8943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST> metric 0 mtu 1500
        groups: tap vm-port
        media: Ethernet autoselect
        status: active
        Opened by PID 4321
epair1a: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
        groups: epair
epair1b: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
        groups: epair
wan: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
        status: active
gif0: flags=8051<UP,POINTOPOINT,RUNNING,MULTICAST> metric 0 mtu 1280
        tunnel inet 192.0.2.1 --> 203.0.113.9
        inet6 2001:db8::2 --> 2001:db8::1 prefixlen 128
        groups: gif
vxlan5: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1450
        groups: vxlan
        vxlan vni 42 local 192.0.2.1:4789 remote 203.0.113.9:4789
mce0: flags=8843<UP> metric 0 mtu 1400
";

const OPENBSD: &str = "\
lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 32768
	index 3 priority 0 llprio 3
	groups: lo
	inet 127.0.0.1 netmask 0xff000000
ix0: flags=2008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LRO> mtu 1500
	hwfeatures=71b7<CSUM_IPv4,CSUM_TCPv4,CSUM_UDPv4,VLAN_MTU,VLAN_HWTAGGING,TSOv4,TSOv6,LRO> hardmtu 9198
	lladdr a0:36:9f:00:00:09
	index 1 priority 0 llprio 3
	groups: egress
	media: Ethernet autoselect (10GbaseT full-duplex)
	status: active
	inet 192.0.2.5 netmask 0xffffff00 broadcast 192.0.2.255
";

const SYSCTL: &str = "\
kern.ostype: FreeBSD
kern.osrelease: 14.1-RELEASE-p5
kern.version: FreeBSD 14.1-RELEASE-p5 GENERIC
    built somewhere

kern.hostname: gate
kern.vm_guest: bhyve
hw.ncpu: 8
hw.vtnet.lro_disable: 0
vm.loadavg: { 0.10 0.20 0.30 }
net.inet.ip.forwarding: 1
net.inet.tcp.lro.entries: 8
dev.mce.0.conf.hw_lro: 1
dev.mce.0.%driver: mce
dev.mce.0.%desc: Mellanox
dev.ix.0.queue0.lro_queued: 77
dev.ix.0.iflib.driver_version: 4.0.1-k
dev.ix.0.temperature: 40
dev.cpu.0.freq: 2200
";

const NETSTAT_S: &str = "\
tcp:
	1200 packets sent
		800 data packets (900000 bytes)
		1 data packet (1448 bytes) retransmitted
		3 ack-only packets (2 delayed)
	1 connection request
	5 segments updated rtt (of 6 attempts)
ip:
	10000 total packets received
	9000 packets forwarded (0 packets fast forwarded)
	1 datagram that can't be fragmented
icmp:
	2 calls to icmp_error
	Output histogram:
		echo reply: 9
		destination unreachable: 4
	0 messages with bad code fields
esoteric:
	5 packets sent
";

const NETSTAT_I: &str = "\
Name       Mtu Network            Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll
ix0       1500 <Link#1>           a0:36:9f:00:00:01  1000000     2     3   900000     0     0
ix0          - 192.0.2.0/24       192.0.2.10          100000     -     -    90000     -     -
ix1*      1500 <Link#2>           a0:36:9f:00:00:02        0     0     0        0     0     0
lo0      16384 <Link#3>                                    7     0     0        7     0     0
epair0a   1500 <Link#4>           02:00:00:00:00:0a      broken
";

const NETSTAT_I_NARROW: &str = "\
Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll
em0    1500 <Link#1>      00:0c:29:00:00:01       10     0     0       20     0     0
vtnet  1500 <Link#2>      00:0c:29:00:00:02       10     0     0       20     0     0
";

const NETSTAT_R: &str = "\
Routing tables

Internet:
Destination        Gateway            Flags     Netif Expire
default            192.0.2.1          UGS         ix0
127.0.0.1          link#3             UH          lo0

Internet6:
Destination                       Gateway                       Flags     Netif Expire
default                           2001:db8::1                   UGS        gif0
";

const PCICONF: &str = "\
hostb0@pci0:0:0:0:	class=0x060000 rev=0x00 hdr=0x00 vendor=0x8086 device=0x1237 subvendor=0x0000 subdevice=0x0000
    vendor     = 'Intel Corporation'
ix0@pci0:3:0:0:	class=0x020000 rev=0x01 hdr=0x00 vendor=0x8086 device=0x1563 subvendor=0x8086 subdevice=0x0000
    vendor     = 'Intel Corporation'
    device     = 'Ethernet Controller X550'
    class      = network
    subclass   = ethernet
mlx5_core0@pci0:4:0:0:	class=0x020000 rev=0x00 hdr=0x00 vendor=0x15b3 device=0x1015 subvendor=0x15b3 subdevice=0x0003
    device     = 'MT27710 Family'
";

const KLDSTAT: &str = "\
Id Refs Address                Size Name
 1   36 0xffffffff80200000  1f75fe0 kernel
 2    1 0xffffffff82819000     5b80 if_bridge.ko
";

const RC_CONF: &str = "\
# made by hand
hostname=\"gate\"
ifconfig_ix0=\"inet 192.0.2.10/24 -lro\"
gateway_enable=\"YES\"
";

pub(crate) const SAMPLES: &[Sample] = &[
    ("story_b", None, STORY_B),
    ("ifconfig_m", None, IFCONFIG_M),
    ("openbsd", None, OPENBSD),
    ("sysctl", None, SYSCTL),
    ("netstat_s", None, NETSTAT_S),
    ("netstat_i", None, NETSTAT_I),
    ("netstat_i_narrow", None, NETSTAT_I_NARROW),
    ("netstat_r", None, NETSTAT_R),
    ("pciconf", None, PCICONF),
    ("kldstat", None, KLDSTAT),
    ("rc_conf", None, RC_CONF),
    (
        "uname",
        None,
        "FreeBSD gate 14.1-RELEASE-p5 FreeBSD 14.1-RELEASE-p5 GENERIC amd64\n",
    ),
    (
        "uname_truenas",
        None,
        "FreeBSD nas.example.org 13.1-RELEASE-p9 FreeBSD 13.1-RELEASE-p9 n245429-296d095698e TRUENAS amd64\n",
    ),
    (
        "uname_opnsense",
        None,
        "FreeBSD fw.example.org 14.1-RELEASE-p5 FreeBSD 14.1-RELEASE-p5 stable/24.7-n267939-fd5bc7f34e1 SMP amd64\n",
    ),
    ("truenas_version", None, "TrueNAS-13.0-U6.1 (3bf1baefd2)\n"),
    (
        "ifconfig_without_number",
        None,
        "ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions=<RXCSUM,LRO>\n\tether 00:25:90:00:00:01\n\tstatus: active\n",
    ),
    (
        "ifconfig_names_alone",
        None,
        "ix0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\toptions RXCSUM,TXCSUM,LRO\n\tether 00:25:90:00:00:01\n\tstatus: active\n",
    ),
    (
        "ifconfig_macos",
        None,
        "en0: flags=8863<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> mtu 1500\n\toptions=50b<RXCSUM,TXCSUM,VLAN_HWTAGGING,AV,CHANNEL_IO>\n\tether f0:18:98:00:00:01\n\tnd6 options=201<PERFORMNUD,DAD>\n\tstatus: active\n",
    ),
    (
        "uname_pfsense",
        None,
        "FreeBSD fw 14.0-CURRENT FreeBSD 14.0-CURRENT #1 RELENG_2_7_2 pfSense amd64\n",
    ),
    ("uname_r", Some("uname -r"), "14.1-RELEASE-p5\n"),
    ("freebsd_version", None, "14.1-RELEASE-p6\n"),
    ("opnsense_version", None, "OPNsense 24.7.5 (amd64)\n"),
    (
        "pfctl",
        None,
        "nat-anchor \"x/*\" all\nnat on ix0 inet from 10.0.0.0/8 to any -> (ix0) round-robin\n",
    ),
    ("pfctl_anchors", None, "nat-anchor \"x/*\" all\n"),
    (
        "jls",
        None,
        "   JID  IP Address      Hostname                      Path\n     1                  backup                        /jails/backup\n",
    ),
];
