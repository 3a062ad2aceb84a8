//! Properties of an interface, from /sys and udev.

use crate::error::Error;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `addr_assign_type` of an address that the device came with (NET_ADDR_PERM).
const PERMANENT: &str = "0";
/// `addr_assign_type` of an address that somebody has set (NET_ADDR_SET), and of one taken from another interface
/// (NET_ADDR_STOLEN).
const SET: &str = "3";
const STOLEN: &str = "2";
/// `name_assign_type` of a name that the kernel has not given (NET_NAME_RENAMED).
const RENAMED: &str = "4";
/// ARPHRD_ETHER, ARPHRD_INFINIBAND and ARPHRD_LOOPBACK, and what udev calls them.
const TYPES: [(&str, &str); 3] = [("1", "ether"), ("32", "infiniband"), ("772", "loopback")];
/// Kinds of interfaces that give their name as DEVTYPE too, and those whose driver has the same name.
const KINDS: [&str; 9] = [
    "bond", "bridge", "geneve", "macvlan", "vlan", "vxlan", "veth", "tun", "dummy",
];
/// Drivers of the interfaces by which containers and virtual machines are connected.
const PLUGS: [&str; 3] = ["veth", "tun", "openvswitch"];

/// One interface.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) index: u32,
    /// Whether there is hardware behind it, or a device that the kernel shows like hardware.
    pub(crate) is_physical: bool,
    pub(crate) permanent_mac: Option<String>,
    /// The name that the kernel gave; `None` if somebody has given another one since.
    pub(crate) original_name: Option<String>,
    /// What udev calls its type (`Type=`).
    pub(crate) udev_type: Option<String>,
    pub(crate) driver: Option<String>,
    /// Where it is plugged in (udev's ID_PATH).
    pub(crate) slot: Option<String>,
    /// The .link file that udev has applied.
    pub(crate) link_file: Option<PathBuf>,
    /// udev has seen it.
    pub(crate) is_in_udev: bool,
    /// What programs make, if it is that.
    pub(crate) made_as: Option<String>,
}

impl Device {
    pub(crate) fn read(tree: &Tree, name: &str) -> Result<Self, Error> {
        let folder = Path::new("/sys/class/net").join(name);
        let index = tree.word(folder.join("ifindex"));
        let index = index.and_then(|text| text.parse().ok());
        let index: u32 = index
            .filter(|_| !name.is_empty() && !name.contains('/'))
            .ok_or_else(|| Error::NoInterface(name.to_owned()))?;
        let udev = udev(tree, index);
        let value = |key: &str| udev.get(key).filter(|value| !value.is_empty()).cloned();
        let is_physical = tree.exists(&folder.join("device"));
        let driver = value("ID_NET_DRIVER");
        Ok(Self {
            name: name.to_owned(),
            index,
            is_physical,
            permanent_mac: permanent_mac(tree, &folder).filter(|_| is_physical),
            original_name: Some(name.to_owned()).filter(|_| !is_renamed(tree, &folder)),
            udev_type: udev_type(tree, &folder),
            made_as: made_as(tree, &folder, index, driver.as_deref()),
            driver,
            slot: value("ID_PATH"),
            link_file: value("ID_NET_LINK_FILE").map(PathBuf::from),
            is_in_udev: !udev.is_empty(),
        })
    }

    /// All interfaces of the machine but this one.
    pub(crate) fn others(&self, tree: &Tree) -> Vec<Self> {
        let names = tree.names(Path::new("/sys/class/net")).into_iter();
        let others = names.filter(|name| *name != self.name);
        // A name that is gone again, or a file that is no interface (bonding_masters).
        others
            .filter_map(|name| Self::read(tree, &name).ok())
            .collect()
    }

