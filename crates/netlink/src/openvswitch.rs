//! Datapaths of Open vSwitch in the kernel, and their ports.
//!
//! Numbers: include/uapi/linux/openvswitch.h.

use crate::error::Error;
use crate::generic::{Answer, Family};

const GET: u8 = 3;
/// `struct ovs_header`: the datapath's ifindex.
const HEADER: usize = 4;
const DATAPATH_NAME: u16 = 1;
const PORT_TYPE: u16 = 2;
const PORT_NAME: u16 = 3;

/// A datapath: the kernel's side of one or more bridges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datapath {
    /// Its name: `ovs-system`.
    pub name: String,
    /// Its ports.
    pub ports: Vec<Port>,
}

/// A port of a datapath.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name, mostly that of an interface.
    pub name: String,
    /// `system`, `internal`, `gre`, `vxlan` or `geneve`; `None` for a newer one.
    pub kind: Option<&'static str>,
}

/// All datapaths in the calling thread's namespace.
pub fn datapaths() -> Result<Vec<Datapath>, Error> {
    let family = Family::open("ovs_datapath")?;
    let vports = Family::open("ovs_vport")?;
    let answers = family.dump(GET, &[0; HEADER], &[], "list the datapaths")?;
    answers
        .iter()
        .filter_map(|answer| datapath(&vports, answer).transpose())
        .collect()
}

fn datapath(vports: &Family, answer: &Answer) -> Result<Option<Datapath>, Error> {
    let (Some(number), Some(name)) = (
        answer.own_header::<HEADER>(),
        answer.after(HEADER).text(DATAPATH_NAME),
    ) else {
        return Ok(None);
    };
    let action = format!("list the ports of {name}");
    let ports = vports.dump(GET, number, &[], &action)?;
    Ok(Some(Datapath {
        name,
        ports: ports.iter().filter_map(port).collect(),
    }))
}

fn port(answer: &Answer) -> Option<Port> {
    let attributes = answer.after(HEADER);
    let kind = match attributes.u32(PORT_TYPE)? {
        1 => Some("system"),
        2 => Some("internal"),
        3 => Some("gre"),
        4 => Some("vxlan"),
        5 => Some("geneve"),
        _ => None,
    };
    Some(Port {
        name: attributes.text(PORT_NAME)?,
        kind,
    })
}
