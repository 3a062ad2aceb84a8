//! The subjects that rules are evaluated for.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::Arc;

use coalescope_host::names::{TRUENAS_SCALE_KERNEL, VYOS_KERNEL};
use minijinja::Value as Shown;
use minijinja::value::{Enumerator, Object, ObjectRepr, Serde};
use serde_json::Value;

use super::condition::{Asked, Condition, Seen};
use super::facts::HostFacts;
use super::rule::{Each, Rule};

/// A host in the form for conditions and in the form for texts: each made once, since a host may have thousands of
/// interfaces.
pub(super) struct Host<'a> {
    facts: &'a HostFacts,
    seen: Seen<'a>,
    stacks: OnceCell<Stacks>,
    shown: OnceCell<Shown>,
}

/// A subject of rules: the host, an interface or a switch.
pub(super) struct Subject<'a> {
    pub(super) each: Each,
    /// Its name, for messages.
    pub(super) name: Option<String>,
    host: &'a Host<'a>,
    /// Its index among the subjects of its kind.
    at: usize,
    own: Option<(&'static str, &'a Value)>,
}

/// Parts of kernel releases of products that are built on another distribution, and the ids of these products.
const PRODUCTS: [(&str, &str); 2] = [
    (TRUENAS_SCALE_KERNEL, "truenas-scale"),
    (VYOS_KERNEL, "vyos"),
];

/// Parts of kernel releases of distributions, and the ids of these.
const DISTRIBUTIONS: [(&str, &str); 6] = [
    (".el", "rhel"),
    (".fc", "fedora"),
    (".amzn", "amzn"),
    ("-pve", "debian"),
    ("-amd64", "debian"),
    ("-generic", "ubuntu"),
];

impl<'a> Host<'a> {
    pub(super) fn of(facts: &'a HostFacts) -> Self {
        Self {
            seen: Seen::of(facts),
            facts,
            stacks: OnceCell::new(),
            shown: OnceCell::new(),
        }
    }

    /// The host itself, each interface, each switch.
    pub(super) fn subjects(&'a self) -> Vec<Subject<'a>> {
        let of = |field: &str| {
            self.facts.host[field]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
        };
        let interfaces = of("interfaces")
            .map(|(at, one)| self.subject(Each::Interface, at, Some(("interface", one))));
        let switches =
            of("switches").map(|(at, one)| self.subject(Each::Switch, at, Some(("switch", one))));
        let host = [self.subject(Each::Host, 0, None)].into_iter();
        host.chain(interfaces).chain(switches).collect()
    }

    fn subject(
        &'a self,
        each: Each,
        at: usize,
        own: Option<(&'static str, &'a Value)>,
    ) -> Subject<'a> {
        let text = |field: &str| own?.1.get(field)?.as_str().map(str::to_owned);
        Subject {
            each,
            name: text("key").or_else(|| text("name")),
            host: self,
            at,
            own,
        }
    }

    /// A condition, ready to be evaluated for each of these subjects.
    pub(super) fn asked<'h>(&'h self, condition: &'h Condition) -> Asked<'h, 'a> {
        condition.of(&self.seen)
    }

    /// The host for texts. Few texts use other interfaces: these are made for one text at a time.
    fn shown(&self) -> &Shown {
        self.shown.get_or_init(|| {
            let fields = self.facts.host.as_object().into_iter().flatten();
            let fields = fields.map(|(name, value)| match name.as_str() {
                "interfaces" => (name.as_str(), Shown::from_object(self.interfaces())),
                _ => (name.as_str(), Shown::from(Serde(value))),
            });
            Shown::from_pairs(fields)
        })
    }

    fn stacks(&self) -> &Stacks {
        self.stacks
            .get_or_init(|| Stacks(Shown::from(Serde(&self.facts.stacks))))
    }

    fn interfaces(&self) -> Interfaces {
        Interfaces {
            host: Arc::clone(&self.facts.host),
            stacks: self.stacks().clone(),
        }
    }
}

