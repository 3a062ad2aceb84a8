//! The arguments.

mod digest;
mod experiments;
mod export;
mod formats;
mod generated;
mod help;
mod hosts;
pub(crate) mod lab;
mod memory;
mod speech;
mod watch;
mod web;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use coalescope_analysis::task::MAX_CONNECTIONS;
use coalescope_replay::{DEFAULT_INTERVAL_US, DEFAULT_MTU_BYTES};
use gro::Profile;

pub use digest::DigestArgs;
pub use experiments::{AbArgs, FixArgs, SenseArg, UndoArgs};
pub use export::ExportArgs;
pub(crate) use formats::Form;
pub use formats::{
    AbFormat, CheckFormat, Format, HostFormat, LabFormat, ReplayFormat, SchemaName, WatchFormat,
    WireFormat,
};
pub use generated::{CompletionsArgs, ManArgs};
pub(crate) use help::{explain, parse};
pub(crate) use hosts::FailOn;
pub use hosts::{
    CheckArgs, CollectArgs, DiagnoseArgs, DiagnoseOutput, LiveArgs, RulesArgs, RulesCommand,
    RulesOutput,
};
pub use lab::{GetArgs, LabCommand, LabRunArgs, LabShellArgs, WireArgs};
pub use memory::MemoryArgs;
pub use speech::{ColorArg, SpeechArgs};
pub use watch::{WatchArgs, WatchedArgs};
pub use web::WebArgs;

const ABOUT: &str = "Finds out whether merging received TCP segments (GRO, LRO, RSC) makes a network slow, and where";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing wrong found, or done
  1  findings
  2  usage or input error
  3  a setting could not be restored";

const TRACE_NOTES: &str = "\
Examples:
  coalescope trace capture.pcapng
  coalescope trace UPLINK=uplink.pcap TAP=tap.pcap.gz
  coalescope trace GUEST=guest.pcap0 GUEST=guest.pcap1
  coalescope trace archive
  coalescope trace --compare DIRECT=direct.pcap VIP=vip.pcap
  tcpdump -i eth0 -s 128 -U -w - tcp | coalescope trace -

Ctrl-C ends reading and reports what was read; a second one ends the program.

Exit codes:
  0  nothing wrong found
  1  findings
  2  usage or input error";

const REPLAY_NOTES: &str = "\
Examples:
  coalescope replay capture.pcapng --profile linux-gro
  coalescope replay capture.pcap.gz --profile freebsd-lro --interval-us 100
  coalescope replay capture.pcap --profile ndis-rsc --write merged.pcapng
  tcpdump -i eth0 -s 128 -U -w - tcp | coalescope replay - --profile linux-lro --format json

Ctrl-C ends reading and reports what was read; a second one ends the program.

Exit codes:
  0  done
  2  usage or input error, or --write could not be written";

const DEMO_NOTES: &str = "\
Examples:
  coalescope demo
  coalescope demo hyperv-rsc-jumbo --keep captures

Without a name an incident is built in network namespaces of its own (root, or unprivileged user
namespaces), measured, found, proven, fixed and undone; nothing of this machine is changed. The last
line says what it came to.

Exit codes:
  0  the demo ran, whatever it found
  2  usage error, or the captures could not be written";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "coalescope", version, about = ABOUT)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// How much is said.
    #[command(flatten)]
    pub speech: SpeechArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what captures of the same traffic show: what limits it, what is lost, and where
    Trace(TraceArgs),
    /// Say what this host, or saved ones, are set to, and what that does in their role
    Check(CheckArgs),
    /// Check settings and trace captures, and join what both say
    Diagnose(DiagnoseArgs),
    /// Count merged frames on this running host, and say where they die
    Watch(WatchArgs),
    /// Serve what watch counts as metrics for Prometheus
    Export(ExportArgs),
    /// Serve the page that judges captures in a browser, to this machine
    Web(WebArgs),
    /// Prove it by experiment: compare settings or vantages, and restore everything
    Ab(Box<AbArgs>),
    /// Show what would fix what check finds; with --apply, do it
    Fix(FixArgs),
    /// Take back what fix has changed, and what a crash of ab has left
    Undo(UndoArgs),
    /// Say what captured traffic would become under a receive offload (GRO, LRO, RSC)
    Replay(ReplayArgs),
    /// Keep what trace needs of captures as Parquet, to be traced together later
    Digest(DigestArgs),
    /// Print what this host is set to, for `check --from` elsewhere
    Collect(CollectArgs),
    /// Look at the rules of check
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Print the JSON Schema of an output or a file, or list those that there are
    Schema(SchemaArgs),
    /// Run an incident live, or trace captures of a simulated one
    Demo(DemoArgs),
    /// The laboratory: the incidents live, each found, proven, fixed and taken back
    #[command(subcommand)]
    Lab(LabCommand),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(ManArgs),
}

