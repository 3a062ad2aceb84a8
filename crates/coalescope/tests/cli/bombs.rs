//! Inputs that are made to take memory or time, within a budget of memory.
//!
//! Sized for a budget of 128 MiB, or of as many MiB as BOMBS says: `BOMBS=512` for the program's own.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// The program's budget in MiB, unless told otherwise.
const DEFAULT_MIB: u64 = 512;
/// What may come on top: pages of the program's file, which are shared and not counted, and what is
/// filled between two looks.
pub(crate) const MARGIN: u64 = 64 << 20;

/// The budget in MiB that is given to the program here.
pub(crate) fn mib() -> u64 {
    let asked = std::env::var("BOMBS").ok();
    asked.map_or(128, |mib| mib.parse().expect("BOMBS: a number of MiB"))
}

/// The budget in bytes.
pub(crate) fn budget() -> u64 {
    mib() << 20
}

/// As many for the budget of this run as `count` is for the program's own.
fn sized(count: u64) -> u64 {
    count * mib() / DEFAULT_MIB
}

/// How a command ended, what it said, and the most memory it had.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) peak_bytes: u64,
}

impl Ended {
    /// It gave up the input of this name, in time.
    pub(crate) fn gave_up(&self, input: &str) {
        self.is_within(budget());
        assert_eq!(self.status.code(), Some(2), "{}", self.stderr);
        assert!(self.stderr.contains(input), "{}", self.stderr);
        let advice = "give less at once, or allow more, such as --max-memory";
        assert!(self.stderr.contains(advice), "{}", self.stderr);
    }

    pub(crate) fn is_within(&self, budget: u64) {
        let peak = self.peak_bytes;
        assert!(
            peak > 0 && peak < budget + MARGIN,
            "{peak}: {}",
            self.stderr
        );
    }
}

