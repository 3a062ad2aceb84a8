//! A command, run at a vantage: in a group of its own, with an end that always comes.
//!
//! [`run`] starts the command here, in a network namespace or on another host over ssh, reads what
//! it prints and gives back how it ended and how long it took. [`capture`] is for short commands of
//! our own, of which only the output matters.

mod error;
mod group;
mod launch;
mod pipes;
mod ssh;
mod tail;
mod vantage;

pub use error::Error;
pub use vantage::Vantage;

use group::Group;
use pipes::Printed;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// For a command of our own: the other host's answer to a handful of files takes no longer, or it
/// is not to be waited for in the middle of an experiment.
const CAPTURE: Duration = Duration::from_secs(30);

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// One word is a line for `sh -c`, so that pipes work; several are a program and its arguments,
    /// executed as they are.
    pub command: Vec<String>,
    /// It is ended after this time; `None` waits for ever.
    pub timeout: Option<Duration>,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// From just before it was started to its end, in seconds, by the monotonic clock. Over ssh
    /// that is with logging in. What it left running in the background does not count.
    pub wall_s: f64,
    /// How it ended.
    pub end: End,
    /// The last 8 MiB of its standard output: figures come at the end.
    pub stdout: Vec<u8>,
    /// Whether there was more of it, which was thrown away.
    pub stdout_cut: bool,
    /// The last 64 KiB of its standard error.
    pub stderr: Vec<u8>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this exit code. Over ssh, a signal is 128 and its number, as in any shell.
    Exited(i32),
    /// By this signal, which was not ours.
    Signalled(i32),
    /// It was ended when its time was over.
    TimedOut,
    /// It was ended because `stop` was set.
    Stopped,
}

impl Ended {
    /// Whether it ended by itself with exit code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.end == End::Exited(0)
    }
}

/// Runs a command at a vantage and waits for its end.
///
/// It has a process group of its own and nothing to read. When its time is over or `stop` is set,
/// the group gets SIGTERM, and SIGKILL two seconds later. A process that it leaves behind with its
/// output open is not waited for, and lives on if the command ended by itself. Over ssh it is the
/// ssh process that is ended: sshd(8) then closes the command's input and output, and one that
/// neither reads nor writes goes on at the other end.
///
/// In a namespace the command sees that namespace's `/sys` as well; files of `/etc/netns/NAME` are
/// not put in the place of those of `/etc`, as `ip netns exec` does.
///
/// # Errors
///
/// If it could not be started (no such program, no such namespace, no rights), or ssh failed before
/// it could say how the command ended. A command that fails is no error: see [`Ended::end`].
pub fn run(workload: &Workload, vantage: &Vantage, stop: &AtomicBool) -> Result<Ended, Error> {
    let words = words(workload)?;
    match vantage {
        Vantage::Here | Vantage::Namespace(_) => {
            let group = launch::start(local(&words), &words[0], vantage)?;
            follow(group, workload.timeout, stop)
        }
        Vantage::Ssh(host) => {
            let (command, program) = ssh::command(host, &words)?;
            let group = launch::start(command, &program, vantage)?;
            ssh::understand(host, follow(group, workload.timeout, stop)?)
        }
    }
}

/// What a short command prints; its words are executed as they are.
///
/// # Errors
///
/// As [`run`], and if it does not end with exit code 0 within 30 s or prints more than 8 MiB.
pub fn capture(vantage: &Vantage, words: &[&str]) -> Result<Vec<u8>, Error> {
    let workload = Workload {
        command: words.iter().map(|&word| word.to_owned()).collect(),
        timeout: Some(CAPTURE),
    };
    let ended = run(&workload, vantage, &AtomicBool::new(false))?;
    let why = match ended.end {
        End::Exited(0) if ended.stdout_cut => "printed more than 8 MiB".to_owned(),
        End::Exited(0) => return Ok(ended.stdout),
        End::Exited(code) => format!("exited with {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        End::TimedOut | End::Stopped => format!("took more than {} s", CAPTURE.as_secs()),
    };
    Err(Error::Failed {
        command: words.join(" "),
        vantage: vantage.to_string(),
        why,
        last: error::last_line(&ended.stderr),
    })
}

/// The program and its arguments.
fn words(workload: &Workload) -> Result<Vec<String>, Error> {
    let words = match workload.command.as_slice() {
        [] => return Err(Error::Empty),
        [line] if line.trim().is_empty() => return Err(Error::Empty),
        [line] => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
        [program, ..] if program.is_empty() => return Err(Error::Empty),
        words => words.to_vec(),
    };
    match words.iter().find(|word| word.contains('\0')) {
        Some(word) => Err(Error::zero(word)),
        None => Ok(words),
    }
}

fn local(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn follow(group: Group, timeout: Option<Duration>, stop: &AtomicBool) -> Result<Ended, Error> {
    let (end, wall, printed) = group.follow(timeout, stop)?;
    let Printed { stdout, stderr } = printed;
    let (stdout, stdout_cut) = stdout.into_bytes();
    Ok(Ended {
        wall_s: wall.as_secs_f64(),
        end,
        stdout,
        stdout_cut,
        stderr: stderr.into_bytes().0,
    })
}