/// Arguments of `coalescope schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Of what [default: list the names]
    #[arg(value_enum)]
    pub name: Option<SchemaName>,
}

/// Arguments of `coalescope trace`.
#[derive(Debug, Args)]
#[command(after_help = TRACE_NOTES)]
pub struct TraceArgs {
    /// Captures (pcap or pcapng, plain or packed with gzip or zstd; - is standard input) of the
    /// same traffic at one or more points, in path order. NAME= names the point; files of the same
    /// NAME are read one after the other, in order of time. Or a folder that `coalescope digest` wrote
    #[arg(value_name = "[NAME=]FILE", required = true)]
    pub files: Vec<OsString>,

    /// Set two transfers side by side, such as a direct one and one through a load balancer
    #[arg(long, conflicts_with = "points_by_interface")]
    pub compare: bool,

    /// Take each interface of the one pcapng capture as a point
    #[arg(long)]
    pub points_by_interface: bool,

    /// Threads to read with [default: 2 if there are two cores, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// Connections to keep of one point; beyond that the oldest that have ended are summed up, with a
    /// warning
    #[arg(long, value_name = "N", default_value_t = MAX_CONNECTIONS, value_parser = at_least_one())]
    pub max_connections: usize,

    /// How much memory.
    #[command(flatten)]
    pub memory: MemoryArgs,

    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

fn at_least_one() -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser;
    clap::value_parser!(u32)
        .range(1..)
        .map(|number| number as usize)
}

/// A page besides what is printed.
#[derive(Clone, Debug, Default, Args)]
pub struct ReportArgs {
    /// Write a page as well, one file that stands by itself, to look at in a browser (docs/report.md)
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// How to print.
#[derive(Clone, Copy, Debug, Args)]
pub struct OutputArgs {
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Connections to list for each point in text, worst and largest first; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub connections: usize,
}

/// Arguments of `coalescope replay`.
#[derive(Debug, Args)]
#[command(after_help = REPLAY_NOTES)]
pub struct ReplayArgs {
    /// A capture (pcap or pcapng, plain or packed with gzip or zstd; - is standard input), best
    /// one taken where nothing was merged yet
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Whose rules to merge by
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    pub profile: Profile,

    /// How long a poll lasts from its first frame on, in microseconds of the capture's clock; at
    /// its end all that is held goes up. 0: each frame is a poll
    #[arg(long, value_name = "N", default_value_t = DEFAULT_INTERVAL_US)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=LONGEST_POLL_US))]
    pub interval_us: u64,

    /// The longest IP packet, in bytes, that is one segment where the capture has no SYN that tells
    #[arg(long, value_name = "BYTES", default_value_t = DEFAULT_MTU_BYTES)]
    #[arg(value_parser = clap::value_parser!(u32).range(68..))]
    pub mtu: u32,

    /// Write what comes out to this file, as pcapng
    #[arg(long, value_name = "OUT.pcapng")]
    pub write: Option<PathBuf>,

    /// How much memory.
    #[command(flatten)]
    pub memory: MemoryArgs,

    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub format: ReplayFormat,

    /// Connections to list in text, largest first, each direction by itself; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub connections: usize,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// No receive offload holds a frame that long.
const LONGEST_POLL_US: u64 = 10_000_000;

/// Takes a profile by its name.
fn profile_parser() -> impl TypedValueParser<Value = Profile> {
    let names = Profile::ALL
        .iter()
        .map(|profile| PossibleValue::new(profile.name).help(profile.source));
    PossibleValuesParser::new(names)
        .try_map(|name| Profile::named(&name).ok_or("there is no such profile"))
}

/// Arguments of `coalescope demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_NOTES)]
pub struct DemoArgs {
    /// An incident by name, of which simulated captures are traced; `list` lists all [default:
    /// openstack-gro, live, where network namespaces can be made; else hyperv-rsc-jumbo, simulated]
    pub story: Option<String>,

    /// List the incidents
    #[arg(long)]
    pub list: bool,

    /// Write the captures to this folder and leave them there
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}
