//! Saved output of Windows: cmdlets as table, as list (`| fl`) or by ConvertTo-Json; `systeminfo`,
//! `ver`.
//!
//! Advanced properties are known by their registry keyword (`*JumboPacket`) with the registry's
//! value; without a keyword by the display name with the displayed value, as printed. Global offload
//! settings that are on or off are flags. `RscStatistics` are statistics `Rsc.CoalescedPackets` and
//! so on, which only JSON shows.

mod adapters;
mod forms;
mod json;
mod kind;
mod list;
pub(crate) mod passing;
mod record;
mod settings;
mod switches;
mod system;
mod table;

use self::kind::{Kind, kind};
use super::Reader;

/// Readers of this platform, the most particular first.
pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "Get-VMSwitch",
        recognises: |text| kind(text) == Some(Kind::Switch),
        read: switches::read,
    },
    Reader {
        name: "Get-NetAdapterLso",
        recognises: |text| kind(text) == Some(Kind::Lso),
        read: adapters::read_lso,
    },
    Reader {
        name: "Get-NetAdapterRsc",
        recognises: |text| kind(text) == Some(Kind::Rsc),
        read: adapters::read_rsc,
    },
    Reader {
        name: "Get-NetAdapterAdvancedProperty",
        recognises: |text| kind(text) == Some(Kind::Advanced),
        read: settings::read_advanced,
    },
    Reader {
        name: "Get-NetOffloadGlobalSetting",
        recognises: |text| kind(text) == Some(Kind::Offload),
        read: settings::read_offload,
    },
    Reader {
        name: "Get-NetAdapterStatistics",
        recognises: |text| kind(text) == Some(Kind::Statistics),
        read: adapters::read_statistics,
    },
    Reader {
        name: "Get-VMNetworkAdapter",
        recognises: |text| kind(text) == Some(Kind::VmAdapter),
        read: switches::read_vm_adapters,
    },
    Reader {
        name: "Get-NetIPInterface",
        recognises: |text| kind(text) == Some(Kind::IpInterface),
        read: passing::read_ip_interfaces,
    },
    Reader {
        name: "Get-NetLbfoTeam",
        recognises: |text| kind(text) == Some(Kind::Team),
        read: passing::read_teams,
    },
    Reader {
        name: "netsh show global",
        recognises: passing::recognises_globals,
        read: passing::read_globals,
    },
    Reader {
        name: "Get-ComputerInfo",
        recognises: |text| kind(text) == Some(Kind::Computer),
        read: system::read_computer,
    },
    Reader {
        name: "[Environment]::OSVersion",
        recognises: |text| kind(text) == Some(Kind::OsVersion),
        read: system::read_os_version,
    },
    Reader {
        name: "Get-NetAdapter",
        recognises: |text| kind(text) == Some(Kind::Adapter),
        read: adapters::read_adapters,
    },
    Reader {
        name: "ver",
        recognises: system::recognises_ver,
        read: system::read_ver,
    },
    Reader {
        name: "systeminfo",
        recognises: system::recognises_systeminfo,
        read: system::read_systeminfo,
    },
];
