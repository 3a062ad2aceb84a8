//! Arguments of `export`.

use std::net::SocketAddr;

use clap::Args;

use super::LiveArgs;

const EXPORT_NOTES: &str = "\
Examples:
  sudo coalescope export
  sudo coalescope export --listen [::]:9798 --all-netns
  curl -s http://127.0.0.1:9798/metrics

Counts as `coalescope watch` does, and tells it to whoever asks, in the text format of OpenMetrics,
until Ctrl-C or SIGTERM. Nothing is changed. The metrics, a unit for systemd, alerts and a dashboard:
docs/export.md. Where BPF is refused it says so, and coalescope_watch_bpf is 0;
coalescope_watch_perf is 1 where events of perf are counted instead.

Exit codes:
  0  it was told to end
  2  usage error, or the address cannot be had";

/// Arguments of `coalescope export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_NOTES)]
pub struct ExportArgs {
    /// Interfaces to tell of [default: all]
    #[arg(value_name = "IFACE")]
    pub interfaces: Vec<String>,

    /// Address and port to listen at. Whoever reaches it reads names of interfaces and counts
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9798")]
    pub listen: SocketAddr,

    /// Interfaces with series of their own; the others are summed up as "other"
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub max_interfaces: u32,

    /// Count each frame, however fast they come: that may take a fifth of what the host can do. Else many are estimated
    #[arg(long)]
    pub exact: bool,

    /// Which part of this host.
    #[command(flatten)]
    pub live: LiveArgs,
}
