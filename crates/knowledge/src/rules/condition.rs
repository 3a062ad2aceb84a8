//! Conditions in CEL, and the functions that rules may use in them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::common::ast::{Expr, IdedExpr};
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString,
};
use cel::common::value::Val;
use cel::objects::Key;
use cel::{Context, Program, Value};
use serde_json::Value as Json;

use super::facts::HostFacts;
use super::indexes::Indexes;
use super::narrow::{AT, Narrowed, narrowed};
use super::rule::Each;
use super::shared::Shared;
use super::version::{at_least, before};

/// The variables of conditions for a host; all texts are borrowed from the facts.
pub(super) struct Seen<'v> {
    context: Context<'v, 'v>,
    interfaces: Vec<Shared<'v>>,
    switches: Vec<Shared<'v>>,
}

/// Stacks by namespace, each of them once.
type Stacks<'v> = BTreeMap<&'v str, Shared<'v>>;

impl<'v> Seen<'v> {
    /// Builds the variables from the facts of a host.
    pub(super) fn of(facts: &'v HostFacts) -> Self {
        let stacks = facts.stacks.iter();
        let stacks = stacks.filter_map(|(name, stack)| {
            let fields = map(stack.as_object()?, &Stacks::new());
            Some((name.as_str(), Shared::of(fields)))
        });
        let stacks: Stacks<'v> = stacks.collect();
        let all = |list: &str| {
            facts.host[list]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
        };
        let seen = |list: &str| -> Vec<Shared<'v>> {
            let objects = all(list).iter().filter_map(Json::as_object);
            objects.map(|one| Shared::of(map(one, &stacks))).collect()
        };
        let (interfaces, switches) = (seen("interfaces"), seen("switches"));
        let indexes = Indexes::of(all("interfaces"), interfaces.clone());
        let mut context = context();
        context.add_variable_as_val("host", host(&facts.host, &stacks, &indexes));
        context.add_variable_as_val(AT, Box::new(indexes));
        Self {
            context,
            interfaces,
            switches,
        }
    }

    fn own(&self, each: Each, at: usize) -> Option<(&'static str, &Shared<'v>)> {
        match each {
            Each::Host => None,
            Each::Interface => Some(("interface", self.interfaces.get(at)?)),
            Each::Switch => Some(("switch", self.switches.get(at)?)),
        }
    }
}

/// The host's own fields, with its interfaces, which are shared and not copied.
fn host<'v>(facts: &'v Json, stacks: &Stacks<'v>, indexes: &Indexes<'v>) -> Box<dyn Val + 'v> {
    let fields = facts.as_object().into_iter().flatten();
    let fields = fields.map(|(name, item)| {
        let item = match name.as_str() {
            "interfaces" => Box::new(indexes.whole()),
            _ => value(item, stacks),
        };
        (CelMapKey::String(CelString::from(name.as_str())), item)
    });
    let fields: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = fields.collect();
    Box::new(CelMap::from(fields))
}

/// A compiled condition.
pub(super) struct Condition {
    program: Program,
    narrowed: Narrowed,
}

impl Condition {
    /// Compiles a condition; the error is in words.
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        let program = Program::compile(source).map_err(|error| error.to_string())?;
        Ok(Self {
            narrowed: narrowed(program.expression()),
            program,
        })
    }

    /// The expression of the condition.
    pub(super) fn expression(&self) -> &Expr {
        &self.program.expression().expr
    }

    /// Prepares the condition to be evaluated for all subjects of a host.
    pub(super) fn of<'h, 'v>(&'h self, host: &'h Seen<'v>) -> Asked<'h, 'v> {
        let mut context = host.context.new_inner_scope();
        for (name, expr) in &self.narrowed.once {
            match context.resolve(expr) {
                Ok(Value::Bool(holds)) => {
                    context.add_variable_as_val(name, Box::new(CelBool::from(holds)));
                }
                // The expression as it stands in the rule fails in the same way, where it is evaluated.
                _ => return self.as_written(host),
            }
        }
        Asked {
            host,
            context,
            whole: &self.narrowed.whole,
        }
    }

    fn as_written<'h, 'v>(&'h self, host: &'h Seen<'v>) -> Asked<'h, 'v> {
        Asked {
            host,
            context: host.context.new_inner_scope(),
            whole: self.program.expression(),
        }
    }
}

