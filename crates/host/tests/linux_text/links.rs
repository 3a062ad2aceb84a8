//! ip, bridge and ifconfig.

use super::{Sample, plain};

pub(super) const SAMPLES: &[Sample] = &[
    plain("ip_link", LINK),
    plain("ip_link_details", DETAILS),
    plain("ip_link_tunnels", TUNNELS),
    plain("ip_link_one_line", ONE_LINE),
    plain("ip_link_busybox", BUSYBOX),
    plain(
        "ip_link_cut",
        "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n3: eth1: <UP> mtu 15",
    ),
    plain("ip_link_json", JSON),
    plain(
        "ip_link_json_cut",
        r#"[{"ifindex":2,"ifname":"eth0","mtu":1500,"link_type":"ether"},{"ifindex":3,"ifname":"eth1","mtu":9"#,
    ),
    plain("ip_addr", ADDR),
    plain("ip_addr_one_line", ADDR_ONE_LINE),
    plain("ip_route", ROUTE),
    plain("ip_link_functions", FUNCTIONS),
    plain("ip_route_json", ROUTE_JSON),
    plain("ip_route_get", ROUTE_GET),
    plain("networkctl", NETWORKCTL),
    plain("networkctl_status", NETWORKCTL_STATUS),
    plain("nmcli_device", NMCLI),
    plain("nmcli_device_show", NMCLI_SHOW),
    plain("sys_class_net", SYS),
    plain("tun_owners", TUN_OWNERS),
    plain("bridge_link", PORTS),
    plain("bridge_link_old", PORTS_OLD),
    plain("bridge_link_json", PORTS_JSON),
    plain("ifconfig_old", IFCONFIG_OLD),
    plain("ifconfig_new", IFCONFIG_NEW),
];

const LINK: &str = "\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 9000 xdpgeneric/id:7 qdisc mq master br0 state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:AA:bb:01 brd ff:ff:ff:ff:ff:ff
    alias to the core
    altname enp3s0
    RX: bytes  packets  errors  dropped overrun mcast
    1000       10       1       2       3       4
    TX: bytes  packets  errors  dropped carrier collsns
    2000       20       0       0       5       6
3: eth0.7@eth0: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff
4: veth1@veth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 52:54:00:aa:bb:02 brd ff:ff:ff:ff:ff:ff
5: veth0@veth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 52:54:00:aa:bb:03 brd ff:ff:ff:ff:ff:ff
6: eth9@if12: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 52:54:00:aa:bb:04 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    something that nobody wrote before
    RX: bytes  packets  errors  dropped  new
    1 2 3 4 5
";

const DETAILS: &str = "\
2: eth0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 xdp qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff promiscuity 1  allmulti 0 minmtu 68 maxmtu 9216 
    bond_slave state ACTIVE mii_status UP link_failure_count 0 perm_hwaddr 52:54:00:aa:bb:01 queue_id 0 addrgenmode eui64 numtxqueues 8 numrxqueues 8 gso_max_size 65536 gso_max_segs 65535 tso_max_size 65536 tso_max_segs 65535 gro_max_size 65536 gso_ipv4_max_size 65536 gro_ipv4_max_size 65536 parentbus pci parentdev 0000:3b:00.0 
    prog/xdp id 42 name drop tag 0123456789abcdef jited 
    RX:  bytes packets errors dropped  missed   mcast
          1000      10      0       0       3       4
    RX errors:  length    crc   frame    fifo overrun
                     1      2       3       4       5
    TX:  bytes packets errors dropped carrier collsns
          2000      20      0       0       0       0
    TX errors: aborted   fifo  window heartbt transns
                     6      7       8       9       2
3: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff promiscuity 1 
    bond mode 802.3ad miimon 100 updelay 0 xmit_hash_policy layer3+4 
    bridge_slave state forwarding priority 32 cost 100 hairpin on guard off root_block off fastleave off learning on flood on addrgenmode eui64 numtxqueues 16 numrxqueues 16 
4: br0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff promiscuity 0  allmulti 0 minmtu 68 maxmtu 65535 
    bridge forward_delay 1500 hello_time 200 max_age 2000 ageing_time 30000 stp_state 0 priority 32768 vlan_filtering 1 vlan_protocol 802.1Q addrgenmode eui64 numtxqueues 1 numrxqueues 1 
