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

/// The timeout of a command of our own: another host answers with a handful of files in less time,
/// and an experiment does not wait longer.
const CAPTURE: Duration = Duration::from_secs(30);

/// A command and its timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// One word is a line for `sh -c`, so that pipes work; several are a program and its arguments,
    /// executed as they are.
    pub command: Vec<String>,
    /// The command is ended after this time; `None` for no limit.
    pub timeout: Option<Duration>,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// From just before the start to the end of the command, in seconds, by the monotonic clock.
    /// Over ssh this includes the login. Processes that the command left in the background do not
    /// count.
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

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code. Over ssh, a signal is 128 plus its number, as in any shell.
    Exited(i32),
    /// It was ended by this signal, which we did not send.
    Signalled(i32),
    /// We ended it after its timeout.
    TimedOut,
    /// We ended it because `stop` was set.
    Stopped,
}

impl Ended {
    /// Whether the command exited with code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.end == End::Exited(0)
    }
}

/// Runs a command at a vantage and waits for its end.
///
/// The command has a process group of its own and no input. After the timeout, or when `stop` is
/// set, the group gets SIGTERM, and SIGKILL two seconds later. A background process that keeps the
/// command's output open is not waited for, and lives on if the command ended by itself. Over ssh
/// the local ssh process is ended: sshd(8) then closes the command's input and output, and a
/// command that neither reads nor writes goes on at the other end.
///
/// In a namespace the command sees that namespace's `/sys`. Unlike with `ip netns exec`, files of
/// `/etc/netns/NAME` do not replace those of `/etc`.
///
/// # Errors
///
/// If the command could not be started (no such program, no such namespace, no rights), or if ssh
/// failed before it could report how the command ended. A command that fails is no error: see
/// [`Ended::end`].
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

/// The output of a short command; its words are executed as they are.
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
