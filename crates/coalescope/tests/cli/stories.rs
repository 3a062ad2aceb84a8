//! Stories A and C, live: real TCP in named namespaces, an emulated NIC on a TAP, real veth pairs.

use std::fs;
use std::process::Command;
use std::time::Duration;

use coalescope_lab::http::{Server, get};
use coalescope_lab::path::{Lane, Link, Nic, Path, Plan, Point, Recorder, Side, Wire};
use gro::Profile;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{stderr, stdout};

const SERVER: [u8; 4] = [10, 77, 0, 1];
/// More than arrives in the time that there is.
const ENDLESS: u64 = 99_999_999_999;
/// How long a fetch may take: where a busy machine loses a SYN, the next comes after a second.
const SECONDS: &str = "2";

/// A path with an HTTP server in the room `far`.
struct Story {
    path: Path,
    _server: Server,
    state: TempDir,
}

impl Story {
    /// Or the test is skipped.
    fn start(name: &str, mut plan: Plan) -> Option<Self> {
        plan.named();
        let path = coalescope_needs::had(name, plan.start())?;
        let server = Server::start_in(path.room("far").unwrap(), (SERVER, 80).into()).unwrap();
        Some(Self {
            path,
            _server: server,
            state: TempDir::new().unwrap(),
        })
    }

