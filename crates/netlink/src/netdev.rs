//! NAPI instances, through the netdev family.
//!
//! Numbers: include/uapi/linux/netdev.h; instances since Linux 6.8, their settings since 6.13.

use crate::attributes::number;
use crate::error::Error;
use crate::generic::{Answer, Family};

const NAPI_GET: u8 = 11;
const IFINDEX: u16 = 1;
const ID: u16 = 2;
const PID: u16 = 4;
const DEFER_HARD_IRQS: u16 = 5;
const GRO_FLUSH_TIMEOUT: u16 = 6;

/// A NAPI instance: a receive queue that is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Napi {
    /// Its id, unique on the machine.
    pub id: u32,
    /// The ifindex of its interface.
    pub interface: u32,
    /// The kernel thread that polls it, if one does.
    pub thread: Option<u32>,
    /// `gro_flush_timeout`, nanoseconds.
    pub gro_flush_timeout_ns: Option<u64>,
    /// `napi_defer_hard_irqs`, polls.
    pub defer_hard_irqs: Option<u64>,
}

/// The netdev family in the namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netdev {
    family: Family,
}

impl Netdev {
    /// Opens the family.
    pub fn open() -> Result<Self, Error> {
        let family = Family::open("netdev")?;
        Ok(Self { family })
    }

    /// All instances in the namespace; only interfaces that are up have any.
    pub fn napi(&self) -> Result<Vec<Napi>, Error> {
        let answers = self
            .family
            .dump(NAPI_GET, &[], &[], "list the NAPI instances")?;
        Ok(answers.iter().filter_map(instance).collect())
    }

    /// The instances of one interface.
    pub fn napi_of(&self, index: u32) -> Result<Vec<Napi>, Error> {
        let action = format!("list the NAPI instances of interface {index}");
        let request = [number(IFINDEX, index)];
        let answers = self.family.dump(NAPI_GET, &[], &request, &action)?;
        let all = answers.iter().filter_map(instance);
        Ok(all.filter(|napi| napi.interface == index).collect())
    }
}

fn instance(answer: &Answer) -> Option<Napi> {
    let attributes = answer.attributes();
    Some(Napi {
        id: attributes.u32(ID)?,
        interface: attributes.u32(IFINDEX)?,
        thread: attributes.u32(PID),
        gro_flush_timeout_ns: attributes.uint(GRO_FLUSH_TIMEOUT),
        defer_hard_irqs: attributes.uint(DEFER_HARD_IRQS),
    })
}