/// Runs `coalescope` in a folder, feeds it, and looks at its memory all the time.
pub(crate) fn run(
    folder: &Path,
    arguments: &[&str],
    feed: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
) -> Ended {
    let path = |name: &str| folder.join(name);
    let mut child = Command::new(env!("CARGO_BIN_EXE_coalescope"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(File::create(path("stdout")).unwrap())
        .stderr(File::create(path("stderr")).unwrap())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let (status, peak_bytes) = thread::scope(|scope| {
        // That it ends before all was read is no failure.
        scope.spawn(move || feed(&mut BufWriter::with_capacity(1 << 20, stdin)));
        let mut peak_bytes = 0;
        loop {
            peak_bytes = high_water(child.id()).unwrap_or(peak_bytes);
            if let Some(status) = child.try_wait().unwrap() {
                break (status, peak_bytes);
            }
            thread::sleep(Duration::from_millis(2));
        }
    });
    let text = |name: &str| String::from_utf8(fs::read(path(name)).unwrap()).unwrap();
    Ended {
        status,
        stdout: text("stdout"),
        stderr: text("stderr"),
        peak_bytes,
    }
}

/// The most memory that a process has had (`proc_pid_status(5)`).
fn high_water(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

/// Writes a packed file piece by piece.
pub(crate) fn packed(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let file = BufWriter::new(File::create(path).unwrap());
    let mut out = GzEncoder::new(file, Compression::fast());
    write(&mut out).unwrap();
    out.finish().unwrap().flush().unwrap();
}

/// Runs `coalescope check` over a packed file of that name.
pub(crate) fn check(name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Ended {
    let folder = TempDir::new().unwrap();
    packed(&folder.path().join(name), write);
    let allowed = format!("{}M", mib());
    let arguments = ["check", "--from", name, "--max-memory", &allowed];
    run(folder.path(), &arguments, |_| Ok(()))
}

/// An entry of a tar archive: its header, and its content in whole blocks.
pub(crate) fn entry(out: &mut dyn Write, kind: u8, name: &str, content: &[u8]) -> io::Result<()> {
    let mut header = [0; 512];
    let name = &name.as_bytes()[..name.len().min(99)];
    header[..name.len()].copy_from_slice(name);
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    out.write_all(&header)?;
    out.write_all(content)?;
    out.write_all(&vec![
        0;
        content.len().next_multiple_of(512) - content.len()
    ])
}

#[test]
fn an_archive_of_long_names() {
    let ended = check("names.tar.gz", |out| {
        let folders = format!("{}/", "d".repeat(200)).repeat(20);
        for number in 0..sized(110_000) {
            let name = format!("{folders}{number}\0");
            entry(out, b'L', "././@LongLink", name.as_bytes())?;
            entry(out, b'0', &name, b"x\n")?;
        }
        Ok(())
    });
    ended.gave_up("names.tar.gz");
}

#[test]
fn a_list_of_interfaces() {
    let ended = check("links.txt.gz", |out| {
        for number in 1..=sized(1_800_000) {
            writeln!(out, "{number}: i{number}: <UP> mtu 1500")?;
        }
        Ok(())
    });
    ended.gave_up("links.txt.gz");
}

/// Each host has files that are not understood, which are put beside it.
#[test]
fn an_archive_of_many_hosts() {
    let ended = check("hosts.tar.gz", |out| {
        for host in 0..sized(12_000) {
            entry(
                out,
                b'0',
                &format!("h{host}/sysctl"),
                b"net.ipv4.ip_forward = 1\n",
            )?;
            for other in 0..4 {
                entry(out, b'0', &format!("h{host}/{other}"), b"hello\n")?;
            }
        }
        Ok(())
    });
    ended.is_within(budget());
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    let last = format!("h{} (Linux)", sized(12_000) - 1);
    assert!(ended.stdout.contains(&last));
}

/// Commands at prompts of as many hosts: all but those of one host are left out.
#[test]
fn a_text_with_prompts_of_many_hosts() {
    let ended = check("prompts.txt.gz", |out| {
        for host in 0..sized(12_000) {
            writeln!(out, "root@h{host}:~# uname -r\n5.1.0")?;
        }
        Ok(())
    });
    ended.is_within(budget());
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    // Each is a host of its own, of which next to nothing was read.
    let hosts = ended.stdout.matches("(Linux, 5.1.0)").count();
    assert!(hosts >= 12_000 / 10, "{hosts}: {}", ended.stdout);
}

/// What `ethtool -k` prints, of a card with all there is.
fn offloads(interface: &str) -> String {
    let features = (0..64).map(|number| format!("feature-number-{number}: off [fixed]\n"));
    let shown =
        "rx-checksumming: on\ntcp-segmentation-offload: on\n\tgeneric-receive-offload: on\n";
    format!(
        "Features for {interface}:\n{shown}{}",
        features.collect::<String>()
    )
}

/// No bomb, but much: one host's interfaces, each in a file of its own, and as many hosts.
#[test]
fn a_folder_of_1_500_lists_of_offloads_and_1_500_hosts_fit_many_times_over() {
    let folder = TempDir::new().unwrap();
    for at in 0..1_500 {
        let host = folder.path().join(format!("hosts/h{at}"));
        fs::create_dir_all(&host).unwrap();
        fs::write(host.join("ethtool-k"), offloads("eth0")).unwrap();
        let one = folder.path().join("one");
        fs::create_dir_all(&one).unwrap();
        fs::write(one.join(format!("k{at}")), offloads(&format!("eth{at}"))).unwrap();
    }
    for (path, shown) in [("one", "eth1499"), ("hosts", "h1499")] {
        let arguments = ["check", "--from", path, "--max-memory", "160M"];
        let ended = run(folder.path(), &arguments, |_| Ok(()));
        ended.is_within(160 << 20);
        assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
        assert!(ended.stdout.contains(shown), "{}", ended.stdout);
    }
}

/// A router whose VLANs have a finding each: what rules see of the host is there once, not once for each.
#[test]
fn a_router_of_1_000_interfaces_takes_a_fraction_of_the_budget() {
    let ended = check("router.txt.gz", |out| {
        writeln!(out, "$ sysctl -a\nnet.ipv4.ip_forward = 1\n$ ip -d link")?;
        for at in 2..=1_001 {
            writeln!(
                out,
                "{at}: v{at}@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    \
                 link/ether 02:00:00:00:{:02x}:{:02x} brd ff:ff:ff:ff:ff:ff\n    vlan protocol 802.1Q id {} <REORDER_HDR>",
                at / 256,
                at % 256,
                at % 4_000
            )?;
        }
        for at in 2..=1_001 {
            writeln!(out, "$ ethtool -k v{at}\n{}", offloads(&format!("v{at}")))?;
        }
        Ok(())
    });
    ended.is_within(DEFAULT_MIB << 18);
    assert_ne!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert!(ended.stdout.contains("v1001"), "{}", ended.stderr);
}

/// A capture of SYNs of as many connections, a million a second.
fn syns(out: &mut dyn Write, count: u32) -> io::Result<()> {
    // Magic, version 2.4, snapshot length, and IP without a link's header (LINKTYPE_RAW).
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101_u32] {
        out.write_all(&word.to_le_bytes())?;
    }
    let mut ip = [0; 20];
    (ip[0], ip[3], ip[8], ip[9]) = (0x45, 40, 64, 6);
    ip[16..].copy_from_slice(&[192, 0, 2, 1]);
    let mut tcp = [0; 20];
    (tcp[3], tcp[12], tcp[13]) = (80, 0x50, 2);
    for number in 0..count {
        for word in [number / 1_000_000, number % 1_000_000, 40, 40] {
            out.write_all(&word.to_le_bytes())?;
        }
        ip[12..16].copy_from_slice(&(0x0a00_0000 + (number >> 8)).to_be_bytes());
        tcp[..2].copy_from_slice(&(1024 + (number & 255) as u16).to_be_bytes());
        tcp[4..8].copy_from_slice(&number.to_be_bytes());
        out.write_all(&ip)?;
        out.write_all(&tcp)?;
    }
    out.flush()
}

#[test]
fn a_capture_of_many_syns_is_summed_up() {
    let folder = TempDir::new().unwrap();
    let allowed = format!("{}M", mib());
    let arguments = ["trace", "-", "--max-memory", &allowed];
    let count = sized(4_000_000) as u32;
    let ended = run(folder.path(), &arguments, |out| syns(out, count));
    ended.is_within(budget());
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let said = "there are more connections than --max-connections or --max-memory allow";
    assert!(words.join(" ").contains(said), "{}", ended.stdout);
}

/// Where points are compared no connection can be summed up.
#[test]
fn two_captures_of_many_syns_are_given_up() {
    let (folder, count) = (TempDir::new().unwrap(), sized(800_000) as u32);
    packed(&folder.path().join("a.pcap.gz"), |out| syns(out, count));
    let allowed = format!("{}M", mib());
    let arguments = ["trace", "--max-memory", &allowed, "a.pcap.gz", "-"];
    let ended = run(folder.path(), &arguments, |out| syns(out, count));
    ended.is_within(budget());
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stdout);
    let said = "error: a.pcap.gz, standard input takes more memory than the";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}
