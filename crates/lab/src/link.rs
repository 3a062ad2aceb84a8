//! Links in the namespace of the calling thread: use them inside of [`Namespace::enter`].

use crate::error::Error;
use crate::namespace::{Namespace, write};
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::netdev::Netdev;
use coalescope_netlink::route::{NewLink, Route};
use nix::net::if_::if_nametoindex;
use nix::unistd::Pid;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

/// `IFF_RUNNING`.
const RUNNING: u32 = 0x40;
/// How long a pair may take to become active: the work queue runs at once, unless the machine is busy.
const ACTIVE_WITHIN: Duration = Duration::from_secs(5);

/// A network interface in the namespace of the thread that looked it up.
#[derive(Clone, Debug)]
pub struct Link {
    name: String,
    index: u32,
}

impl Link {
    /// Finds an interface by name.
    pub fn named(name: &str) -> Result<Self, Error> {
        let index =
            if_nametoindex(name).map_err(Error::system(format!("find the interface {name}")))?;
        Ok(Self {
            name: name.to_owned(),
            index,
        })
    }

    /// The interface's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The ifindex in its namespace.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Sets the interface up.
    pub fn set_up(&self) -> Result<(), Error> {
        Ok(Route::open()?.set_up(&self.name, self.index, true)?)
    }

    /// Whether the kernel has seen the carrier and made the queues active: `dev_get_flags` reports `IFF_RUNNING` by the
    /// operational state, which `linkwatch_do_dev` sets together with both.
    fn is_running(&self, route: &Route) -> Result<bool, Error> {
        let own = route.link(&self.name)?;
        Ok(own.flags & RUNNING != 0)
    }

    /// Sets the length of the transmit queue, in frames.
    pub(crate) fn set_queue_length(&self, frames: u32) -> Result<(), Error> {
        Ok(Route::open()?.set_queue_length(&self.name, self.index, frames)?)
    }

    /// Moves the interface to another namespace, where it has to be looked up anew.
    pub fn move_to(self, namespace: &Namespace) -> Result<(), Error> {
        Ok(Route::open()?.move_to(&self.name, self.index, namespace.room())?)
    }

    /// Turns offloads on or off, by the kernel's names (`tx-tcp-segmentation`). A feature that
    /// cannot be set is an error.
    pub fn set_features(&self, wanted: &[(&str, bool)]) -> Result<(), Error> {
        let outcome = Ethtool::open()?.set_features(&self.name, wanted)?;
        match outcome.refused.into_iter().next() {
            None => Ok(()),
            Some((feature, on)) => Err(Error::Feature {
                link: self.name.clone(),
                feature,
                on,
            }),
        }
    }

    /// Turns off all TCP segmentation offloads of the interface; which there are depends on the kernel.
    pub fn disable_tso(&self) -> Result<(), Error> {
        self.disable(|name| name.starts_with("tx-tcp"))
    }

    /// Turns off everything that merges received frames: GRO, LRO and hardware GRO.
    pub fn disable_receive_merging(&self) -> Result<(), Error> {
        self.disable(|name| name.starts_with("rx-gro") || name == "rx-lro")
    }

    fn disable(&self, which: impl Fn(&str) -> bool) -> Result<(), Error> {
        let features = Ethtool::open()?.read_features(&self.name)?;
        let named = features.active().filter(|name| which(name));
        let off: Vec<_> = named.map(|name| (name, false)).collect();
        if off.is_empty() {
            Ok(())
        } else {
            self.set_features(&off)
        }
    }

    /// Adds an IPv4 address to the interface.
    pub fn add_address(&self, address: Ipv4Addr, prefix: u8) -> Result<(), Error> {
        Ok(Route::open()?.add_address(&self.name, self.index, address, prefix)?)
    }

    /// Writes an attribute under `/sys/class/net`.
    pub fn set_attribute(&self, attribute: &str, value: &str) -> Result<(), Error> {
        write(&format!("/sys/class/net/{}/{attribute}", self.name), value)
    }

    /// Turns on threaded NAPI for the interface, and returns its kernel threads.
    pub(crate) fn thread_napi(&self) -> Result<Vec<Pid>, Error> {
        self.set_attribute("threaded", "1")?;
        let instances = Netdev::open()?.napi_of(self.index)?;
        let threads = instances.iter().filter_map(|napi| napi.thread);
        Ok(threads
            .filter_map(|thread| i32::try_from(thread).ok())
            .map(Pid::from_raw)
            .collect())
    }
}

/// Two Ethernet interfaces with a wire between them, each with one queue.
#[derive(Clone, Debug)]
pub struct Veth {
    /// The end named first.
    pub left: Link,
    /// The end named second.
    pub right: Link,
}

impl Veth {
    /// The longest frames a veth takes: its MTU is 65,535 at most.
    pub const MAX_MTU: u32 = 65_535;
    /// Address of the left end.
    pub(crate) const LEFT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
    /// Address of the right end.
    pub(crate) const RIGHT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];

    /// Makes a veth pair in the calling thread's namespace and sets both ends up.
    pub fn new(left: &str, right: &str, mtu: u32) -> Result<Self, Error> {
        let one = NewLink {
            name: left,
            mac: Some(Self::LEFT_MAC),
            mtu,
        };
        let two = NewLink {
            name: right,
            mac: Some(Self::RIGHT_MAC),
            mtu,
        };
        Route::open()?.add_veth(&one, &two)?;
        let pair = Self {
            left: Link::named(left)?,
            right: Link::named(right)?,
        };
        pair.left.set_up()?;
        pair.right.set_up()?;
        pair.wait_until_active()?;
        Ok(pair)
    }

    /// Waits until both ends send what they are given: the queues of the end that was up first become active in a work
    /// queue (`linkwatch_event`), and until then `noop_qdisc` drops frames without an error. On a machine that keeps the
    /// work queue waiting for longer than [`ACTIVE_WITHIN`], the pair is used as it is.
    fn wait_until_active(&self) -> Result<(), Error> {
        let (route, end) = (Route::open()?, Instant::now() + ACTIVE_WITHIN);
        let is_active =
            || Ok::<_, Error>(self.left.is_running(&route)? && self.right.is_running(&route)?);
        while !is_active()? && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// A VXLAN device for all VNIs: while the device is up, GRO parses UDP frames to its port.
#[derive(Clone, Debug)]
pub struct Vxlan {
    /// The device.
    pub link: Link,
}

impl Vxlan {
    /// Makes a VXLAN device in the calling thread's namespace, listening on `port`, and sets it up.
    pub fn new(name: &str, port: u16) -> Result<Self, Error> {
        Route::open()?.add_vxlan(name, port)?;
        let link = Link::named(name)?;
        link.set_up()?;
        Ok(Self { link })
    }
}
