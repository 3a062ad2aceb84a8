//! Commands that run elsewhere: on another machine, in a container, in a network namespace.

use super::{KNOWN, base, parse, strip};

/// What runs its arguments somewhere else.
const ELSEWHERE: &[&str] = &[
    "chroot",
    "crictl",
    "docker",
    "dsh",
    "jexec",
    "kubectl",
    "lxc",
    "lxc-attach",
    "machinectl",
    "nerdctl",
    "nsenter",
    "podman",
    "pct",
    "parallel-ssh",
    "plink",
    "pssh",
    "rsh",
    "ssh",
    "firejail",
    "systemd-nspawn",
    "unshare",
    "VBoxManage",
    "Invoke-Command",
];

/// Whether a command opens a shell elsewhere, in which whatever is typed next runs.
pub(in crate::sources) fn opens_shell(line: &str) -> bool {
    let line = strip(line.trim());
    let last = line.split_whitespace().next_back().unwrap_or_default();
    let is_shell = matches!(base(last), "sh" | "bash" | "ash" | "zsh" | "fish");
    let is_login = line.starts_with("ssh ") && over_ssh(line).is_none();
    // nsenter(1) without a program starts a shell.
    let is_bare =
        line.starts_with("nsenter ") && (last.starts_with('-') || last.parse::<u32>().is_ok());
    let is_there = || {
        let command = parse(line);
        command.elsewhere || command.namespace.is_some()
    };
    (is_shell || is_login || is_bare) && is_there()
}

/// Whether a shell ends with this.
pub(in crate::sources) fn ends_shell(line: &str) -> bool {
    matches!(line, "exit" | "logout")
}

/// Whether a word leads elsewhere, or back, and so is no host's name (`# exit`).
pub(in crate::sources) fn is_way(word: &str) -> bool {
    ELSEWHERE.contains(&word) || ends_shell(word)
}

/// Whether a shell has the prompt of this host: one in another network namespace.
pub(in crate::sources) fn stays_here(line: &str) -> bool {
    let line = strip(line.trim());
    line.starts_with("ip ") || line.starts_with("nsenter ") || line.starts_with("unshare ")
}

/// Subcommands that run a command on another machine or in a container, whatever program has them: `gcloud compute ssh`,
/// `vagrant ssh`, `multipass exec`, `limactl shell`.
const THERE: [&str; 4] = ["ssh", "exec", "rsh", "shell"];

pub(super) fn is_elsewhere(word: &str, rest: &[&str], line: &str) -> bool {
    let has_subcommand = || {
        let mut near = rest.iter().take(2);
        near.any(|word| THERE.contains(word)) || rest.contains(&"exec")
    };
    ELSEWHERE.contains(&word)
        || is_console(word, line)
        || !KNOWN.contains(&word) && has_subcommand()
        || line.contains("| ssh ")
        || matches!(word, "bash" | "sh") && line.contains("ssh ")
        || word == "ip" && line.contains(" -all netns exec ")
        || is_of_nothing(word, line)
}

/// Whether a command prints what it was given, or what a file says that is not in force.
fn is_of_nothing(word: &str, line: &str) -> bool {
    let is_alone = !line.contains([';', '&', '|', '`', '>']) && !line.contains("$(");
    is_alone
        && matches!(
            word,
            "echo" | "printf" | "rg" | "ag" | "zcat" | "xzcat" | "zgrep"
        )
        || word == "sysctl" && line.contains(" --dry-run")
}

/// Options of ssh(1) that have an argument.
const SSH_ARGUMENTS: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// The host and the command of `ssh -p 2222 root@gw 'ip link; sysctl -a'`; none without a command.
pub(in crate::sources) fn over_ssh(line: &str) -> Option<(&str, &str)> {
    let mut rest = strip(line.trim()).strip_prefix("ssh ")?.trim_start();
    while let Some(option) = rest.strip_prefix('-') {
        let (option, behind) = option.split_once(' ')?;
        let takes = option.len() == 1 && SSH_ARGUMENTS.contains(option);
        let behind = behind.trim_start();
        rest = if takes {
            behind.split_once(' ')?.1.trim_start()
        } else {
            behind
        };
    }
    let (host, command) = rest.split_once(' ')?;
    let host = host.rsplit('@').next()?;
    let command = command.trim().trim_matches(['\'', '"']);
    (!host.is_empty() && !command.is_empty()).then_some((host, command))
}

/// The pod and the command of `kubectl exec -n kube-system cilium-a -c agent -- ip link`: what a pod prints is of the node where
/// it has the node's network, else of itself, and never of whoever typed it.
pub(in crate::sources) fn over_exec(line: &str) -> Option<(&str, &str)> {
    let line = strip(line.trim());
    let (before, command) = line.split_once(" -- ")?;
    let mut words = before.split_whitespace();
    let is_it = matches!(words.next(), Some("kubectl" | "oc"));
    let mut rest = words.skip_while(|word| *word != "exec").skip(1);
    let mut pod = None;
    while let Some(word) = rest.next() {
        match word {
            "-n" | "--namespace" | "-c" | "--container" | "--context" => drop(rest.next()),
            _ if word.starts_with('-') => {}
            word => pod = pod.or(word.rsplit('/').next()),
        }
    }
    let pod = pod.filter(|pod| is_it && !pod.is_empty())?;
    Some((pod, command.trim()))
}

/// Whether a command that could be a comment as well (`# ssh access`) runs one of use elsewhere.
pub(in crate::sources) fn runs_elsewhere(line: &str) -> bool {
    let plain = |word: &str| base(word.trim_matches(['\'', '"', ';'])).to_owned();
    let mut words = line.split_whitespace().skip(1).map(plain);
    let is_of_use = |word: String| {
        THERE.contains(&word.as_str()) || word.len() > 3 && KNOWN.contains(&word.as_str())
    };
    parse(line).elsewhere && words.any(is_of_use)
}

/// Within a guest, and not about it.
fn is_console(word: &str, line: &str) -> bool {
    word == "virsh" && line.contains(" console ")
}
