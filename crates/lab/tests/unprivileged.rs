//! Without root: a user namespace gives the rights to make network namespaces and links in them.

use coalescope_lab::packet::{Buffers, PacketSocket};
use coalescope_lab::{KernelGro, Namespace, Veth, become_namespace_root, become_nobody};
use std::time::Duration;

fn main() {
    coalescope_needs::open_record().expect("the record of skips");
    become_nobody().expect("no rights");
    if coalescope_needs::had("the lab without root", become_namespace_root()).is_none() {
        return;
    }
    let namespace = Namespace::new().expect("a network namespace");
    namespace
        .enter(a_frame_crosses)
        .expect("the namespace is entered");
    let reason = KernelGro::new()
        .expect_err("no rights over kernel threads")
        .reason;
    assert!(!reason.is_empty());
    println!("the lab works without root; the kernel's GRO does not: {reason}");
}

fn a_frame_crosses() {
    let pair = Veth::new("left", "right", 1500).expect("a pair");
    pair.left.disable_tso().expect("TSO off");
    let output = PacketSocket::receiver(&pair.right).expect("a receiver");
    output
        .set_timeout(Duration::from_secs(2))
        .expect("a time-out");
    let input = PacketSocket::sender(&pair.left).expect("a sender");
    input.send(&[[5; 60]]).expect("a frame is sent");
    let mut buffers = Buffers::new(1);
    assert_eq!(output.receive(&mut buffers).expect("a frame"), 1);
    assert!(buffers.frames().all(|frame| frame.bytes == [5; 60]));
}