impl Subject<'_> {
    pub(super) fn holds(&self, condition: &Asked<'_, '_>) -> Result<bool, String> {
        condition.holds(self.each, self.at)
    }

    pub(super) fn has_role_for(&self, rule: &Rule) -> bool {
        let own = self.own.and_then(|(_, own)| own["roles"].as_array());
        let has = |name: &str| own.is_some_and(|own| own.iter().any(|role| role == name));
        rule.roles.is_empty() || rule.roles.iter().any(|role| has(role.name()))
    }

    pub(super) fn host_name(&self) -> String {
        let name = self.host.facts.host["name"].as_str();
        name.unwrap_or_default().to_owned()
    }

    /// A field of the host's distribution; empty if it is not known.
    pub(super) fn distribution(&self, field: &str) -> &str {
        let known = &self.host.facts.host["distribution"][field];
        known.as_str().unwrap_or_default()
    }

    /// The id of the host's distribution (`ID` of os-release). Kernels are named after products whose os-release is
    /// Debian's; and after most distributions, for hosts whose os-release was not read.
    pub(super) fn product(&self) -> &str {
        let kernel = self.host.facts.host["kernel"].as_str().unwrap_or_default();
        let of = |kernels: &[(&str, &'static str)]| {
            let mut all = kernels.iter();
            let found = all.find(|(part, _)| kernel.contains(part));
            found.map(|(_, id)| *id)
        };
        let known = self.distribution("id");
        match (of(&PRODUCTS), known) {
            (Some(product), _) => product,
            (None, "") => of(&DISTRIBUTIONS).unwrap_or_default(),
            (None, known) => known,
        }
    }

    /// The version of the host's distribution. Where it was not read, the version in the kernel's release: kernels of
    /// Red Hat's distributions are named after it (`5.14.0-427.el9.x86_64`).
    pub(super) fn version(&self) -> &str {
        let kernel = self.host.facts.host["kernel"].as_str();
        let built_for = || {
            let (_, after) = kernel?.split_once(".el")?;
            let end = after.find(|c: char| !c.is_ascii_digit());
            after.get(..end.unwrap_or(after.len()))
        };
        match self.distribution("version") {
            "" => built_for().unwrap_or_default(),
            version => version,
        }
    }

    /// The facts of the interface, if the subject is one.
    pub(super) fn interface(&self) -> &Value {
        let own = self.own.filter(|(word, _)| *word == "interface");
        own.map_or(&Value::Null, |(_, own)| own)
    }

    /// The variables of texts.
    pub(super) fn shown(&self) -> Shown {
        let stacks = self.host.stacks();
        let own = self.own.map(|(word, own)| (word, stacks.shown(own)));
        let host = ("host", self.host.shown().clone());
        Shown::from_pairs([host].into_iter().chain(own))
    }
}

/// Stacks in the form for texts, by namespace.
#[derive(Clone, Debug)]
struct Stacks(Shown);

impl Stacks {
    /// An interface or a switch, with its stack in place of the stack's name.
    fn shown(&self, own: &Value) -> Shown {
        let fields = own.as_object().into_iter().flatten();
        let fields = fields.map(|(name, value)| match name.as_str() {
            "stack" => (name.as_str(), self.0.get_item(&Shown::from(Serde(value)))),
            _ => (name.as_str(), Ok(Shown::from(Serde(value)))),
        });
        Shown::from_pairs(fields.map(|(name, value)| (name, value.unwrap_or_default())))
    }
}

/// All interfaces of a host, for texts: `host.interfaces[0]`, or by its key, `host.interfaces['eth0']`.
#[derive(Debug)]
struct Interfaces {
    host: Arc<Value>,
    stacks: Stacks,
}

impl Interfaces {
    fn all(&self) -> &[Value] {
        let all = self.host["interfaces"].as_array();
        all.map(Vec::as_slice).unwrap_or_default()
    }

    /// Index of the interface with a key: interfaces are sorted by their keys.
    fn place(&self, key: &str) -> Option<usize> {
        let of = |one: &Value| one["key"].as_str().map(|own| own.cmp(key));
        self.all()
            .binary_search_by(|one| of(one).unwrap_or(Ordering::Less))
            .ok()
    }
}

impl Object for Interfaces {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Shown) -> Option<Shown> {
        let at = match key.as_str() {
            Some(key) => self.place(key)?,
            None => key.as_usize()?,
        };
        Some(self.stacks.shown(self.all().get(at)?))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.all().len())
    }
}
