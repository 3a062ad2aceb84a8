//! Files of /sys/class/net, and what `collect.sh` prints and no program does: who holds TUN devices.

use std::collections::BTreeMap;

use super::out::{Out, is_name, only_line};
use crate::model::{Interface, Owner, Snapshot, Tun};
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `grep '' /sys/class/net/*/gro_flush_timeout`, and other files of an interface.
pub(super) const SYS: Reader = Reader {
    name: "/sys/class/net",
    recognises: |text| sys_file(first_line(text)).is_some(),
    read: sys,
};

/// One of those files: only its path says what it is.
pub(super) const SYS_FILE: Reader = Reader {
    name: "/sys/class/net/INTERFACE",
    recognises: |text| sys_path(text).is_some() && only_line(text).is_some(),
    read: |text, snapshot| {
        let mut out = Out::linux(text, SYS_FILE.name, snapshot);
        let mut block = Interface::default();
        if let (Some((name, file)), Some(line)) = (sys_path(text), only_line(text)) {
            setting(&mut block, file, line);
            out.interface(name, block);
        }
        out.finish();
    },
};

/// Files of an interface that are used.
const FILES: [&str; 4] = [
    "gro_flush_timeout",
    "napi_defer_hard_irqs",
    "threaded",
    "tun_flags",
];

/// The interface and the file of `/sys/class/net/eth0/gro_flush_timeout`, also below its device.
fn sys_path<'a>(text: &Text<'a>) -> Option<(&'a str, &'a str)> {
    let (before, path) = text.command?.rsplit_once("/net/")?;
    let (name, file) = path.trim_end().split_once('/')?;
    let is_it = before.contains("/sys/") && is_name(name) && FILES.contains(&file);
    is_it.then_some((name, file))
}

/// Which processes hold TUN devices.
pub(super) const TUNS: Reader = Reader {
    name: "owners of TUN devices",
    recognises: |text| first_line(text) == "device pid process",
    read: tuns,
};

/// `IFF_TUN`, `IFF_TAP` and `IFF_VNET_HDR` of linux/if_tun.h.
const TUN: u32 = 0x1;
const TAP: u32 = 0x2;
const VNET_HEADER: u32 = 0x4000;

fn sys_file(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.strip_prefix("/sys/class/net/")?.split_once('/')?;
    let (file, value) = rest.split_once(':')?;
    is_name(name).then_some((name, file, value.trim()))
}

fn sys(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SYS.name, snapshot);
    let mut blocks: BTreeMap<&str, Interface> = BTreeMap::new();
    for line in out.lines().filter(|line| !line.is_empty()) {
        match sys_file(line) {
            Some((name, file, value)) => setting(blocks.entry(name).or_default(), file, value),
            None => out.unknown(line),
        }
    }
    for (name, block) in blocks {
        out.interface(name, block);
    }
    out.finish();
}

/// What else is in that folder other texts tell better.
fn setting(block: &mut Interface, file: &str, value: &str) {
    let number = value.parse::<u64>().ok();
    if file == "tun_flags" {
        block.kind = Some("tun".to_owned());
        block.tun = tun(value);
        return;
    }
    let napi = block.napi.get_or_insert_default();
    match file {
        "gro_flush_timeout" => napi.gro_flush_timeout_ns = number,
        "napi_defer_hard_irqs" => napi.defer_hard_irqs = number,
        "threaded" => napi.threaded = number.map(|threaded| threaded != 0),
        _ => {}
    }
}

fn tun(flags: &str) -> Option<Tun> {
    let flags = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()?;
    let mode = match flags & (TUN | TAP) {
        TUN => Some("tun"),
        TAP => Some("tap"),
        _ => None,
    };
    Some(Tun {
        mode: mode.map(str::to_owned),
        vnet_header: Some(flags & VNET_HEADER != 0),
        owners: None,
    })
}

/// `tap0 4711 qemu-system-x86`
fn tuns(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TUNS.name, snapshot);
    let mut owned: BTreeMap<&str, Vec<Owner>> = BTreeMap::new();
    for line in out.lines().skip(1).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(3, ' ');
        let known = (|| {
            let device = words.next()?;
            let pid = words.next()?.parse().ok()?;
            let process = words.next()?.to_owned();
            Some((device, Owner { pid, process }))
        })();
        match known {
            Some((device, owner)) => owned.entry(device).or_default().push(owner),
            None => out.unknown(line),
        }
    }
    for (device, owners) in owned {
        let tun = Tun {
            owners: Some(owners),
            ..Tun::default()
        };
        let block = Interface {
            tun: Some(tun),
            ..Interface::default()
        };
        out.interface(device, block);
    }
    out.finish();
}
