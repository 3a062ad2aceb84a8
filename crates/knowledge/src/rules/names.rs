//! Finds names in conditions and templates that no fact has: a typo is reported when a file is read, rather than on the
//! first host that the rule is evaluated for.

use std::sync::Arc;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, operators};
use coalescope_host::model::{Snapshot, VirtualSwitch};
use serde_json::Value;

use super::condition::{Condition, FUNCTIONS};
use super::facts::host_facts;
use super::rule::{Each, RemedyRule, Rule};
use super::template;
use crate::nearest::{meant, nearest};

/// CEL's own names of types.
const TYPES: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// CEL's own functions, and those macros that stay calls.
const STANDARD: [&str; 22] = [
    "all",
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "exists",
    "filter",
    "has",
    "int",
    "map",
    "matches",
    "max",
    "min",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// A name that does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// As it was written.
    pub(super) name: String,
    /// What is wrong, with the name that was probably meant.
    pub(super) said: String,
}

impl Unknown {
    fn of<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let meant = meant(name, known);
        Self {
            name: name.to_owned(),
            said: format!("there is no {name} {what}: {meant}"),
        }
    }
}

/// What is known of a value. A map with names has these and no others; a map without any may have whatever a host has.
/// The first element of a list shows what the list has in it.
type Shape<'a> = Option<&'a Value>;

/// All names that facts have.
pub(super) struct Names {
    host: Value,
}

impl Names {
    /// The names of a host with one interface and one switch: facts that were not read are there as well. The interface
    /// has no role, so that every role may have a reason.
    pub(super) fn new() -> Self {
        let mut snapshot = Snapshot::default();
        snapshot.interface_mut("").up = Some(false);
        let switch = VirtualSwitch::default();
        snapshot.switches.insert(String::new(), switch);
        let facts = host_facts(&snapshot);
        let mut host = Arc::unwrap_or_clone(facts.host);
        // Facts refer to an interface's stack by name; rules see the stack in its place.
        let own = facts.stacks.into_values().next();
        host["interfaces"][0]["stack"] = own.unwrap_or_default();
        Self { host }
    }

    /// The first name in a rule that does not exist.
    pub(super) fn unknown(&self, rule: &Rule, condition: &Condition) -> Option<Unknown> {
        let mut scope = self.scope(rule.each);
        let in_condition = walk(condition.expression(), &mut scope).err();
        let in_texts = || texts(rule).find_map(|text| in_template(text, &scope));
        in_condition.or_else(in_texts)
    }

    fn scope(&self, each: Each) -> Vec<(String, Shape<'_>)> {
        let of = |list: &str| self.host.get(list)?.get(0);
        let own = match each {
            Each::Interface => Some(("interface".to_owned(), of("interfaces"))),
            Each::Switch => Some(("switch".to_owned(), of("switches"))),
            Each::Host => None,
        };
        let host = ("host".to_owned(), Some(&self.host));
        [host].into_iter().chain(own).collect()
    }
}

/// All templates of a rule.
fn texts(rule: &Rule) -> impl Iterator<Item = &str> {
    let remedies = rule.remedies.iter().flat_map(|remedy| match remedy {
        RemedyRule::Set { .. } => [None, None],
        RemedyRule::Command {
            command, settings, ..
        } => [Some(command.as_str()), settings.as_deref()],
    });
    let evidence = rule.evidence.iter().map(String::as_str);
    let one = [rule.title.as_str()].into_iter();
    one.chain(evidence)
        .chain(rule.experiment.as_deref())
        .chain(remedies.flatten())
}

/// A template that cannot be read at all is unknown as a whole.
fn in_template(text: &str, scope: &[(String, Shape<'_>)]) -> Option<Unknown> {
    let names = match template::names(text) {
        Ok(names) => names,
        Err(said) => {
            let name = text.lines().next().unwrap_or_default().to_owned();
            return Some(Unknown { name, said });
        }
    };
    names.iter().find_map(|path| follow(path, scope).err())
}

fn follow(path: &str, scope: &[(String, Shape<'_>)]) -> Result<(), Unknown> {
    let mut parts = path.split('.');
    let Some(first) = parts.next() else {
        return Ok(());
    };
    let mut shape = variable(first, scope)?;
    for part in parts {
        shape = field(shape, part)?;
    }
    Ok(())
}

/// The shape of an expression's value, as far as it is known.
fn walk<'a>(expr: &Expr, scope: &mut Vec<(String, Shape<'a>)>) -> Result<Shape<'a>, Unknown> {
    match expr {
        Expr::Ident(name) => variable(name, scope),
        Expr::Select(select) => field(walk(&select.operand.expr, scope)?, &select.field),
        Expr::Call(call) => walk_call(call, scope),
        Expr::Comprehension(all) => walk_comprehension(all, scope),
        Expr::List(list) => walk_each(list.elements.iter().map(|one| &one.expr), scope),
        Expr::Map(map) => walk_entries(map.entries.iter().map(|one| &one.expr), scope),
        Expr::Struct(parts) => walk_entries(parts.entries.iter().map(|one| &one.expr), scope),
        Expr::Literal(_) | Expr::Unspecified => Ok(None),
    }
}

fn walk_each<'a, 'e>(
    all: impl Iterator<Item = &'e Expr>,
    scope: &mut Vec<(String, Shape<'a>)>,
) -> Result<Shape<'a>, Unknown> {
    for one in all {
        walk(one, scope)?;
    }
    Ok(None)
}

fn walk_entries<'a, 'e>(
    all: impl Iterator<Item = &'e EntryExpr>,
    scope: &mut Vec<(String, Shape<'a>)>,
) -> Result<Shape<'a>, Unknown> {
    let parts = all.flat_map(|entry| match entry {
        EntryExpr::StructField(field) => [Some(&field.value.expr), None],
        EntryExpr::MapEntry(entry) => [Some(&entry.key.expr), Some(&entry.value.expr)],
    });
    walk_each(parts.flatten(), scope)
}

fn walk_call<'a>(
    call: &CallExpr,
    scope: &mut Vec<(String, Shape<'a>)>,
) -> Result<Shape<'a>, Unknown> {
    let name = call.func_name.as_str();
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric());
    let known = || FUNCTIONS.into_iter().chain(STANDARD);
    // Other names of CEL fail when the rule is evaluated.
    if is_word && !known().any(|one| one == name) && nearest(name, known()).is_some() {
        return Err(Unknown::of("among the functions", name, known()));
    }
    if let Some(target) = &call.target {
        walk(&target.expr, scope)?;
    }
    let mut of = None;
    for (number, argument) in call.args.iter().enumerate() {
        let shape = walk(&argument.expr, scope)?;
        if number == 0 && name == operators::INDEX {
            of = shape
                .and_then(Value::as_array)
                .and_then(|list| list.first());
        }
    }
    Ok(of)
}

