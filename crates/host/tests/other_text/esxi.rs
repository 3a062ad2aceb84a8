//! Output of ESXi, written for the tests.

use super::bsd::Sample;

const NIC_LIST: &str = "\
Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description
------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  ----------------------------------
vmnic0  0000:05:00.0  ixgben  Up            Up           10000  Full    00:25:90:00:00:01  9000  Intel(R) Ethernet Controller X550
vmnic1  0000:05:00.1  igbn    Up            Down             0  Half    00:25:90:00:00:02  1500  Intel(R) I350
vmnic2 0000:05:00.2 igbn Up Down 0 Half 00:25:90:00:00:03 1500 squeezed
";

const NICS: &str = "\
Name    PCI          Driver      Link Speed      Duplex MAC Address       MTU    Description
vmnic0  0000:05:00.0 ixgben      Up   10000Mbps  Full   00:25:90:00:00:01 9000   Intel(R) Ethernet Controller X550
vmnic1  0000:05:00.1 igbn        Down 0Mbps      Half   00:25:90:00:00:02 1500   Intel(R) I350
vmnic2  0000:05:00.2
";

const ENS: &str = "\
Name    Driver      ENS Capable   ENS Driven    INTR Capable  INTR Enabled  MAC Address       Description
vmnic4  ixgben      True          False         False         False         00:25:90:00:00:04 Intel(R) 82599 10
";

const NIC_GET: &str = "   Advertised Auto Negotiation: true
   Advertised Link Modes: Auto, 10000BaseT/Full
   Auto Negotiation: true
   Cable Type: Twisted Pair
   Current Message Level: 0
   Driver Info:
         Bus Info: 0000:05:00:0
         Driver: ixgben
         Firmware Version: 0x80000a42
         Version: 1.12.3.0
   Link Detected: true
   Link Status: Up
   Name: vmnic0
   Pause RX: false
   Virtual Address: 00:50:56:00:00:01
   Weather: fine
";

const NIC_GET_OLD: &str = "   Advertised Auto Negotiation: true
   Driver Info:
         Driver: igbn
   Link Detected: false
";

const STATS: &str = "\
NIC statistics for vmnic0
   Packets received: 100
   Packets sent: 50
   Bytes received: 123456
   Bytes sent: 6543
   Receive packets dropped: 1
   Transmit packets dropped: 0
   Multicast packets received: 9
   Total receive errors: 0
";

const VSWITCH: &str = "\
vSwitch0
   Name: vSwitch0
   Class: cswitch
   Num Ports: 2560
   Used Ports: 5
   Configured Ports: 128
   MTU: 9000
   Beacon Interval: 1
   Uplinks: vmnic1, vmnic0
   Portgroups: VM Network, Management Network
";

const VSWITCH_L: &str = "\
Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks
vSwitch0         2560        5           128               1500    vmnic0,vmnic1

  PortGroup Name        VLAN ID  Used Ports  Uplinks
  VM Network            0        1           vmnic0,vmnic1

Switch Name      Num Ports   Used Ports  Configured Ports  MTU     Uplinks
Lab 2            2560        1           128               9000

DVS Name         Num Ports   Used Ports  Configured Ports  MTU     Uplinks
DSwitch          2560        3           512               1600    vmnic2

  DVPort ID           In Use      Client
  10                  1           vmnic2
";

const VMK: &str = "\
vmk0
   Name: vmk0
   MAC Address: 00:25:90:00:00:10
   Enabled: true
   Portset: vSwitch0
   Portgroup: Management Network
   Netstack Instance: defaultTcpipStack
   VDS Name: N/A
   MTU: 1500
   TSO MSS: 65535
";

const ADVANCED: &str = "   Path: /Net/Vmxnet3HwLRO
   Type: integer
   Int Value: 1
   Default Int Value: 1
   Min Value: 0
   Max Value: 1
   String Value:\u{20}
   Description: Whether to enable HW LRO

   Path: /Net/UseHwTSO
   Type: integer
   Int Value: 0

   Path: /Net/Name
   Type: string
   Int Value: 0
   String Value: 7

   Path: /Misc/Other
   Type: integer
   Int Value: 5

   Path: /Net/TcpipDefLROEnabled
   Type: integer
";

pub(crate) const SAMPLES: &[Sample] = &[
    ("esxi_nic_list", None, NIC_LIST),
    ("esxi_nics", None, NICS),
    ("esxi_ens", None, ENS),
    ("esxi_nic_get", None, NIC_GET),
    (
        "esxi_nic_get_command",
        Some("esxcli network nic get -n vmnic3"),
        NIC_GET_OLD,
    ),
    ("esxi_nic_get_nameless", None, NIC_GET_OLD),
    ("esxi_stats", None, STATS),
    ("esxi_vswitch", None, VSWITCH),
    ("esxi_vswitch_l", None, VSWITCH_L),
    ("esxi_vmk", None, VMK),
    ("esxi_advanced", None, ADVANCED),
    (
        "esxi_advcfg",
        Some("esxcfg-advcfg -g /Net/Vmxnet3SwLRO"),
        "Value of Vmxnet3SwLRO is 1\n",
    ),
    (
        "esxi_version",
        None,
        "   Product: VMware ESXi\n   Version: 7.0.3\n   Build: Releasebuild-20328353\n   Update: 3\n",
    ),
    ("esxi_vmware", None, "VMware ESXi 8.0.2 build-22380479\n"),
    (
        "esxi_log",
        None,
        "2024-01-02T03:04:05.006Z cpu7:1234)Uplink: 14658: Opening device vmnic2\n",
    ),
];
