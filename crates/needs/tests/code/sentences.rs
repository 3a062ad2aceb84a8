//! Sentences that the product prints have no gap where a string goes on in the next line of code.

use std::fs;

use syn::parse::ParseStream;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemFn, ItemMod, LitStr, Macro, Meta};

use crate::product::{files, folder, is_test};

/// Strings in product code.
#[derive(Default)]
struct Strings(Vec<String>);

/// The expressions among arguments; what is none, such as the `.0` of an error, is passed over.
fn expressions(arguments: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut found = Vec::new();
    while !arguments.is_empty() {
        match arguments.fork().parse::<Expr>() {
            Ok(_) => found.push(arguments.parse()?),
            Err(_) => arguments.step(|at| {
                let next = at.token_tree().map(|(_, rest)| ((), rest));
                next.ok_or_else(|| at.error("an argument"))
            })?,
        }
    }
    Ok(found)
}

impl Strings {
    fn read(&mut self, arguments: &[Expr]) {
        for argument in arguments {
            let mut inside = Self::default();
            inside.visit_expr(argument);
            self.0.append(&mut inside.0);
        }
    }
}

impl<'a> Visit<'a> for Strings {
    fn visit_lit_str(&mut self, literal: &'a LitStr) {
        self.0.push(literal.value());
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        self.read(&called.parse_body_with(expressions).unwrap_or_default());
    }

    // Comments are prose, broken by the writer; errors and help stand in attributes of their own.
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.read(&list.parse_args_with(expressions).unwrap_or_default());
        }
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

fn strings(text: &str) -> Vec<String> {
    let mut strings = Strings::default();
    strings.visit_file(&syn::parse_file(text).expect("Rust"));
    strings.0
}

/// Three spaces between two words of one line, unless the line is indented as rows of a table are.
fn has_gap(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.starts_with(' '));
    lines.any(|line| {
        let ends_word = |letter: char| letter.is_lowercase() || ",;:.".contains(letter);
        let mut gaps = line.match_indices("   ");
        gaps.any(|(at, _)| {
            let rest = line[at..].trim_start_matches(' ');
            line[..at].ends_with(ends_word) && rest.starts_with(char::is_lowercase)
        })
    })
}

#[test]
fn no_sentence_has_a_gap() {
    let mut found = Vec::new();
    for file in files(&folder()) {
        let text = fs::read_to_string(&file).expect("a source file");
        let with_gaps = strings(&text).into_iter().filter(|text| has_gap(text));
        found.extend(with_gaps.map(|text| format!("{}: {text}", file.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_gap_is_seen() {
    let said = strings(r#"fn f() { told(format!("on their way,     or not {}", 1)) }"#);
    assert!(said.iter().any(|text| has_gap(text)), "{said:?}");
    let error = strings(r#"enum E { #[error("fragments,      copies {0}", .0)] A(u8) }"#);
    assert!(error.iter().any(|text| has_gap(text)), "{error:?}");
    assert!(!has_gap("Examples:\n  fix      shows it"));
    assert!(!has_gap("Exit codes:\n  0  done, or\n     nothing to fix"));
}
