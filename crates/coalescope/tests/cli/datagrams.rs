//! Merged UDP live: a resolver's two queries through the kernel's own GRO of UDP, NAT and a packet filter, captured by tcpdump
//! on both sides of the router.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use coalescope_lab::path::{self, Plan};
use coalescope_lab::{Link, Namespace};
use coalescope_needs as needs;
use serde_json::Value;

use crate::common::{Captures, coalescope, is_as_its_schema_says, stderr};

/// What the client asks at; the router translates it into the server's own.
const ASKED: &str = "10.77.9.9:53";
const SERVER: &str = "10.77.1.3:53";
/// Queries, each from a port of its own, and as many pairs of them.
const ROUNDS: usize = 30;
const PATIENCE: Duration = Duration::from_millis(40);
/// GRO holds a datagram for so many nanoseconds, so that the second of a pair finds it (Documentation/networking/napi.rst).
const HELD_NS: &str = "2000000";
/// A query is 161 bytes, two are 322; with the header of UDP 169 and 330.
const FILTER: &str = "udp length > 250 drop;";

const RULES: &str = "
table ip lab {
  chain before { type nat hook prerouting priority -100; ip daddr 10.77.9.9 dnat to 10.77.1.3; }
  chain behind { type nat hook postrouting priority 100; oifname \"wan0\" masquerade; }
  chain forward { type filter hook forward priority 0; FILTER }
}
";

fn plan() -> Plan {
    let mut plan = Plan::new();
    plan.named()
        .veth(("client", "eth0"), ("router", "lan0"), 1500)
        .veth(("router", "wan0"), ("server", "eth0"), 1500)
        .address("client", "eth0", [10, 77, 0, 1], 24)
        .address("router", "lan0", [10, 77, 0, 2], 24)
        .address("router", "wan0", [10, 77, 1, 2], 24)
        .address("server", "eth0", [10, 77, 1, 3], 24)
        .route("client", ([10, 77, 9, 0], 24), [10, 77, 0, 2])
        .forwarding("router")
        // The wire carries datagrams as they were sent.
        .feature("router", "wan0", "tx-udp-segmentation", false)
        .feature("router", "wan0", "tx-gso-list", false)
        .feature("router", "lan0", "rx-gro", true);
    plan
}

/// A query for A or AAAA of `wwwNN.example.org` with long names between.
fn query(id: u16, second: bool) -> Vec<u8> {
    let mut query = id.to_be_bytes().to_vec();
    query.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 5]);
    query.extend(format!("www{:02}", id % 100).as_bytes());
    for _ in 0..2 {
        query.push(63);
        query.extend([b'x'; 63]);
    }
    query.extend(b"\x07example\x03org\x00\x00");
    query.extend([if second { 28 } else { 1 }, 0, 1]);
    query
}

