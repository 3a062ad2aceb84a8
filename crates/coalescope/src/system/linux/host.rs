//! Settings of this host, with interfaces named as from the outside of namespaces.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use coalescope_host::live as kernel;
use coalescope_host::model::Snapshot;
use coalescope_host::names::key_of;

use crate::cli::LiveArgs;
use crate::speech::{self, in_brief, took};
use crate::suggest::unknown;

/// Where ip-netns(8) keeps names.
const NAMED: &str = "/run/netns";

/// Reads this host. With `--netns NAME`, interfaces are named `ns/NAME/eth0`.
pub(crate) fn this_host(live: &LiveArgs) -> anyhow::Result<Snapshot> {
    let snapshot = collect(live)?;
    Ok(match outside(live)? {
        Some(name) => seen_from_outside(snapshot, &name),
        None => snapshot,
    })
}

/// What the namespace of `--netns` is called from outside: its name under /run/netns, else its path from / on. `None` for
/// the one that this program runs in.
pub(crate) fn outside(live: &LiveArgs) -> anyhow::Result<Option<String>> {
    let Some(path) = live.netns.as_ref().filter(|name| name.contains('/')) else {
        return Ok(live.netns.clone());
    };
    let file = |path: &Path| {
        fs::metadata(path)
            .map(|about| (about.dev(), about.ino()))
            .ok()
    };
    let own = file(Path::new("/proc/thread-self/ns/net"));
    let of_path = file(Path::new(path));
    if of_path.is_some() && of_path == own {
        return Ok(None);
    }
    let mut known = namespaces().into_iter();
    let named =
        known.find(|name| of_path.is_some() && file(&Path::new(NAMED).join(name)) == of_path);
    if named.is_some() {
        return Ok(named);
    }
    // In a setting these end the path: `ns//run/x/eth0:gro=off`.
    if path.contains([':', '=']) {
        bail!("--netns {path}: give the namespace a path without : and =, or a name under {NAMED}");
    }
    let path = std::path::absolute(path).with_context(|| format!("--netns {path}"))?;
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Reads this host.
pub(crate) fn collect(live: &LiveArgs) -> anyhow::Result<Snapshot> {
    refuse_unknown(live)?;
    let begun = Instant::now();
    let snapshot = kernel::collect(&kernel::Options {
        netns: live.netns.clone(),
        all_netns: live.all_netns,
    });
    speech::detail(|| {
        let what = in_brief(&snapshot);
        format!("read {}: {what}, in {}", place(live), took(begun))
    });
    refuse_empty(live, &snapshot)?;
    Ok(snapshot)
}

fn place(live: &LiveArgs) -> String {
    match (&live.netns, live.all_netns) {
        (Some(name), _) => format!("the network namespace {name}"),
        (None, true) => "all network namespaces of this host".to_owned(),
        (None, false) => "this host".to_owned(),
    }
}

/// Refuses a namespace without interfaces: each has at least `lo`, so it could not be read.
fn refuse_empty(live: &LiveArgs, snapshot: &Snapshot) -> anyhow::Result<()> {
    let Some(name) = &live.netns else {
        return Ok(());
    };
    if !snapshot.interfaces.is_empty() {
        return Ok(());
    }
    let why = snapshot.unread.first();
    let why = why.map(|unread| format!("{}: {}", unread.what, unread.why));
    bail!(
        "nothing could be read of the network namespace {name}: {}",
        why.unwrap_or_default()
    )
}

/// Refuses an unknown namespace, with the name that was probably meant.
pub(crate) fn refuse_unknown(live: &LiveArgs) -> anyhow::Result<()> {
    let known = namespaces();
    match &live.netns {
        Some(name) if !name.contains('/') && !known.contains(name) => {
            let known = known.iter().map(String::as_str);
            bail!(unknown(
                "network namespace",
                name,
                known,
                "`ip netns list` lists those with a name"
            ))
        }
        _ => Ok(()),
    }
}

/// The named namespaces.
pub(crate) fn namespaces() -> Vec<String> {
    let entries = fs::read_dir(NAMED).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

/// The snapshot with interfaces named as from outside of their namespace: `ns/NAME/eth0`.
fn seen_from_outside(mut snapshot: Snapshot, name: &str) -> Snapshot {
    let interfaces = std::mem::take(&mut snapshot.interfaces).into_iter();
    snapshot.interfaces = interfaces
        .map(|(key, mut interface)| {
            interface.namespace = Some(name.to_owned());
            (key_of(Some(name), &key), interface)
        })
        .collect();
    let stack = std::mem::take(&mut snapshot.stack);
    snapshot.namespaces.insert(name.to_owned(), stack);
    snapshot
}
