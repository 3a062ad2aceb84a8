//! Output of Windows, written for the tests.

use super::bsd::Sample;

/// Story E: a host of build 17763 whose external switch merges.
pub(crate) const STORY_E: &str = "
\
Name                            : LAN
Id                              : 11111111-2222-3333-4444-555555555555
Extensions                      : {Microsoft Windows Filtering Platform,
                                  Microsoft NDIS Capture}
IovEnabled                      : False
SwitchType                      : External
AllowManagementOS               : True
NetAdapterInterfaceDescription  : Intel(R) Ethernet Server Adapter
                                  X520-2
NetAdapterInterfaceDescriptions : {Intel(R) Ethernet Server Adapter
                                  X520-2}
SoftwareRscEnabled              : True
RscOffloadEnabled               : False
ComputerName                    : HV01

Name                            : inside
SwitchType                      : Internal
NetAdapterInterfaceDescription  :\u{20}
NetAdapterInterfaceDescriptions :\u{20}
SoftwareRscEnabled              : Wahr
ComputerName                    : HV01


";

pub(crate) const VER: &str = "\nMicrosoft Windows [Version 10.0.17763.1999]\n";

const SWITCH_TABLE: &str = "
\
Name   SwitchType NetAdapterInterfaceDescription
----   ---------- ------------------------------
LAN    External   Intel(R) Ethernet Server Adapter X520-2
inside Internal

";

const SWITCH_JSON: &str = r#"[
  {"Name": "LAN", "SwitchType": 2, "SoftwareRscEnabled": true, "RscOffloadEnabled": false,
   "NetAdapterInterfaceDescriptions": ["Intel A", "Intel B"], "NetAdapterInterfaceDescription": "Teamed-Interface",
   "Extensions": "@{Name=x}", "ComputerName": "HV01", "BandwidthReservationMode": 1},
  "stray"
]"#;

/// `ft -a`, without the blank lines that follow it.
const RSC_AUTOSIZE: &str = "
\
Name       IPv4Enabled IPv6Enabled IPv4OperationalState IPv6OperationalState
----       ----------- ----------- -------------------- --------------------
Ethernet   True        True        False                False
Ethernet 2 True        True        True                 True
";

const IP_INTERFACES: &str = r#"[
  {"InterfaceAlias": "Ethernet", "AddressFamily": "IPv4", "NlMtu": 1500, "Forwarding": "Disabled"},
  {"InterfaceAlias": "Ethernet", "AddressFamily": "IPv6", "NlMtu": 1500, "Forwarding": "Enabled"},
  {"InterfaceAlias": "Ethernet 2", "AddressFamily": "IPv4", "NlMtu": 9000, "Forwarding": "Disabled"}
]"#;

const TEAMS: &str = r#"{"Name": "Team1", "Members": ["Ethernet", "Ethernet 2"], "TeamNics": "Team1",
  "TeamingMode": "Lacp", "Status": "Up"}"#;

const TCP_GLOBAL: &str = "Querying active state...\n\nTCP Global Parameters\n\
    ----------------------------------------------\nReceive-Side Scaling State          : enabled\n\
    Receive Window Auto-Tuning Level    : normal\nECN Capability                      : disabled\n\
    Receive Segment Coalescing State    : disabled\nMax SYN Retransmissions             : 4\n";

const URO: &str = "
UDP Global Parameters
----------------------------------------------
Receive Offload State             : enabled
Send Offload State                : enabled

";

const RSC_TABLE: &str = "
\
Name                           IPv4Enabled  IPv6Enabled  IPv4Operational IPv6Operational IPv4FailureReason    IPv6FailureReason
                                                         State           State
----                           -----------  -----------  --------------- --------------- -----------------    -----------------
Ethernet 4                     True         True         True            True            NoFailure            NoFailure
Ethernet 5                     True         True         False           False           NDISCompatibility    NDISCompatib...
vEthernet (Default Swi...      True         True         True            True            NoFailure            NoFailure


";

const RSC_LIST: &str = "\
Name                 : Ethernet 4
InterfaceDescription : Intel(R) Ethernet Controller X550
IPv4Enabled          : True
IPv4OperationalState : False
IPv4FailureReason    : NDISCompatibility
IPv6Enabled          : Faux
IPv6OperationalState : Vrai
IPv6FailureReason    : NoFailure

";

const RSC_JSON: &str = r#"{"Name": "Ethernet 4", "IPv4Enabled": true, "IPv6Enabled": false,
 "IPv4OperationalState": true, "IPv6OperationalState": false, "IPv4FailureReason": 1,
 "CimClass": {"CimSuperClassName": "x"}}"#;

const LSO: &str = "\
Name                           Version         V1IPv4Enabled  IPv4Enabled  IPv6Enabled
----                           -------         -------------  -----------  -----------
Ethernet 4                     LSO Version 2   False          True         True
vEthernet (LAN)                LSO Version 2   False          True         False

";

