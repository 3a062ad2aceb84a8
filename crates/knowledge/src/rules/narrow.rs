//! Conditions that loop over all interfaces of a host, rewritten to loop over those that can matter: evaluated for each
//! of ten thousand interfaces, the original needs a hundred million steps.
//!
//! `host.interfaces.exists(i, A && i.master == interface.master && B)` holds for no interface with another master,
//! whatever A and B are (false && anything is false in CEL, even an error). So the loop goes over the interfaces with
//! that master, by an index: `at['master'][interface.master]`. And a loop that does not use the rule's subject has the
//! same value for all subjects: it is evaluated once, and its result is a variable.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, SelectExpr, operators,
};

/// The variable that has the indexes: no name in a rule can be like this.
pub(super) const AT: &str = "@at";

/// A condition with the same value.
pub(super) struct Narrowed {
    /// Expressions that are evaluated once for a host, by the name of the result.
    pub(super) once: Vec<(String, IdedExpr)>,
    /// The condition, with these names in it.
    pub(super) whole: IdedExpr,
}

/// The condition of a rule, made to look at fewer interfaces.
pub(super) fn narrowed(condition: &IdedExpr) -> Narrowed {
    let mut narrowed = Narrowed {
        once: Vec::new(),
        whole: condition.clone(),
    };
    let mut whole = std::mem::take(&mut narrowed.whole);
    narrowed.walk(&mut whole);
    narrowed.whole = whole;
    narrowed
}

impl Narrowed {
    fn walk(&mut self, expr: &mut IdedExpr) {
        let is_once = is_loop(&expr.expr) && names_only_host(&expr.expr, &mut vec!["host"]);
        if is_once {
            let name = format!("@once{}", self.once.len());
            let ident = Expr::Ident(name.clone());
            let asked = std::mem::replace(&mut expr.expr, ident);
            self.once.push((
                name,
                IdedExpr {
                    id: expr.id,
                    expr: asked,
                },
            ));
            return;
        }
        if let Expr::Comprehension(all) = &mut expr.expr {
            narrow(all);
        }
        parts(&mut expr.expr)
            .into_iter()
            .for_each(|part| self.walk(part));
    }
}

/// `host.interfaces.exists(..)`.
fn is_loop(expr: &Expr) -> bool {
    matches!(expr, Expr::Comprehension(all) if asked(all).is_some())
}

/// The body of `host.interfaces.exists`: its step is `@result || BODY`.
fn asked(all: &ComprehensionExpr) -> Option<&IdedExpr> {
    let is_all = matches!(&all.iter_range.expr, Expr::Select(SelectExpr { operand, field, .. })
        if field == "interfaces" && operand.expr == Expr::Ident("host".to_owned()));
    match &all.loop_step.expr {
        Expr::Call(step) if is_all && step.func_name == operators::LOGICAL_OR => {
            match step.args.as_slice() {
                [first, asked] if first.expr == Expr::Ident(all.accu_var.clone()) => Some(asked),
                _ => None,
            }
        }
        _ => None,
    }
}

fn narrow(all: &mut ComprehensionExpr) {
    let mut needs: Vec<Needs> = Vec::new();
    if let Some(asked) = asked(all) {
        conjuncts(asked, &mut |one| {
            needs.extend(Needs::of(one, &all.iter_var));
        });
    }
    // Fewer interfaces have the subject's value in a field than a value that the rule itself names.
    let best = needs.iter().find(|needs| needs.is_of_subject);
    if let Some(needs) = best.or(needs.first()) {
        all.iter_range = needs.range();
    }
}

fn conjuncts<'e>(expr: &'e IdedExpr, each: &mut impl FnMut(&'e IdedExpr)) {
    match &expr.expr {
        Expr::Call(call) if call.func_name == operators::LOGICAL_AND => {
            call.args.iter().for_each(|one| conjuncts(one, each));
        }
        _ => each(expr),
    }
}

/// Values of which an interface must have one in a field: as text, or in a list.
struct Needs {
    field: String,
    values: Vec<IdedExpr>,
    is_of_subject: bool,
}

impl Needs {
    fn of(expr: &IdedExpr, variable: &str) -> Option<Self> {
        let Expr::Call(CallExpr {
            func_name, args, ..
        }) = &expr.expr
        else {
            return None;
        };
        let [one, other] = args.as_slice() else {
            return None;
        };
        match func_name.as_str() {
            operators::LOGICAL_OR => {
                Self::either(Self::of(one, variable)?, Self::of(other, variable)?)
            }
            operators::IN => {
                Self::has(one, other, variable).or_else(|| Self::has(other, one, variable))
            }
            // A list equals a list only: in a list of its own, the index matches texts alone.
            operators::EQUALS => {
                let has = Self::has(one, other, variable);
                let mut has = has.or_else(|| Self::has(other, one, variable))?;
                has.values = vec![listed(has.values)];
                Some(has)
            }
            _ => None,
        }
    }

