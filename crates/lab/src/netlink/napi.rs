//! The NAPI instances of an interface: which kernel thread polls it.
//!
//! Numbers: include/uapi/linux/netdev.h; the family has NAPI instances since Linux 6.8.

use super::Attributes;
use super::generic::Family;
use crate::Error;
use nix::libc;
use nix::unistd::Pid;

const NAPI_GET: u8 = 11;
const A_NAPI_IFINDEX: u16 = 1;
const A_NAPI_PID: u16 = 4;

/// The threads that poll an interface; none if its NAPI is not threaded.
pub(crate) fn threads(link: &str, index: u32) -> Result<Vec<Pid>, Error> {
    let family = Family::open("netdev")?;
    let request = family
        .request(NAPI_GET, libc::NLM_F_DUMP)
        .number(A_NAPI_IFINDEX, index);
    let answers = family.ask(request, &format!("find the NAPI threads of {link}"))?;
    let of_link = answers
        .iter()
        .filter(|answer| Attributes(answer).number(A_NAPI_IFINDEX) == Some(index));
    let pids = of_link.filter_map(|answer| Attributes(answer).number(A_NAPI_PID));
    Ok(pids
        .filter_map(|pid| i32::try_from(pid).ok())
        .map(Pid::from_raw)
        .collect())
}