    /// Whether the interface has an address when it appears at the next start; `None` if that is not known.
    pub(crate) fn starts_with_mac(
        &self,
        tree: &Tree,
        is_it: &dyn Fn(&str) -> bool,
    ) -> Option<bool> {
        let folder = Path::new("/sys/class/net").join(&self.name);
        let kind = tree.word(folder.join("addr_assign_type"))?;
        let is_now = is_it(&tree.word(folder.join("address"))?);
        match (kind.as_str(), is_now) {
            (PERMANENT, is_now) => Some(is_now),
            // A VLAN has its card's from the beginning, a bond not until it has a port.
            (STOLEN, true) => None,
            (SET, is_now) if is_now || self.is_physical => None,
            // A random one comes never again.
            _ => Some(false),
        }
    }

    /// The kind of a virtual interface (`Kind=`), if it is known.
    pub(crate) fn kind(&self) -> Option<&str> {
        let named = [&self.udev_type, &self.driver];
        let mut named = named.into_iter().filter_map(Option::as_deref);
        named.find(|name| KINDS.contains(name))
    }

    /// Whether it is hardware and no more than that: a port of a switch (DSA) is of a kind as well.
    pub(crate) fn is_hardware(&self) -> bool {
        self.is_physical && self.udev_type.as_deref() != Some("dsa")
    }

    /// Whether another piece of hardware came with the same address: ports of one card, or what
    /// hypervisors pair (Hyper-V's netvsc and its virtual function).
    pub(crate) fn shares_mac(&self, tree: &Tree) -> bool {
        let all = Path::new("/sys/class/net");
        let mut others = tree.names(all).into_iter();
        others.any(|other| {
            let folder = all.join(&other);
            other != self.name
                && tree.exists(&folder.join("device"))
                && permanent_mac(tree, &folder) == self.permanent_mac
        })
    }
}

fn permanent_mac(tree: &Tree, folder: &Path) -> Option<String> {
    let kind = tree.word(folder.join("addr_assign_type"))?;
    let mac = tree.word(folder.join("address"))?;
    let is_one = mac.len() == "00:00:00:00:00:00".len() && mac != "00:00:00:00:00:00";
    (kind == PERMANENT && is_one).then_some(mac)
}

fn is_renamed(tree: &Tree, folder: &Path) -> bool {
    tree.word(folder.join("name_assign_type")).as_deref() == Some(RENAMED)
}

/// DEVTYPE if the kernel gives one, else by the type of hardware, as udev does.
fn udev_type(tree: &Tree, folder: &Path) -> Option<String> {
    let uevent = tree.word(folder.join("uevent")).unwrap_or_default();
    let mut lines = uevent.lines();
    let given = lines.find_map(|line| line.strip_prefix("DEVTYPE="));
    given.map(str::to_owned).or_else(|| {
        let number = tree.word(folder.join("type"))?;
        let mut known = TYPES.iter();
        let (_, name) = known.find(|(own, _)| *own == number)?;
        Some((*name).to_owned())
    })
}

/// Properties in udev's database.
fn udev(tree: &Tree, index: u32) -> BTreeMap<String, String> {
    let text = tree.word(format!("/run/udev/data/n{index}"));
    let text = text.unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix("E:"));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

/// Without udev a veth shows only by what it lacks: hardware, a type, and itself as what it is on.
fn made_as(tree: &Tree, folder: &Path, index: u32, driver: Option<&str>) -> Option<String> {
    if tree.exists(&folder.join("tun_flags")) {
        return Some("TUN or TAP".to_owned());
    }
    if let Some(driver) = driver {
        return PLUGS.contains(&driver).then(|| driver.to_owned());
    }
    let uevent = tree.word(folder.join("uevent"));
    let has_type = uevent.is_some_and(|text| text.contains("DEVTYPE="));
    let below = tree.word(folder.join("iflink"))?.parse::<u32>().ok()?;
    let is_plug = !has_type && !tree.exists(&folder.join("device")) && below != index && below != 0;
    is_plug.then(|| "veth or the like".to_owned())
}
