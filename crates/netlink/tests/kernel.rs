//! Against the running kernel, in namespaces of our own: what is set is what is read, and the
//! kernel's refusals keep its words.

#![cfg(target_os = "linux")]

use coalescope_needs as needs;
use coalescope_netlink::Error;
use coalescope_netlink::ethtool::{Ethtool, Value};
use coalescope_netlink::ipsec::Tunnel;
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::netdev::Netdev;
use coalescope_netlink::route::{NewLink, Route};
use nix::errno::Errno;
use std::net::Ipv4Addr;
use std::path::Path;

/// A namespace with a veth pair `a` - `b`, or the test is skipped.
fn room(test: &str) -> Option<Namespace> {
    let namespace = needs::had(test, Namespace::create())?;
    namespace.enter(pair).expect("entered").expect("a pair");
    Some(namespace)
}

fn pair() -> Result<(), Error> {
    let end = |name, last| NewLink {
        name,
        mac: Some([2, 0, 0, 0, 0, last]),
        mtu: 1500,
    };
    Route::open()?.add_veth(&end("a", 1), &end("b", 2))
}

/// Runs a test's work inside of a room.
fn inside(test: &str, work: fn() -> Result<(), Error>) {
    if let Some(namespace) = room(test) {
        namespace.enter(work).expect("entered").expect("no error");
    }
}

#[test]
fn offloads_are_set_and_the_kernel_says_what_changed() {
    inside("offloads_are_set_and_the_kernel_says_what_changed", || {
        let ethtool = Ethtool::open()?;
        let before = ethtool.read_features("a")?;
        assert!(before.get("rx-gro").is_some_and(|gro| !gro.fixed));
        assert!(before.get("rx-lro").is_some_and(|lro| lro.fixed));
        let outcome = ethtool.set_features("a", &[("rx-gro", true)])?;
        assert_eq!(outcome.changed, [("rx-gro".to_owned(), true)].into());
        assert!(outcome.refused.is_empty());
        let again = ethtool.set_features("a", &[("rx-gro", true)])?;
        assert!(again.changed.is_empty() && again.refused.is_empty());
        let gro = ethtool.read_features("a")?.get("rx-gro");
        assert!(gro.is_some_and(|gro| gro.active && gro.wanted));
        let undone = ethtool.set_features("a", &[("rx-gro", false)])?;
        assert_eq!(undone.changed, [("rx-gro".to_owned(), false)].into());
        assert_eq!(ethtool.read_features("a")?, before);
        Ok(())
    });
}

#[test]
fn what_goes_along_is_told_and_can_be_undone() {
    inside("what_goes_along_is_told_and_can_be_undone", || {
        let ethtool = Ethtool::open()?;
        let before = ethtool.read_features("a")?;
        let outcome = ethtool.set_features("a", &[("tx-scatter-gather", false)])?;
        assert_eq!(outcome.changed.get("tx-scatter-gather"), Some(&false));
        assert_eq!(outcome.changed.get("tx-tcp-segmentation"), Some(&false));
        let after = ethtool.read_features("a")?;
        for (name, feature) in after.iter() {
            let was = before.get(name).expect("known before").active;
            let said = outcome.changed.get(name).copied();
            assert_eq!(
                said,
                (feature.active != was).then_some(feature.active),
                "{name}"
            );
        }
        let undo: Vec<_> = outcome
            .changed
            .iter()
            .map(|(name, on)| (name.as_str(), !on))
            .collect();
        ethtool.set_features("a", &undo)?;
        assert_eq!(ethtool.read_features("a")?, before);
        Ok(())
    });
}

#[test]
fn what_is_refused_is_told() {
    inside("what_is_refused_is_told", || {
        let ethtool = Ethtool::open()?;
        let fixed = ethtool.set_features("a", &[("rx-lro", true), ("rx-gro", true)])?;
        assert_eq!(fixed.refused, [("rx-lro".to_owned(), false)].into());
        assert_eq!(fixed.changed, [("rx-gro".to_owned(), true)].into());
        let unknown = ethtool.set_features("a", &[("tx-flying", true)]);
        let unknown = unknown.expect_err("no such feature").to_string();
        assert!(unknown.contains("bit name not found"), "{unknown}");
        let nowhere = ethtool
            .read_features("nowhere")
            .expect_err("no such interface");
        assert!(nowhere.is_gone(), "{nowhere}");
        let coalescing = ethtool.read_coalescing("a").expect_err("a veth has none");
        assert!(coalescing.is_unsupported(), "{coalescing}");
        let kind = ethtool.set_coalescing("a", &[("rx-usecs", Value::Flag(true))]);
        assert!(kind.expect_err("a number").to_string().contains("rx-usecs"));
        Ok(())
    });
}