/// A server that answers every query with itself, until it is dropped.
struct Answering {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Answering {
    fn start(room: &Namespace) -> Self {
        let socket = room.enter(|| UdpSocket::bind(SERVER)).unwrap().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Self {
            stop,
            thread: Some(thread::spawn(move || answer(&socket, &stopped))),
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn answer(socket: &UdpSocket, stop: &AtomicBool) {
    let mut query = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut query) {
            query[2] |= 0x80;
            let _ = socket.send_to(&query[..length], from);
        }
    }
}

/// Asks once, or twice at once; gives how many answers came.
fn ask(at: SocketAddr, id: u16, queries: usize) -> usize {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.connect(at).unwrap();
    for number in 0..queries {
        let asked = query(id.wrapping_add(number as u16 * 7919), number > 0);
        socket.send(&asked).unwrap();
    }
    let mut answer = [0; 2048];
    (0..queries)
        .take_while(|_| socket.recv(&mut answer).is_ok())
        .count()
}

/// tcpdump, which has begun.
fn captured(room: &Namespace, interface: &str, file: &Path) -> Child {
    let mut command = Command::new("tcpdump");
    command
        .args([
            "-Z",
            "root",
            "-U",
            "--immediate-mode",
            "-n",
            "-i",
            interface,
            "-w",
        ])
        .arg(file)
        .arg("udp")
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = room.enter(|| command.spawn()).unwrap().unwrap();
    let said = child.stderr.take().unwrap();
    let listens = BufReader::new(said).lines().map_while(Result::ok);
    assert!(
        listens
            .into_iter()
            .any(|line| line.contains("listening on"))
    );
    child
}

fn end(mut child: Child) {
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    child.wait().unwrap();
}

/// What a run with a setting of the router's showed: answers to single queries and to pairs, and `trace` of it.
struct Seen {
    answered: [usize; 2],
    report: Value,
    code: Option<i32>,
}

fn run(path: &path::Path, merging: &[(&str, bool)], filter: &str) -> Seen {
    let [client, router] = ["client", "router"].map(|name| path.room(name).unwrap());
    let captures = Captures::empty();
    let rules = captures.write("rules", RULES.replace("FILTER", filter).as_bytes());
    let set = || {
        let lan = Link::named("lan0").unwrap();
        lan.set_features(merging).unwrap();
        lan.set_attribute("gro_flush_timeout", HELD_NS).unwrap();
        let _ = Command::new("nft")
            .args(["delete", "table", "ip", "lab"])
            .output();
        Command::new("nft").arg("-f").arg(&rules).output().unwrap()
    };
    let output = router.enter(set).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let files = ["LAN.pcap", "WAN.pcap"].map(|name| captures.path().join(name));
    let running = [("lan0", &files[0]), ("wan0", &files[1])]
        .map(|(interface, file)| captured(router, interface, file));
    let answered = client.enter(asked).unwrap();
    running.into_iter().for_each(end);
    let output = captures.trace(&["LAN.pcap", "WAN.pcap", "--format", "json"]);
    let report = serde_json::from_slice(&output.stdout).unwrap();
    is_as_its_schema_says("trace", &report);
    Seen {
        answered,
        report,
        code: output.status.code(),
    }
}

fn asked() -> [usize; 2] {
    let at = ASKED.parse().unwrap();
    let mut answered = [0; 2];
    for round in 0..=ROUNDS as u16 {
        answered[0] += ask(at, 1_000 + round * 13, 1);
        if usize::from(round) < ROUNDS {
            answered[1] += ask(at, 30_000 + round * 17, 2);
        }
    }
    answered
}

impl Seen {
    /// What became of merged datagrams on their way out.
    fn merged(&self) -> [u64; 3] {
        let hops = self.report["datagram_hops"].as_array().unwrap();
        let mut hops = hops.iter();
        let hop = hops.find(|hop| hop["from"] == "LAN").unwrap();
        ["seen", "resplit", "lost"].map(|what| hop["merged"][what].as_u64().unwrap())
    }

