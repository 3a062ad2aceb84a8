//! What comes of changes, and that they are taken back, on links in namespaces of our own.

// Without the harness clippy takes tests for a program.
#![allow(clippy::unwrap_used, clippy::panic)]

mod along;
mod random;
mod refused;

use coalescope_change::guardian::{Guard, Options, serve_if_asked};
use coalescope_change::journal::Store;
use coalescope_change::restore::{self, Fate};
use coalescope_change::settings::{Change, Error, Item, Outcome, Space, read, wait_for_carrier};
use coalescope_needs as needs;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::route::{Limits, NewLink, Route};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

struct Test {
    name: &'static str,
    programs: &'static [&'static str],
    work: fn(&Store),
}

const fn test(name: &'static str, work: fn(&Store)) -> Test {
    let programs = &[];
    Test {
        name,
        programs,
        work,
    }
}

/// One that changes links behind the back of the program under test.
const fn test_with_ip(name: &'static str, work: fn(&Store)) -> Test {
    let programs = &["ip"];
    Test {
        name,
        programs,
        work,
    }
}

const TESTS: [Test; 41] = [
    test("what goes along is told and taken back", cascades),
    test("fixed, refused and ignored are three things", not_changed),
    test("what cannot be is an error", errors),
    test("without a journal nothing is changed", unwritable),
    test_with_ip("an interface that goes away is named", goes_away),
    test_with_ip("an interface with another name is the same", renamed),
    test("two experiments exclude each other", exclusion),
    test("a deadline restores", deadline),
    test_with_ip("a change that others take back is noticed", noticed),
    test("a guardian that is killed is replaced", guardian_killed),
    test("a guardian that is stopped is named", guardian_stopped),
    test(
        "what the command started keeps nobody waiting",
        child_lives_on,
    ),
    test("what was kept is undone", kept),
    test("what was left is not taken for what was", unfinished),
    test("what is back and has no effect is named", idle),
    test("sysctls", sysctls),
    test("the largest sizes, with IPv4's", sizes),
    test_with_ip("coalescing is rounded, and restored", coalescing),
    test_with_ip("a bridge follows its port", related),
    test_with_ip(
        "a new interface of the same number is another one",
        made_anew,
    ),
    test(
        "another namespace of the same inode is not it",
        other_namespace,
    ),
    test("two stores share an interface's lock", two_stores),
    test_with_ip("changes of others stay", changes_of_others),
    test_with_ip("a key that others have set is left and named", meddled),
    test_with_ip("what others set between is not set over", meddled_between),
    test_with_ip("IPv6's MTU is its own key", ipv6_mtu),
    test("a carrier is waited for", carrier),
    test_with_ip("a bridge is left to follow its ports", along::bridge),
    test_with_ip("a bond's ports have MTUs of their own", along::bond),
    test_with_ip("MTUs of ports that others set stay", along::bond_meddled),
    test("IPv4's largest sizes are others'", along::ipv4_sizes),
    test_with_ip("a VLAN that was lowered is raised again", along::vlan),
    test_with_ip("features of interfaces above follow", along::uppers),
    test_with_ip("an open change is nobody's for certain", refused::open),
    test_with_mount("a sysctl that is read-only is named", refused::read_only),
    test_with_ip("an interface that comes back is the same", refused::moved),
    test_with_ip("another address is no other interface", refused::address),
    test_with_ip("a bond that refuses is named", refused::bond),
    test_with_ip(
        "a sysctl of an interface is not another one's",
        refused::made_anew,
    ),
    test("schedules by chance", random::schedules),
    test("features of which one needs another", random::dependent),
];

/// One that puts something in the way of a file.
const fn test_with_mount(name: &'static str, work: fn(&Store)) -> Test {
    let programs = &["mount", "umount", "ip"];
    Test {
        name,
        programs,
        work,
    }
}

const NAMED: &str = "a namespace with a name, and without it";

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked() {
        return code;
    }
    let arguments: Vec<_> = env::args().collect();
    if let [_, role, store] = &arguments[..]
        && role == "leaver"
    {
        leave(Path::new(store));
    }
    // As of tests with a harness: those whose names contain a word.
    let word = arguments.get(1).map_or("", String::as_str);
    let asked = TESTS.iter().filter(|test| test.name.contains(word));
    asked.for_each(inside);
    if NAMED.contains(word) {
        named_namespace();
    }
    ExitCode::SUCCESS
}

