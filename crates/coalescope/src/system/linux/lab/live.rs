//! `coalescope lab run`, `shell` and `clean`, in namespaces.

use std::io;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use coalescope_host::safe::printable_line;
use coalescope_incident::{Build, Incident};
use coalescope_lab::incident::Live;
use coalescope_lab::path::{self, Error};
use coalescope_lab::{Unavailable, become_namespace_root};
use coalescope_report::{LabIncident, LabReport, Skipped, with_causes};
use rustix::io::Errno;

use super::chain;
use super::stopped::unless_stopped;
use crate::cli::{Format, LabRunArgs, LabShellArgs};
use crate::lab::exit;
use crate::lab::list::{chosen, one};
use crate::made::made;
use crate::page::PageFile;
use crate::place::Place;
use crate::system::linux::signals::{outlived, stopped_by_signal};
use crate::{Outcome, output, scratch, speech};

/// The incident of `coalescope demo`: story A.
const DEMO: &str = "openstack-gro";

/// Runs the chain over each incident.
pub(super) fn run(args: &LabRunArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let incidents = chosen(args)?;
    let (report, stopped) = match prepare() {
        Ok(()) => each(args, &incidents)?,
        Err(Error::Unavailable(why)) => (none_of(&incidents, &why.reason), None),
        Err(error) => return Err(error.into()),
    };
    output::print_with_page(&report, args.format, 0, &page, || made(Vec::new()))?;
    match stopped {
        Some(name) => bail!("a signal ended it before {name} was done; nothing of it is left"),
        None => exit::outcome(&report),
    }
}

fn none_of(incidents: &[Incident], why: &str) -> LabReport {
    let skipped = |incident: &Incident| Skipped {
        name: incident.name.clone(),
        why: why.to_owned(),
    };
    LabReport {
        skipped: incidents.iter().map(skipped).collect(),
        ..LabReport::default()
    }
}

/// Each incident, until the first signal; returns as well the name of the one that this has ended.
fn each(args: &LabRunArgs, incidents: &[Incident]) -> anyhow::Result<(LabReport, Option<String>)> {
    let stop = stopped_by_signal().context("cannot listen for signals")?;
    let mut report = LabReport::default();
    for incident in incidents {
        let place = Place::new(args.keep.as_ref().map(|keep| keep.join(&incident.name)))?;
        let (place, own, name) = (Arc::new(place), incident.clone(), incident.name.clone());
        match unless_stopped(&stop, &place, move |place| chain::run(&own, place)) {
            None => return Ok((report, Some(name))),
            Some(Ok(done)) => report.incidents.push(done),
            Some(Err(error)) => match unavailable(&error) {
                Some(why) => report.skipped.push(Skipped { name, why }),
                // A failure must not lose the figures of the other incidents.
                None => report.failed.push(Skipped {
                    name,
                    why: with_causes(error.as_ref()),
                }),
            },
        }
    }
    Ok((report, None))
}

/// Runs story A live; false, with the reason on standard error, if this is not possible.
pub(crate) fn demo(format: Format) -> anyhow::Result<bool> {
    let incident = Incident::named(DEMO)?;
    speech::tell(&format!(
        "{DEMO}, live, in network namespaces: {}",
        incident.title
    ));
    let done = match demonstrated(&incident) {
        Ok(done) => done,
        Err(error) => match unavailable(&error) {
            Some(why) => {
                speech::tell(&format!(
                    "not here: {why}; so captures of a simulated one instead"
                ));
                return Ok(false);
            }
            None => return Err(error),
        },
    };
    let story = done.story(&incident.remedy.value.in_words());
    let report = LabReport {
        incidents: vec![done],
        skipped: Vec::new(),
        failed: Vec::new(),
    };
    let is_text = format == Format::Text;
    if !is_text || !speech::is_quiet() {
        output::print(&report, format, 0)?;
    }
    if is_text {
        output::print_story(&story)?;
    }
    Ok(true)
}

/// Runs the chain of the demonstration.
fn demonstrated(incident: &Incident) -> anyhow::Result<LabIncident> {
    // Before there is a second thread, which could not follow into the user namespace.
    prepare()?;
    let stop = stopped_by_signal().context("cannot listen for signals")?;
    let (place, own) = (Arc::new(Place::new(None)?), incident.clone());
    let done = unless_stopped(&stop, &place, move |place| chain::run(&own, place));
    done.unwrap_or_else(|| bail!("a signal ended it; nothing of it is left"))
}

