//! Two hosts and a router between them, each a network namespace.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

use coalescope_needs as needs;
use coalescope_netlink::namespace::Namespace;
use coalescope_watch::facts::{Drop as Dropped, Frames, Level, Watched};
use coalescope_watch::live::{Options, Watcher};
use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
};

const PORT: u16 = 5001;

/// `left` -- `middle` -- `right`; the interfaces are called after whom they lead to.
pub(crate) struct Room {
    name: String,
    /// Held until the namespaces are gone.
    _turn: Turn,
}

/// Events of perf are counted for the whole machine, in rings that the frames of other tests overflow.
static MACHINE: RwLock<()> = RwLock::new(());

/// Beside other tests, or alone.
enum Turn {
    Beside(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>),
    Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>),
}

impl Turn {
    fn beside() -> Self {
        Self::Beside(MACHINE.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn alone() -> Self {
        Self::Alone(MACHINE.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Room {
    /// Builds it; `None` where the machine refuses.
    pub(crate) fn new(test: &str) -> Option<Self> {
        Self::of(test, Turn::beside())
    }

    /// Builds it while no other test of this program has one.
    pub(crate) fn alone(test: &str) -> Option<Self> {
        Self::of(test, Turn::alone())
    }

    fn of(test: &str, turn: Turn) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if !needs::programs(test, &["ip", "ethtool"]) {
            return None;
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let room = Self {
            name: format!("csw{}-{count}", std::process::id()),
            _turn: turn,
        };
        needs::had(test, room.build())?;
        Some(room)
    }

    fn build(&self) -> Result<(), String> {
        for side in ["left", "middle", "right"] {
            run(&format!("ip netns add {}", self.at(side)))?;
            self.run(side, "ip link set lo up")?;
        }
        for (side, net) in [("left", 1), ("right", 2)] {
            let (end, middle) = (self.at(side), self.at("middle"));
            run(&format!(
                "ip link add middle netns {end} type veth peer name {side} netns {middle}"
            ))?;
            self.run(side, "ip link set middle up")?;
            self.run(side, &format!("ip addr add 10.9.{net}.2/24 dev middle"))?;
            self.run(
                side,
                &format!("ip addr add fd09:{net}::2/64 dev middle nodad"),
            )?;
            self.run("middle", &format!("ip link set {side} up"))?;
            self.run("middle", &format!("ip addr add 10.9.{net}.1/24 dev {side}"))?;
            self.run(
                "middle",
                &format!("ip addr add fd09:{net}::1/64 dev {side} nodad"),
            )?;
            self.run(side, &format!("ip route add default via 10.9.{net}.1"))?;
            self.run(side, &format!("ip -6 route add default via fd09:{net}::1"))?;
        }
        for sysctl in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            let line = format!("echo 1 > /proc/sys/net/{sysctl}");
            self.shell("middle", &line)?;
        }
        Ok(())
    }

    /// What the namespace is called.
    pub(crate) fn at(&self, side: &str) -> String {
        format!("{}-{side}", self.name)
    }

    /// Runs a command in a namespace.
    pub(crate) fn run(&self, side: &str, line: &str) -> Result<String, String> {
        run(&format!("ip netns exec {} {line}", self.at(side)))
    }

    /// The same by a shell.
    pub(crate) fn shell(&self, side: &str, line: &str) -> Result<String, String> {
        let name = self.at(side);
        said(Command::new("ip").args(["netns", "exec", &name, "sh", "-c", line]))
    }

    /// Does what a test cannot do without.
    pub(crate) fn set(&self, side: &str, line: &str) {
        let done = self.run(side, line);
        assert!(done.is_ok(), "{line}: {done:?}");
    }

    /// Runs work in a namespace.
    pub(crate) fn enter<T: Send>(&self, side: &str, work: impl FnOnce() -> T + Send) -> T {
        let path = PathBuf::from("/run/netns").join(self.at(side));
        Namespace::open(&path).unwrap().enter(work).unwrap()
    }

    /// Begins to watch the router; `None` where BPF is refused.
    pub(crate) fn watch(&self, test: &str) -> Option<Watcher> {
        self.watch_of("middle", test)
    }

    /// Begins to watch the router by perf's events, which name no namespace: its interfaces get names that no other room
    /// has. `None` where perf is refused.
    pub(crate) fn watch_by_perf(&self, test: &str) -> Option<Watcher> {
        for side in ["left", "right"] {
            let own = self.own(side);
            self.set("middle", &format!("ip link set {side} down"));
            self.set("middle", &format!("ip link set {side} name {own}"));
            self.set("middle", &format!("ip link set {own} up"));
        }
        self.watch_at("middle", test, Level::Perf)
    }

    /// A name that no interface of another room has.
    pub(crate) fn own(&self, side: &str) -> String {
        let [first, ..] = side.as_bytes() else {
            return String::new();
        };
        format!(
            "{}{}",
            char::from(*first),
            self.name.trim_start_matches("csw")
        )
    }

    /// Begins to watch a host.
    pub(crate) fn watch_of(&self, side: &str, test: &str) -> Option<Watcher> {
        self.watch_at(side, test, Level::Bpf)
    }

    fn watch_at(&self, side: &str, test: &str, level: Level) -> Option<Watcher> {
        let options = Options {
            netns: Some(self.at(side)),
            level: Some(level),
            ..Options::default()
        };
        let watcher = Watcher::begin(options).unwrap();
        if watcher.level() != level {
            let mut watcher = watcher;
            let look = watcher.look().unwrap();
            let why = look.unseen.first().map(|unseen| unseen.why.clone());
            needs::skipped(test, why.unwrap_or_default());
            return None;
        }
        Some(watcher)
    }

    /// Sends bytes from left to right, as far as they get in `patience`.
    pub(crate) fn send(&self, bytes: usize, to: &str, patience: Duration) -> usize {
        self.send_by(to, bytes, to, patience)
    }

    /// The same to an address by which the receiver is reached, which need not be the receiver's own.
    pub(crate) fn send_by(&self, by: &str, bytes: usize, to: &str, patience: Duration) -> usize {
        let listener = self
            .enter("right", || TcpListener::bind((to, PORT)))
            .unwrap();
        let received = thread::spawn(move || received(&listener, patience));
        let sent = self.enter("left", || {
            TcpStream::connect((by, PORT)).and_then(|mut stream| {
                stream.set_write_timeout(Some(patience))?;
                stream.write_all(&vec![7; bytes])?;
                stream.shutdown(Shutdown::Write)
            })
        });
        // That not all gets through is what some tests are about.
        let _ = sent;
        received.join().unwrap()
    }
}

/// Bytes of data in each segment of [`Room::send_merged`].
pub(crate) const SEGMENT: usize = 1400;
/// Segments in a frame of it.
pub(crate) const SEGMENTS: usize = 5;

impl Room {
    /// `None` where the kernel cuts datagrams before a veth.
    pub(crate) fn takes_merged_datagrams(&self, test: &str) -> Option<()> {
        let features = self.run("left", "ethtool -k middle").unwrap();
        if !features.contains("tx-udp-segmentation: on") {
            needs::skipped(test, "this kernel cuts UDP before a veth");
            return None;
        }
        Some(())
    }

    /// Sends merged frames of UDP from left. Nothing is sent again, and no timer sends anything: all of it happens while
    /// this thread runs. They may not be cut on their way, and go on whatever the way says that it takes.
    pub(crate) fn send_merged(&self, frames: u64, to: &str) {
        self.enter("left", || {
            let to: SocketAddr = (to.parse::<IpAddr>().unwrap(), 9).into();
            let own = if to.is_ipv6() { "[::]:0" } else { "0.0.0.0:0" };
            let socket = UdpSocket::bind(own).unwrap();
            match to.is_ipv6() {
                true => set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE).unwrap(),
                false => set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE).unwrap(),
            }
            setsockopt(&socket, UdpGsoSegment, &(SEGMENT as i32)).unwrap();
            for _ in 0..frames {
                socket.send_to(&[7; SEGMENT * SEGMENTS], to).unwrap();
            }
        });
    }
}

/// The sender's connection; none where the way to here refuses it, as while an IPv6 address is still tentative.
fn accepted(listener: &TcpListener, patience: Duration) -> Option<TcpStream> {
    let end = Instant::now() + 2 * patience;
    listener.set_nonblocking(true).unwrap();
    while Instant::now() < end {
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(false).unwrap();
            return Some(stream);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

fn received(listener: &TcpListener, patience: Duration) -> usize {
    let Some(mut stream) = accepted(listener, patience) else {
        return 0;
    };
    stream.set_read_timeout(Some(patience)).unwrap();
    let mut buffer = vec![0; 1 << 20];
    let mut all = 0;
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        all += count;
    }
    all
}

impl Drop for Room {
    fn drop(&mut self) {
        for side in ["left", "middle", "right"] {
            let _ = run(&format!("ip netns del {}", self.at(side)));
        }
    }
}

/// Rounds of a test at most.
const ROUNDS: usize = 4;

/// Holds a test of TCP to all of its claims in one round of some: now and then an event is left out, and why is not known
/// (docs/watch.md, "How exact"). What is counted wrongly fails in each of them. A test
/// whose frames are sent by a task of its own needs none.
pub(crate) fn in_rounds(test: impl Fn()) {
    for _ in 1..ROUNDS {
        if catch_unwind(AssertUnwindSafe(&test)).is_ok() {
            return;
        }
    }
    test();
}

/// For so long nothing has moved: a NAPI that another thread runs comes within a tick, and timeouts of TCP are 200 ms
/// and more apart.
const STILL: Duration = Duration::from_millis(60);
/// Looks at most, until nothing moves.
const LOOKS: usize = 200;

/// A look, and what the kernel counts itself, at one instant: when neither has moved since the one before. A sender that
/// gave up goes on repeating what was dropped, and the last frames may still be on their way; whoever reads one count
/// after the other reads of different frames.
pub(crate) fn settled<C: PartialEq>(watcher: &mut Watcher, count: impl Fn() -> C) -> (Watched, C) {
    let mut before = (watcher.look().unwrap(), count());
    for _ in 0..LOOKS {
        thread::sleep(STILL);
        let now = (watcher.look().unwrap(), count());
        let is_still =
            now.0.interfaces == before.0.interfaces && of_here(&now.0) == of_here(&before.0);
        if is_still && now.1 == before.1 {
            return now;
        }
        before = now;
    }
    panic!("counts go on moving")
}

/// Drops without those of the whole machine.
fn of_here(look: &Watched) -> Vec<&Dropped> {
    let all = look.drops.iter();
    all.filter(|drop| drop.unknown_frames == 0).collect()
}

/// Runs a line of words.
pub(crate) fn run(line: &str) -> Result<String, String> {
    let mut words = line.split(' ');
    said(Command::new(words.next().unwrap_or_default()).args(words))
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// Frames of an interface.
pub(crate) fn frames(look: &Watched, name: &str) -> Frames {
    let mut all = look.interfaces.iter();
    let one = all.find(|interface| interface.name == name);
    one.unwrap_or_else(|| panic!("{name} is not in {look:#?}"))
        .frames
        .unwrap()
}

/// Drops for a reason, the one with most merged frames first; all drops on a kernel that tells none.
pub(crate) fn drops<'a>(look: &'a Watched, reason: &str) -> Vec<&'a Dropped> {
    let all = look.drops.iter();
    all.filter(|drop| drop.reason.as_deref().is_none_or(|one| one == reason))
        .collect()
}

/// Whether frames died in a function; '' is wherever merged ones did, on a kernel that tells no reasons. Such kernels
/// drop for a rule where they call its chain.
pub(crate) fn is_at(drop: &Dropped, function: &str) -> bool {
    let name = drop.location.as_deref();
    let is_in = |function: &str| name.is_none_or(|name| name.starts_with(function));
    match (&drop.reason, function) {
        (None, "") => drop.merged_frames > 0,
        (None, "nft_do_chain") => is_in("nf_hook_slow"),
        _ => is_in(function),
    }
}
