//! The arguments of what changes settings: `ab`, `fix` and `undo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::watch::time;
use super::{AbFormat, HostFormat, LiveArgs, MemoryArgs, ReportArgs, RulesArgs};

const AB_NOTES: &str = "\
Examples:
  coalescope ab --set eth0:gro=off -- curl -so /dev/null http://server/file
  coalescope ab --factor eth0:gro=on,off --factor eth0:mtu=1500,9000 --iperf3 server
  coalescope ab --set eth0:gro=off --peer ssh:sender -- iperf3 -J -c sender -R
  coalescope ab --from here,ns/vm,ssh:neighbour --fetch http://far.example/file
  coalescope ab --do 'on: ssh hv CMD-ON' --do 'off: ssh hv CMD-OFF' --fetch http://guest/file
  coalescope ab --set sysctl:net.ipv4.tcp_reordering=127 --metric 'speed: ([0-9.]+)' -- ./transfer

A SETTING is IFACE:NAME=VALUE: a feature by its short or long name as ethtool has it (gro,
generic-receive-offload), mtu, what ethtool -c lists (rx-usecs), gro_flush_timeout,
napi_defer_hard_irqs, gso_max_size, gro_max_size; or sysctl:KEY=VALUE. ns/NAME/IFACE is an interface in the network namespace
NAME. With several factors all combinations are run.

Runs come in random blocks that hold each combination once. It ends when the answer is clear. All
settings are restored, by a process of its own if this one is killed; after a crash, coalescope undo.

Exit codes:
  0  done, whatever the answer; all settings are as they were
  2  usage error, or something went wrong; settings are as they were, results are kept
  3  a setting could not be restored";

const FIX_NOTES: &str = "\
Examples:
  coalescope fix                       show what check would have changed
  coalescope fix hypervisor-gro-wan-download --apply
  coalescope fix --apply --persist
  coalescope fix --verify
  sudo coalescope fix --verify --watch 10s
  coalescope fix --from host.txt       show what would be changed on that host, of any system
  coalescope undo

Without --apply nothing is changed, and on other systems than Linux nothing ever is. What is applied can be taken back with coalescope undo. What ab has
proven or cleared on this host is said, as far as its records are in the usual place.

Exit codes:
  0  done, or nothing to fix
  1  there is something to fix (without --apply), or it does not hold (--verify)
  2  usage error, or a change was not made
  3  a change that was made could not be taken back";

const UNDO_NOTES: &str = "\
What a journal holds is restored: after a crash or a kill of ab, and what fix has changed. After a
reboot, settings of the running kernel are as they were; files that fix --persist wrote are restored.
Without names of journals all are undone (--all). What an ab or fix that still runs has changed is left to
that process. All places of journals are looked at: $COALESCOPE_STATE, /run/coalescope, /var/lib/coalescope, and
coalescope in $XDG_RUNTIME_DIR and $XDG_STATE_HOME.

Exit codes:
  0  all is as it was, or there was nothing to undo, or a command that goes on restores it itself
  2  usage error
  3  something could not be restored, or not yet; each with the command that would";

/// Arguments of `coalescope ab`.
#[derive(Debug, Args)]
#[command(after_help = AB_NOTES)]
pub struct AbArgs {
    /// Compare a setting with what is now
    #[arg(long, value_name = "SETTING", help_heading = "What is varied")]
    pub set: Vec<String>,

    /// Compare values of a setting; the first is the one that others are compared with
    #[arg(long, value_name = "SETTING,VALUE...", help_heading = "What is varied")]
    pub factor: Vec<String>,

    /// Compare what commands of your own make; the first one restores
    #[arg(long = "do", value_name = "NAME: CMD", help_heading = "What is varied")]
    pub commands: Vec<String>,

    /// Compare from where the command is run: here, ns/NAME, ssh:HOST; changes nothing. A single
    /// one is where it is run, while something else is varied
    #[arg(long, value_name = "VANTAGE,...", value_delimiter = ',')]
    #[arg(help_heading = "What is varied")]
    pub from: Vec<String>,

    /// Fetch this URL with curl
    #[arg(long, value_name = "URL", conflicts_with_all = ["iperf3", "command"])]
    #[arg(help_heading = "What is run")]
    pub fetch: Option<String>,