5: vlan5@bond0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    vlan protocol 802.1ad id 5 <REORDER_HDR> addrgenmode eui64 numtxqueues 1 numrxqueues 1 
6: mac0@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:06 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    macvlan mode passthru nopromisc addrgenmode eui64 
7: tap0: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:07 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    tun type tap pi off vnet_hdr on persist off user id group mode addrgenmode eui64 
8: veth0@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:08 brd ff:ff:ff:ff:ff:ff link-netns blue promiscuity 0 
    veth addrgenmode eui64 
9: veth1@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:09 brd ff:ff:ff:ff:ff:ff link-netnsid 4 promiscuity 0 
    veth addrgenmode eui64 
";

const TUNNELS: &str = "\
1: vx0: <BROADCAST,MULTICAST> mtu 1450 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    vxlan id 42 remote 192.0.2.2 local 192.0.2.1 dev eth0 srcport 0 0 dstport 4789 ttl auto ageing 300 udpcsum noudp6zerocsumtx noudp6zerocsumrx addrgenmode eui64 
2: vx1: <BROADCAST,MULTICAST> mtu 1430 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:02 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    vxlan id 43 remote 2001:db8::2 local 2001:db8::1 srcport 0 0 dstport 8472 udpcsum udp6zerocsumtx udp6zerocsumrx addrgenmode eui64 
3: gen0: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:03 brd ff:ff:ff:ff:ff:ff promiscuity 0 
    geneve external id 0 ttl auto dstport 6081 noudpcsum udp6zerocsumrx addrgenmode eui64 
4: gre1@eth0: <POINTOPOINT,NOARP> mtu 1468 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/gre 192.0.2.1 peer 192.0.2.2 promiscuity 0 
    gre remote 192.0.2.2 local 192.0.2.1 dev eth0 ttl inherit ikey 0.0.1.0 okey 0.0.1.0 oseq addrgenmode eui64 
5: gre0@NONE: <NOARP> mtu 1476 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/gre 0.0.0.0 brd 0.0.0.0 promiscuity 0 
    gre remote any local any ttl inherit nopmtudisc addrgenmode eui64 
6: ipip1@NONE: <POINTOPOINT,NOARP> mtu 1480 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ipip 192.0.2.1 peer 192.0.2.3 promiscuity 0 
    ipip remote 192.0.2.3 local 192.0.2.1 ttl inherit pmtudisc addrgenmode eui64 
7: sit1@NONE: <POINTOPOINT,NOARP> mtu 1480 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/sit 192.0.2.1 peer 192.0.2.4 promiscuity 0 
    sit ip6ip remote 192.0.2.4 local 192.0.2.1 ttl 64 pmtudisc 6rd-prefix 2002::/16 addrgenmode eui64 
8: ovs-system: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 1000
    link/ether 52:54:00:aa:bb:08 brd ff:ff:ff:ff:ff:ff promiscuity 1 
    openvswitch addrgenmode eui64 numtxqueues 1 numrxqueues 1 
";

const ONE_LINE: &str = r"1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff\    RX: bytes  packets  errors  dropped missed  mcast   \    5          4        3       2       1       0
";

const BUSYBOX: &str = "\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
11: tun1: <POINTOPOINT,MULTICAST,NOARP> mtu 1500 qdisc noop qlen 500
    link/[65534] 
";

const JSON: &str = r#"[{},{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],"mtu":1500,"qdisc":"mq","master":"br0","operstate":"UP","group":"default","txqlen":1000,"link_type":"ether","address":"52:54:00:aa:bb:01","broadcast":"ff:ff:ff:ff:ff:ff","promiscuity":1,"min_mtu":68,"max_mtu":9216,"xdp":{"mode":2,"prog":{"id":9}},"linkinfo":{"info_slave_kind":"bridge","info_slave_data":{"state":"forwarding","hairpin":false}},"gso_max_size":65536,"gro_ipv4_max_size":65536,"parentbus":"pci","parentdev":"0000:3b:00.0","altnames":["enp3s0"],"addr_info":[{"family":"inet","local":"192.0.2.1","prefixlen":24}],"stats64":{"rx":{"bytes":1,"packets":2,"over_errors":3,"multicast":4},"tx":{"bytes":5,"collisions":6}}},
{"ifindex":3,"link_index":2,"ifname":"veth0","flags":["BROADCAST"],"mtu":1500,"link_type":"ether","address":"52:54:00:aa:bb:02","link_netnsid":0,"linkinfo":{"info_kind":"veth"}},
{"ifindex":4,"link":"eth0","ifname":"eth0.5","flags":["BROADCAST"],"mtu":1500,"link_type":"ether","linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":5,"flags":["REORDER_HDR"]}}},
{"ifindex":5,"ifname":"gre1","flags":["NOARP"],"mtu":1468,"link_type":"gre","address":"192.0.2.1","linkinfo":{"info_kind":"gre","info_data":{"remote":"192.0.2.2","local":"192.0.2.1","okey":"0.0.0.7","oseq":true}}},
{"ifindex":6,"ifname":"vx6","flags":["UP"],"mtu":1430,"link_type":"ether","linkinfo":{"info_kind":"vxlan","info_data":{"id":6,"remote6":"2001:db8::2","link":"eth0","port":4789,"udp_csum":true,"udp_zero_csum6_tx":false}}},
{"ifindex":7,"ifname":"tap0","flags":["UP"],"mtu":1500,"link_type":"ether","linkinfo":{"info_kind":"tun","info_data":{"type":"tap","vnet_hdr":true}}},
{"ifindex":8,"ifname":"br0","flags":["UP"],"mtu":1500,"link_type":"ether","linkinfo":{"info_kind":"bridge","info_data":{"stp_state":1,"vlan_filtering":0}}}]
"#;

