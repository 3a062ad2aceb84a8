//! Commands on other hosts.

use super::error::last_line;
use super::{End, Ended, Error};
use std::process::Command;

/// The variable that names another program than `ssh`; the program is called with the same arguments.
const PROGRAM: &str = "COALESCOPE_SSH";
/// ssh(1) exits with this code when ssh itself failed, and also when the command exited with it.
const FAILED: i32 = 255;
/// Printed at the other end if the command itself exited with 255.
const OURS: &str = "coalescope: the command itself exited with 255";

/// ssh to `host` with the words quoted for a POSIX shell there, and ssh's own name. `BatchMode`
/// keeps ssh from asking for a password that nobody will type.
pub(super) fn command(host: &str, words: &[String]) -> Result<(Command, String), Error> {
    let program = std::env::var(PROGRAM).ok().filter(|name| !name.is_empty());
    let program = program.unwrap_or_else(|| "ssh".to_owned());
    let mut command = Command::new(&program);
    command.args(["-o", "BatchMode=yes", host, "--", &remote(words)?]);
    Ok((command, program))
}

/// The command line for the other end's shell. An inner shell distinguishes a command's 255 from
/// ssh's, and the login shell, whichever it is, needs to understand no more than quotes.
fn remote(words: &[String]) -> Result<String, Error> {
    let quoted = join(words.iter().map(String::as_str))?;
    let script = format!(
        "{quoted}; code=$?; if [ $code -eq {FAILED} ]; then echo '{OURS}' >&2; fi; exit $code"
    );
    join(["sh", "-c", &script])
}

/// Quotes words for a shell. Only zero bytes cannot be quoted.
fn join<'a>(words: impl IntoIterator<Item = &'a str> + Clone) -> Result<String, Error> {
    shlex::try_join(words.clone()).map_err(|_| {
        let mut words = words.into_iter();
        let word = words.find(|word| word.contains('\0')).unwrap_or_default();
        Error::zero(word)
    })
}

/// Distinguishes a failure of ssh from a failure of the command.
pub(super) fn understand(host: &str, mut ended: Ended) -> Result<Ended, Error> {
    if ended.end != End::Exited(FAILED) {
        return Ok(ended);
    }
    let mark = format!("{OURS}\n").into_bytes();
    let places = ended.stderr.windows(mark.len());
    match places.enumerate().rev().find(|(_, bytes)| *bytes == mark) {
        Some((at, _)) => {
            ended.stderr.drain(at..at + mark.len());
            Ok(ended)
        }
        None => Err(Error::Ssh {
            host: host.to_owned(),
            last: last_line(&ended.stderr),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end: End, stderr: &str) -> Ended {
        Ended {
            wall_s: 1.0,
            end,
            stdout: Vec::new(),
            stdout_cut: false,
            stderr: stderr.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_code_of_ssh_is_no_code_of_the_command() {
        let text = "ssh: Could not resolve hostname nowhere\r\n";
        let error = understand("nowhere", ended(End::Exited(255), text)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("ssh to nowhere failed: ssh: Could not resolve hostname nowhere;"));
    }

    #[test]
    fn a_code_of_the_command_is_not_one_of_ssh() {
        let text = format!("bad luck\n{OURS}\nConnection closed\n");
        let ended = understand("host", ended(End::Exited(255), &text)).expect("it was run");
        assert_eq!(ended.end, End::Exited(255));
        assert_eq!(ended.stderr, b"bad luck\nConnection closed\n");
    }

    #[test]
    fn words_survive_two_shells() {
        let words = ["printf", "%s|", "a b", "it's", "$HOME", "\"", "\\", "*", ""];
        let line = remote(&words.map(str::to_owned)).expect("a line");
        let output = Command::new("sh").args(["-c", &line]).output();
        let output = output.expect("a shell");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "a b|it's|$HOME|\"|\\|*||"
        );
    }
}
