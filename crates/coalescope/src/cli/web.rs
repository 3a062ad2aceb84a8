//! Arguments of `web`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

const WEB_NOTES: &str = "\
Examples:
  coalescope web
  coalescope web --folder page --listen 127.0.0.1:8080

Until Ctrl-C or SIGTERM. Captures that are dropped on the page are read and judged in the browser, and
are sent to nobody, this program included. What it does, and how it is built: docs/web.md.

Exit codes:
  0  it was told to end
  2  usage error, no page, or the address cannot be had";

/// Arguments of `coalescope web`.
#[derive(Debug, Args)]
#[command(after_help = WEB_NOTES)]
pub struct WebArgs {
    /// Address and port to listen at. Port 0 takes one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9797")]
    pub listen: SocketAddr,

    /// The folder that scripts/web wrote [default: the one that was installed with the program, or
    /// coalescope-web beside it]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
