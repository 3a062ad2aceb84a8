//! User-mode Linux: a kernel of its own as an ordinary process, with what this machine's kernel may
//! lack (bonding, IPVS, ESP and many kinds of tunnels). It boots in seconds, without root or KVM.
//!
//! Its root is this machine's, read only; `/run`, `/proc` and `/sys` are its own.

mod registers;

use crate::error::{Error, Unavailable};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Where Debian's package `user-mode-linux` puts the kernel and its modules.
const KERNEL: &str = "/usr/bin/linux.uml";
const MODULES: &str = "/usr/lib/uml/modules";
/// Arguments of modprobe: the guest does not read this machine's files in /etc/modprobe.d.
const CONFIG: &str = "-C /dev/null";
/// What the guest prints once its modules are loaded.
const UP: &str = "coalescope-uml-up";
/// What the guest prints at the end, before the status of its program.
const STATUS: &str = "coalescope-uml-status";
/// How long it may take until the modules are loaded: it takes 3 s, and a minute where compilers go first.
const BOOT: Duration = Duration::from_secs(300);
/// The guest's memory, as its kernel takes it.
const MEMORY: &str = "mem=512M";
/// How often deadlines and the stop flag are checked.
const LOOK: Duration = Duration::from_millis(50);

/// A user-mode kernel that is installed here.
#[derive(Clone, Debug)]
pub struct Uml {
    kernel: PathBuf,
}

/// A program for a guest, run as its root. The guest sees this machine's files at their paths, read
/// only, but nothing below `/run`, which is the guest's own and the program's working folder.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The program, by its whole path.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [&'a str],
    /// A folder of this machine, by its absolute path, for the files that the guest is booted with;
    /// they stay there.
    pub folder: &'a Path,
    /// Modules to load first, since the guest's kernel does not load them on demand. Modules that
    /// it lacks are skipped.
    pub modules: &'a [&'a str],
    /// Folders of this machine, by their whole paths, that the guest may write.
    pub writable: &'a [&'a Path],
    /// A file in one of these for the program's standard output; otherwise the console.
    pub output: Option<&'a Path>,
    /// How long the program may take.
    pub limit: Duration,
    /// The guest ends when this is set.
    pub stop: Option<&'a AtomicBool>,
    /// Called with each line that the program prints on the console.
    pub heard: Option<&'a dyn Fn(&str)>,
}

/// How a guest ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Own,
    /// It was ended: it had not booted within five minutes.
    NotBooted,
    /// It was ended because the program exceeded its limit.
    Late,
    /// It was ended because `stop` was set.
    Stopped,
}

/// The result of a program in a guest.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What the program, and perhaps the kernel, printed on the console.
    pub console: String,
    /// The program's exit status; `None` if the guest ended without it.
    pub status: Option<i32>,
    /// How the guest ended.
    pub end: End,
}

/// Whether this process runs in user-mode Linux.
#[must_use]
pub fn is_inside() -> bool {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    about.contains("User Mode Linux")
}

