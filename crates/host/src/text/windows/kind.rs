//! Which cmdlet printed a text: by the properties that only its objects have.

use super::super::Text;
use super::forms::{Shape, shape};
use super::{list, table};

/// A cmdlet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Switch,
    Lso,
    Rsc,
    Advanced,
    Offload,
    Statistics,
    VmAdapter,
    IpInterface,
    Team,
    Computer,
    OsVersion,
    Adapter,
}

/// Bytes of JSON that are looked at: one object is shorter.
const LOOKED_AT: usize = 65_536;

/// Cmdlets, and the properties of which all must be there; the most particular first.
const SIGNATURES: &[(Kind, &[&str])] = &[
    (Kind::Switch, &["Name", "SwitchType"]),
    (Kind::Switch, &["Name", "SoftwareRscEnabled"]),
    (Kind::Switch, &["Name", "RscOffloadEnabled"]),
    // Without a name, which the command may tell (`-Name vSwitch0`).
    (Kind::Switch, &["SoftwareRscEnabled", "RscOffloadEnabled"]),
    (Kind::Lso, &["Name", "V1IPv4Enabled"]),
    (Kind::Rsc, &["Name", "IPv4OperationalState"]),
    (Kind::Rsc, &["Name", "IPv6OperationalState"]),
    (Kind::Rsc, &["Name", "IPv4FailureReason"]),
    (Kind::Advanced, &["RegistryKeyword", "RegistryValue"]),
    (Kind::Advanced, &["Name", "DisplayName", "DisplayValue"]),
    (Kind::Offload, &["ReceiveSegmentCoalescing"]),
    (Kind::Statistics, &["Name", "ReceivedBytes", "SentBytes"]),
    (Kind::VmAdapter, &["IsManagementOs", "SwitchName"]),
    (
        Kind::IpInterface,
        &["InterfaceAlias", "NlMtu", "Forwarding"],
    ),
    (Kind::Team, &["Name", "TeamNics", "Members"]),
    (Kind::Computer, &["OsBuildNumber"]),
    (Kind::Computer, &["WindowsProductName", "OsVersion"]),
    (Kind::Computer, &["CurrentBuild", "UBR"]),
    (Kind::OsVersion, &["ServicePack", "VersionString"]),
    (Kind::OsVersion, &["Major", "Minor", "Build", "Revision"]),
    (
        Kind::Adapter,
        &["Name", "InterfaceDescription", "MacAddress"],
    ),
    (
        Kind::Adapter,
        &["Name", "InterfaceDescription", "LinkSpeed"],
    ),
    (Kind::Adapter, &["Name", "InterfaceDescription", "ifIndex"]),
    (
        Kind::Adapter,
        &["Name", "InterfaceDescription", "InterfaceIndex"],
    ),
];

pub(super) fn kind(text: &Text<'_>) -> Option<Kind> {
    let all = |has: &dyn Fn(&str) -> bool| {
        let mut signatures = SIGNATURES.iter();
        let found = signatures.find(|(_, names)| names.iter().all(|name| has(name)));
        found.map(|(kind, _)| *kind)
    };
    match shape(text)? {
        Shape::Json => {
            let start = text.body.get(..LOOKED_AT).unwrap_or(text.body);
            all(&|name| start.contains(&format!("\"{name}\"")))
        }
        Shape::Table => {
            let header = table::header(text.body)?;
            let names = header.names();
            all(&|name| names.contains(&name))
        }
        Shape::List => {
            let names = list::first_names(text.body);
            all(&|name| names.contains(&name))
        }
    }
}
