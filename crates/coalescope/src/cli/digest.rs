//! Arguments of `coalescope digest`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::memory::MemoryArgs;

const NOTES: &str = "\
Examples:
  coalescope digest UPLINK=uplink.pcap0 UPLINK=uplink.pcap1 TAP=tap.pcap.gz --out archive
  coalescope trace archive
  duckdb -c \"SELECT count(*) FROM 'archive/rows/*/*.parquet' WHERE kind = 0\"

Exit codes:
  0  done
  2  usage or input error, or the folder could not be written";

/// Arguments of `coalescope digest`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub struct DigestArgs {
    /// Captures of the same traffic at one or more points, in path order, as `coalescope trace` takes them. NAME= names
    /// the point; files of the same NAME are read one after the other, in order of time
    #[arg(value_name = "[NAME=]FILE", required = true)]
    pub files: Vec<OsString>,

    /// Folder to write, which is not there yet or empty
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Parts to divide connections among, so that as many workers can read them
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub shards: u32,

    /// Files to read at the same time [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,

    /// How much memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
}