impl<'a> Task<'a> {
    /// A task with this limit, without modules, writable folders, output file or callback.
    #[must_use]
    pub fn new(
        program: &'a Path,
        arguments: &'a [&'a str],
        folder: &'a Path,
        limit: Duration,
    ) -> Self {
        Self {
            program,
            arguments,
            folder,
            modules: &[],
            writable: &[],
            output: None,
            limit,
            stop: None,
            heard: None,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl Uml {
    /// Finds the installed kernel and what its guest needs.
    pub fn find() -> Result<Self, Unavailable> {
        let needed = [KERNEL, MODULES, "/bin/busybox", "/sbin/modprobe"];
        if let Some(path) = needed.iter().find(|path| !Path::new(path).exists()) {
            return Err(Unavailable {
                reason: format!("{path} is missing; install user-mode-linux, busybox and kmod"),
            });
        }
        let uml = Self {
            kernel: KERNEL.into(),
        };
        registers::fit(&uml).map(|()| uml)
    }

    /// Runs an ignored test of the calling test program in a guest.
    pub fn run_test(
        &self,
        name: &str,
        folder: &Path,
        modules: &[&str],
        limit: Duration,
    ) -> Result<Finished, Error> {
        let program = std::env::current_exe().map_err(Error::io("find this program's own file"))?;
        let arguments = ["--ignored", "--nocapture", "--exact", name];
        let mut task = Task::new(&program, &arguments, folder, limit);
        task.modules = modules;
        self.run(&task)
    }

    /// Boots, loads modules, runs the program, and powers off. No process of the guest stays,
    /// however the guest ends; if this process is killed, the guest notices and powers off by
    /// itself.
    pub fn run(&self, task: &Task<'_>) -> Result<Finished, Error> {
        let init = task.folder.join("init");
        fs::write(&init, script(task)).map_err(Error::io("write the guest's first program"))?;
        make_executable(&init)?;
        let mut guest = self.boot(&init, task.folder)?;
        let console = guest.0.stdout.take().map(lines_of);
        let (console, end) = console.map_or((Vec::new(), End::Own), |lines| watch(&lines, task));
        drop(guest);
        Ok(Finished {
            status: status(&console),
            console: console.join("\n"),
            end,
        })
    }

    /// Starts the kernel in a process group of its own, since it starts processes of its own for
    /// the guest. Its standard input stays open as long as this process lives.
    fn boot(&self, init: &Path, folder: &Path) -> Result<Guest, Error> {
        let mut command = Command::new(&self.kernel);
        command
            .arg(MEMORY)
            .args([
                "rootfstype=hostfs",
                "rootflags=/",
                "ro",
                "quiet",
                "loglevel=1",
            ])
            .arg(format!("init={}", init.display()))
            .arg(format!("uml_dir={}", folder.display()))
            .args(["con=null", "con0=fd:0,fd:1"])
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let started = command.spawn();
        let started = started.map_err(Error::io(format!("start {}", self.kernel.display())))?;
        Ok(Guest(started))
    }
}

/// The guest's kernel; its process group is killed when this value is dropped.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        if let Ok(group) = i32::try_from(self.0.id()) {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

fn make_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(Error::io(format!("make {} executable", path.display())))
}

/// The guest's init script. Its standard input ends with this process, and the guest powers off then.
fn script(task: &Task<'_>) -> String {
    let words = task.arguments.iter().map(|word| quoted(word));
    let arguments: Vec<_> = words.collect();
    let path = |path: &Path| quoted(&path.to_string_lossy());
    let writable = task.writable.iter().map(|folder| {
        let folder = path(folder);
        format!("mkdir -p {folder}; mount -t hostfs none {folder} -o {folder}\n")
    });
    let output = task.output.map(|file| format!("> {}", path(file)));
    format!(
        "#!/bin/sh\n\
         export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run\n\
         mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run\n\
         exec 3<&0; (cat <&3; busybox poweroff -f) >/dev/null 2>&1 &\n\
         mkdir -p /run/lib/modules\n\
         ln -s {MODULES}/$(uname -r) /run/lib/modules/$(uname -r)\n\
         printf '#!/bin/sh\nexec modprobe {CONFIG} -d /run \"$@\"\n' >/run/modprobe; chmod +x /run/modprobe\n\
         echo /run/modprobe >/proc/sys/kernel/modprobe\n\
         for module in {}; do modprobe {CONFIG} -q -d /run $module; done\n\
         {}\
         ip link set lo up; cd /run\n\
         echo {UP}\n\
         {} {} </dev/null {}\n\
         echo {STATUS} $?\n\
         busybox poweroff -f\n",
        task.modules.join(" "),
        writable.collect::<String>(),
        path(task.program),
        arguments.join(" "),
        output.unwrap_or_default(),
    )
}

/// Quotes one word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Lines from a pipe; the channel closes when no process can write to the pipe any more.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while matches!(pipe.read_until(b'\n', &mut line), Ok(read) if read > 0) {
            let text = String::from_utf8_lossy(&line).replace(['\r', '\n'], "");
            if sender.send(text).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// Collects all lines of the guest until the guest ends, or has to be ended.
fn watch(lines: &Receiver<String>, task: &Task<'_>) -> (Vec<String>, End) {
    let (mut console, mut is_up) = (Vec::new(), false);
    let mut deadline = Instant::now() + BOOT;
    loop {
        let line = match lines.recv_timeout(LOOK) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return (console, End::Own),
        };
        match line {
            Some(line) if !is_up && line == UP => {
                (is_up, deadline) = (true, Instant::now() + task.limit);
            }
            Some(line) => hear(line, &mut console, task.heard.filter(|_| is_up)),
            None => {}
        }
        let is_late = Instant::now() >= deadline;
        match (task.is_stopped(), is_late, is_up) {
            (true, _, _) => return (console, End::Stopped),
            (false, true, true) => return (console, End::Late),
            (false, true, false) => return (console, End::NotBooted),
            (false, false, _) => {}
        }
    }
}

