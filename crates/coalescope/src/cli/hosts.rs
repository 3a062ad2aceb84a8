//! Arguments of what looks at hosts: `check`, `diagnose`, `collect`, `rules`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use coalescope_knowledge::rules::Blame;

use super::{CheckFormat, HostFormat, MemoryArgs, ReportArgs, WatchedArgs};

const CHECK_NOTES: &str = "\
Examples:
  coalescope check
  coalescope check --all-netns
  sudo coalescope check --watch 10s
  coalescope check --from sosreport-lb1.tar.xz
  coalescope check --from lb1/ --from lb2/ --from lb3/
  ssh HOST sh -s < scripts/collect.sh | coalescope check --from -
  coalescope check --from bundles/* --ignore linux-lro-forwarding@eth9 --baseline last-week.json
  coalescope check --format openmetrics > coalescope.prom

A folder holds what commands printed, a file each: ethtool -k, ip -d link, sysctl -a, ifconfig,
Get-VMSwitch and so on; the content tells what it is. With several hosts, what differs between them
is listed as well. Nothing is changed.

Exit codes:
  0  nothing wrong found; with findings of the kinds ask and missed as well, but see --fail-on
  1  findings
  2  usage or input error
  4  not enough was read to say that nothing is wrong";

const DIAGNOSE_NOTES: &str = "\
Examples:
  coalescope diagnose UPLINK=uplink.pcap TAP=tap.pcap
  sudo coalescope diagnose --watch 10s UPLINK=uplink.pcap TAP=tap.pcap
  coalescope diagnose --from lb1/ --from lb2/ lb1=lb1.pcap client=client.pcap

What captures and counts show raises what settings let suspect from \"suspected\" to \"observed\". With several
hosts, name each point after its host.

Exit codes:
  0  nothing wrong found
  1  findings
  2  usage or input error
  4  not enough was read of a host to say that nothing is wrong";

const COLLECT_NOTES: &str = "\
Example:
  coalescope collect > lb1.json; coalescope check --from lb1.json

Where coalescope is not installed, scripts/collect.sh (Linux, FreeBSD) and scripts/collect.ps1
(Windows) print a bundle. Nothing is changed.

Exit codes:
  0  done
  2  usage error";

/// Which findings make the exit code 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A setting that harms in its role
    #[default]
    Harms,
    /// The same, and one that may harm: the finding names the test
    Ask,
    /// The same, and merging that is off where it would help
    Missed,
    /// None: the report says it, the exit code is 0
    Never,
}

impl FailOn {
    /// Whether a finding makes the exit code 1.
    #[must_use]
    pub fn includes(self, blame: Blame) -> bool {
        match self {
            Self::Harms => blame.is_wrong(),
            Self::Ask => blame.is_wrong() || blame == Blame::Ask,
            Self::Missed => blame != Blame::Innocent,
            Self::Never => false,
        }
    }
}

/// Arguments of `coalescope check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_NOTES)]
pub struct CheckArgs {
    /// Saved output instead of this host: files, folders, archives (sosreport), bundles; each PATH
    /// is a host (- is standard input)
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["netns", "all_netns"])]
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

    /// What is counted.
    #[command(flatten)]
    pub watched: WatchedArgs,

    /// Which findings make the exit code 1
    #[arg(long, value_enum, value_name = "KIND", default_value_t)]
    pub fail_on: FailOn,

    /// Set aside what this rule finds, everywhere or at one interface (`*` is any text); what was is counted
    #[arg(long, value_name = "RULE[@IFACE]")]
    pub ignore: Vec<String>,

    /// Tell only what is new since an earlier check, whose JSON this is; what is gone is counted
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: CheckFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// Arguments of `coalescope diagnose`.
#[derive(Debug, Args)]
#[command(after_help = DIAGNOSE_NOTES)]
pub struct DiagnoseArgs {
    /// Captures, as for `coalescope trace`
    #[arg(value_name = "[NAME=]CAPTURE")]
    pub captures: Vec<OsString>,

    /// Saved output instead of this host, as for `coalescope check`; again for each host
    #[arg(long, value_name = "PATH", conflicts_with_all = ["netns", "all_netns"])]
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

    /// What is counted.
    #[command(flatten)]
    pub watched: WatchedArgs,

    /// How to print.
    #[command(flatten)]
    pub output: DiagnoseOutput,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// How to print a diagnosis.
#[derive(Clone, Copy, Debug, Args)]
pub struct DiagnoseOutput {
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: HostFormat,

    /// Connections to list for each point in text, worst and largest first; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub connections: usize,
}

/// Arguments of `coalescope collect`.
#[derive(Debug, Args)]
#[command(after_help = COLLECT_NOTES)]
pub struct CollectArgs {
    /// Which part of this host.
    #[command(flatten)]
    pub live: LiveArgs,
}

/// Which part of this host to look at.
#[derive(Clone, Debug, Args)]
pub struct LiveArgs {
    /// Look at this network namespace: a name under /run/netns, or a path
    #[arg(long, value_name = "NAME", conflicts_with = "all_netns")]
    pub netns: Option<String>,

    /// Look at all network namespaces of this host
    #[arg(long)]
    pub all_netns: bool,
}

/// Which rules to ask.
#[derive(Clone, Debug, Args)]
pub struct RulesArgs {
    /// Ask the rules of this file, or of all *.yaml in this folder, as well (docs/rules.md)
    #[arg(long, value_name = "PATH")]
    pub rules: Vec<PathBuf>,
}

/// Looking at rules.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List all rules
    List(RulesOutput),
    /// Print one rule, whole
    Show {
        /// Its id
        id: String,
        /// Which rules, and how to print.
        #[command(flatten)]
        args: RulesOutput,
    },
    /// Test all rules on their fixtures
    Test(RulesOutput),
}

/// Which rules, and how to print them.
#[derive(Debug, Args)]
pub struct RulesOutput {
    /// Which rules.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: HostFormat,
}