const ADVANCED: &str = "
\
Name                      DisplayName                    DisplayValue                   RegistryKeyword RegistryValue
----                      -----------                    ------------                   --------------- -------------
Ethernet 4                Jumbo Packet                   9014 Bytes                     *JumboPacket    {9014}
Ethernet 4                Interrupt Moderation Rate      Adaptive                       *InterruptMo... {1}
Ethernet 4                Recv Segment Coalescing (IP... Enabled                        *RscIPv4        {1}
Ethernet 4                Locally Administered Address   --                             NetworkAddress  {}

";

const ADVANCED_NAMES: &str = "\
Name         : Ethernet 4
DisplayName  : Jumbo Packet
DisplayValue : 9014 Bytes

Name         : Ethernet 4
DisplayName  : ジャンボ パケット
DisplayValue : 有効

";

const OFFLOAD: &str = "
\
ReceiveSideScaling           : Enabled
ReceiveSegmentCoalescing     : Enabled
Chimney                      : Automatic
TaskOffload                  : Enabled
NetworkDirect                : Disabled
NetworkDirectAcrossIPSubnets : Blocked
PacketCoalescingFilter       : Disabled


";

const ADAPTERS: &str = "
\
Name                      InterfaceDescription                    ifIndex Status       MacAddress             LinkSpeed
----                      --------------------                    ------- ------       ----------             ---------
vEthernet (LAN)           Hyper-V Virtual Ethernet Adapter             17 Up           00-15-5D-00-00-01        10 Gbps
Ethernet 4                Intel(R) Ethernet Server Adapter X...        12 Up           A0-36-9F-00-00-01      866.7 Mbps
Ethernet 5                Intel(R) I350                             12345 Disconnected A0-36-9F-00-00-02          0 bps
Ethernet 6                Intel(R) I350                                 5 Getrennt     A0-36-9F-00-00-03          0 bps
イーサネット                    Intel(R) I350                                 6 Up           A0-36-9F-00-00-04         1 Gbps


";

const ADAPTER_JSON: &str = r#"[{"Name": "Ethernet 4", "InterfaceDescription": "X520", "ifIndex": 12, "Status": "Up",
 "MacAddress": "A0-36-9F-00-00-01", "LinkSpeed": "2.5 Gbps", "MtuSize": 9000, "HardwareInterface": true,
 "DriverFileName": "ixn65x64.sys", "DriverVersionString": "4.1.4.0"}]"#;

const WRAPPED: &str = "\
Name          InterfaceDescription                                 ifIndex Status
----          --------------------                                 ------- ------
Ethernet 4    Intel(R) Ethernet Server Adapter X520-2 with a very       12 Up
              long name
vEthernet     Hyper-V Virtual Ethernet Adapter                          17 Up
(Default
Switch)
Ethernet 5    Intel(R) I350                                             18 Up

";

const STATISTICS: &str = r#"{"Name": "Ethernet 4", "ReceivedBytes": 1000, "SentBytes": 18446744073709551615,
 "ReceivedUnicastPackets": 10, "ReceivedDiscardedPackets": 2,
 "RscStatistics": {"CoalescedBytes": 900, "CoalescedPackets": 8, "CoalescingEvents": 2, "PSComputerName": null}}"#;

const SYSTEMINFO: &str = "
Host Name:                 HV01
OS Name:                   Microsoft Windows Server 2019 Standard
OS Version:                10.0.17763 N/A Build 17763
OS Manufacturer:           Microsoft Corporation
Processor(s):              1 Processor(s) Installed.
                           [01]: Intel64 Family 6
Network Card(s):           1 NIC(s) Installed.
";

const SYSTEMINFO_DE: &str = "
Hostname:                                      HV01
Betriebssystemname:                            Microsoft Windows Server 2019 Standard
Betriebssystemversion:                         10.0.17763 Nicht zutreffend Build 17763
Betriebssystemhersteller:                      Microsoft Corporation
";

const COMPUTER: &str = "\
WindowsProductName          : Windows Server 2019 Standard
WindowsUBR                  : 1999
CsDNSHostName               : HV01
CsNumberOfLogicalProcessors : 16
OsName                      : Microsoft Windows Server 2012 R2 Datacenter
OsVersion                   : 10.0.17763
OsBuildNumber               : 17763

";

const OS_VERSION: &str = "\
Platform ServicePack Version      VersionString
-------- ----------- -------      -------------
 Win32NT             10.0.17763.0 Microsoft Windows NT 10.0.17763.0

";

const VM_ADAPTERS: &str = "\
Name            IsManagementOs VMName SwitchName MacAddress   Status IPAddresses
----            -------------- ------ ---------- ----------   ------ -----------
Network Adapter False          guest  LAN        00155D000001 {Ok}   {10.0.0.5}

";

pub(crate) const SAMPLES: &[Sample] = &[
    ("story_e", None, STORY_E),
    ("win_ver", None, VER),
    (
        "win_ver_fr",
        None,
        "Microsoft Windows [version 10.0.20348.2700]\n",
    ),
    ("win_switch_table", None, SWITCH_TABLE),
    ("win_switch_json", None, SWITCH_JSON),
    ("win_rsc_table", None, RSC_TABLE),
    ("win_rsc_list", None, RSC_LIST),
    ("win_rsc_json", None, RSC_JSON),
    ("win_lso", None, LSO),
    ("win_advanced", None, ADVANCED),
    ("win_advanced_names", None, ADVANCED_NAMES),
    ("win_offload", None, OFFLOAD),
    (
        "win_offload_json",
        None,
        r#"{"value": [{"ReceiveSegmentCoalescing": 1, "ReceiveSideScaling": 0, "Chimney": 2}], "Count": 1}"#,
    ),
    ("win_adapters", None, ADAPTERS),
    ("win_adapter_json", None, ADAPTER_JSON),
    ("win_wrapped", None, WRAPPED),
    ("win_statistics", None, STATISTICS),
    ("win_systeminfo", None, SYSTEMINFO),
    ("win_systeminfo_de", None, SYSTEMINFO_DE),
    ("win_computer", None, COMPUTER),
    ("win_os_version", None, OS_VERSION),
    ("win_vm_adapters", None, VM_ADAPTERS),
    ("win_rsc_autosize", None, RSC_AUTOSIZE),
    ("win_ip_interface", None, IP_INTERFACES),
    ("win_lbfo", None, TEAMS),
    ("win_uro", Some("netsh int udp show global"), URO),
    (
        "win_tcp_global",
        Some("netsh int tcp show global"),
        TCP_GLOBAL,
    ),
];
