//! Conditions in CEL, and the functions that rules may use in them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cel::common::ast::Expr;
use cel::common::types::{
    CelBool, CelDouble, CelInt, CelList, CelMap, CelMapKey, CelNull, CelString,
};
use cel::common::value::Val;
use cel::objects::Key;
use cel::{Context, Program, Value};
use serde_json::Value as Json;

use super::facts::HostFacts;
use super::shared::Shared;
use super::version::{at_least, before};

/// What conditions see of a host, which borrows all of its texts from the facts.
pub(super) struct Seen<'v> {
    context: Context<'v, 'v>,
    stacks: Stacks<'v>,
}

/// Stacks by namespace, each of them once.
type Stacks<'v> = BTreeMap<&'v str, Shared<'v>>;

impl<'v> Seen<'v> {
    /// Has all of a host.
    pub(super) fn of(facts: &'v HostFacts) -> Self {
        let stacks = facts.stacks.iter();
        let stacks = stacks.filter_map(|(name, stack)| {
            let fields = map(stack.as_object()?, &Stacks::new());
            Some((name.as_str(), Shared::of(fields)))
        });
        let stacks: Stacks<'v> = stacks.collect();
        let mut context = context();
        context.add_variable_as_val("host", value(&facts.host, &stacks));
        Self { context, stacks }
    }
}

/// A compiled condition.
pub(super) struct Condition(Program);

impl Condition {
    /// Compiles it; the error is in words.
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        Program::compile(source)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    /// What it is made of.
    pub(super) fn expression(&self) -> &Expr {
        &self.0.expression().expr
    }

    /// Whether it holds of a host, or of something of it that has a name in conditions.
    pub(super) fn holds<'v>(
        &self,
        host: &Seen<'v>,
        own: Option<(&str, &'v Json)>,
    ) -> Result<bool, String> {
        let mut context = host.context.new_inner_scope();
        if let Some((name, own)) = own {
            context.add_variable_as_val(name, value(own, &host.stacks));
        }
        match self.0.execute(&context) {
            Ok(Value::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("gives {other:?}, neither true nor false")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Functions that rules have besides those of standard CEL.
pub(super) const FUNCTIONS: [&str; 4] = ["before", "atLeast", "number", "text"];

/// Standard CEL, and our own functions. One that cannot be added is an error of each condition that asks it.
fn context<'v>() -> Context<'v, 'v> {
    let mut context = Context::default();
    let _ = context.add_function("before", |a: Arc<String>, b: Arc<String>| before(&a, &b));
    let _ = context.add_function("atLeast", |a: Arc<String>, b: Arc<String>| at_least(&a, &b));
    let _ = context.add_function("number", number);
    let _ = context.add_function("text", text);
    context
}

/// The number that a map has under a key; -1 if there is none, or it is not a number.
#[expect(clippy::needless_pass_by_value, reason = "CEL hands values over")]
fn number(map: Value, key: Arc<String>) -> i64 {
    match get(&map, key) {
        Some(Value::Int(number)) => number,
        Some(Value::String(text)) => text.trim().parse().unwrap_or(-1),
        _ => -1,
    }
}

/// The text that a map has under a key; empty if there is none.
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

/// A map of facts. Where one names a stack that is there, that stands in its place.
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