/// Runs a test with a pair of links that are up, and looks whether it left everything as it was.
fn inside(test: &Test) {
    if !has(test.name, test.programs) {
        return;
    }
    let Some(room) = needs::had(test.name, Namespace::create()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(&folder.path().join("state")).unwrap();
    room.enter(|| {
        pair();
        (test.work)(&store);
    })
    .unwrap();
    println!("ok: {}", test.name);
}

fn pair() {
    let end = |name, last| NewLink {
        name,
        mac: Some([2, 0, 0, 0, 0, last]),
        mtu: 1500,
    };
    let route = Route::open().unwrap();
    route.add_veth(&end("a", 1), &end("b", 2)).unwrap();
    for name in ["a", "b"] {
        up(name, true);
    }
}

fn up(name: &str, up: bool) {
    let route = Route::open().unwrap();
    let index = route.link(name).unwrap().index;
    route.set_up(name, index, up).unwrap();
}

/// What the test at hand has asked for.
static ASKED: Mutex<&[&str]> = Mutex::new(&[]);

/// Whether the machine has what a test asks for.
fn has(test: &str, programs: &'static [&'static str]) -> bool {
    *ASKED.lock().unwrap() = programs;
    needs::programs(test, programs)
}

/// Whether `ip` did it: some kernels lack a kind of link.
fn ip(arguments: &str) -> bool {
    start("ip", arguments)
}

