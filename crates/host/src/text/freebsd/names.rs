//! What an interface's name tells on FreeBSD: driver and unit.

/// Drivers of network devices of FreeBSD 12 to 15 (section 4 of its manual). A renamed interface or
/// a driver from elsewhere is not in it and has no driver here: its name proves nothing.
const DRIVERS: &[&str] = &[
    "ae", "age", "al", "alc", "ale", "aq", "awg", "ax", "bce", "bfe", "bge", "bnxt", "bxe", "cas",
    "cc", "cpsw", "cxgb", "cxgbe", "cxl", "dc", "dtsec", "dwc", "eqos", "em", "ena", "enetc", "et",
    "ffec", "fxp", "gem", "genet", "gve", "hme", "hn", "iavf", "ice", "ice_sf", "igb", "igc", "ix",
    "ixl", "ixv", "jme", "lem", "lge", "liquidio", "mana", "mce", "memac", "mlxen", "msk",
    "mvneta", "mxge", "my", "neta", "nfe", "nge", "oce", "ql", "qlnxe", "qlxgb", "qlxgbe", "qlxge",
    "re", "rge", "rl", "sfxge", "sge", "sis", "sk", "ste", "stge", "sume", "ti", "vcc", "vcxl",
    "vge", "vmx", "vr", "vtnet", "xl", "xn",
];

/// `ix0` is unit 0 of `ix`; `None` for what is no name and number.
pub(super) fn driver_unit(name: &str) -> Option<(&str, u32)> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let unit = name.get(base.len()..)?.parse().ok()?;
    (!base.is_empty()).then_some((base, unit))
}

/// The driver of a network device of this name, if it is one of FreeBSD's own.
pub(super) fn driver(name: &str) -> Option<&str> {
    let (base, _) = driver_unit(name)?;
    DRIVERS.contains(&base).then_some(base)
}

/// The kind of a cloned interface, by the group that its cloner puts it into or by its name.
pub(super) fn cloned(base: &str) -> Option<&'static str> {
    let kind = match base {
        "lo" => "loopback",
        "bridge" => "bridge",
        "lagg" => "lagg",
        "vlan" | "svlan" => "vlan",
        "epair" => "epair",
        "tap" | "vmnet" => "tap",
        "tun" => "tun",
        "wg" => "wg",
        "enc" => "enc",
        "gif" => "gif",
        "gre" => "gre",
        "vxlan" => "vxlan",
        "ipsec" => "ipsec",
        "ovpn" => "ovpn",
        "stf" => "stf",
        "pflog" => "pflog",
        "pfsync" => "pfsync",
        "wlan" => "wlan",
        "disc" => "disc",
        "edsc" => "edsc",
        "me" => "me",
        _ => return None,
    };
    Some(kind)
}

/// The kind by the interface's own name: `epair0a`, `tap3`, `ix0.100`.
pub(super) fn cloned_by_name(name: &str) -> Option<&'static str> {
    let ab = name.strip_suffix(['a', 'b']);
    if ab.is_some_and(|rest| matches!(driver_unit(rest), Some(("epair", _)))) {
        return Some("epair");
    }
    cloned(driver_unit(name)?.0)
}