fn hear(line: String, console: &mut Vec<String>, heard: Option<&dyn Fn(&str)>) {
    let is_over = console.iter().any(|line| status_of(line).is_some());
    if let Some(heard) = heard.filter(|_| !is_over && status_of(&line).is_none()) {
        heard(&line);
    }
    console.push(line);
}

/// The exit status in the lines of the guest's init script.
fn status(console: &[String]) -> Option<i32> {
    console.iter().rev().find_map(|line| status_of(line))
}

fn status_of(line: &str) -> Option<i32> {
    line.trim().strip_prefix(STATUS)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("it's"), r"'it'\''s'");
        let (folder, file) = (Path::new("/tmp/x y"), Path::new("/tmp/x y/out"));
        let mut task = Task::new(Path::new("/bin/a b"), &["$HOME"], folder, Duration::ZERO);
        let writable = [folder];
        (task.writable, task.output) = (&writable, Some(file));
        let script = script(&task);
        let run = "\n'/bin/a b' '$HOME' </dev/null > '/tmp/x y/out'\n";
        assert!(script.contains(run), "{script}");
        assert!(
            script.contains("hostfs none '/tmp/x y' -o '/tmp/x y'\n"),
            "{script}"
        );
    }

    #[test]
    fn the_status_is_the_last_one_printed() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(status(&lines("x\ncoalescope-uml-status 3\n")), Some(3));
        assert_eq!(status(&lines("killed")), None);
    }

    fn found(test: &str) -> Option<Uml> {
        coalescope_needs::had(test, Uml::find())
    }

    #[test]
    fn a_program_runs_in_a_kernel_of_its_own() {
        let Some(uml) = found("a_program_runs_in_a_kernel_of_its_own") else {
            return;
        };
        let folder = TempDir::new().expect("a folder");
        let output = folder.path().join("cpuinfo");
        let script = "grep -q ^dummy /proc/modules && cat /proc/cpuinfo && echo here >&2 && exit 7";
        let arguments = ["-c", script];
        let limit = Duration::from_secs(60);
        let mut task = Task::new(Path::new("/bin/sh"), &arguments, folder.path(), limit);
        let heard = std::cell::RefCell::new(Vec::new());
        let hear = |line: &str| heard.borrow_mut().push(line.to_owned());
        let writable = [folder.path()];
        (task.modules, task.writable) = (&["dummy"], &writable);
        task.output = Some(&output);
        task.heard = Some(&hear);
        let finished = uml.run(&task).expect("it boots");
        assert_eq!(
            (finished.status, finished.end),
            (Some(7), End::Own),
            "{}",
            finished.console
        );
        let about = fs::read_to_string(&output).expect("what it printed");
        assert!(about.contains("User Mode Linux"), "{about}");
        assert_eq!(heard.into_inner(), ["here"]);
        assert!(!is_inside());
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let Some(uml) = found("a_program_that_takes_too_long_is_ended") else {
            return;
        };
        let folder = TempDir::new().expect("a folder");
        let task = Task::new(
            Path::new("/bin/sleep"),
            &["100"],
            folder.path(),
            Duration::from_millis(500),
        );
        let finished = uml.run(&task).expect("it boots");
        assert_eq!((finished.status, finished.end), (None, End::Late));
        let stop = AtomicBool::new(true);
        let stopped = Task {
            stop: Some(&stop),
            ..task
        };
        assert_eq!(uml.run(&stopped).expect("it boots").end, End::Stopped);
    }
}