fn walk_comprehension<'a>(
    all: &ComprehensionExpr,
    scope: &mut Vec<(String, Shape<'a>)>,
) -> Result<Shape<'a>, Unknown> {
    let range = walk(&all.iter_range.expr, scope)?;
    walk(&all.accu_init.expr, scope)?;
    let element = range
        .and_then(Value::as_array)
        .and_then(|list| list.first());
    let before = scope.len();
    scope.push((all.iter_var.clone(), element));
    scope.extend(all.iter_var2.iter().map(|name| (name.clone(), None)));
    scope.push((all.accu_var.clone(), None));
    let steps = [&all.loop_cond, &all.loop_step, &all.result];
    let walked = walk_each(steps.into_iter().map(|step| &step.expr), scope);
    scope.truncate(before);
    walked
}

/// The innermost variable of a name.
fn variable<'a>(name: &str, scope: &[(String, Shape<'a>)]) -> Result<Shape<'a>, Unknown> {
    if let Some((_, shape)) = scope.iter().rev().find(|(known, _)| known == name) {
        return Ok(*shape);
    }
    if TYPES.contains(&name) {
        return Ok(None);
    }
    let known = scope.iter().map(|(known, _)| known.as_str());
    Err(Unknown::of("that the rule could see", name, known))
}

fn field<'a>(of: Shape<'a>, name: &str) -> Result<Shape<'a>, Unknown> {
    let Some(Value::Object(fields)) =
        of.filter(|of| of.as_object().is_some_and(|of| !of.is_empty()))
    else {
        return Ok(None);
    };
    let known = fields.keys().map(String::as_str);
    let found = fields.get(name).map(Some);
    found.ok_or_else(|| Unknown::of("among the facts", name, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(when: &str) -> Option<String> {
        let names = Names::new();
        let condition = Condition::compile(when).expect("CEL");
        let found = walk(condition.expression(), &mut names.scope(Each::Interface));
        found.err().map(|unknown| unknown.said)
    }

    #[test]
    fn what_there_is_is_no_mistake() {
        for when in [
            "'lro' in interface.on && host.distribution.id == 'debian'",
            "interface.statistics['rx_lro'] > 0 && interface.stack.sysctls.exists(s, s == 'x')",
            "host.interfaces.exists(i, i.kind == 'bridge' && interface.key in i.ports)",
            "host.interfaces[0].mtu_bytes > 1500 && size(interface.addresses) > 0",
            "interface.ports.map(p, p.startsWith('tap')).size() > 1 && has(host.settings.anything)",
            "before(host.kernel, '4.0') || number(interface.rings, 'rx') > 1 || interface.up",
            "type(interface.mtu_bytes) == int && host.ipvs.exists(s, s.destinations.size() > 0)",
        ] {
            assert_eq!(said(when), None, "{when}");
        }
    }

    #[test]
    fn what_there_is_not_is_told_with_what_was_meant() {
        for (when, meant) in [
            (
                "interface.kindd == 'bridge'",
                "there is no kindd among the facts: did you mean kind?",
            ),
            ("host.distribution.ids == 'debian'", "did you mean id?"),
            (
                "host.interfaces.exists(i, i.drvier == 'ixgbe')",
                "did you mean driver?",
            ),
            ("host.interfaces[0].mtu > 1500", "did you mean mtu_bytes?"),
            ("intrface.up", "did you mean interface?"),
            (
                "switch.kind == 'x'",
                "there is no switch that the rule could see",
            ),
            ("befor(host.kernel, '4.0')", "did you mean before?"),
            ("has(interface.stack.sysctl)", "did you mean sysctls?"),
        ] {
            let said = said(when).unwrap_or_default();
            assert!(said.contains(meant), "{when}: {said}");
        }
    }

    #[test]
    fn texts_are_looked_at_as_well() {
        let names = Names::new();
        let scope = names.scope(Each::Interface);
        let said = |text| in_template(text, &scope).map(|unknown| unknown.said);
        assert_eq!(said("{{ interface.name }} of {{ host.name|sh }}"), None);
        assert_eq!(
            said("{% for p in interface.ports %}{{ p }}{% endfor %}"),
            None
        );
        let wrong = said("{{ interface.nmae }}").unwrap_or_default();
        assert!(wrong.ends_with("did you mean name?"), "{wrong}");
        assert!(said("{{ interface.name }").is_some());
    }
}