    fn either(one: Self, other: Self) -> Option<Self> {
        (one.field == other.field).then(|| Self {
            field: one.field,
            values: one.values.into_iter().chain(other.values).collect(),
            is_of_subject: one.is_of_subject && other.is_of_subject,
        })
    }

    fn has(own: &IdedExpr, value: &IdedExpr, variable: &str) -> Option<Self> {
        let field = field_of(own, variable)?;
        is_plain(&value.expr, variable).then(|| Self {
            field: field.to_owned(),
            values: vec![value.clone()],
            is_of_subject: matches!(value.expr, Expr::Select(_)),
        })
    }

    fn range(&self) -> IdedExpr {
        let at = ided(Expr::Ident(AT.to_owned()));
        let field = LiteralValue::String(self.field.clone().into());
        let index = indexed(at, ided(Expr::Literal(field)));
        indexed(index, listed(self.values.clone()))
    }
}

fn field_of<'e>(expr: &'e IdedExpr, variable: &str) -> Option<&'e str> {
    match &expr.expr {
        Expr::Select(select)
            if !select.test && select.operand.expr == Expr::Ident(variable.to_owned()) =>
        {
            Some(&select.field)
        }
        _ => None,
    }
}

/// Whether an expression cannot fail, and is the same for all interfaces: a text, a list of texts, a fact of another
/// variable.
fn is_plain(expr: &Expr, variable: &str) -> bool {
    match expr {
        Expr::Literal(LiteralValue::String(_)) => true,
        Expr::List(list) => list
            .elements
            .iter()
            .all(|one| matches!(one.expr, Expr::Literal(_))),
        Expr::Select(select) => {
            let owner = &select.operand.expr;
            !select.test && matches!(owner, Expr::Ident(name) if name != variable && name != "host")
        }
        _ => false,
    }
}

fn ided(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn listed(elements: Vec<IdedExpr>) -> IdedExpr {
    ided(Expr::List(ListExpr {
        elements,
        optional_indices: Vec::new(),
    }))
}

fn indexed(of: IdedExpr, by: IdedExpr) -> IdedExpr {
    ided(Expr::Call(CallExpr {
        func_name: operators::INDEX.to_owned(),
        target: None,
        args: vec![of, by],
    }))
}

/// Whether all names in an expression are of the host, or bound in the expression.
fn names_only_host<'e>(expr: &'e Expr, known: &mut Vec<&'e str>) -> bool {
    match expr {
        Expr::Ident(name) => known.contains(&name.as_str()),
        Expr::Select(select) => names_only_host(&select.operand.expr, known),
        Expr::Call(call) => {
            let parts = call.target.as_deref().into_iter().chain(&call.args);
            all_name_only_host(parts, known)
        }
        Expr::List(list) => all_name_only_host(list.elements.iter(), known),
        Expr::Comprehension(all) => {
            let before = known.len();
            let mut is_own = names_only_host(&all.iter_range.expr, known);
            known.extend([all.iter_var.as_str(), all.accu_var.as_str()]);
            known.extend(all.iter_var2.as_deref());
            let parts = [&all.accu_init, &all.loop_cond, &all.loop_step, &all.result];
            is_own &= all_name_only_host(parts.into_iter(), known);
            known.truncate(before);
            is_own
        }
        Expr::Literal(_) => true,
        Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => false,
    }
}

fn all_name_only_host<'e>(
    mut parts: impl Iterator<Item = &'e IdedExpr>,
    known: &mut Vec<&'e str>,
) -> bool {
    parts.all(|part| names_only_host(&part.expr, known))
}

/// Parts of an expression, without the keys of maps, in which no condition on interfaces can be.
fn parts(expr: &mut Expr) -> Vec<&mut IdedExpr> {
    match expr {
        Expr::Call(call) => call
            .target
            .as_deref_mut()
            .into_iter()
            .chain(&mut call.args)
            .collect(),
        Expr::Comprehension(all) => vec![
            &mut all.iter_range,
            &mut all.accu_init,
            &mut all.loop_cond,
            &mut all.loop_step,
            &mut all.result,
        ],
        Expr::List(list) => list.elements.iter_mut().collect(),
        Expr::Select(select) => vec![&mut select.operand],
        _ => Vec::new(),
    }
}