    /// Run iperf3 against this server for 5 seconds
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "command")]
    #[arg(help_heading = "What is run")]
    pub iperf3: Option<String>,

    /// What to run; one word is given to sh -c. Its figure is that of iperf3 -J, netperf, wrk or
    /// curl -w where it is one of these, else its wall time
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Read this figure: a regular expression whose first group is a number, or a JSON pointer
    /// (/end/sum/bps); the first one is judged
    #[arg(long, value_name = "REGEX|POINTER", help_heading = "What is measured")]
    pub metric: Vec<String>,

    /// What more of the first --metric means
    #[arg(
        long,
        value_enum,
        requires = "metric",
        help_heading = "What is measured"
    )]
    pub sense: Option<SenseArg>,

    /// Count CPU time and counters at the other end as well: ssh:HOST or ns/NAME
    #[arg(long, value_name = "VANTAGE", help_heading = "What is measured")]
    pub peer: Option<String>,

    /// Divide CPU time by the bytes of this interface [default: the one that is changed]
    #[arg(long, value_name = "IFACE", help_heading = "What is measured")]
    pub interface: Option<String>,

    /// At most this many runs, without the warm-up [default: 40, or 10 blocks if that is more]
    #[arg(long, value_name = "N", help_heading = "How long")]
    pub max_runs: Option<usize>,

    /// Wait this long after a change, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    #[arg(help_heading = "How long")]
    pub settle: f64,

    /// End a run that takes longer, in seconds; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = seconds)]
    #[arg(help_heading = "How long")]
    pub timeout: f64,

    /// Restore everything this long after the start, in seconds, whatever happens
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "How long")]
    pub deadline: Option<f64>,

    /// A difference that does not matter, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    #[arg(help_heading = "How sure")]
    pub margin: f64,

    /// Probability of a wrong verdict
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability)]
    #[arg(help_heading = "How sure")]
    pub alpha: f64,

    /// Decides the order of runs [default: from the clock]
    #[arg(long, value_name = "N", help_heading = "How sure")]
    pub seed: Option<u64>,

    /// Go on when a run fails
    #[arg(short, long)]
    pub ignore_failure: bool,

    /// Go on although your own ssh session goes over what is changed
    #[arg(short, long)]
    pub yes: bool,

    /// Keep the record in this file [default: under /var/lib/coalescope or ~/.local/state]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub save: Option<PathBuf>,

    /// Go on with the record in this file, as it was asked for
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "set", "factor", "commands", "from", "fetch", "iperf3", "command", "metric", "peer",
        "interface", "max_runs", "seed",
    ])]
    pub resume: Option<PathBuf>,

    /// Settle the findings of this report (JSON of trace, check or diagnose) instead of those that
    /// check has of this host
    #[arg(long, value_name = "FILE")]
    pub findings: Vec<PathBuf>,

    /// Which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    pub format: AbFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// What more of a figure means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SenseArg {
    /// More is faster
    Speed,
    /// Less is faster
    Time,
    /// Neither
    Plain,
}

/// Arguments of `coalescope fix`.
#[derive(Debug, Args)]
#[command(after_help = FIX_NOTES)]
pub struct FixArgs {
    /// Findings to fix, by id [default: all that check has]
    #[arg(value_name = "FINDING")]
    pub findings: Vec<String>,

    /// Make the changes
    #[arg(long)]
    pub apply: bool,

    /// Change files as well, of the manager that owns the interface, so that it lasts, or change nothing
    #[arg(long)]
    pub persist: bool,

    /// Look whether what was fixed still holds
    #[arg(long, conflicts_with_all = ["apply", "persist"])]
    pub verify: bool,

    /// And count for so long (10s, 5m), as `coalescope watch` does, whether merged frames die all the same
    #[arg(long, value_name = "TIME", value_parser = time, requires = "verify")]
    pub watch: Option<Duration>,

    /// Change it although your own ssh session goes over it
    #[arg(short, long, requires = "apply")]
    pub yes: bool,

    /// Show what mends a host of saved output, as check --from takes it, of any system; changes nothing
    #[arg(long, value_name = "PATH")]
    #[arg(conflicts_with_all = ["apply", "persist", "verify", "netns", "all_netns"])]
    pub from: Vec<PathBuf>,

    /// Which part of this host.
    #[command(flatten)]
    pub live: LiveArgs,

    /// Which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// How much memory.
    #[command(flatten)]
    pub memory: MemoryArgs,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: HostFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// Arguments of `coalescope undo`.
#[derive(Debug, Args)]
#[command(after_help = UNDO_NOTES)]
pub struct UndoArgs {
    /// Journals to undo [default: all]
    #[arg(value_name = "JOURNAL")]
    pub journals: Vec<String>,

    /// Undo all journals: what killed commands have left, and what fix was to make stay. The default
    #[arg(long, conflicts_with_all = ["journals", "left"])]
    pub all: bool,

    /// Undo only what killed commands have left, and nothing that fix was to make stay: what is run at
    /// boot
    #[arg(long, conflicts_with = "journals")]
    pub left: bool,

    /// Show what there is to undo, and change nothing
    #[arg(long)]
    pub list: bool,

    /// Set back this setting (eth0:mtu), or put back this file, although somebody else has changed it
    #[arg(long, value_name = "KEY", conflicts_with_all = ["list", "forget"])]
    pub force: Vec<String>,

    /// Remove a journal without restoring from it, once it was dealt with by hand
    #[arg(long, requires = "journals", conflicts_with = "list")]
    pub forget: bool,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: HostFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// The longest time that makes sense: a year.
const YEAR_S: f64 = 366.0 * 86_400.0;

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    ranged(text, 0.0, YEAR_S, "seconds, from 0 to a year")
}

fn percent(text: &str) -> Result<f64, String> {
    let value = ranged(text, 0.0, 1000.0, "a percentage above 0")?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err("a percentage above 0".to_owned())
    }
}

fn probability(text: &str) -> Result<f64, String> {
    let value = ranged(text, 0.0, 0.5, "above 0 and at most 0.5")?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err("above 0 and at most 0.5".to_owned())
    }
}

fn ranged(text: &str, least: f64, most: f64, what: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (least..=most).contains(&value) => Ok(value),
        _ => Err(what.to_owned()),
    }
}
