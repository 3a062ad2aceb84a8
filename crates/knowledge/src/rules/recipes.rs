//! How a switch of an interface is set, kept and taken back on each platform, as data.

use std::collections::BTreeMap;

use coalescope_host::model::Platform;
use minijinja::Value as Shown;
use serde::Deserialize;
use serde_json::Value;

use super::findings::{Remedy, RemedyKind};
use super::rule::{RemedyRule, Rule};
use super::subject::Subject;
use super::template;
use super::version::before;
use crate::experiment::SetTo;

/// `rules/recipes.yaml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipes {
    /// Name of each feature in each tool: feature -> tool -> name.
    features: BTreeMap<String, BTreeMap<String, String>>,
    recipes: Vec<Recipe>,
}

/// One way to set a switch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recipe {
    /// Platform of the host.
    on: Platform,
    /// The remedy's platform: `linux`, `netplan`, `freebsd`.
    platform: String,
    kind: RemedyKind,
    /// Whether the recipe is for interfaces that programs make (true), or for all others (false); for both if absent.
    #[serde(default)]
    made_by_program: Option<bool>,
    /// It finds the interface by its hardware address, so that it is not for bonds and teams.
    #[serde(default)]
    by_address: bool,
    /// Distributions (`ID` of os-release) that the recipe is for; empty: all. Also shown where the distribution is not
    /// known.
    #[serde(default)]
    distributions: Vec<String>,
    /// The first version of a distribution whose tool has it, where not all have.
    #[serde(default)]
    since: BTreeMap<String, String>,
    /// Only for versions of the distribution before this one.
    #[serde(default)]
    before_version: Option<String>,
    /// The tool whose name for the feature the recipe needs; a feature without such a name has no such recipe.
    tool: String,
    /// Template; sees `interface`, `name` (of the feature for that tool), `value` (bool).
    command: String,
}

/// Kinds that have the address of their first port.
const BONDS: [&str; 2] = ["bond", "team"];

/// Kinds that programs make and configure: managers that keep the settings of NICs do not handle them.
const MADE: [&str; 9] = [
    "veth",
    "tun",
    "tap",
    "macvtap",
    "vxlan",
    "geneve",
    "gre",
    "gretap",
    "wireguard",
];

/// Products based on FreeBSD that keep their settings in a configuration of their own and overwrite other files.
const APPLIANCES: [&str; 3] = ["opnsense", "pfsense", "truenas"];

/// Such products based on Linux: their recipes are shown for them alone.
const LINUX_APPLIANCES: [&str; 4] = ["nixos", "openwrt", "truenas-scale", "vyos"];

/// Whether a way to keep a setting suits the host's product: an appliance has its own way, and changes to FreeBSD's own
/// files are lost there.
pub(super) fn is_theirs(platform: &str, distribution: &str) -> bool {
    match platform {
        "freebsd-rc.conf" => !APPLIANCES.contains(&distribution),
        appliance if APPLIANCES.contains(&appliance) => {
            distribution.is_empty() || distribution == appliance
        }
        appliance if LINUX_APPLIANCES.contains(&appliance) => distribution == appliance,
        _ => true,
    }
}

/// Whether a feature exists, and does not have this value yet.
fn would_change(interface: &Value, feature: &str, value: bool) -> bool {
    let now = &interface[if value { "off" } else { "on" }];
    now.as_array()
        .is_some_and(|names| names.iter().any(|name| name == feature))
}

/// Whether a feature that can be changed has this value.
fn has(interface: &Value, feature: &str, value: bool) -> bool {
    let is_among = |list: &str| {
        let names = interface[list].as_array().into_iter().flatten();
        names.into_iter().any(|name| name == feature)
    };
    is_among(if value { "on" } else { "off" }) && !is_among("fixed")
}

impl Recipes {
    /// Whether every switch that a rule sets has a recipe on its platforms.
    pub(super) fn know(&self, rule: &Rule) -> Result<(), String> {
        let sets = rule.remedies.iter().filter_map(|remedy| match remedy {
            RemedyRule::Set { set } => Some(set.keys()),
            RemedyRule::Command { .. } => None,
        });
        let mut unknown = sets.flatten().filter(|feature| {
            let platforms = rule.platforms.iter();
            let mut without =
                platforms.filter(|platform| self.of(**platform, feature).next().is_none());
            without.next().is_some()
        });
        match unknown.next() {
            None => Ok(()),
            Some(feature) => Err(format!(
                "rules/recipes.yaml has no recipe for {feature} on its platforms"
            )),
        }
    }

