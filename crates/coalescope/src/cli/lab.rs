//! The arguments of `coalescope lab`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use gro::Profile;

use super::experiments::seconds;
use super::{EXIT_CODES, LONGEST_POLL_US, LabFormat, ReportArgs, WireFormat, profile_parser};

const LAB_RUN_NOTES: &str = "\
Examples:
  coalescope lab run openstack-gro
  coalescope lab run --all --format json
  coalescope lab run --all --simulated
  coalescope lab run my-incident.yaml --keep captures
  coalescope lab run bond-rr-gro --kernel uml

Real TCP in network namespaces (root, or unprivileged user namespaces); a path of user-space elements
on TAP devices between them. Nothing of this machine's own network is touched.

Exit codes:
  0  all as the incidents' files say it must be
  1  something is not
  2  usage or input error, or a signal has ended it";

const WIRE_NOTES: &str = "\
Examples:
  coalescope lab wire --in veth1 --out veth2 --profile linux-gro
  ip netns exec middle coalescope lab wire --in in0 --out out0 --profile linux-gro-7 --hold-us 1000

Merged frames are up to 65,549 bytes long: give --out, and what is behind it, a large MTU (65535).
Nothing else should merge: turn GRO off on both interfaces, and TSO and GSO where frames come from.

Ctrl-C or SIGTERM ends it: what is held leaves, and the counts are printed.

Exit codes:
  0  ended by a signal
  2  usage error, no such interface, or not the rights (root, or CAP_NET_RAW)";

/// The laboratory.
#[derive(Debug, Subcommand)]
#[command(after_help = EXIT_CODES)]
pub enum LabCommand {
    /// List the incidents, and which command takes each
    List,
    /// Print the file of an incident, to begin one's own with
    Show {
        /// Its name
        name: String,
    },
    /// Run incidents: measure, check, trace, ab, fix, measure again, undo
    Run(LabRunArgs),
    /// Leave an incident at work, with a shell where it hurts
    Shell(LabShellArgs),
    /// Remove what a killed lab has left
    Clean,
    /// Be a wire between two interfaces that merges frames as a receive offload would
    Wire(WireArgs),
    /// Fetch so many bytes from the lab's server, and print what came as curl -w does
    #[command(hide = true)]
    Get(GetArgs),
}

/// Arguments of `coalescope lab run`.
#[derive(Debug, Args)]
#[command(after_help = LAB_RUN_NOTES)]
pub struct LabRunArgs {
    /// Incidents by name, or files (docs/incidents.md)
    #[arg(value_name = "NAME|FILE", conflicts_with = "all")]
    pub names: Vec<String>,

    /// All that are built in
    #[arg(long)]
    pub all: bool,

    /// On a virtual clock: no rights, any operating system, any rate
    #[arg(long)]
    pub simulated: bool,

    /// The kernel to run on
    #[arg(long, value_enum, default_value_t, conflicts_with = "simulated")]
    pub kernel: LabKernel,

    /// Keep captures and reports in this folder, a folder for each incident
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// How to print the result
    #[arg(long, value_enum, default_value_t)]
    pub format: LabFormat,

    /// The page.
    #[command(flatten)]
    pub page: ReportArgs,
}

/// The kernel that an incident is run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LabKernel {
    /// This machine's
    #[default]
    Native,
    /// User-mode Linux as Debian packages it, as an ordinary process: with real bonding, IPVS and netem where
    /// an incident's file says so
    Uml,
}

/// Arguments of `coalescope lab shell`.
#[derive(Debug, Args)]
pub struct LabShellArgs {
    /// An incident by name, or a file
    #[arg(value_name = "NAME|FILE")]
    pub name: String,
}

/// Arguments of `coalescope lab get`.
#[derive(Debug, Args)]
pub struct GetArgs {
    /// The server
    #[arg(value_name = "ADDRESS:PORT")]
    pub server: SocketAddr,

    /// How many bytes
    #[arg(value_name = "BYTES")]
    pub bytes: u64,

    /// How long at most, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    pub limit: f64,
}

/// Arguments of `coalescope lab wire`.
#[derive(Debug, Args)]
#[command(after_help = WIRE_NOTES)]
pub struct WireArgs {
    /// The interface whose frames are merged
    #[arg(long = "in", value_name = "IFACE")]
    pub input: String,

    /// The interface where they leave; what comes from there goes back unchanged
    #[arg(long = "out", value_name = "IFACE")]
    pub output: String,

    /// Whose rules to merge by
    #[arg(long, value_name = "PROFILE", value_parser = profile_parser())]
    pub profile: Profile,

    /// How long a frame is held at most, in microseconds. 0: what is received with one system call
    /// is merged
    #[arg(long, value_name = "N", default_value_t = DEFAULT_HOLD_US)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=LONGEST_POLL_US))]
    pub hold_us: u64,

    /// How to print the counts
    #[arg(long, value_enum, default_value_t)]
    pub format: WireFormat,
}

/// What `coalescope_lab::wire::DEFAULT_HOLD` says; the lab is there on Linux only.
pub(crate) const DEFAULT_HOLD_US: u64 = 5000;
