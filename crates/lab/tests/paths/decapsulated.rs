//! What calico 11252 cured, in this machine's own kernel: an eBPF program that takes a tunnel's header off a merged frame lets
//! the segment size grow by it, and the kernel drops what is then not longer than one segment (`tcp_gso_segment`).

use crate::path::start;
use crate::place;
use coalescope_lab::path::{Path, Plan};
use coalescope_lab::{Link, Namespace};
use coalescope_needs as needs;
use nix::sys::socket::{setsockopt, sockopt::TcpMaxSeg};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path as FilePath;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

const FAR: &str = "10.77.0.1:80";
/// What leaves room for the tunnel, and a full segment of that, with timestamps. The pod's own MTU is 1500, so that what grew fits.
const MSS: u32 = 1410;
const SEGMENT: usize = 1398;
/// Bytes that the tunnel's header has, and that the segment size grows by.
const OUTER: usize = 20;
/// Answers of each length.
const ANSWERS: usize = 25;
/// The second segment of an answer finds the first one held (Documentation/networking/napi.rst).
const HELD_NS: &str = "500000";
/// Enough for the wait of a lost tail, and less than for a machine that hangs.
const PATIENCE: Duration = Duration::from_secs(20);

fn plan() -> Plan {
    let mut plan = Plan::new();
    plan.veth(("far", "eth0"), ("guest", "up0"), 1500)
        .veth(("guest", "pod0"), ("pod", "eth0"), 1500)
        .address("far", "eth0", [10, 77, 0, 1], 24)
        .address("guest", "up0", [10, 77, 0, 2], 24)
        .address("guest", "pod0", [10, 77, 1, 2], 24)
        .address("pod", "eth0", [10, 77, 1, 3], 24)
        .route("far", ([10, 77, 1, 0], 24), [10, 77, 0, 2])
        .route("pod", ([10, 77, 0, 0], 24), [10, 77, 1, 2])
        .forwarding("guest")
        .single_frames("far", "eth0")
        // The kernel cuts, as it does for a card that does not.
        .single_frames("guest", "pod0")
        .feature("guest", "up0", "rx-gro", true);
    plan
}

fn run(room: &Namespace, words: &str) {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().expect("a program"));
    command.args(words);
    let output = room
        .enter(|| command.output())
        .expect("entered")
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// The programs, compiled with these flags of the end that unpacks.
fn compiled(folder: &FilePath, clang: &str, flags: &str) -> String {
    let object = folder.join(format!("{flags}.o")).display().to_string();
    let mut command = Command::new(clang);
    command
        .args([
            "-O2",
            "-g",
            "-target",
            "bpf",
            "-I/usr/include/x86_64-linux-gnu",
            "-c",
            "-o",
            &object,
        ])
        .arg(format!("-DFLAGS={flags}"))
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/paths/decapsulated.bpf.c"
        ));
    let output = command.output().expect("clang runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    object
}

/// Answers each request, a number, with as many bytes.
fn serve(listener: &TcpListener) {
    while let Ok((mut stream, _)) = listener.accept() {
        let mut request = [0; 16];
        while let Ok(length @ 1..) = stream.read(&mut request) {
            let asked = std::str::from_utf8(&request[..length])
                .ok()
                .and_then(|text| text.parse().ok());
            let Some(asked) = asked else { return };
            if stream.write_all(&vec![b'.'; asked]).is_err() {
                break;
            }
        }
    }
}

/// How long an answer of so many bytes takes, in the middle.
fn ask(bytes: usize) -> Duration {
    let address: SocketAddr = FAR.parse().expect("an address");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let mut answer = vec![0; bytes];
    let mut took: Vec<_> = (0..ANSWERS)
        .map(|_| {
            let begun = Instant::now();
            stream
                .write_all(bytes.to_string().as_bytes())
                .expect("asked");
            stream.read_exact(&mut answer).expect("answered");
            let took = begun.elapsed();
            thread::sleep(Duration::from_millis(2));
            took
        })
        .collect();
    took.sort();
    took[took.len() / 2]
}

/// Answers of these lengths: how many frames the guest's port dropped, and how long the answer took.
fn asked(path: &Path, lengths: &[usize]) -> Vec<(usize, u64, Duration)> {
    let [guest, pod] = ["guest", "pod"].map(|room| path.room(room).expect("a room"));
    let dropped = || {
        let read = || std::fs::read_to_string("/sys/class/net/pod0/statistics/tx_dropped");
        let text = guest.enter(read).expect("entered").expect("a counter");
        text.trim().parse::<u64>().expect("a number")
    };
    let one = |&length: &usize| {
        let before = dropped();
        let took = pod.enter(|| ask(length)).expect("entered");
        (length, dropped() - before, took)
    };
    lengths.iter().map(one).collect()
}

#[test]
fn a_segment_size_that_grew_loses_a_full_segment_with_a_short_tail() {
    let test = "a_segment_size_that_grew_loses_a_full_segment_with_a_short_tail";
    let clang = ["clang-14", "clang"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let Some(clang) = clang.filter(|_| nix::unistd::geteuid().is_root()) else {
        return needs::skipped(test, "root and clang");
    };
    if !needs::programs(test, &["tc"]) {
        return;
    }
    let _place = place();
    let Some(path) = start(test, plan()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let kept = compiled(folder.path(), clang, "BPF_F_ADJ_ROOM_FIXED_GSO");
    let grown = compiled(folder.path(), clang, "0");
    let [far, guest] = ["far", "guest"].map(|room| path.room(room).expect("a room"));
    let held = || Link::named("up0")?.set_attribute("gro_flush_timeout", HELD_NS);
    guest.enter(held).expect("entered").expect("held");
    for (room, interface) in [(far, "eth0"), (guest, "up0")] {
        run(room, &format!("tc qdisc add dev {interface} clsact"));
        run(
            room,
            &format!("tc filter add dev {interface} egress bpf da obj {kept} sec pack"),
        );
    }
    run(
        far,
        &format!("tc filter add dev eth0 ingress bpf da obj {kept} sec unpack"),
    );
    let listener = far
        .enter(|| TcpListener::bind(FAR))
        .expect("entered")
        .expect("a listener");
    setsockopt(&listener, TcpMaxSeg, &MSS).expect("an MSS");
    thread::spawn(move || serve(&listener));

    // Alone; with the shortest and the longest tail that are lost; with one more; two full ones; many.
    let lengths = [0, 1, OUTER, OUTER + 1, SEGMENT, 50 * SEGMENT].map(|tail| SEGMENT + tail);
    for (object, is_lost) in [(&grown, true), (&kept, false)] {
        run(
            guest,
            &format!(
                "tc filter replace dev up0 ingress pref 1 handle 1 bpf da obj {object} sec unpack"
            ),
        );
        for (length, dropped, took) in asked(&path, &lengths) {
            println!("{object}: {length} bytes: {dropped} dropped, {took:?}");
            let tail = length - SEGMENT;
            match is_lost && (1..=OUTER).contains(&tail) {
                // A busy machine may take longer between two segments than the first is held.
                true => assert!(dropped >= ANSWERS as u64 / 2, "{length}: {dropped} dropped"),
                false => assert_eq!(dropped, 0, "{length}"),
            }
        }
    }
}
