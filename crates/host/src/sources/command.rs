//! What a command line says about its output: a hint for what the output itself does not tell.

mod elsewhere;

use crate::text::changes;
use elsewhere::is_elsewhere;
pub(super) use elsewhere::{
    ends_shell, is_way, opens_shell, over_exec, over_ssh, runs_elsewhere, stays_here,
};

/// A command line, without what stands around the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// `ethtool -S eth0`, or the file that was printed.
    pub(super) line: String,
    /// The network namespace that it ran in.
    pub(super) namespace: Option<String>,
    /// It ran on another machine or in a container, so its output is not this host's.
    pub(super) elsewhere: bool,
}

impl Command {
    /// Where it ran, without what it says of its output.
    pub(super) fn unsaid(&self) -> Self {
        Self {
            line: String::new(),
            ..self.clone()
        }
    }
}

/// Commands whose output can be of use. Only these make a separator of a line that could be
/// something else, such as `# ` at the begin of a comment.
const KNOWN: &[&str] = &[
    "arp",
    "bridge",
    "brctl",
    "cat",
    "devlink",
    "dladm",
    "dmesg",
    "esxcfg-advcfg",
    "esxcfg-nics",
    "esxcfg-vmknic",
    "esxcfg-vswitch",
    "esxcli",
    "ethtool",
    "freebsd-version",
    "grep",
    "head",
    "hostname",
    "hostnamectl",
    "ifconfig",
    "ip",
    "iptables",
    "iptables-save",
    "ipvsadm",
    "kldstat",
    "lsb_release",
    "lscpu",
    "lsmod",
    "lspci",
    "modinfo",
    "netsh",
    "netstat",
    "networkctl",
    "nft",
    "nmcli",
    "nproc",
    "nstat",
    "ovs-appctl",
    "ovs-dpctl",
    "ovs-ofctl",
    "ovs-vsctl",
    "pciconf",
    "pfctl",
    "route",
    "ss",
    "sw_vers",
    "sysctl",
    "systemd-detect-virt",
    "systeminfo",
    "tail",
    "tc",
    "teamdctl",
    "teamnl",
    "uname",
    "virsh",
    "vmware",
];

/// Folders whose contents a file's path names as on the host.
const ROOTS: &[&str] = &["proc", "sys", "etc"];

/// Folders of sosreport and of Red Hat's insights-client, where files are named after commands.
const NAMED_AFTER_COMMANDS: &[&str] = &["sos_commands", "insights_commands"];

/// Whether a folder of this name lies in a copy of a host's root, or in a sosreport.
pub(super) fn is_root_child(name: &str) -> bool {
    ROOTS.contains(&name) || is_sosreport_child(name)
}

/// Whether a folder of this name lies in a sosreport.
pub(super) fn is_sosreport_child(name: &str) -> bool {
    NAMED_AFTER_COMMANDS.contains(&name)
}

/// Whether this begins with a command whose output can be of use, or with a file's path.
pub(super) fn is_known(line: &str) -> bool {
    let stripped = strip(line.trim());
    let Some(first) = stripped.split_whitespace().next() else {
        return false;
    };
    let word = base(first);
    let path = ["/proc/", "/sys/", "/etc/"];
    let in_root = path.iter().any(|root| first.starts_with(root));
    KNOWN.contains(&word) || in_root || is_cmdlet(word)
}

/// Whether this changes settings of the host, and prints nothing where all goes as asked.
pub(super) fn is_change(line: &str) -> bool {
    let command = parse(line);
    !command.elsewhere && !changes::of(&command.line).is_empty()
}

/// Whether output of this command can be read here: what else a sosreport has of each interface, or of /proc/sys, is of no use
/// and needs no name.
pub(super) fn is_read(line: &str) -> bool {
    let is_setting = line.starts_with("/proc/sys/") && !line.starts_with("/proc/sys/net/");
    let mut words = line.split_whitespace();
    let is_ethtool = words.next().is_some_and(|word| base(word) == "ethtool");
    let mut options = words.filter(|word| word.starts_with('-')).peekable();
    let is_bare = !is_ethtool || options.peek().is_none();
    is_known(line) && !is_setting && (is_bare || options.any(|option| OPTIONS.contains(&option)))
}

