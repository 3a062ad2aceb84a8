//! Commands on other hosts.

use super::error::last_line;
use super::{End, Ended, Error};
use std::process::Command;

/// Names another program than `ssh`; it is called with the same arguments.
const PROGRAM: &str = "COALESCOPE_SSH";
/// With this code ssh(1) ends when it failed itself, and when the command ended with it.
const FAILED: i32 = 255;
/// What the other end prints when it was the command that ended with 255.
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

/// The line for the shell at the other end. An inner shell tells a command's 255 from ssh's, and
/// keeps the login shell, whatever it is, from having to understand more than quotes.
fn remote(words: &[String]) -> Result<String, Error> {
    let quoted = join(words.iter().map(String::as_str))?;
    let script = format!(
        "{quoted}; code=$?; if [ $code -eq {FAILED} ]; then echo '{OURS}' >&2; fi; exit $code"
    );
    join(["sh", "-c", &script])
}

/// Zero bytes are all that cannot be quoted.
fn join<'a>(words: impl IntoIterator<Item = &'a str> + Clone) -> Result<String, Error> {
    shlex::try_join(words.clone()).map_err(|_| {
        let mut words = words.into_iter();
        let word = words.find(|word| word.contains('\0')).unwrap_or_default();
        Error::zero(word)
    })
}

/// Tells a failure of ssh from one of the command.
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
