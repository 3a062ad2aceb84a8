//! Without root: what is allowed is read, what is not is named with what would help.

fn main() {
    #[cfg(target_os = "linux")]
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use coalescope_host::live::{Options, collect};
    use coalescope_host::model::Snapshot;
    use coalescope_lab::become_nobody;

    pub(super) fn main() {
        become_nobody().expect("no rights");
        let snapshot = collect(&Options {
            netns: None,
            all_netns: true,
        });
        what_is_allowed_is_read(&snapshot);
        what_is_not_is_named(&snapshot);
        another_namespace_is_refused();
        println!("read without root; not read: {:#?}", snapshot.unread);
    }

    fn what_is_allowed_is_read(snapshot: &Snapshot) {
        assert!(snapshot.kernel.is_some() && snapshot.cpus.is_some());
        assert!(snapshot.boot_id.is_some() && snapshot.virtualisation.is_some());
        let lo = &snapshot.interfaces["lo"];
        assert!(lo.features["generic-receive-offload"].fixed.is_some());
        assert_eq!(lo.default_route, Some(false));
        assert!(lo.gso.is_some());
        assert!(snapshot.stack.counters.contains_key("TcpRetransSegs"));
        assert!(snapshot.stack.sysctls.contains_key("net.ipv4.ip_forward"));
    }

    fn what_is_not_is_named(snapshot: &Snapshot) {
        let named = |what: &str| {
            let mut unread = snapshot.unread.iter();
            let found = unread.find(|unread| unread.what.contains(what));
            found.is_some_and(|unread| unread.why.contains("root"))
        };
        assert!(
            named("nftables")
                || snapshot
                    .stack
                    .nat
                    .as_ref()
                    .is_some_and(|nat| nat.nftables.is_some())
        );
        assert!(named("kernel log") || !snapshot.log.is_empty() || !restricted());
        assert!(named("network namespaces of"), "{:?}", snapshot.unread);
        let ipvs = snapshot.stack.ipvs.is_some();
        assert!(ipvs || named("IPVS"));
    }

    fn restricted() -> bool {
        let restricted = std::fs::read_to_string("/proc/sys/kernel/dmesg_restrict");
        restricted.is_ok_and(|value| value.trim() != "0")
    }

    fn another_namespace_is_refused() {
        let snapshot = collect(&Options {
            netns: Some("/proc/self/ns/net".to_owned()),
            all_netns: false,
        });
        assert!(snapshot.interfaces.is_empty());
        let mut unread = snapshot.unread.iter();
        let namespace = unread.find(|unread| unread.what.starts_with("network namespace"));
        assert!(namespace.is_some_and(|unread| unread.why.contains("root")));
    }
}