/// Makes the process root of a namespace if needed, and removes what killed labs have left.
fn prepare() -> Result<(), Error> {
    if !rustix::process::geteuid().is_root() {
        become_namespace_root()?;
        path::hide_run().map_err(|error| refused(&error))?;
    }
    for name in path::clean()? {
        speech::tell(&format!("removed what a killed lab had left: {name}"));
    }
    Ok(())
}

/// Some systems allow a user namespace but give no rights in it, as Ubuntu 24.04 (AppArmor's
/// `unprivileged_userns`).
fn refused(error: &Error) -> Error {
    let reason = error.to_string();
    Unavailable { reason }.into()
}

fn unavailable(error: &anyhow::Error) -> Option<String> {
    match error.downcast_ref::<Error>() {
        Some(Error::Unavailable(why)) => Some(why.to_string()),
        Some(Error::Tap { source, .. }) if is_closed(source) => Some(format!(
            "no TAP device can be made: /dev/net/tun: {source}; run it as root, or let users open that \
             device (chmod 0666 /dev/net/tun, as it is on most systems)"
        )),
        _ => None,
    }
}

/// No such file, no rights, no such device behind the file, or another file in its place.
fn is_closed(error: &io::Error) -> bool {
    let lacking = [
        Errno::NOENT,
        Errno::ACCESS,
        Errno::PERM,
        Errno::NODEV,
        Errno::NXIO,
        Errno::NOTTY,
        Errno::INVAL,
    ];
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| lacking.contains(&errno))
}

/// Runs a shell in the victim's namespace while the incident stays up.
pub(crate) fn shell(args: &LabShellArgs) -> anyhow::Result<Outcome> {
    let incident = one(&args.name)?;
    let is_root = rustix::process::geteuid().is_root();
    prepare()?;
    let live = Live::start(&incident, Build::AsIs)?;
    speech::tell(&format!("{}: {}", incident.name, incident.title));
    for room in incident.rooms() {
        speech::tell(&format!(
            "  {}: ns/{}",
            room.name,
            live.room_name(&room.name)?
        ));
    }
    speech::tell(&commands(&incident, &live, is_root)?);
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let room = live.path().room(live.client())?;
    let status = room
        .enter(|| outlived(Command::new(&shell)))
        .map_err(|error| anyhow!(error))?
        .with_context(|| format!("cannot run {}", shell.to_string_lossy()))?;
    live.stop()?;
    speech::tell(&format!("the shell ended ({status}), and the lab with it"));
    Ok(Outcome::Done)
}

/// Commands to type in the shell, and with root those to type in another terminal, where rooms can
/// be entered by name.
fn commands(incident: &Incident, live: &Live, is_root: bool) -> anyhow::Result<String> {
    let (address, workload) = (live.address(), &incident.workload);
    let measure = format!("measure: coalescope lab get {address} {}", workload.bytes);
    if !is_root {
        return Ok(format!("{measure}\nexit ends it"));
    }
    let [remedy, from] = [
        live.setting(&incident.remedy)?,
        live.room_name(live.client())?.to_owned(),
    ];
    let trial = workload.trial();
    Ok(format!(
        "{measure}\n\
         prove, in another terminal: coalescope ab --set {remedy} --from ns/{from} -- \
         coalescope lab get {address} {trial}\n\
         exit ends it"
    ))
}

/// Removes what killed labs have left.
pub(crate) fn clean() -> anyhow::Result<Outcome> {
    let folders = scratch::clean().into_iter();
    let folders = folders.map(|folder| folder.display().to_string());
    let mut cleaned: Vec<_> = folders.collect();
    match path::clean() {
        Ok(names) => cleaned.extend(names),
        // Names that root's lab gave cannot be removed by this user; a user's own lab leaves none here.
        Err(error) if error.is_denied() && !rustix::process::geteuid().is_root() => {
            speech::tell(
                "labs of root are left alone: `sudo coalescope lab clean` cleans up after them",
            );
        }
        Err(error) => return Err(error.into()),
    }
    for name in &cleaned {
        println!("removed {}", printable_line(name));
    }
    if cleaned.is_empty() {
        println!("there was nothing to remove");
    }
    Ok(Outcome::Done)
}