/// A condition that is evaluated for the subjects of one host.
pub(super) struct Asked<'h, 'v> {
    host: &'h Seen<'v>,
    context: Context<'h, 'v>,
    whole: &'h IdedExpr,
}

impl Asked<'_, '_> {
    /// Whether the condition holds for the host, or for the interface or switch at this index of its list.
    pub(super) fn holds(&self, each: Each, at: usize) -> Result<bool, String> {
        let mut context = self.context.new_inner_scope();
        if let Some((name, own)) = self.host.own(each, at) {
            context.add_variable_as_val(name, Box::new(own.clone()));
        }
        match context.resolve(self.whole) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("gives {other:?}, neither true nor false")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Functions that rules have besides those of standard CEL.
pub(super) const FUNCTIONS: [&str; 4] = ["before", "atLeast", "number", "text"];

/// Standard CEL, and our own functions. If a function cannot be added, each condition that uses it fails.
fn context<'v>() -> Context<'v, 'v> {
    let mut context = Context::default();
    let _ = context.add_function("before", |a: Arc<String>, b: Arc<String>| before(&a, &b));
    let _ = context.add_function("atLeast", |a: Arc<String>, b: Arc<String>| at_least(&a, &b));
    let _ = context.add_function("number", number);
    let _ = context.add_function("text", text);
    context
}

/// The number in a map under a key; -1 if there is none, or it is not a number.
#[expect(clippy::needless_pass_by_value, reason = "CEL hands values over")]
fn number(map: Value, key: Arc<String>) -> i64 {
    match get(&map, key) {
        Some(Value::Int(number)) => number,
        Some(Value::String(text)) => text.trim().parse().unwrap_or(-1),
        _ => -1,
    }
}

/// The text in a map under a key; empty if there is none.
#[expect(clippy::needless_pass_by_value, reason = "CEL hands values over")]
fn text(map: Value, key: Arc<String>) -> String {
    match get(&map, key) {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Int(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    }
}

fn get(map: &Value, key: Arc<String>) -> Option<Value> {
    match map {
        Value::Map(map) => map.map.get(&Key::String(key)).cloned(),
        _ => None,
    }
}

/// Facts as CEL values. Every whole number is an `int`, so that all of them compare.
fn value<'v>(facts: &'v Json, stacks: &Stacks<'v>) -> Box<dyn Val + 'v> {
    match facts {
        Json::Null => Box::new(CelNull),
        Json::Bool(flag) => Box::new(CelBool::from(*flag)),
        Json::Number(number) => whole(number),
        Json::String(text) => Box::new(CelString::from(text.as_str())),
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| value(item, stacks)).collect();
            Box::new(CelList::from(items))
        }
        Json::Object(fields) => Box::new(map(fields, stacks)),
    }
}

/// A map of facts. The name of a known stack is replaced by the stack.
fn map<'v>(fields: &'v serde_json::Map<String, Json>, stacks: &Stacks<'v>) -> CelMap<'v> {
    let pairs = fields.iter().map(|(name, item)| {
        let stack = item.as_str().filter(|_| name == "stack");
        let item = match stack.and_then(|named| stacks.get(named)) {
            Some(stack) => Box::new(stack.clone()),
            None => value(item, stacks),
        };
        (CelMapKey::String(CelString::from(name.as_str())), item)
    });
    let pairs: HashMap<CelMapKey<'v>, Box<dyn Val + 'v>> = pairs.collect();
    CelMap::from(pairs)
}