/// Whether a program ended well. Also where it is there, it has to be asked for: elsewhere it is not.
fn start(program: &str, arguments: &str) -> bool {
    let asked = *ASKED.lock().unwrap();
    assert!(asked.contains(&program), "{program} was not asked for");
    let mut command = Command::new(program);
    let status = command
        .args(arguments.split(' '))
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn guard(store: &Store) -> Guard {
    Guard::start(&Options::new(store.clone(), vec!["test".to_owned()])).unwrap()
}

fn change(guard: &mut Guard, text: &str) -> Result<Change, Error> {
    guard.change(&text.parse().unwrap())
}

fn restored(guard: Guard, store: &Store) {
    let report = guard.finish().unwrap();
    assert!(report.is_complete() && report.exit_code() == 0, "{report}");
    assert!(store.list().unwrap().is_empty());
}

type Snapshot = BTreeMap<String, (u32, Vec<(String, bool, bool)>)>;

/// Read without the crate under test.
fn snapshot() -> Snapshot {
    let ethtool = Ethtool::open().unwrap();
    let links = Route::open().unwrap().links().unwrap();
    let one = |name: &str| {
        let features = ethtool.read_features(name).unwrap();
        let all = features.iter();
        all.map(|(name, it)| (name.to_owned(), it.wanted, it.active))
            .collect()
    };
    let links = links.iter();
    links
        .map(|link| (link.name.clone(), (link.mtu.unwrap(), one(&link.name))))
        .collect()
}

fn value(subject: &str) -> String {
    read(&subject.parse().unwrap()).unwrap().to_string()
}

fn cascades(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    let off = change(&mut guard, "a:tx=off").unwrap();
    assert!(off.took_effect(), "{off}");
    let along = |name: &str| {
        off.outcomes.iter().any(|outcome| {
            matches!(outcome, Outcome::Cascaded { item: Item::Active(item), to, .. }
                if item == name && to == "off")
        })
    };
    assert!(
        along("tx-tcp-segmentation") && along("tx-tcp6-segmentation"),
        "{off}"
    );
    assert_eq!(value("a:tx-tcp-segmentation"), "off");
    let journal = store.read(guard.journal()).unwrap();
    assert_eq!(journal.wanted.len(), 1);
    let on = change(&mut guard, "a:tx=on").unwrap();
    assert!(
        on.took_effect() && value("a:tx-tcp-segmentation") == "on",
        "{on}"
    );
    change(&mut guard, "a:tso=off").unwrap();
    change(&mut guard, "a:mtu=9000").unwrap();
    change(&mut guard, "a:gro_flush_timeout=20000").unwrap();
    change(&mut guard, "b:sg=off").unwrap();
    assert_eq!(value("a:gro_flush_timeout"), "20000");
    assert!(guard.restore().unwrap().is_complete());
    assert_eq!(snapshot(), before);
    change(&mut guard, "a:tx=off").unwrap();
    restored(guard, store);
    assert_eq!(snapshot(), before);
    assert_eq!(value("a:gro_flush_timeout"), "0");
}

fn not_changed(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    let fixed = change(&mut guard, "a:lro=on").unwrap();
    assert!(
        matches!(fixed.outcomes[..], [Outcome::Fixed { .. }]),
        "{fixed}"
    );
    let refused = change(&mut guard, "a:mtu=70000").unwrap();
    let [Outcome::Refused { words, .. }] = &refused.outcomes[..] else {
        panic!("{refused}")
    };
    assert!(words.contains("MTU") || words.contains("mtu"), "{words}");
    change(&mut guard, "a:sg=off").unwrap();
    let ignored = change(&mut guard, "a:gso=on").unwrap();
    let ignores = |outcome: &Outcome| matches!(outcome, Outcome::Ignored { .. });
    assert!(ignored.outcomes.iter().any(ignores), "{ignored}");
    let already = change(&mut guard, "a:mtu=1500").unwrap();
    assert!(
        matches!(already.outcomes[..], [Outcome::Already { .. }]),
        "{already}"
    );
    restored(guard, store);
    assert_eq!(snapshot(), before);
}

/// IPv4's sizes follow those that are set, since Linux 6.3.
fn sizes(store: &Store) {
    let before = snapshot();
    let was = limits();
    let mut guard = guard(store);
    change(&mut guard, "a:gso_max_size=1500").unwrap();
    change(&mut guard, "a:gro_max_size=9000").unwrap();
    assert_eq!(value("a:gso_max_size"), "1500");
    let is = limits();
    assert_eq!((is.gso_max_size, is.gro_max_size), (Some(1500), Some(9000)));
    assert!(is.gso_ipv4_max_size.is_none_or(|bytes| bytes == 1500));
    restored(guard, store);
    assert_eq!(snapshot(), before);
    assert_eq!(limits(), was);
}

fn limits() -> Limits {
    let links = Route::open().unwrap().links().unwrap();
    let own = links.into_iter().find(|link| link.name == "a");
    own.unwrap().limits
}

fn errors(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    let mut error = |text| change(&mut guard, text).unwrap_err();
    let unknown = error("a:tx-udp-flying=on");
    assert!(matches!(unknown, Error::UnknownFeature { .. }), "{unknown}");
    assert!(matches!(error("nothere:gro=on"), Error::Gone { .. }));
    assert!(matches!(
        error("ns/nothere/a:gro=on"),
        Error::NamespaceGone { .. }
    ));
    let low = error("a:mtu=1000");
    assert!(low.to_string().contains("IPv6"), "{low}");
    assert!(matches!(
        error("a:rx-usecs=5"),
        Error::UnknownFeature { .. }
    ));
    assert!(
        store.list().unwrap().is_empty(),
        "nothing was changed, nothing is written"
    );
    restored(guard, store);
    assert_eq!(snapshot(), before);
}

/// A journal that cannot be written: something is in the way of its file.
fn unwritable(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    let beside = format!(".{}.json.new", guard.journal());
    fs::create_dir(store.path().join(&beside)).unwrap();
    let error = change(&mut guard, "a:tx=off").unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(snapshot(), before, "nothing is changed without a journal");
    fs::remove_dir(store.path().join(&beside)).unwrap();
    change(&mut guard, "a:tx=off").unwrap();
    fs::create_dir(store.path().join(&beside)).unwrap();
    assert!(change(&mut guard, "a:mtu=9000").is_err());
    // What is in it is enough to restore.
    restored(guard, store);
    assert_eq!(snapshot(), before);
}

fn goes_away(store: &Store) {
    let mut guard = guard(store);
    change(&mut guard, "a:gro=on").unwrap();
    change(&mut guard, "sysctl:net.ipv4.tcp_reordering=99").unwrap();
    assert!(ip("link del dev a"));
    let error = change(&mut guard, "a:gro=off").unwrap_err();
    assert!(matches!(error, Error::Gone { .. }), "{error}");
    let report = guard.finish().unwrap();
    assert_eq!(report.exit_code(), 3);
    assert!(report.to_string().contains("a is gone"), "{report}");
    let undone = restore::undo(store).unwrap().remove(0);
    let Fate::Failed { unrestored } = undone.fate else {
        panic!("{undone:?}")
    };
    let forget = format!("coalescope undo {} --forget", undone.journal);
    assert_eq!(unrestored[0].by_hand.as_ref(), Some(&forget));
    assert_eq!(value("sysctl:net.ipv4.tcp_reordering"), "3");
    assert_eq!(restore::exit_code(&restore::undo(store).unwrap()), 3);
    // Another one by that name is not it.
    pair();
    let before = snapshot();
    assert_eq!(restore::exit_code(&restore::undo(store).unwrap()), 3);
    assert_eq!(snapshot(), before);
}

fn renamed(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    assert!(ip("link set dev a down") && ip("link set dev a name c"));
    restored(guard, store);
    ip("link set dev c name a");
    assert_eq!(snapshot(), before);
}

/// As after both were killed: the journal is there, and nobody restores.
fn left_behind(store: &Store) -> String {
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    let journal = store.read(guard.journal()).unwrap();
    restored(guard, store);
    set_feature("a", "tx-checksum-ip-generic", false);
    store.write(&journal).unwrap();
    journal.id
}

fn made_anew(store: &Store) {
    let index = Route::open().unwrap().link("a").unwrap().index;
    left_behind(store);
    assert!(ip("link del dev a"));
    let words =
        format!("link add dev a index {index} address 02:00:00:00:00:01 type veth peer name b");
    assert!(ip(&words));
    set_feature("a", "tx-checksum-ip-generic", false);
    let undone = restore::undo(store).unwrap();
    assert_eq!(restore::exit_code(&undone), 3, "{undone:?}");
    assert!(
        format!("{undone:?}").contains("another device"),
        "{undone:?}"
    );
    assert_eq!(value("a:tx-checksum-ip-generic"), "off");
}

fn other_namespace(store: &Store) {
    let id = left_behind(store);
    let mut journal = store.read(&id).unwrap();
    let cookie = &mut journal.interfaces[0].namespace.cookie;
    if cookie.is_none() {
        return needs::skipped("another namespace of the same inode", "Linux before 5.14");
    }
    *cookie = cookie.map(|cookie| cookie + 1);
    store.write(&journal).unwrap();
    let undone = restore::undo(store).unwrap();
    assert_eq!(restore::exit_code(&undone), 3, "{undone:?}");
    assert_eq!(value("a:tx-checksum-ip-generic"), "off");
}

fn two_stores(store: &Store) {
    let folder = tempfile::tempdir().unwrap();
    let other = Store::at(&folder.path().join("other")).unwrap();
    let mut first = guard(store);
    change(&mut first, "a:gro=on").unwrap();
    let mut second = guard(&other);
    let error = change(&mut second, "a:gro=off").unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    restored(second, &other);
    restored(first, store);
    assert_eq!(value("a:gro"), "off");
}

fn exclusion(store: &Store) {
    let mut first = guard(store);
    change(&mut first, "a:gro=on").unwrap();
    let mut second = guard(store);
    let error = change(&mut second, "a:tso=off").unwrap_err();
    let us = format!("process {}", std::process::id());
    assert!(
        matches!(&error, Error::Busy { holder, .. } if holder.contains(&us)),
        "{error}"
    );
    change(&mut second, "b:tso=off").unwrap();
    let undone = restore::undo(store).unwrap();
    let running = |fate: &Fate| matches!(fate, Fate::Running { .. });
    assert!(
        undone.len() == 2 && undone.iter().all(|one| running(&one.fate)),
        "{undone:?}"
    );
    assert_eq!(value("a:gro"), "on");
    drop(first);
    assert_eq!(value("a:gro"), "off");
    change(&mut second, "a:tso=off").unwrap();
    restored(second, store);
}

fn deadline(store: &Store) {
    let before = snapshot();
    let mut options = Options::new(store.clone(), vec!["test".to_owned()]);
    options.deadline = Some(Duration::from_millis(300));
    let mut guard = Guard::start(&options).unwrap();
    change(&mut guard, "a:tx=off").unwrap();
    guard
        .set_deadline(Some(Duration::from_millis(600)))
        .unwrap();
    sleep(Duration::from_millis(400));
    assert_ne!(snapshot(), before, "it was put off");
    until(|| store.list().unwrap().is_empty());
    assert_eq!(snapshot(), before);
    assert_eq!(change(&mut guard, "a:tx=off").unwrap_err(), Error::Expired);
    assert_eq!(snapshot(), before);
    restored(guard, store);
}

/// Looked at by the interface's number: with another name it is the same one.
fn noticed(store: &Store) {
    let mut options = Options::new(store.clone(), vec!["test".to_owned()]);
    options.deadline = Some(Duration::from_secs(60));
    let mut guard = Guard::start(&options).unwrap();
    let features = change(&mut guard, "a:gro=on").unwrap();
    let sysctl = change(&mut guard, "sysctl:net.ipv4.tcp_reordering=127").unwrap();
    let mut lost = |change: &Change| {
        let lost = guard.lost(change)?;
        let lost = lost
            .iter()
            .map(|one| format!("{} {} {}", one.item, one.from, one.to));
        Ok::<_, Error>(lost.collect::<Vec<_>>())
    };
    assert_eq!((lost(&features), lost(&sysctl)), (Ok(vec![]), Ok(vec![])));
    assert!(ip("link set dev a down") && ip("link set dev a name other"));
    set_feature("other", "rx-gro", false);
    fs::write("/proc/sys/net/ipv4/tcp_reordering", "50").unwrap();
    assert_eq!(lost(&features), Ok(vec!["rx-gro on off".to_owned()]));
    let text = "net.ipv4.tcp_reordering 127 50";
    assert_eq!(lost(&sysctl), Ok(vec![text.to_owned()]));
    fs::write("/proc/sys/net/ipv4/tcp_reordering", "127").unwrap();
    assert!(ip("link set dev other name a") && ip("link set dev a up"));
    assert_eq!(lost(&sysctl), Ok(vec![]));
    guard.set_deadline(Some(Duration::ZERO)).unwrap();
    assert_eq!(guard.lost(&sysctl), Err(Error::Expired));
    restored(guard, store);
}

fn guardian_killed(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    let pid = Pid::from_raw(guard.guardian_pid().try_into().unwrap());
    for refused in [
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGQUIT,
    ] {
        kill(pid, refused).unwrap();
    }
    change(&mut guard, "a:mtu=9000").unwrap();
    kill(pid, Signal::SIGKILL).unwrap();
    let error = change(&mut guard, "a:gro=on").unwrap_err();
    assert!(matches!(error, Error::Guardian { .. }), "{error}");
    restored(guard, store);
    assert_eq!(snapshot(), before);
}

fn guardian_stopped(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    let pid = Pid::from_raw(guard.guardian_pid().try_into().unwrap());
    let fate = || restore::undo(store).unwrap().remove(0).fate;
    assert!(matches!(fate(), Fate::Running { .. }), "{:?}", fate());
    kill(pid, Signal::SIGSTOP).unwrap();
    until(|| fate().is_failure());
    let Fate::Held { why, by_hand } = fate() else {
        panic!("{:?}", fate())
    };
    assert!(why.contains("is stopped"), "{why}");
    assert_eq!(by_hand, Some(format!("kill -CONT {pid}")));
    kill(pid, Signal::SIGCONT).unwrap();
    until(|| !fate().is_failure());
    restored(guard, store);
    assert_eq!(snapshot(), before);
}

/// Changes something, starts a program that lives on, and ends without a word.
fn leave(store: &Path) -> ! {
    let mut guard = guard(&Store::at(store).unwrap());
    change(&mut guard, "a:tx=off").unwrap();
    let child = Command::new("sleep").arg("60").spawn().unwrap();
    println!("{} {}", child.id(), guard.guardian_pid());
    std::process::abort()
}

/// Numbers of what lives on, and of the guardian.
fn leaver(store: &Store) -> (Pid, Pid) {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg("leaver").arg(store.path()).stdin(Stdio::null());
    command.stdout(out.reopen().unwrap()).stderr(Stdio::null());
    assert!(!command.status().unwrap().success());
    let text = fs::read_to_string(out.path()).unwrap();
    let mut pids = text
        .split_whitespace()
        .map(|pid| Pid::from_raw(pid.parse().unwrap()));
    (pids.next().unwrap(), pids.next().unwrap())
}

fn child_lives_on(store: &Store) {
    let before = snapshot();
    let (child, _) = leaver(store);
    until(|| store.list().unwrap().is_empty());
    assert_eq!(snapshot(), before);
    kill(child, Signal::SIGKILL).expect("it still lives");
}

fn kept(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    let id = guard.keep().unwrap();
    assert_eq!(store.list().unwrap(), [id]);
    assert_eq!(value("a:tx"), "off");
    // Another experiment starts from what was kept.
    let mut guard = self::guard(store);
    change(&mut guard, "a:mtu=9000").unwrap();
    restored_but(guard, 1, store);
    let undone = restore::undo(store).unwrap();
    let texts =
        |fate: &Fate| matches!(fate, Fate::Restored { changes, .. } if *changes == ["a:tx=off"]);
    assert!(undone.len() == 1 && texts(&undone[0].fate), "{undone:?}");
    assert_eq!(snapshot(), before);
}

fn restored_but(guard: Guard, journals: usize, store: &Store) {
    assert!(guard.finish().unwrap().is_complete());
    assert_eq!(store.list().unwrap().len(), journals);
}

/// Somebody switches off what TSO needs, while it is off by us: asked for again, it stays inactive.
fn idle(store: &Store) {
    let of = |undone: &[restore::Undone]| match &undone[0].fate {
        Fate::Restored { idle, .. } => idle.clone(),
        other => panic!("{other:?}"),
    };
    for theirs in [None, Some("tx-nocache-copy"), Some("tx-scatter-gather")] {
        let mut guard = guard(store);
        change(&mut guard, "a:tso=off").unwrap();
        guard.keep().unwrap();
        if let Some(name) = theirs {
            set_feature("a", name, name == "tx-nocache-copy");
        }
        let idle = of(&restore::undo(store).unwrap());
        let is_named = theirs == Some("tx-scatter-gather");
        assert_eq!(idle.len(), usize::from(is_named), "{theirs:?}: {idle:?}");
        if let Some(line) = idle.first() {
            let says = |words: &str| line.contains(words);
            assert!(says("a: tx-tcp") && says("off tx-scatter-gather"), "{line}");
            set_feature("a", "tx-scatter-gather", true);
        }
        set_feature("a", "tx-nocache-copy", false);
        assert_eq!(value("a:tso"), "on");
    }
}

fn unfinished(store: &Store) {
    let before = snapshot();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    let id = guard.journal().to_owned();
    let journal = fs::read(store.file(&id)).unwrap();
    restored(guard, store);
    // As after a power cut that a running kernel survives.
    set_feature("a", "tx-checksum-ip-generic", false);
    fs::write(store.file(&id), journal).unwrap();
    let mut guard = self::guard(store);
    let error = change(&mut guard, "a:mtu=9000").unwrap_err();
    assert!(
        matches!(&error, Error::Unfinished { journal, .. } if *journal == id),
        "{error}"
    );
    change(&mut guard, "b:mtu=9000").unwrap();
    restored_but(guard, 1, store);
    assert_eq!(restore::exit_code(&restore::undo(store).unwrap()), 0);
    assert_eq!(snapshot(), before);
}

fn sysctls(store: &Store) {
    let reordering = "sysctl:net.ipv4.tcp_reordering";
    let mut guard = guard(store);
    let done = change(&mut guard, "sysctl:net.ipv4.tcp_reordering=127").unwrap();
    assert!(done.took_effect() && value(reordering) == "127", "{done}");
    let refused = change(&mut guard, "sysctl:net.ipv4.tcp_reordering=many").unwrap();
    assert!(
        matches!(refused.outcomes[..], [Outcome::Refused { .. }]),
        "{refused}"
    );
    change(&mut guard, "sysctl:net.ipv4.tcp_rmem=4096 65536 99999").unwrap();
    let spreads = change(&mut guard, "sysctl:net.ipv4.ip_forward=1").unwrap_err();
    assert!(matches!(spreads, Error::NotReversible { .. }), "{spreads}");
    let unknown = change(&mut guard, "sysctl:net.ipv4.tcp_flying=1").unwrap_err();
    assert!(matches!(unknown, Error::UnknownSysctl { .. }), "{unknown}");
    restored(guard, store);
    assert_eq!(value(reordering), "3");
}

fn coalescing(store: &Store) {
    if !ip("tuntap add tap0 mode tap") {
        return needs::skipped("coalescing is rounded, and restored", "no TAP can be made");
    }
    let before = value("tap0:rx-frames");
    let mut guard = guard(store);
    let done = change(&mut guard, "tap0:rx-frames=32").unwrap();
    assert!(
        done.took_effect() && value("tap0:rx-frames") == "32",
        "{done}"
    );
    let rounded = change(&mut guard, "tap0:rx-frames=100").unwrap();
    assert!(
        matches!(rounded.outcomes[..], [Outcome::Ignored { .. }]),
        "{rounded}"
    );
    restored(guard, store);
    assert_eq!(value("tap0:rx-frames"), before);
}

fn related(store: &Store) {
    if !(ip("link add br0 type bridge")
        && ip("link set dev a master br0")
        && ip("link set dev br0 up"))
    {
        return needs::skipped("a bridge follows its port", "no bridge can be made");
    }
    let before = snapshot();
    let mut first = guard(store);
    let low = change(&mut first, "a:mtu=1400").unwrap();
    let follows = |outcome: &Outcome| matches!(outcome, Outcome::Cascaded { interface: Some(name), item: Item::Mtu, .. } if name == "br0");
    assert!(low.outcomes.iter().any(follows), "{low}");
    let error = change(&mut guard(store), "br0:gro=off").unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    change(&mut first, "a:tx=off").unwrap();
    restored(first, store);
    assert_eq!(snapshot(), before);
}

fn set_feature(interface: &str, name: &str, on: bool) {
    let ethtool = Ethtool::open().unwrap();
    ethtool.set_features(interface, &[(name, on)]).unwrap();
}

/// Each once while it runs, once before `undo`, which comes later.
fn changes_of_others(store: &Store) {
    for keep in [false, true] {
        let mut guard = guard(store);
        change(&mut guard, "a:gro=on").unwrap();
        change(&mut guard, "a:tx=off").unwrap();
        assert!(ip("link set dev a mtu 1400"));
        set_feature("a", "tx-nocache-copy", !keep);
        set_feature("a", "tx-tcp-segmentation", keep);
        if keep {
            guard.keep().unwrap();
            assert_eq!(restore::exit_code(&restore::undo(store).unwrap()), 0);
        } else {
            restored(guard, store);
        }
        let now = [
            "a:mtu",
            "a:tx-nocache-copy",
            "a:tx-tcp-segmentation",
            "a:gro",
            "a:tx",
        ]
        .map(value);
        let [copy, tso] = [!keep, keep].map(|on| if on { "on" } else { "off" });
        assert_eq!(now, ["1400", copy, tso, "off", "on"]);
    }
}

fn meddled(store: &Store) {
    let mut guard = guard(store);
    for setting in [
        "a:mtu=9000",
        "a:gro=on",
        "sysctl:net.ipv4.tcp_reordering=99",
    ] {
        change(&mut guard, setting).unwrap();
    }
    assert!(ip("link set dev a mtu 4000"));
    fs::write("/proc/sys/net/ipv4/tcp_reordering", "50").unwrap();
    let report = guard.finish().unwrap();
    let text = report.to_string();
    assert!(
        report.exit_code() == 3 && report.unrestored.len() == 2,
        "{text}"
    );
    for part in [
        "a: mtu is 4000, was 1500, was set to 9000",
        "is 50, was 3, was set to 99",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(value("a:gro"), "off", "what nobody else has set goes back");
    // It is over: whoever sets it now means it.
    set_feature("a", "rx-gro", true);
    assert_eq!(restore::exit_code(&restore::undo(store).unwrap()), 3);
    let left = ["a:mtu", "sysctl:net.ipv4.tcp_reordering", "a:gro"];
    assert_eq!(left.map(value), ["4000", "50", "on"]);
    let id = &store.list().unwrap()[0];
    let forced = left.map(str::to_owned);
    let undone = restore::undo_forced(store, id, &forced).unwrap();
    assert!(!undone.fate.is_failure(), "{undone:?}");
    assert_eq!(left.map(value), ["1500", "3", "on"]);
    set_feature("a", "rx-gro", false);
}

fn meddled_between(store: &Store) {
    let mut guard = guard(store);
    guard.record(&["a:mtu=9000".parse().unwrap()]).unwrap();
    // Before the first change: that is what was.
    assert!(ip("link set dev a mtu 1450"));
    change(&mut guard, "a:mtu=9000").unwrap();
    assert!(ip("link set dev a mtu 4000"));
    let error = change(&mut guard, "a:mtu=8000").unwrap_err();
    assert!(matches!(error, Error::Meddled { .. }), "{error}");
    assert_eq!(value("a:mtu"), "4000");
    assert!(ip("link set dev a mtu 9000"));
    restored(guard, store);
    assert_eq!(value("a:mtu"), "1450");
}

fn ipv6_mtu(store: &Store) {
    let path = "/proc/sys/net/ipv6/conf/a/mtu";
    let now = || fs::read_to_string(path).unwrap().trim().to_owned();
    // The kernel sets it once more when a link has come up.
    sleep(Duration::from_millis(200));
    for (was, theirs) in [("1400", None), ("1500", None), ("1500", Some("1300"))] {
        fs::write(path, was).unwrap();
        let mut guard = guard(store);
        change(&mut guard, "a:mtu=9000").unwrap();
        if let Some(theirs) = theirs {
            fs::write(path, theirs).unwrap();
        }
        let report = guard.finish().unwrap();
        assert_eq!(report.is_complete(), theirs.is_none(), "{report}");
        assert_eq!(
            (value("a:mtu"), now()),
            ("1500".to_owned(), theirs.unwrap_or(was).to_owned())
        );
    }
}

fn carrier(_: &Store) {
    let space = Space::open(None).unwrap();
    let index = Route::open().unwrap().link("a").unwrap().index;
    let wait = |most| wait_for_carrier(space.id(), index, Duration::from_millis(most)).unwrap();
    assert!(wait(1000).is_some());
    up("b", false);
    assert_eq!(wait(50), None);
    up("b", true);
    assert!(wait(1000).is_some());
}

/// `ns/NAME/a`, and a name that is given to another namespace.
fn named_namespace() {
    let test = NAMED;
    if !has(test, &["ip"]) {
        return;
    }
    let name = format!("coalescope-test-{}", std::process::id());
    if !ip(&format!("netns add {name}")) {
        let lacking = "a network namespace with a name cannot be made here";
        return needs::skipped(test, lacking);
    }
    let path = Path::new("/run/netns").join(&name);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(&folder.path().join("state")).unwrap();
    let room = Namespace::open(&path).unwrap();
    room.enter(pair).unwrap();
    let before = room.enter(snapshot).unwrap();
    let mut guard = guard(&store);
    for setting in [
        "a:tx=off",
        "a:gro_flush_timeout=7000",
        "sysctl:net.ipv4.tcp_reordering=9",
    ] {
        let done = change(&mut guard, &format!("ns/{name}/{setting}")).unwrap();
        assert!(done.took_effect(), "{done}");
    }
    let journal = fs::read(store.file(guard.journal())).unwrap();
    let file = store.file(guard.journal());
    ip(&format!("netns del {name}"));
    restored(guard, &store);
    assert_eq!(room.enter(snapshot).unwrap(), before);
    fs::write(file, journal).unwrap();
    for again in [false, true] {
        assert!(!again || ip(&format!("netns add {name}")));
        let undone = restore::undo(&store).unwrap();
        let text = format!("{undone:?}");
        assert!(
            restore::exit_code(&undone) == 3 && text.contains(&name),
            "{text}"
        );
    }
    ip(&format!("netns del {name}"));
    println!("ok: {NAMED}");
}

fn until(done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "it takes too long"
        );
        sleep(Duration::from_millis(5));
    }
}
