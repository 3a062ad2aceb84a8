//! Landlock, `no_new_privs`, and an unprivileged user instead of root.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
    path_beneath_rules,
};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_keep_capabilities,
};

use crate::speech;

/// The newest version that the crate knows; on an older kernel, the rights that it has are used.
const NEWEST: ABI = ABI::V10;
/// The user of the kernel's overflow uid (`/proc/sys/kernel/overflowuid`), which systems call nobody.
const NOBODY: u32 = 65_534;

/// The rights to make a file beside another and to rename it; an existing file is overwritten.
const WRITE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    MakeReg | WriteFile | ReadFile | ReadDir | RemoveFile | Truncate
});

/// Gives up all rights but reading these folders and writing these outputs. What the kernel lacks
/// is skipped; `-v` reports what is in effect.
pub(crate) fn give_up(folders: &[PathBuf], outputs: &[PathBuf]) {
    let files = restrict(folders, outputs);
    let user = leave(folders, outputs);
    speech::detail(|| format!("confined: no new privileges; {}; {user}", words(&files)));
}

/// Restricts this thread and its children to files that are open, and to these paths.
fn restrict(folders: &[PathBuf], outputs: &[PathBuf]) -> Result<RestrictionStatus, RulesetError> {
    // Also without Landlock. This cannot fail from Linux 3.5 on.
    let _ = rustix::thread::set_no_new_privs(true);
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(
            folders,
            AccessFs::from_read(ABI::V1) & !AccessFs::Execute,
        ))?
        .add_rules(path_beneath_rules(outputs, WRITE))?
        .restrict_self()
}

fn words(files: &Result<RestrictionStatus, RulesetError>) -> String {
    let status = match files {
        Err(error) => return format!("no Landlock ({error})"),
        Ok(status) => status,
    };
    match (&status.ruleset, &status.landlock) {
        (RulesetStatus::NotEnforced, _) => "no Landlock in this kernel".to_owned(),
        (_, LandlockStatus::Available { effective_abi, .. }) if *effective_abi < ABI::V4 => {
            format!(
                "no files but those given (Landlock, version {})",
                *effective_abi as i32
            )
        }
        (_, LandlockStatus::Available { effective_abi, .. }) => format!(
            "no files but those given, no TCP (Landlock, version {})",
            *effective_abi as i32
        ),
        _ => "no files but those given (Landlock)".to_owned(),
    }
}

/// Root becomes another user, unless a file is to be made, which would then belong to that user.
/// Root's capabilities are given up, but for those that opening the paths needs.
fn leave(folders: &[PathBuf], outputs: &[PathBuf]) -> String {
    let is_left = outputs.is_empty() && geteuid().is_root() && become_nobody().is_ok();
    let user = match is_left {
        true => format!("user {NOBODY}, "),
        false => String::new(),
    };
    match keep(capabilities_for(folders, outputs)) {
        Ok(kept) if kept.is_empty() => format!("{user}no capabilities"),
        Ok(kept) => format!("{user}no capabilities but {}", names(kept)),
        Err(error) => format!("{user}all capabilities ({error})"),
    }
}

/// Names as in capabilities(7).
fn names(capabilities: CapabilitySet) -> String {
    let names = capabilities.iter_names();
    let names = names.map(|(name, _)| format!("CAP_{name}"));
    names.collect::<Vec<_>>().join(", ")
}

/// Changes the user. The C library does this for all threads of the process. Permitted capabilities
/// are kept until [`keep`].
fn become_nobody() -> nix::Result<()> {
    set_keep_capabilities(true).map_err(|error| nix::Error::from_raw(error.raw_os_error()))?;
    let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
    setgroups(&[])?;
    setresgid(group, group, group)?;
    setresuid(user, user, user)
}

/// Gives up all capabilities but these; returns those that are kept.
fn keep(needed: CapabilitySet) -> rustix::io::Result<CapabilitySet> {
    let held = capabilities(None)?;
    let kept = held.permitted & needed;
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(kept)
}

/// Capabilities that root needs to read others' files, and to make a file in another user's folder.
fn capabilities_for(folders: &[PathBuf], outputs: &[PathBuf]) -> CapabilitySet {
    let mut needed = CapabilitySet::empty();
    if !folders.is_empty() {
        needed |= CapabilitySet::DAC_READ_SEARCH;
    }
    if !outputs.is_empty() {
        needed |= CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER;
        // A file that replaces another one gets its owner and permissions.
        needed |= CapabilitySet::CHOWN | CapabilitySet::FSETID;
    }
    needed
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::ErrorKind::PermissionDenied;
    use std::io::{self, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::thread;

    use super::*;

    const NAME: &str = "a_confined_thread_opens_nothing_else";

    fn kind<T>(result: io::Result<T>) -> Option<io::ErrorKind> {
        result.err().map(|error| error.kind())
    }

    /// Checks files that may be read and written, and others.
    fn look(root: &Path, status: &RestrictionStatus) {
        let at = |path: &str| root.join(path);
        assert_eq!(fs::read(at("in/deep/file")).unwrap(), b"known");
        assert_eq!(
            kind(fs::write(at("in/deep/file"), b"new")),
            Some(PermissionDenied)
        );
        assert_eq!(kind(File::open(at("secret"))), Some(PermissionDenied));
        assert_eq!(kind(File::open(at("in/link"))), Some(PermissionDenied));
        assert_eq!(kind(fs::write(at("new"), b"new")), Some(PermissionDenied));
        File::create_new(at("out/new"))
            .unwrap()
            .write_all(b"new")
            .unwrap();
        fs::rename(at("out/new"), at("out/old")).unwrap();
        // EXDEV, or EACCES where making a file there is forbidden as well (Documentation/userspace-api/landlock.rst).
        let refused = kind(fs::rename(at("out/old"), at("old")));
        let refusals = [PermissionDenied, io::ErrorKind::CrossesDevices];
        assert!(
            refused.is_some_and(|kind| refusals.contains(&kind)),
            "{refused:?}"
        );
        let shell = std::process::Command::new("/bin/sh").status();
        assert_eq!(kind(shell), Some(PermissionDenied));
        if matches!(status.landlock, LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V4)
        {
            assert_eq!(
                kind(TcpListener::bind("127.0.0.1:0")),
                Some(PermissionDenied)
            );
            assert_eq!(
                kind(TcpStream::connect("127.0.0.1:9")),
                Some(PermissionDenied)
            );
        }
    }

    /// Landlock applies to a thread: the other tests keep their rights.
    #[test]
    fn a_confined_thread_opens_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        fs::write(root.join("in/deep/file"), b"known").unwrap();
        fs::write(root.join("secret"), b"secret").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("in/link")).unwrap();
        let mut open = File::open(root.join("secret")).unwrap();
        let confined = thread::spawn(move || {
            let status = restrict(&[root.join("in")], &[root.join("out")]);
            let status = status.unwrap();
            if status.ruleset == RulesetStatus::NotEnforced {
                return coalescope_needs::skipped(NAME, "Landlock in the kernel");
            }
            look(&root, &status);
            // What was opened before stays open.
            assert_eq!(io::copy(&mut open, &mut io::sink()).unwrap(), 6);
        });
        confined.join().unwrap();
    }
}