    /// How `ab` and others call a room.
    fn ns(&self, room: &str) -> String {
        format!("ns/{}", self.path.name(room).unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
        command
            .args(arguments)
            .env("COALESCOPE_STATE", self.state.path())
            .env_remove("SSH_CONNECTION")
            .current_dir(self.state.path());
        command
    }

    /// `ab`, with a fetch from rooms of so many bytes, or of what comes in some time.
    fn ab(&self, rooms: &[&str], bytes: u64, limit_s: &str, arguments: &[&str]) -> Value {
        let from: Vec<String> = rooms.iter().map(|room| self.ns(room)).collect();
        let output = self
            .command(&["ab", "--format", "json", "--settle", "0.2"])
            .args(["--from", &from.join(",")])
            .args(arguments)
            .arg("--")
            .arg(assert_cmd::cargo::cargo_bin!("coalescope"))
            .args(["lab", "get", "10.77.0.1:80", &bytes.to_string()])
            .args(["--limit", limit_s])
            .output()
            .unwrap();
        let said = format!("{}{}", stderr(&output), stdout(&output));
        assert_eq!(output.status.code(), Some(0), "{said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// A far server, 10 ms away; the NIC of the box merges, and forgets how long the segments were.
fn openstack() -> (Plan, [Recorder; 2]) {
    let (uplink, tap) = (Point::new("UPLINK"), Point::new("TAP"));
    let recorders = [uplink.recorder(), tap.recorder()];
    let mut lane = Lane::new(200_000_000, Duration::from_millis(5));
    lane.jitter = Duration::from_micros(300);
    let nic = Nic::new("nic", Side::Client, Profile::linux_gro()).losing_segment_size();
    let mut plan = Plan::new();
    plan.wire(
        Wire::new(("box", "uplink"), ("far", "eth0"))
            .with(uplink)
            .with(nic)
            .with(Link::both("wan", lane)),
    )
    .wire(Wire::new(("vm", "eth0"), ("box", "tap0")).with(tap))
    .bridge("box", "br0", &["uplink", "tap0"])
    .address("far", "eth0", SERVER, 24)
    .address("vm", "eth0", [10, 77, 0, 2], 24)
    .address("box", "br0", [10, 77, 0, 3], 24)
    .single_frames("far", "eth0");
    (plan, recorders)
}

/// What both points see of a fetch by the VM.
fn capture(story: &Story, recorders: &[Recorder]) {
    let file = |recorder: &Recorder| {
        let name = format!("{}.pcapng", recorder.name());
        story.state.path().join(name)
    };
    for recorder in recorders {
        recorder.begin(&file(recorder), 128).unwrap();
    }
    let vm = story.path.room("vm").unwrap();
    let fetch = || get((SERVER, 80).into(), ENDLESS, Duration::from_secs(2));
    assert!(vm.enter(fetch).unwrap().unwrap().bytes > 0);
    for recorder in recorders {
        assert!(recorder.end().unwrap() > 0);
    }
}

/// An effect on a metric.
fn effect<'a>(report: &'a Value, factor: &str, metric: &str) -> &'a Value {
    let mut effects = report["effects"].as_array().unwrap().iter();
    let is_it = |effect: &&Value| effect["factor"] == factor && effect["metric"] == metric;
    effects.find(is_it).unwrap()
}

#[test]
fn story_a_is_proven_by_vantage_and_by_the_flag() {
    let (plan, recorders) = openstack();
    let Some(story) = Story::start("story_a", plan) else {
        return;
    };
    let [vm, hypervisor] = ["vm", "box"].map(|room| story.ns(room));

    // To the box fast, through the box slow: that convicts the box, and changes nothing.
    let report = story.ab(&["box", "vm"], ENDLESS, SECONDS, &["--max-runs", "16"]);
    let verdict = report["verdict"].as_str().unwrap();
    let words = format!("Fast from {hypervisor}, slow from {vm}");
    assert!(verdict.contains(&words), "{verdict}");
    assert_eq!(report["restored"], true);

    // Merged frames come to the box, and never leave it.
    capture(&story, &recorders);
    let arguments = ["trace", "--format", "json", "UPLINK.pcapng", "TAP.pcapng"];
    let output = story.command(&arguments).output().unwrap();
    fs::write(story.state.path().join("trace.json"), &output.stdout).unwrap();
    let trace: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &trace["findings"][0]["id"];
    assert_eq!(found, "merged-frames-lost", "{}", trace["verdict"]);

    // And the flag, with nothing else changed.
    let factor = format!("{hypervisor}/uplink:gro");
    let set = format!("{factor}=off");
    let arguments = [
        "--set",
        &set,
        "--max-runs",
        "16",
        "--findings",
        "trace.json",
    ];
    let report = story.ab(&["vm"], ENDLESS, SECONDS, &arguments);
    let effect = effect(&report, &factor, "throughput_bps");
    assert!(effect["ratio"].as_f64().unwrap() >= 20.0, "{effect}");
    assert!(effect["low"].as_f64().unwrap() >= 10.0, "{effect}");
    let finding = &report["findings"][0];
    assert_eq!(finding["id"], "merged-frames-lost");
    assert_eq!([&finding["was"], &finding["now"]], ["observed", "proven"]);
    let uplink = &report["before"]["interfaces"][format!("{hypervisor}/uplink")];
    assert_eq!(
        uplink["features"]["generic-receive-offload"]["active"],
        true
    );
    let after = &report["after"]["interfaces"][format!("{hypervisor}/uplink")];
    assert_eq!(uplink["features"], after["features"]);
    assert_eq!(report["restored"], true);
}

/// What `fix` and `check` print is run where they were.
#[test]
fn commands_reach_into_the_namespace_that_was_asked_for() {
    let (plan, _) = openstack();
    let Some(story) = Story::start("commands_reach_into", plan) else {
        return;
    };
    let room = story.path.room("vm").unwrap();
    let timer = || fs::write("/sys/class/net/eth0/gro_flush_timeout", "2000000");
    if let Err(error) = room.enter(timer).unwrap() {
        return eprintln!("SKIPPED, commands_reach_into: /sys: {error}");
    }
    let vm = story.ns("vm");
    let name = vm.strip_prefix("ns/").unwrap();
    for asked in [&["fix", "gro-latency-hold"][..], &["check"]] {
        let arguments = [asked, &["--netns", name]].concat();
        let output = story.command(&arguments).output().unwrap();
        let said = stdout(&output);
        let command = format!(
            "ip netns exec {name} sh -c 'echo 20000 > /sys/class/net/eth0/gro_flush_timeout'"
        );
        assert!(said.contains(&command), "{said}{}", stderr(&output));
        let experiment = format!("coalescope ab --set {vm}/eth0:gro_flush_timeout=20000");
        assert!(said.contains(&experiment), "{said}");
    }
}

#[test]
fn story_c_comes_out_as_a_table() {
    let mut plan = Plan::new();
    plan.veth(("near", "eth0"), ("far", "eth0"), 9000)
        .address("far", "eth0", SERVER, 24)
        .address("near", "eth0", [10, 77, 0, 2], 24)
        // As in the story: no offload at the sender, so that the receiver's is all there is.
        .single_frames("far", "eth0");
    let Some(story) = Story::start("story_c", plan) else {
        return;
    };
    let [near, far] = ["near", "far"].map(|room| story.ns(room));
    let (mtu, gro) = (format!("{near}/eth0:mtu"), format!("{near}/eth0:gro"));
    let (sizes, flags) = (format!("{mtu}=1500,9000"), format!("{gro}=off,on"));
    let factors = ["--factor", &sizes, "--factor", &flags];
    let others = ["--peer", &far, "--max-runs", "32", "--seed", "11"];
    let report = story.ab(
        &["near"],
        100_000_000,
        "2",
        &[&factors[..], &others].concat(),
    );

    let cells = report["cells"]["cells"].as_array().unwrap();
    let levels: Vec<&Value> = cells.iter().map(|cell| &cell["levels"]).collect();
    let all = [
        ["1500", "off"],
        ["1500", "on"],
        ["9000", "off"],
        ["9000", "on"],
    ];
    assert_eq!(
        levels,
        all.map(|levels| json!(levels)).iter().collect::<Vec<_>>()
    );
    let median = |cell: usize, metric: &str| {
        let figures = &cells[cell]["figures"][metric];
        figures["median"].as_f64().unwrap()
    };
    // Merging leaves fewer frames and fewer ACKs.
    assert!(median(1, "merge_factor") > 4.0 * median(0, "merge_factor"));
    assert!(median(1, "acks_per_data_segment") < median(0, "acks_per_data_segment"));
    // What each byte costs is told for both ends; how much, on a machine that runs other tests, is
    // anybody's guess.
    for metric in ["service_demand_us_per_kb", "peer_service_demand_us_per_kb"] {
        assert!(median(1, metric) > 0.0, "{metric}");
        assert!(effect(&report, &gro, metric)["ratio"].as_f64().unwrap() > 0.0);
    }
    let interaction = effect(&report, &format!("{mtu} x {gro}"), "throughput_bps");
    assert_eq!(interaction["kind"], "interaction");
    for moved in ["moved", "peer_moved"] {
        let segments = &report["runs"][1][moved]["protocols"]["TcpInSegs"];
        assert!(segments.as_u64().unwrap() > 0, "{moved}");
    }
    assert_eq!(report["restored"], true);
    let mtu_of = |when: &str| &report[when]["interfaces"][format!("{near}/eth0")]["mtu_bytes"];
    assert_eq!([mtu_of("before"), mtu_of("after")], [9000, 9000]);
}
