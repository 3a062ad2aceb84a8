//! The kernel's own descriptions of its events.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Where it is mounted.
const MOUNTED: [&str; 2] = [
    "/sys/kernel/tracing/events",
    "/sys/kernel/debug/tracing/events",
];

/// The file system of tracepoints.
pub(super) struct Tracefs {
    events: PathBuf,
    /// Holds a mount of our own.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// The mounted one, or one of our own that no other process sees.
    pub(super) fn open() -> io::Result<Self> {
        let mut mounted = MOUNTED.iter().map(PathBuf::from);
        match mounted.find(|events| events.join("net").is_dir()) {
            Some(events) => Ok(Self {
                events,
                _mount: None,
            }),
            None => Self::own(),
        }
    }

    /// A mount without a place in the tree: nothing of this host changes.
    fn own() -> io::Result<Self> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(context.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOSUID;
        let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        let events = format!("/proc/self/fd/{}/events", mount.as_raw_fd());
        Ok(Self {
            events: events.into(),
            _mount: Some(mount),
        })
    }

    /// The description of an event; an error if the kernel has none of that name.
    pub(super) fn format(&self, event: &str) -> io::Result<String> {
        fs::read_to_string(self.events.join(event).join("format"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use coalescope_needs as needs;

    #[test]
    fn a_mount_of_our_own_describes_the_same_events() {
        let test = "tracefs";
        let Some(own) = needs::had(test, Tracefs::own()) else {
            return;
        };
        let event = "net/net_dev_queue";
        let said = own.format(event).unwrap();
        assert!(said.contains("field:unsigned int len;"), "{said}");
        if let Ok(mounted) = Tracefs::open() {
            assert_eq!(mounted.format(event).unwrap(), said);
        }
        assert!(own.format("net/no_such_event").is_err());
    }
}