fn whole<'v>(number: &serde_json::Number) -> Box<dyn Val + 'v> {
    let int = number.as_i64();
    let int = int.or_else(|| number.as_u64().map(|_| i64::MAX));
    match int {
        Some(int) => Box::new(CelInt::from(int)),
        None => Box::new(CelDouble::from(number.as_f64().unwrap_or(f64::NAN))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::host_facts;
    use super::*;
    use coalescope_host::model::Snapshot;

    impl Asked<'_, '_> {
        fn all(&self, each: Each, number: usize) -> Vec<Result<bool, String>> {
            (0..number).map(|at| self.holds(each, at)).collect()
        }
    }

    /// Bridges of ports, a bond, VLANs, tunnels over NICs: what rules ask of neighbours.
    fn host_of(number: usize) -> Snapshot {
        let mut host = Snapshot::default();
        for at in 0..number {
            let kind = ["physical", "veth", "vlan", "vxlan", "bridge", "tun"][at % 6];
            let before = |back: usize| format!("i{}", at.saturating_sub(back));
            let interface = host.interface_mut(&format!("i{at}"));
            interface.name = format!("i{at}");
            interface.kind = Some(kind.to_owned());
            interface.up = Some(at % 5 != 0);
            interface.mtu_bytes = Some(1500 + u64::try_from(at % 3).unwrap_or(0));
            match kind {
                "veth" => interface.master = Some("i4".to_owned()),
                "vlan" => interface.parent = Some(before(2)),
                "vxlan" => {
                    let tunnel = interface.tunnel.get_or_insert_default();
                    tunnel.underlay = vec![before(3), "i0".to_owned()];
                }
                _ => {}
            }
        }
        host
    }

    const ASKED: &[&str] = &[
        "host.interfaces.exists(i, i.kind == 'vxlan' && interface.key in i.underlay)",
        "host.interfaces.exists(u, (u.key == interface.key || u.key in interface.above) && u.master != ''
            && host.interfaces.exists(p, p.key != u.key && p.master == u.master))",
        "!host.interfaces.exists(i, i.kind in ['wireguard', 'tap'] || i.tun_mode == 'tap') && interface.up",
        "host.interfaces.exists(t, t.name == 'i7' && t.up) || interface.kind == 'vlan'",
        "interface.kind == 'bridge' && host.interfaces.exists(g, g.master == interface.key
            && !host.interfaces.exists(n, n.kind == 'physical' && n.mtu_bytes > g.mtu_bytes))",
        "host.interfaces.exists(i, i.ports == interface.ports && i.mtu_bytes < interface.mtu_bytes)",
        "host.interfaces.exists(i, i.kind == 'tun' && i.mtu_bytes / 0 == 1 && i.key == interface.key)",
        "host.interfaces.exists(i, i.mtu_bytes / 0 == 1)",
        "host.interfaces.all(i, i.key != interface.key || i.up)",
        "host.interfaces.exists(i, 'x' in i.statistics || i.key == interface.parent)",
    ];

    /// Fewer looks, the same answers: errors too.
    #[test]
    fn a_narrowed_condition_says_what_the_rule_says() {
        let snapshot = host_of(30);
        let facts = host_facts(&snapshot);
        let seen = Seen::of(&facts);
        for source in ASKED {
            let condition = Condition::compile(source).unwrap();
            let (fast, slow) = (condition.of(&seen), condition.as_written(&seen));
            let (fast, slow) = (fast.all(Each::Interface, 30), slow.all(Each::Interface, 30));
            assert_eq!(fast, slow, "{source}");
        }
    }

    /// How many interfaces are looked at, and lists of them made.
    fn looks(number: usize) -> usize {
        let snapshot = host_of(number);
        let facts = host_facts(&snapshot);
        let seen = Seen::of(&facts);
        let conditions = ASKED[..4]
            .iter()
            .map(|source| Condition::compile(source).unwrap());
        let conditions: Vec<Condition> = conditions.collect();
        super::super::steps::of(|| {
            for condition in &conditions {
                condition.of(&seen).all(Each::Interface, number);
            }
        })
    }

    #[test]
    fn looks_grow_as_the_host_does() {
        let (small, large) = (looks(300), looks(3_000));
        assert!(
            large < 12 * small,
            "{small} looks of 300, {large} of 3,000 interfaces"
        );
    }
}
