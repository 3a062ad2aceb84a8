//! Conditions in CEL, and the functions that rules may use in them.

use std::collections::HashMap;
use std::sync::Arc;

use cel::common::ast::Expr;
use cel::objects::{Key, Map};
use cel::{Context, Program, Value};

use super::version::{at_least, before};

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

    /// Whether it holds of these facts.
    pub(super) fn holds(&self, facts: &[(&str, &Value)]) -> Result<bool, String> {
        let mut context = context()?;
        for (name, value) in facts {
            context.add_variable_from_value(*name, (*value).clone());
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

/// Standard CEL, and our own functions.
fn context() -> Result<Context<'static, 'static>, String> {
    let mut context = Context::default();
    let added = context
        .add_function("before", |a: Arc<String>, b: Arc<String>| before(&a, &b))
        .and_then(|()| {
            context.add_function("atLeast", |a: Arc<String>, b: Arc<String>| at_least(&a, &b))
        })
        .and_then(|()| context.add_function("number", number))
        .and_then(|()| context.add_function("text", text));
    added.map_err(|error| error.to_string())?;
    Ok(context)
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
pub(super) fn value(facts: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match facts {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => whole(number),
        Json::String(text) => Value::String(Arc::new(text.clone())),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(value).collect())),
        Json::Object(fields) => {
            let pairs = fields.iter();
            let map: HashMap<Key, Value> = pairs
                .map(|(key, item)| (Key::String(Arc::new(key.clone())), value(item)))
                .collect();
            Value::Map(Map { map: Arc::new(map) })
        }
    }
}

fn whole(number: &serde_json::Number) -> Value {
    let int = number.as_i64();
    let beyond = || number.as_u64().map(|_| i64::MAX);
    int.or_else(beyond).map_or_else(
        || Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        Value::Int,
    )
}
