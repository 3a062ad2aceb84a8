//! A machine's files in a temporary folder.

use coalescope_change::journal::Store;
use coalescope_change::restore::{self, apply_files};
use coalescope_remedy::{Held, Ownership, Plan, Wish, holds, plan};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const GRO: &str = "generic-receive-offload";
pub(crate) const LRO: &str = "large-receive-offload";
pub(crate) const MAC: &str = "52:54:00:12:34:56";

pub(crate) struct Machine {
    folder: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().expect("it works"),
        };
        machine.put("/usr/sbin/ethtool", "");
        machine
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.real(path);
        fs::create_dir_all(path.parent().expect("it works")).expect("it works");
        fs::write(path, text).expect("it works");
        self
    }

    pub(crate) fn real(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.real(path)).expect("it works")
    }

    /// Hardware, which udev has set up by a .link file.
    pub(crate) fn nic(&self, name: &str, index: u32, mac: &str, link_file: &str) -> &Self {
        self.interface(name, index, mac);
        self.put(&format!("/sys/class/net/{name}/device/vendor"), "0x1af4\n");
        self.put(&format!("/sys/class/net/{name}/addr_assign_type"), "0\n");
        // udev has renamed all that has not the kernel's name.
        let named_by = if name.starts_with("eth") {
            "1\n"
        } else {
            "4\n"
        };
        self.put(&format!("/sys/class/net/{name}/name_assign_type"), named_by);
        let slot = format!("pci-0000:00:{index:02}.0");
        let udev = format!(
            "I:1234\nE:ID_NET_DRIVER=virtio_net\nE:ID_NET_LINK_FILE={link_file}\nE:ID_PATH={slot}\nG:systemd\n"
        );
        self.put(&format!("/run/udev/data/n{index}"), &udev)
    }

    pub(crate) fn interface(&self, name: &str, index: u32, mac: &str) -> &Self {
        let folder = format!("/sys/class/net/{name}");
        self.put(&format!("{folder}/ifindex"), &format!("{index}\n"));
        self.put(&format!("{folder}/iflink"), &format!("{index}\n"));
        self.put(&format!("{folder}/addr_assign_type"), "3\n");
        self.put(&format!("{folder}/address"), &format!("{mac}\n"))
    }

    pub(crate) fn systemd_default(&self) -> &Self {
        self.put("/usr/lib/systemd/network/99-default.link", DEFAULT_LINK)
    }

    pub(crate) fn plan(&self, wishes: &[Wish]) -> Plan {
        plan(&self.root(), wishes)
    }

    pub(crate) fn owner(&self, interface: &str) -> Ownership {
        Ownership::detect(&self.root(), interface).expect("it works")
    }

    pub(crate) fn holds(&self, wish: &Wish) -> Held {
        let mut held = holds(&self.root(), std::slice::from_ref(wish));
        held.remove(0)
    }

    fn tree(&self) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
        let mut all = BTreeMap::new();
        list(&self.root(), &mut all);
        all
    }

    /// Applies a plan, looks that it holds and needs nothing more, takes it back, and gives its diff.
    pub(crate) fn there_and_back(&self, wishes: &[Wish]) -> String {
        let plan = self.plan(wishes);
        assert_eq!(plan.refused, []);
        assert!(!plan.files.is_empty());
        let before = self.tree();
        assert!(wishes.iter().all(|wish| !self.holds(wish).persistent));
        let store = Store::at(&self.folder.path().join("state")).expect("it works");
        apply_files(&store, vec!["coalescope".to_owned()], &plan.writes()).expect("it works");
        for wish in wishes {
            let held = self.holds(wish);
            assert!(held.persistent, "{held:?}");
        }
        assert_eq!(self.plan(wishes), Plan::default(), "planned twice");
        self.turned(wishes);
        let undone = restore::undo(&store).expect("it works");
        assert_eq!(restore::exit_code(&undone), 0, "{undone:?}");
        assert_eq!(self.tree(), before);
        plan.diff()
    }

    /// The opposite changes no more files than the wish did.
    fn turned(&self, wishes: &[Wish]) {
        let turn = |wish: &Wish| Wish {
            on: !wish.on,
            ..wish.clone()
        };
        let opposite: Vec<_> = wishes.iter().map(turn).collect();
        let plan = self.plan(&opposite);
        assert_eq!(plan.refused, []);
        assert!(plan.files.iter().all(|file| file.before.is_some()));
    }

    /// Why a wish is refused; nothing is changed for it.
    pub(crate) fn refusal(&self, wish: &Wish) -> String {
        let plan = self.plan(std::slice::from_ref(wish));
        assert_eq!((plan.files, plan.reload), (Vec::new(), Vec::new()));
        assert_eq!(plan.refused.len(), 1);
        let refused = &plan.refused[0];
        assert!(!self.holds(wish).persistent);
        format!("{}: {}", refused.why, refused.what_to_do)
    }

    pub(crate) fn commands(&self, wishes: &[Wish]) -> Vec<(String, bool)> {
        let reload = self.plan(wishes).reload.into_iter();
        reload
            .map(|one| (one.command, one.disturbs_traffic))
            .collect()
    }
}

fn list(folder: &Path, all: &mut BTreeMap<PathBuf, (Vec<u8>, u32)>) {
    for entry in fs::read_dir(folder).expect("it works").flatten() {
        let path = entry.path();
        let mode = fs::symlink_metadata(&path)
            .expect("it works")
            .permissions()
            .mode();
        if path.is_dir() {
            all.insert(path.clone(), (Vec::new(), mode));
            list(&path, all);
        } else {
            all.insert(path.clone(), (fs::read(&path).unwrap_or_default(), mode));
        }
    }
}

pub(crate) fn off(interface: &str, feature: &str) -> Wish {
    Wish {
        interface: interface.to_owned(),
        namespace: None,
        feature: feature.to_owned(),
        on: false,
    }
}

pub(crate) const DEFAULT_LINK: &str = "\
# A comment of those who made it.

[Match]
OriginalName=*

[Link]
NamePolicy=keep kernel database onboard slot path
AlternativeNamesPolicy=database onboard slot path
MACAddressPolicy=persistent
";
