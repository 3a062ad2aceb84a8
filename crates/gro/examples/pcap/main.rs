//! What Linux's GRO would have made of a capture: `cargo run -p gro --example pcap IN.pcap OUT.pcap`
//!
//! The input is a pcap file (not pcapng) of Ethernet or of bare IP packets.

mod merge;

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("usage: pcap IN.pcap OUT.pcap".into());
    };
    let mut to = BufWriter::new(File::create(to)?);
    let counters = merge::merge(File::open(from)?, &mut to)?;
    to.flush()?;
    let (came, left, merged) = (counters.frames_in, counters.frames_out, counters.merged_out);
    println!("{came} frames in, {left} out, {merged} of them merged");
    for &reason in gro::Reason::ALL {
        let times = counters.passed(reason);
        if times > 0 {
            println!("{times} could not be merged with any: {reason}");
        }
    }
    Ok(())
}