    /// All ways to set a feature on a platform, and back; none if the feature has the value already, or does not exist.
    /// `facts` are the subject's, made once for all of its texts.
    pub(super) fn set(
        &self,
        platform: Platform,
        feature: &str,
        value: bool,
        (subject, facts): (&Subject<'_>, &Shown),
    ) -> Result<Vec<Remedy>, String> {
        let interface = subject.interface();
        if !would_change(interface, feature, value) {
            return Ok(Vec::new());
        }
        let is_made = MADE.contains(&interface["kind"].as_str().unwrap_or_default());
        let is_bond = BONDS.contains(&interface["kind"].as_str().unwrap_or_default());
        let (distribution, version) = (subject.product(), subject.version());
        let fits = |recipe: &Recipe| {
            recipe.made_by_program.is_none_or(|made| made == is_made)
                && !(recipe.by_address && is_bond)
                && recipe.is_on(distribution)
                && recipe.is_of_age(distribution, version)
                && is_theirs(&recipe.platform, distribution)
        };
        let recipes = self
            .of(platform, feature)
            .filter(|(recipe, _)| fits(recipe));
        let shown = facts.get_attr("interface").unwrap_or_default();
        recipes
            .map(|(recipe, name)| recipe.fill(name, value, (interface, &shown)))
            .collect()
    }

    /// A feature that has the value already, as the setting that a rule's other ones are beside.
    pub(super) fn holding(
        &self,
        platform: Platform,
        feature: &str,
        value: bool,
        interface: &Value,
    ) -> Option<SetTo> {
        if !has(interface, feature, value) {
            return None;
        }
        let mut recipes = self.of(platform, feature);
        recipes.find_map(|(recipe, name)| recipe.settings(name, value, interface).pop())
    }

    fn of<'a>(
        &'a self,
        platform: Platform,
        feature: &str,
    ) -> impl Iterator<Item = (&'a Recipe, &'a str)> {
        let names = self.features.get(feature);
        let recipes = self
            .recipes
            .iter()
            .filter(move |recipe| recipe.on == platform);
        recipes.filter_map(move |recipe| Some((recipe, names?.get(&recipe.tool)?.as_str())))
    }
}

impl Recipe {
    fn is_on(&self, distribution: &str) -> bool {
        let mut known = self.distributions.iter();
        self.distributions.is_empty()
            || distribution.is_empty()
            || known.any(|known| known == distribution)
    }

    /// Whether the recipe suits a version. Where the version is not known, the recipe is shown as well.
    fn is_of_age(&self, distribution: &str, version: &str) -> bool {
        let limit = self.before_version.as_deref();
        let is_old = self
            .since
            .get(distribution)
            .is_some_and(|first| before(version, first));
        !is_old && limit.is_none_or(|limit| version.is_empty() || before(version, limit))
    }

    fn fill(
        &self,
        name: &str,
        value: bool,
        (interface, shown): (&Value, &Shown),
    ) -> Result<Remedy, String> {
        // The recipe that undoes a switch sets the opposite.
        let value = value != (self.kind == RemedyKind::Undo);
        let context = [
            ("interface", shown.clone()),
            ("name", name.into()),
            ("value", value.into()),
        ];
        Ok(Remedy {
            platform: self.platform.clone(),
            kind: self.kind,
            command: template::command(&self.command, Shown::from_pairs(context))?
                .trim_end()
                .to_owned(),
            settings: self.settings(name, value, interface),
        })
    }

    /// Settings that `coalescope fix` can make itself: features of ethtool, at run time.
    fn settings(&self, name: &str, value: bool, interface: &Value) -> Vec<SetTo> {
        if self.kind != RemedyKind::Runtime || self.tool != "ethtool" {
            return Vec::new();
        }
        let key = interface["key"].as_str().unwrap_or_default();
        vec![SetTo::switch(key, name, value)]
    }
}
