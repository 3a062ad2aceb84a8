//! Programs and maps of the loaded object, by name.

use aya::maps::MapError;
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, ProgramError};
use aya::{Btf, Ebpf};

use super::error::{LoadError, is_denied};

/// Programs that are called for each frame, by name, each with the kernel's tracepoint that calls it.
pub(super) const PROGRAMS: [(&str, &str); 3] = [
    ("received", "netif_receive_skb"),
    ("queued", "net_dev_queue"),
    ("handed", "net_dev_start_xmit"),
];

/// Loads a program for a tracepoint.
pub(super) fn load(
    ebpf: &mut Ebpf,
    name: &'static str,
    event: &str,
    kernel: &Btf,
) -> Result<(), LoadError> {
    let program: Result<&mut BtfTracePoint, _> = program(ebpf, name);
    let loaded = program.and_then(|program| program.load(event, kernel));
    loaded.map_err(|source| refused(name, source))
}

/// Attaches a loaded program to its tracepoint.
pub(super) fn attach(
    ebpf: &mut Ebpf,
    name: &'static str,
) -> Result<BtfTracePointLinkId, LoadError> {
    let program: Result<&mut BtfTracePoint, _> = program(ebpf, name);
    let attached = program.and_then(BtfTracePoint::attach);
    attached.map_err(|source| refused(name, source))
}

/// Detaches it again.
pub(super) fn detach(
    ebpf: &mut Ebpf,
    name: &'static str,
    link: BtfTracePointLinkId,
) -> Result<(), LoadError> {
    let program: Result<&mut BtfTracePoint, _> = program(ebpf, name);
    let detached = program.and_then(|program| program.detach(link));
    detached.map_err(|source| refused(name, source))
}

fn refused(name: &'static str, source: ProgramError) -> LoadError {
    match is_denied(&source) {
        true => LoadError::Denied,
        false => LoadError::Program { name, source },
    }
}

pub(super) fn program<'e, P>(ebpf: &'e mut Ebpf, name: &str) -> Result<&'e mut P, ProgramError>
where
    &'e mut P: TryFrom<&'e mut aya::programs::Program, Error = ProgramError>,
{
    ebpf.program_mut(name)
        .ok_or(ProgramError::NotLoaded)?
        .try_into()
}

pub(super) fn map(ebpf: &mut Ebpf, name: &'static str) -> Result<aya::maps::Map, LoadError> {
    let missing = || MapError::InvalidName {
        name: name.to_owned(),
    };
    Ok(ebpf.take_map(name).ok_or_else(missing)?)
}