/// Options of ethtool(8) whose output is read, or that say in which form another one prints.
const OPTIONS: [&str; 18] = [
    "-k",
    "--show-features",
    "--show-offload",
    "-i",
    "--driver",
    "-S",
    "--statistics",
    "-g",
    "--show-ring",
    "-c",
    "--show-coalesce",
    "-l",
    "--show-channels",
    "-n",
    "-u",
    "--show-nfc",
    "--show-ntuple",
    "-K",
];

/// PowerShell's, that only read.
fn is_cmdlet(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let noun = lower.strip_prefix("get-").unwrap_or_default();
    noun.len() > 2 && noun.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A command's name without its folder.
fn base(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Words in front of a command that take another one, and then those that take so many.
const DRESSING: [(&str, usize); 14] = [
    ("sudo", 0),
    ("doas", 0),
    ("env", 0),
    ("-n", 0),
    ("-E", 0),
    ("-H", 0),
    ("-i", 0),
    ("command", 0),
    ("exec", 0),
    ("nice", 0),
    ("time", 0),
    ("-u", 1),
    ("timeout", 1),
    ("sshpass", 2),
];

/// A line without `sudo`, settings of the environment, a change of folder before it, and the folder of the command.
fn strip(line: &str) -> &str {
    let mut rest = line;
    loop {
        if let Some((_, behind)) = rest.strip_prefix("cd ").and_then(|cd| cd.split_once("&&")) {
            rest = behind.trim_start();
            continue;
        }
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let dressing = DRESSING.iter().find(|(dressing, _)| *dressing == word);
        let behind = dressing.map_or(behind, |(_, takes)| without_words(behind, *takes));
        let variable = word.split_once('=').is_some_and(|(name, _)| {
            name.bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        });
        if behind.is_empty() || !(dressing.is_some() || variable) {
            return rest;
        }
        rest = behind.trim_start();
    }
}

/// What stands behind so many words.
fn without_words(line: &str, count: usize) -> &str {
    (0..count).fold(line.trim_start(), |rest, _| {
        rest.split_once(char::is_whitespace)
            .map_or("", |(_, behind)| behind.trim_start())
    })
}

/// Reads a command line.
pub(super) fn parse(line: &str) -> Command {
    let line = strip(line.trim());
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some(first) = words.first() else {
        return Command::default();
    };
    match (base(first), &words[1..]) {
        ("ip", [object, exec, space, rest @ ..])
            if object.len() > 2 && "netns".starts_with(object) && "exec".starts_with(exec) =>
        {
            within(space, &rest.join(" "))
        }
        ("ip", ["-n" | "-netns", space, rest @ ..]) => {
            within(space, &format!("ip {}", rest.join(" ")))
        }
        // In the pod by which a node of Kubernetes is debugged, the node's own files: it has the node's network.
        ("chroot", ["/host", rest @ ..]) if !rest.is_empty() => parse(&rest.join(" ")),
        ("cat", [file]) if !file.starts_with('-') => plain(file),
        (word, rest) if first.starts_with('/') && KNOWN.contains(&word) => {
            plain(&format!("{word} {}", rest.join(" ")))
        }
        (word, rest) => Command {
            elsewhere: is_elsewhere(word, rest, line),
            ..plain(line)
        },
    }
}

fn plain(line: &str) -> Command {
    Command {
        line: line.trim_end().to_owned(),
        ..Command::default()
    }
}

/// A command that a loop ran for an interface, or that nobody typed in what was given.
pub(super) fn about(interface: &str, of: Option<Command>) -> Command {
    let of = of.unwrap_or_default();
    let looped = of.line.rsplit_once("ethtool ").map_or("", |(_, rest)| rest);
    let option = looped
        .split_whitespace()
        .next()
        .filter(|word| word.starts_with('-'));
    // Settings without a heading are those of `-k` more often than not.
    let option = option.unwrap_or("-k");
    Command {
        line: format!("ethtool {option} {interface}"),
        ..of
    }
}

fn within(namespace: &str, line: &str) -> Command {
    Command {
        namespace: Some(namespace.to_owned()),
        ..parse(line)
    }
}

/// What the path of a file in a sosreport or in a copy of a host's root says; `folders` are those
/// from the root of that tree downwards.
pub(super) fn of_path(folders: &[String], name: &str) -> Option<Command> {
    let at = folders.iter().position(|folder| is_root_child(folder))?;
    let below = &folders[at..];
    if is_sosreport_child(&below[0]) {
        return Some(of_sosreport(below, name));
    }
    Some(plain(&format!("/{}/{name}", below.join("/"))))
}

/// `sos_commands/networking/ethtool_-k_eth0`, and of a namespace
/// `sos_commands/networking/namespaces/NAME/ip_netns_exec_NAME_ethtool_-k_eth0`, which older ones
/// put beside the others.
fn of_sosreport(below: &[String], name: &str) -> Command {
    let folder = below.iter().position(|folder| folder == "namespaces");
    let named = folder.and_then(|at| below.get(at + 1));
    let Some(rest) = name.strip_prefix("ip_netns_exec_") else {
        return plain(&unmangled(name));
    };
    let known = named.and_then(|space| {
        let command = rest.strip_prefix(&mangled(space))?.strip_prefix('_')?;
        Some((space.as_str(), command))
    });
    match known.or_else(|| namespace_of(rest)) {
        Some((space, command)) => within(space, &unmangled(command)),
        None => Command {
            elsewhere: true,
            ..plain(name)
        },
    }
}

/// Splits `NAME_ethtool_-k_eth0` before the first word that is a command.
fn namespace_of(rest: &str) -> Option<(&str, &str)> {
    let gaps = rest.match_indices('_').map(|(at, _)| at);
    let mut splits = gaps.map(|at| (&rest[..at], &rest[at + 1..]));
    splits.find(|(_, command)| {
        let word = command.split('_').next().unwrap_or(command);
        KNOWN.contains(&word)
    })
}

/// sosreport replaces what is no word, `-` or `.`.
fn mangled(name: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    name.chars()
        .map(|c| if keeps(c) { c } else { '_' })
        .collect()
}

/// The command in a file's name. `_` is a blank, but in the name of an interface, which is last.
fn unmangled(name: &str) -> String {
    let mut words = name.splitn(3, '_');
    match (words.next(), words.next(), words.next()) {
        (Some("ethtool"), Some(option), Some(interface)) if option.starts_with('-') => {
            format!("ethtool {option} {interface}")
        }
        (Some("ethtool"), Some(_), _) => name.replacen('_', " ", 1),
        _ => name.replace('_', " "),
    }
}

/// Ends of file names that say nothing.
const ENDINGS: &[&str] = &[".txt", ".log", ".out", ".json", ".raw"];

/// A name without an ending that says nothing.
pub(super) fn stem(name: &str) -> &str {
    let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name)
}

/// Longest name of a Linux interface.
const INTERFACE: usize = 15;

/// What the name of a file says that somebody made by hand: `ethtool_-S_eth0.txt`, `ethtool -S
/// eth0`, `ethtool-S-eth0.out`.
pub(super) fn of_name(name: &str) -> Option<Command> {
    let stem = stem(name.rsplit(['/', '\\']).next().unwrap_or(name));
    if let Some(behind) = stem.strip_prefix("ethtool") {
        return ethtool_name(behind);
    }
    let line = stem.replace('_', " ");
    is_known(&line).then(|| plain(&line))
}

fn ethtool_name(behind: &str) -> Option<Command> {
    let gap = |c: char| matches!(c, ' ' | '_' | '-');
    let rest = behind.trim_start_matches(gap);
    let mut chars = rest.chars();
    let option = chars.next().filter(char::is_ascii_alphabetic)?;
    let interface = chars.as_str().strip_prefix(gap)?;
    let fits = !interface.is_empty() && interface.len() <= INTERFACE && !interface.contains(' ');
    (rest.len() < behind.len() && fits).then(|| plain(&format!("ethtool -{option} {interface}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> Command {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        let name = parts.pop().unwrap();
        of_path(&parts, &name).unwrap()
    }

    #[test]
    fn paths_of_a_sosreport_are_commands() {
        let line = |name: &str| path(name).line;
        assert_eq!(
            line("sos_commands/networking/ethtool_-S_br_ex"),
            "ethtool -S br_ex"
        );
        assert_eq!(
            line("sos_commands/networking/ip_-d_-s_link"),
            "ip -d -s link"
        );
        assert_eq!(
            line("proc/sys/net/ipv4/ip_forward"),
            "/proc/sys/net/ipv4/ip_forward"
        );
        assert_eq!(line("sos_commands/networking/ethtool_eth0"), "ethtool eth0");
    }

    #[test]
    fn namespaces_of_a_sosreport() {
        let new = path("sos_commands/networking/namespaces/a_ip/ip_netns_exec_a_ip_ethtool_-k_t0");
        assert_eq!(new.namespace.as_deref(), Some("a_ip"));
        assert_eq!(new.line, "ethtool -k t0");
        let old = path("sos_commands/networking/ip_netns_exec_qrouter-1_ip_-d_link");
        assert_eq!(old.namespace.as_deref(), Some("qrouter-1"));
        assert_eq!(old.line, "ip -d link");
        assert!(path("sos_commands/networking/ip_netns_exec_what").elsewhere);
    }

    #[test]
    fn command_lines() {
        assert_eq!(
            parse("sudo -n /sbin/ethtool -k  eth0").line,
            "ethtool -k eth0"
        );
        assert_eq!(parse("cat /proc/net/snmp").line, "/proc/net/snmp");
        assert_eq!(parse("LC_ALL=C ip -d link").line, "ip -d link");
        let blue = parse("sudo ip netns exec blue sysctl -a");
        assert_eq!(
            (blue.line.as_str(), blue.namespace.as_deref()),
            ("sysctl -a", Some("blue"))
        );
        assert_eq!(parse("ip -n red -d link").namespace.as_deref(), Some("red"));
        assert!(parse("ssh hv2 ethtool -k eth0").elsewhere);
        assert!(is_known("Get-NetAdapterRsc | fl") && is_known("/proc/net/snmp"));
        assert!(!is_known("Generated by iptables-save") && !is_known("get-"));
    }

    #[test]
    fn ssh_names_its_host() {
        for (line, expected) in [
            ("ssh gw ip link", Some(("gw", "ip link"))),
            (
                "sudo ssh -p 2222 -t root@gw 'ip link; sysctl -a'",
                Some(("gw", "ip link; sysctl -a")),
            ),
            (
                "ssh -o BatchMode=yes -J jump 192.0.2.1 \"uname -a\"",
                Some(("192.0.2.1", "uname -a")),
            ),
            ("ssh gw", None),
            ("ssh -p 22 gw", None),
            ("sshfs a b", None),
        ] {
            assert_eq!(over_ssh(line), expected, "{line}");
        }
    }

    #[test]
    fn exec_names_its_pod() {
        for (line, expected) in [
            (
                "kubectl exec -n kube-system cilium-a -- ip link",
                Some(("cilium-a", "ip link")),
            ),
            (
                "kubectl -n a exec -it pod/b -c agent -- ethtool -k eth0",
                Some(("b", "ethtool -k eth0")),
            ),
            ("oc exec b --namespace=a -- ip link", Some(("b", "ip link"))),
            ("kubectl exec b ip link", None),
            ("kubectl get pods -- x", None),
            ("docker exec b -- ip link", None),
        ] {
            assert_eq!(over_exec(line), expected, "{line}");
        }
    }

    #[test]
    fn names_made_by_hand() {
        let line = |name: &str| of_name(name).map(|command| command.line);
        assert_eq!(
            line("ethtool-S-eth0.txt").as_deref(),
            Some("ethtool -S eth0")
        );
        assert_eq!(
            line("a/ethtool_-k_eth0").as_deref(),
            Some("ethtool -k eth0")
        );
        assert_eq!(line("sysctl_-a.txt").as_deref(), Some("sysctl -a"));
        assert_eq!(line("ethtool-S-of-the-first-hypervisor.txt"), None);
        assert_eq!(line("notes.txt"), None);
    }
}
