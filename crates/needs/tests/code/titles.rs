//! The title of a finding is for people: code asks the finding's data instead.

use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprMethodCall, ItemFn, ItemMod, Member};

use crate::product::{files, folder, is_test};

/// What takes a string apart, or asks what stands in it.
const ASKS: [&str; 8] = [
    "contains",
    "ends_with",
    "find",
    "split",
    "split_once",
    "starts_with",
    "strip_prefix",
    "strip_suffix",
];

/// Where a title is printed with its place, unless the title has the place already: a saved finding has no more data than these.
const PRINTED: &str = "report/src/words/ab.rs";

/// How often titles are asked.
#[derive(Default)]
struct Asked(usize);

/// Whether an expression is a title, or borrows one.
fn is_title(expression: &Expr) -> bool {
    match expression {
        Expr::Field(field) => matches!(&field.member, Member::Named(name) if name == "title"),
        Expr::MethodCall(call) => is_title(&call.receiver),
        Expr::Paren(inner) => is_title(&inner.expr),
        Expr::Reference(inner) => is_title(&inner.expr),
        Expr::Unary(inner) => is_title(&inner.expr),
        _ => false,
    }
}

impl<'a> Visit<'a> for Asked {
    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        let asks = ASKS.iter().any(|name| call.method == name);
        self.0 += usize::from(asks && is_title(&call.receiver));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_binary(&mut self, compared: &'a ExprBinary) {
        let is_equal = matches!(compared.op, BinOp::Eq(_) | BinOp::Ne(_));
        let sides = [&compared.left, &compared.right];
        self.0 += usize::from(is_equal && sides.into_iter().any(|side| is_title(side)));
        visit::visit_expr_binary(self, compared);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
}

fn asked(text: &str) -> usize {
    let mut asked = Asked::default();
    asked.visit_file(&syn::parse_file(text).expect("Rust"));
    asked.0
}

/// Tables of other programs' output have titles as well, which are all that is known of them: those are the crate `host`'s.
fn is_about_findings(file: &Path) -> bool {
    let host = folder().join("host");
    !file.starts_with(host) && !file.ends_with(PRINTED)
}

#[test]
fn no_title_is_taken_apart() {
    let mut found = Vec::new();
    for file in files(&folder())
        .iter()
        .filter(|file| is_about_findings(file))
    {
        let text = fs::read_to_string(file).expect("a source file");
        found.extend((asked(&text) > 0).then(|| file.display().to_string()));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_question_is_seen() {
    for question in [
        r#"finding.title.starts_with("large")"#,
        r#"finding.title.as_str().contains(LATE)"#,
        r#"one(&finding.title == OTHER)"#,
        r#"list.filter(|one| (&one.title).strip_prefix("x").is_some())"#,
    ] {
        assert_eq!(asked(&format!("fn f() {{ {question}; }}")), 1, "{question}");
    }
    for none in [
        "page.title.clone()",
        r#"text.contains(&finding.title)"#,
        "finding.id == Id::Healthy",
    ] {
        assert_eq!(asked(&format!("fn f() {{ {none}; }}")), 0, "{none}");
    }
    assert_eq!(
        asked("#[cfg(test)] mod tests { fn f() { a.title.contains(B); } }"),
        0
    );
}