#[test]
fn links_are_changed_and_read_back() {
    inside("links_are_changed_and_read_back", || {
        let route = Route::open()?;
        let link = route.link("a")?;
        assert_eq!(link.mtu, Some(1500));
        assert_eq!(link.kind.as_deref(), Some("veth"));
        assert_eq!(link.link, Some(route.link("b")?.index));
        assert!(!link.up && link.undecoded.is_empty());
        route.set_mtu("a", link.index, 9000)?;
        route.set_up("a", link.index, true)?;
        let link = route.link("a")?;
        assert_eq!((link.mtu, link.up), (Some(9000), true));
        route.set_up("a", link.index, false)?;
        assert!(!route.link("a")?.up);
        let refused = route.set_mtu("a", link.index, 1).expect_err("too small");
        assert!(
            refused.to_string().contains("mtu"),
            "the kernel's words: {refused}"
        );
        assert!(route.link("nowhere").expect_err("not there").is_gone());
        Ok(())
    });
}

#[test]
fn statistics_have_the_drivers_names() {
    inside("statistics_have_the_drivers_names", || {
        let ethtool = Ethtool::open()?;
        let statistics = ethtool.statistics("a")?;
        let peer = Route::open()?.link("b")?.index;
        assert_eq!(statistics.get("peer_ifindex"), Some(&u64::from(peer)));
        assert_eq!(ethtool.statistics("lo")?.len(), 0);
        assert_eq!(ethtool.driver("a")?.name, "veth");
        assert_eq!(ethtool.channels("a")?.get("rx"), Some(&1));
        assert_eq!(ethtool.speed_bps("a")?, Some(10_000_000_000));
        Ok(())
    });
}

#[test]
fn coalescing_of_a_tap_is_set() {
    const TEST: &str = "coalescing_of_a_tap_is_set";
    if !needs::programs(TEST, &["ip"]) {
        return;
    }
    inside(TEST, || {
        let mut ip = std::process::Command::new("ip");
        if !run(ip.args(["tuntap", "add", "t", "mode", "tap"])) {
            needs::skipped(TEST, "no TAP can be made");
            return Ok(());
        }
        let ethtool = Ethtool::open()?;
        ethtool.set_coalescing("t", &[("rx-frames", Value::Number(8))])?;
        let read = ethtool.read_coalescing("t")?;
        assert_eq!(read.get("rx-frames"), Some(&Value::Number(8)));
        Ok(())
    });
}

fn run(command: &mut std::process::Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn polling_is_listed_for_interfaces_that_are_up() {
    inside("polling_is_listed_for_interfaces_that_are_up", || {
        let route = Route::open()?;
        let link = route.link("a")?;
        route.set_up("a", link.index, true)?;
        Ethtool::open()?.set_features("a", &[("rx-gro", true)])?;
        let Some(netdev) = needs::had("polling_is_listed", Netdev::open()) else {
            return Ok(());
        };
        let napi = netdev.napi_of(link.index)?;
        assert_eq!(napi.len(), 1);
        assert_eq!(napi[0].interface, link.index);
        assert_eq!(napi[0].gro_flush_timeout_ns.unwrap_or(0), 0);
        Ok(())
    });
}

#[test]
fn a_namespace_is_opened_by_its_file() {
    let Some(namespace) = room("a_namespace_is_opened_by_its_file") else {
        return;
    };
    let opened = namespace
        .enter(|| Namespace::open(Path::new("/proc/thread-self/ns/net")))
        .expect("entered")
        .expect("opened");
    assert!(opened.shows_sys().is_ok());
    let read = || std::fs::exists("/sys/class/net/a").expect("/sys is there");
    assert!(opened.enter(read).expect("entered"));
    assert!(!read(), "not outside");
    assert!(Namespace::open(Path::new("/etc/passwd")).is_err());
}

#[test]
fn a_kernel_makes_an_esp_tunnel_or_says_that_it_has_none() {
    const TEST: &str = "a_kernel_makes_an_esp_tunnel_or_says_that_it_has_none";
    inside(TEST, || {
        let tunnel = Tunnel {
            here: Ipv4Addr::new(10, 0, 0, 1),
            there: Ipv4Addr::new(10, 0, 0, 2),
            beyond: vec![(Ipv4Addr::new(10, 1, 0, 0), 16)],
        };
        match tunnel.add() {
            Err(error) if error.is_unsupported() => needs::skipped(TEST, error),
            made => {
                made?;
                let again = tunnel.add().expect_err("it is there");
                assert_eq!(again.errno(), Some(Errno::EEXIST), "{again}");
            }
        }
        Ok(())
    });
}