const ADDR: &str = "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 52:54:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff
    inet 192.0.2.1/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
    inet6 2001:db8::1/64 scope global 
       valid_lft forever preferred_lft forever
3: ppp0: <POINTOPOINT,MULTICAST,NOARP,UP,LOWER_UP> mtu 1492 qdisc fq_codel state UNKNOWN group default
    qlen 3
    link/ppp 
    inet 192.0.2.10 peer 198.51.100.1/32 scope global ppp0
       valid_lft forever preferred_lft forever
";

const ADDR_ONE_LINE: &str = r"1: lo    inet 127.0.0.1/8 scope host lo\       valid_lft forever preferred_lft forever
2: eth0    inet 192.0.2.1/24 brd 192.0.2.255 scope global eth0\       valid_lft forever preferred_lft forever
2: eth0    inet6 2001:db8::1/64 scope global \       valid_lft forever preferred_lft forever
";

const ROUTE: &str = "\
default proto static metric 20 
\tnexthop via 192.0.2.254 dev eth0 weight 1 
\tnexthop via 198.51.100.254 dev eth1 weight 1 
unreachable default metric 4278198272
default via 203.0.113.1 dev wg0 table 200 
192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.1 
";

const ROUTE_JSON: &str = r#"[{"dst":"default","gateway":"192.0.2.254","dev":"eth0","flags":[]},{"dst":"default","dev":"eth5","table":"200","flags":[]},{"dst":"192.0.2.0/24","dev":"eth1","flags":[]}]
"#;

/// The counters of virtual functions are not the device's.
const FUNCTIONS: &str = "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9702 numtxqueues 64 numrxqueues 64
    RX: bytes  packets  errors  dropped overrun mcast   
    5000       50       0       0       0       0       
    TX: bytes  packets  errors  dropped carrier collsns 
    7000       70       0       0       0       0       
    vf 0     link/ether 52:54:00:00:00:11 brd ff:ff:ff:ff:ff:ff, spoof checking on, link-state auto, trust off, query_rss off
    RX: bytes  packets  mcast   bcast   dropped 
    1          2        3       4       5       
    TX: bytes  packets   dropped 
    6          7         8 
    vf 1     link/ether 52:54:00:00:00:12 brd ff:ff:ff:ff:ff:ff, spoof checking on, link-state auto, trust off, query_rss off
    RX: bytes  packets  mcast   bcast   dropped 
    9          10       11      12      13      
    TX: bytes  packets   dropped 
    14         15        16 
";

const ROUTE_GET: &str = "\
198.51.100.9 via 192.0.2.254 dev eth0 table 52 src 192.0.2.1 uid 0 
    cache 
";

const NETWORKCTL: &str = "\
IDX LINK    TYPE     OPERATIONAL SETUP     
  1 lo      loopback carrier     unmanaged 
  2 eth0    ether    enslaved    configured
  3 br0     bridge   routable    configured
  4 eth1    ether    off         unmanaged 

4 links listed.
";

const NETWORKCTL_STATUS: &str = "\
\u{25cf} 2: eth0                                                                     
                     Link File: /usr/lib/systemd/network/99-default.link
                  Network File: /etc/systemd/network/10-uplink.network
                          Type: ether
                         State: enslaved (configured)
                        Driver: ixgbe
              Hardware Address: 52:54:00:00:00:01 (Intel Corporation)
                           MTU: 1500 (min: 68, max: 9710)
                        Master: br0
