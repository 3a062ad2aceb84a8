//! Settings of rooms while the path runs.

use crate::error::Error as LabError;
use crate::link::Link;
use crate::namespace::{Namespace, write};
use coalescope_incident::Value;
use coalescope_netlink::ethtool::{Ethtool, Offload, matches};
use coalescope_netlink::route::Route;

/// Makes a setting in a room.
pub(super) fn apply(room: &Namespace, value: &Value) -> Result<(), LabError> {
    room.enter(|| match value {
        Value::Feature {
            interface,
            feature,
            on,
        } => set_feature(interface, feature, *on),
        Value::Mtu { interface, bytes } => {
            let index = Link::named(interface)?.index();
            Ok(Route::open()?.set_mtu(interface, index, (*bytes).into())?)
        }
        Value::GsoMaxSize { interface, bytes } => {
            let index = Link::named(interface)?.index();
            Ok(Route::open()?.set_gso_max_size(interface, index, *bytes)?)
        }
        // Only sysctls below net. belong to the namespace; the check of the file refuses others.
        Value::Sysctl { key, value } => {
            write(&format!("/proc/sys/{}", key.replace('.', "/")), value)
        }
    })?
}

/// Sets an offload, named by ethtool's short or long name or the kernel's.
fn set_feature(interface: &str, name: &str, on: bool) -> Result<(), LabError> {
    let pattern = Offload::named(name).map_or(name, |offload| offload.pattern);
    let features = Ethtool::open()?.read_features(interface)?;
    let known = features.iter().filter(|(known, _)| matches(known, pattern));
    let changed = known.filter(|(_, feature)| feature.active != on);
    let wanted: Vec<_> = changed.map(|(known, _)| (known, on)).collect();
    match wanted.is_empty() {
        true => Ok(()),
        false => Link::named(interface)?.set_features(&wanted),
    }
}
