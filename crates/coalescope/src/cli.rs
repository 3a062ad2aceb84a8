//! The arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const ABOUT: &str = "Finds out whether merging received TCP segments (GRO, LRO, RSC) makes a network slow, and where";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing wrong found, or done
  1  findings
  2  usage or input error";

const TRACE_NOTES: &str = "\
Examples:
  coalescope trace capture.pcapng
  coalescope trace UPLINK=uplink.pcap TAP=tap.pcap.gz
  coalescope trace GUEST=guest.pcap0 GUEST=guest.pcap1
  coalescope trace --compare DIRECT=direct.pcap VIP=vip.pcap
  tcpdump -i eth0 -s 128 -U -w - tcp | coalescope trace -

Ctrl-C ends reading and reports what was read; a second one ends the program.

Exit codes:
  0  nothing wrong found
  1  findings
  2  usage or input error";

const DEMO_NOTES: &str = "\
Exit codes:
  0  the demo ran, whatever it found
  2  usage error, or the captures could not be written";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "coalescope", version, about = ABOUT, max_term_width = 100)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what captures of the same traffic show: what limits it, what is lost, and where
    Trace(TraceArgs),
    /// Make the captures of a simulated incident, and trace them
    Demo(DemoArgs),
}

/// Arguments of `coalescope trace`.
#[derive(Debug, Args)]
#[command(after_help = TRACE_NOTES)]
pub struct TraceArgs {
    /// Captures (pcap or pcapng, plain or packed with gzip or zstd; - is standard input) of the
    /// same traffic at one or more points, in path order. NAME= names the point; files of the same
    /// NAME are read one after the other
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

    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
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

/// Arguments of `coalescope demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_NOTES)]
pub struct DemoArgs {
    /// Which incident; `list` lists them
    #[arg(default_value = "hyperv-rsc-jumbo")]
    pub story: String,

    /// List the incidents
    #[arg(long)]
    pub list: bool,

    /// Write the captures to this directory and leave them there
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// How to print.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document, coalescope/trace/1
    Json,
}