    fn findings(&self) -> Vec<&str> {
        let findings = self.report["findings"].as_array().unwrap();
        findings
            .iter()
            .map(|finding| finding["id"].as_str().unwrap())
            .collect()
    }
}

/// The commands on the router, with a filter that drops what is merged: found, proven, mended, undone.
fn chain(path: &path::Path, feature: &str) {
    let [client, router] = ["client", "router"].map(|room| path.name(room).unwrap());
    let (place, state) = (Captures::empty(), Captures::empty());
    let json = |arguments: &[&str]| -> Value {
        let mut command = coalescope();
        command
            .current_dir(place.path())
            .env("COALESCOPE_STATE", state.path());
        let output = command.args(arguments).output().unwrap();
        let said = stderr(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{arguments:?}: {said}"
        );
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let is_on = || {
        let features = || {
            Command::new("ethtool")
                .args(["-k", "lan0"])
                .output()
                .unwrap()
                .stdout
        };
        let features = path.room("router").unwrap().enter(features).unwrap();
        String::from_utf8(features)
            .unwrap()
            .contains(&format!("{feature}: on"))
    };
    let checked = json(&["check", "--netns", router, "--format", "json"]);
    let found = checked["findings"].as_array().unwrap();
    assert!(found.iter().any(|one| one["id"] == FOUND), "{found:#?}");
    place.write("check.json", checked.to_string().as_bytes());

    let setting = format!("ns/{router}/lan0:{feature}=off");
    let from = format!("ns/{client}");
    let resolver = std::env::current_exe().unwrap();
    let resolver = resolver.to_str().unwrap();
    let factor = ["ab", "--format", "json", "--set", &setting, "--from", &from];
    let limits = [
        "--max-runs",
        "12",
        "--settle",
        "0.1",
        "--findings",
        "check.json",
        "--",
    ];
    let workload = [resolver, "--ignored", "--exact", RESOLVER];
    let proof = json(&[&factor[..], &limits, &workload].concat());
    let settled = proof["findings"].as_array().unwrap();
    let is_proven = |one: &Value| one["id"] == FOUND && one["now"] == "proven";
    assert!(
        settled.iter().any(is_proven),
        "{}\n{settled:#?}",
        proof["verdict"]
    );
    println!("{feature}: {}", proof["verdict"]);

    let fixed = json(&[
        "fix", FOUND, "--apply", "--netns", router, "--format", "json",
    ]);
    assert!(fixed["applied"] == true && !is_on(), "{fixed:#}");
    let journal = fixed["journals"][0].as_str().unwrap();
    json(&["undo", journal, "--format", "json"]);
    assert!(is_on());
}

/// The rule that names the switch.
const FOUND: &str = "fraglist-gro-nat";
/// The test below, as the workload of an experiment.
const RESOLVER: &str = "datagrams::resolver";

/// Forty names, A and AAAA at once: an experiment takes a workload of 10 KB for one.
#[test]
#[ignore = "a workload, run by another test inside of a room"]
fn resolver() {
    let at = ASKED.parse().unwrap();
    for round in 0..40 {
        ask(at, 100 + round * 17, 2);
    }
}

#[test]
fn merged_queries_arrive_through_nat_and_where_a_filter_drops_them_trace_says_so() {
    let test = "merged_queries_arrive_through_nat_and_where_a_filter_drops_them_trace_says_so";
    if !needs::programs(test, &["nft", "tcpdump", "ethtool"])
        || !rustix::process::geteuid().is_root()
    {
        return needs::skipped(test, "root, nft, tcpdump and ethtool");
    }
    let Some(path) = needs::had(test, plan().start()) else {
        return;
    };
    let answering = Answering::start(path.room("server").unwrap());
    for feature in ["rx-udp-gro-forwarding", "rx-gro-list"] {
        let (on, off) = ([(feature, true)], [(feature, false)]);
        let sound = run(&path, &on, "");
        assert_eq!(sound.answered, [ROUNDS + 1, 2 * ROUNDS], "{feature}");
        let [seen, resplit, lost] = sound.merged();
        assert!(
            seen as usize >= ROUNDS / 2 && seen == resplit && lost == 0,
            "{feature}: {:?}",
            sound.merged()
        );
        assert_eq!(
            (sound.code, sound.findings().len()),
            (Some(0), 0),
            "{feature}"
        );
        assert_eq!(sound.report["verdict"]["merging"], "innocent");

        let faulty = run(&path, &on, FILTER);
        let [seen, resplit, lost] = faulty.merged();
        assert!(
            seen == lost && resplit == 0,
            "{feature}: {:?}",
            faulty.merged()
        );
        assert_eq!(
            faulty.answered,
            [ROUNDS + 1, 2 * (ROUNDS - lost as usize)],
            "{feature}"
        );
        assert_eq!(faulty.findings(), ["merged-datagrams-lost"], "{feature}");
        let said = &faulty.report["verdict"];
        assert_eq!(
            (faulty.code, &said["merging"]),
            (Some(1), &"harms".into()),
            "{said}"
        );

        chain(&path, feature);

        let cured = run(&path, &off, FILTER);
        assert_eq!(cured.answered, [ROUNDS + 1, 2 * ROUNDS], "{feature}");
        assert_eq!(cured.report["verdict"]["merging"], "not-seen", "{feature}");
    }
    drop(answering);
    path.stop().unwrap();
}
