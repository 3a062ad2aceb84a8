//! User-mode Linux: a kernel of its own as an ordinary process, with what this machine's kernel may
//! lack (bonding, IPVS, ESP and many kinds of tunnels). It boots in seconds, without root or KVM.
//!
//! Its root is this machine's, read only; `/run`, `/proc` and `/sys` are its own.

use crate::{Error, Unavailable};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Where Debian's package `user-mode-linux` puts the kernel and its modules.
const KERNEL: &str = "/usr/bin/linux.uml";
const MODULES: &str = "/usr/lib/uml/modules";
/// What the guest prints at the end, before the status of its program.
const STATUS: &str = "coalescope-uml-status";

/// A user-mode kernel that is installed here.
#[derive(Clone, Debug)]
pub struct Uml {
    kernel: PathBuf,
    memory_mib: u32,
}

/// What became of a program in the guest.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What the program, and perhaps the kernel, printed.
    pub console: String,
    /// The program's exit status; `None` if the guest ended without it or was ended for being late.
    pub status: Option<i32>,
}

impl Uml {
    /// Finds the installed kernel and what its guest needs.
    pub fn find() -> Result<Self, Unavailable> {
        let needed = [KERNEL, MODULES, "/bin/busybox", "/sbin/modprobe"];
        match needed.iter().find(|path| !Path::new(path).exists()) {
            None => Ok(Self {
                kernel: KERNEL.into(),
                memory_mib: 512,
            }),
            Some(path) => Err(Unavailable {
                reason: format!("{path} is missing; install user-mode-linux, busybox and kmod"),
            }),
        }
    }

    /// Gives the guest another amount of memory than 512 MiB.
    #[must_use]
    pub fn memory_mib(mut self, mib: u32) -> Self {
        self.memory_mib = mib;
        self
    }

    /// Boots, loads modules (those that this kernel lacks are passed over), runs a program as root
    /// of the guest, and powers off; ends all of it after `limit`. The guest sees the program where
    /// it is here, but nothing below `/run`.
    pub fn run(
        &self,
        modules: &[&str],
        program: &Path,
        arguments: &[&str],
        limit: Duration,
    ) -> Result<Finished, Error> {
        let folder = Folder::make()?;
        let init = folder.0.join("init");
        let script = script(modules, program, arguments);
        fs::write(&init, script).map_err(Error::io("write the guest's first program"))?;
        make_executable(&init)?;
        let child = self.boot(&init, &folder.0)?;
        let console = watch(child, limit)?;
        let status = status(&console);
        Ok(Finished { console, status })
    }

    /// In a process group of its own: the kernel has processes of its own for the guest's.
    fn boot(&self, init: &Path, folder: &Path) -> Result<Child, Error> {
        let mut command = Command::new(&self.kernel);
        command
            .arg(format!("mem={}M", self.memory_mib))
            .args(["rootfstype=hostfs", "rootflags=/", "ro", "quiet"])
            .arg(format!("init={}", init.display()))
            .arg(format!("uml_dir={}", folder.display()))
            .args(["con=null", "con0=fd:0,fd:1"])
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        command
            .spawn()
            .map_err(Error::io(format!("start {}", self.kernel.display())))
    }
}

/// A folder of our own that goes away again.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("coalescope-uml-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).map_err(Error::io(format!("make {}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(Error::io(format!("make {} executable", path.display())))
}

/// The guest's first program.
fn script(modules: &[&str], program: &Path, arguments: &[&str]) -> String {
    let words = arguments.iter().map(|word| quoted(word));
    let arguments: Vec<_> = words.collect();
    format!(
        "#!/bin/sh\n\
         export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run\n\
         mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run\n\
         mkdir -p /run/lib/modules\n\
         ln -s {MODULES}/$(uname -r) /run/lib/modules/$(uname -r)\n\
         for module in {}; do modprobe -q -d /run $module; done\n\
         ip link set lo up\n\
         {} {}\n\
         echo {STATUS} $?\n\
         busybox poweroff -f\n",
        modules.join(" "),
        quoted(&program.to_string_lossy()),
        arguments.join(" "),
    )
}

/// One word to the shell, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Everything that the guest prints until it powers off, or is ended.
fn watch(mut child: Child, limit: Duration) -> Result<String, Error> {
    let action = "read what user-mode Linux prints";
    let pipe = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut console = Vec::new();
        let read = pipe.map(|mut pipe| pipe.read_to_end(&mut console));
        let _ = sender.send(());
        read.unwrap_or(Ok(0)).map(|_| console)
    });
    // Late or not: nothing of it is to stay.
    let _ = receiver.recv_timeout(limit);
    end(&mut child);
    let console = reader
        .join()
        .unwrap_or_else(|_| Ok(Vec::new()))
        .map_err(Error::io(action))?;
    Ok(String::from_utf8_lossy(&console).replace('\r', ""))
}

fn end(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// The status that the guest's first program printed last.
fn status(console: &str) -> Option<i32> {
    let mut lines = console.lines().rev();
    lines
        .find_map(|line| line.trim().strip_prefix(STATUS))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        let script = script(&["veth"], Path::new("/bin/a b"), &["$HOME"]);
        assert!(script.contains("\n'/bin/a b' '$HOME'\n"), "{script}");
    }

    #[test]
    fn the_status_is_the_last_one_printed() {
        assert_eq!(status("x\ncoalescope-uml-status 3\n"), Some(3));
        assert_eq!(status("killed"), None);
    }

    #[test]
    fn a_program_runs_in_a_kernel_of_its_own() {
        let uml = match Uml::find() {
            Ok(uml) => uml,
            Err(reason) => {
                return eprintln!("SKIPPED, a_program_runs_in_a_kernel_of_its_own: {reason}");
            }
        };
        let limit = Duration::from_secs(60);
        let arguments = [
            "-c",
            "ip link add d0 type dummy && cat /proc/cpuinfo && exit 7",
        ];
        let finished = uml
            .run(&["dummy"], Path::new("/bin/sh"), &arguments, limit)
            .expect("it boots");
        assert_eq!(finished.status, Some(7), "{}", finished.console);
        assert!(finished.console.contains("User Mode Linux"));
    }
}