\u{25cf} 3: br0
                     Link File: /usr/lib/systemd/network/99-default.link
                          Type: bridge
                          Kind: bridge
                         State: routable (configured)
                           MTU: 1500
                       Address: 192.0.2.7
                                fe80::5054:ff:fe00:1
                       Gateway: 192.0.2.1
";

const NMCLI: &str = "\
DEVICE  TYPE      STATE                   CONNECTION 
br0     bridge    connected               br0        
bond0   bond      connected               bond0      
eth0    ethernet  connected               eth0       
lo      loopback  connected (externally)  lo         
";

const NMCLI_SHOW: &str = "\
GENERAL.DEVICE:                         br0
GENERAL.TYPE:                           bridge
GENERAL.HWADDR:                         52:54:00:00:00:01
GENERAL.MTU:                            1500
GENERAL.STATE:                          100 (connected)
IP4.ADDRESS[1]:                         192.0.2.7/24
BRIDGE.SLAVES:                          eth0 vnet0

GENERAL.DEVICE:                         eth0
GENERAL.TYPE:                           ethernet
GENERAL.DRIVER:                         ixgbe
GENERAL.HWADDR:                         52:54:00:00:00:01
GENERAL.MTU:                            1500
IP4.GATEWAY:                            --
";

const SYS: &str = "\
/sys/class/net/eth0/gro_flush_timeout:20000
/sys/class/net/eth0/napi_defer_hard_irqs:2
/sys/class/net/eth0/threaded:0
/sys/class/net/tap0/tun_flags:0x5002
";

const TUN_OWNERS: &str = "device pid process\ntap0 4711 qemu-system-x86\ntap0 4712 CPU 0/KVM\n";

const PORTS: &str = "\
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state forwarding priority 32 cost 4 
    hairpin off guard off root_block off fastleave off learning on flood on 
5: veth0@if4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state blocking priority 32 cost 2 
    hairpin on guard off root_block off fastleave off learning on flood on 
";

const PORTS_OLD: &str = "\
2: eth0 state UP : <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state forwarding priority 32 cost 4 
3: vnet0 state UNKNOWN : <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 master br0 state learning priority 32 cost 100 
";

const PORTS_JSON: &str = r#"[{"ifindex":2,"ifname":"eth0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"master":"br0","state":"forwarding","priority":32,"cost":4,"hairpin":true}]
"#;

const IFCONFIG_OLD: &str = "\
eth0      Link encap:Ethernet  HWaddr 52:54:00:AA:BB:01  
          inet addr:192.0.2.1  Bcast:192.0.2.255  Mask:255.255.255.0
          inet6 addr: 2001:db8::1/64 Scope:Global
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1
          RX packets:10 errors:1 dropped:2 overruns:3 frame:4
          TX packets:20 errors:5 dropped:6 overruns:7 carrier:8
          collisions:9 txqueuelen:1000 
          RX bytes:1000 (1000.0 b)  TX bytes:2000 (1.9 KiB)
          Interrupt:16 Memory:fb5e0000-fb600000 

eth0:1    Link encap:Ethernet  HWaddr 52:54:00:AA:BB:01  
          inet addr:192.0.2.2  Bcast:192.0.2.255  Mask:255.255.255.0
          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1

lo        Link encap:Local Loopback  
          inet addr:127.0.0.1  Mask:255.0.0.0
          UP LOOPBACK RUNNING  MTU:65536  Metric:1
          what is this
";

const IFCONFIG_NEW: &str = "\
eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000
        inet 192.0.2.1  netmask 255.255.255.0  broadcast 192.0.2.255
        inet6 fe80::1  prefixlen 64  scopeid 0x20<link>
        ether 52:54:00:aa:bb:01  txqueuelen 1000  (Ethernet)
        RX packets 10  bytes 1000 (1000.0 B)
        RX errors 1  dropped 2  overruns 3  frame 4
        TX packets 20  bytes 2000 (1.9 KiB)
        TX errors 5  dropped 6 overruns 7  carrier 8  collisions 9
        device interrupt 16  memory 0xfb5e0000-fb600000  

eth1: flags=4099<UP,BROADCAST,MULTICAST>  mtu 1500
        ether 52:54:00:aa:bb:02  txqueuelen 1000  (Ethernet)
";
