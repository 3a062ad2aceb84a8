//! Modules inside of each crate: imports go one way, and to the module that owns the name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemFn, ItemImpl, ItemMod, UseTree, Visibility};

use crate::product::{files, folder, is_test};

type Module = Vec<String>;

/// Names that the root of a crate passes on, and the modules that own these.
type PassedOn = BTreeSet<String>;

/// Imports of one crate.
#[derive(Default)]
struct Imports {
    modules: BTreeSet<Module>,
    /// Who imports, and the path from the root of the crate.
    paths: Vec<(Module, Module)>,
    passed_on: PassedOn,
}

impl Imports {
    fn of(source: &Path) -> Self {
        let mut imports = Self::default();
        let files = files(source);
        imports.modules = files.iter().map(|file| module(source, file)).collect();
        for file in &files {
            let text = fs::read_to_string(file).expect("a source file");
            let items = syn::parse_file(&text).expect("Rust").items;
            let at = module(source, file);
            imports.read(&at, &items);
            imports.read_in_place(&at, &items);
        }
        imports
    }

    fn read(&mut self, at: &Module, items: &[Item]) {
        for item in items {
            match item {
                Item::Use(item) => {
                    let mut paths = Vec::new();
                    flatten(&item.tree, &mut Vec::new(), &mut paths);
                    if at.is_empty() {
                        let names = paths.iter().filter_map(|path| path.last());
                        self.passed_on.extend(names.cloned());
                    } else if !is_test(&item.attrs) {
                        let inside = paths.iter().filter_map(|path| from_root(at, path));
                        self.paths.extend(inside.map(|path| (at.clone(), path)));
                    }
                }
                Item::Mod(inner) if !is_test(&inner.attrs) => {
                    if let Some((_, items)) = &inner.content {
                        self.read(at, items);
                    }
                }
                _ => {}
            }
        }
    }

    /// Paths that stand where a name is used, without a `use`.
    fn read_in_place(&mut self, at: &Module, items: &[Item]) {
        if at.is_empty() {
            return;
        }
        let mut used = Used::default();
        items.iter().for_each(|item| used.visit_item(item));
        let inside = used.paths.iter().filter_map(|path| from_root(at, path));
        self.paths.extend(inside.map(|path| (at.clone(), path)));
    }

    /// The module that a path leads to, or into.
    fn owner(&self, path: &[String]) -> Option<Module> {
        let ends = (1..=path.len()).rev();
        let mut found = ends.map(|end| path[..end].to_vec());
        found.find(|module| self.modules.contains(module))
    }

    fn edges(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (at, path) in &self.paths {
            if let Some(owner) = self.owner(path).filter(|owner| owner != at) {
                edges.entry(at.clone()).or_default().insert(owner);
            }
        }
        edges
    }

    /// Imports of what the root of the crate only passes on.
    fn roundabout(&self) -> impl Iterator<Item = String> {
        let passed_on = |path: &Module| {
            let name = path.first();
            name.is_some_and(|name| self.passed_on.contains(name)) && self.owner(path).is_none()
        };
        let found = self.paths.iter().filter(move |(_, path)| passed_on(path));
        found.map(|(at, path)| format!("{} imports crate::{}", at.join("::"), path.join("::")))
    }
}

/// Paths in product code, outside of `use`.
#[derive(Default)]
struct Used {
    paths: Vec<Module>,
}

impl<'a> Visit<'a> for Used {
    fn visit_path(&mut self, path: &'a syn::Path) {
        let words = path.segments.iter().map(|part| part.ident.to_string());
        self.paths.push(words.collect());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        // What stands in a module inside the file names its paths from there: `read` knows no such module either.
        if !is_test(&item.attrs) && item.content.is_none() {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    // `pub(super)` says who may see a name, and uses none.
    fn visit_visibility(&mut self, _: &'a Visibility) {}

    fn visit_attribute(&mut self, _: &'a Attribute) {}
}

/// Groups of modules each of which leads to every other.
fn circles(edges: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&Module, _> = edges.keys().map(|at| (at, reach(edges, at))).collect();
    let circle = |at: &Module| -> BTreeSet<String> {
        let back = |other: &&Module| reached.get(other).is_some_and(|there| there.contains(at));
        let members = reached[at].iter().filter(back);
        members.map(|member| member.join("::")).collect()
    };
    let on_one = edges.keys().filter(|at| reached[at].contains(*at));
    on_one.map(circle).collect()
}

fn reach(edges: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        for next in edges.get(at).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// The paths of a `use`, each from its first to its last word; a renamed one keeps the name that its owner gave.
fn flatten(tree: &UseTree, before: &mut Module, paths: &mut Vec<Module>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, paths);
            before.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, before, paths);
            }
        }
        UseTree::Name(name) => paths.push(joined(before, &name.ident.to_string())),
        UseTree::Rename(rename) => paths.push(joined(before, &rename.ident.to_string())),
        UseTree::Glob(_) => paths.push(before.clone()),
    }
}

fn joined(before: &Module, name: &str) -> Module {
    let mut path = before.clone();
    path.push(name.to_owned());
    path
}

/// A path from the root of the crate; `None` for one that leads into another crate, or to a module below.
fn from_root(at: &Module, path: &Module) -> Option<Module> {
    let supers = path.iter().take_while(|word| *word == "super").count();
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "super" => {
            let mut full = at[..at.len().checked_sub(supers)?].to_vec();
            full.extend_from_slice(&path[supers..]);
            Some(full)
        }
        _ => None,
    }
}

/// The module that a file is.
fn module(source: &Path, file: &Path) -> Module {
    let inside = file.strip_prefix(source).expect("a file below it");
    let words = inside.with_extension("");
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let mut module: Module = words.collect();
    module.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    module
}

fn crates() -> Vec<(String, Imports)> {
    let folders = fs::read_dir(folder()).expect("the crates");
    let named = folders.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = named
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    let read = |name: String| {
        let source = folder().join(&name);
        let imports = Imports::of(&source.join("src"));
        (name, imports)
    };
    names.into_iter().map(read).collect()
}

#[test]
fn no_modules_import_each_other() {
    let mut found = BTreeSet::new();
    for (name, imports) in crates() {
        for circle in circles(&imports.edges()) {
            found.insert((name.clone(), circle));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// The folders of `gro` lie one above the other.
#[test]
fn layers_of_the_engine_import_downwards() {
    let all = crates();
    let (_, gro) = all.iter().find(|(name, _)| name == "gro").expect("gro");
    let layer = |module: &Module| module[..1.min(module.len())].to_vec();
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (from, to) in gro.edges() {
        let above = edges.entry(layer(&from)).or_default();
        above.extend(to.iter().map(layer).filter(|to| *to != layer(&from)));
    }
    assert!(edges.len() > 5, "{edges:?}");
    assert_eq!(circles(&edges), BTreeSet::new());
}

#[test]
fn imports_go_to_the_module_that_owns_the_name() {
    let all = crates();
    let found = all.iter().flat_map(|(name, imports)| {
        let roundabout = imports.roundabout();
        roundabout.map(move |words| format!("{name}: {words}"))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The command can do less elsewhere: one module knows where it runs, and the others ask that one.
#[test]
fn one_module_of_the_command_stands_for_the_system() {
    let source = folder().join("coalescope/src");
    let knowing = files(&source).into_iter().filter(|file| {
        let text = fs::read_to_string(file).expect("a source file");
        let mut lines = text.lines();
        lines.any(|line| line.contains("target_os") && !line.contains("cfg(all(test,"))
    });
    let knowing: Vec<Module> = knowing.map(|file| module(&source, &file)).collect();
    assert_eq!(knowing, [["system"]]);
}

/// A path in the middle of a function leads to its module as a `use` at the top does.
#[test]
fn a_path_without_a_use_is_seen() {
    let text = "pub(super) fn f() -> crate::a::T { super::b::g(1) }\n#[cfg(test)] mod tests { use crate::c::d; }";
    let items = syn::parse_file(text).expect("Rust").items;
    let modules = ["a", "b", "c", "at"].map(|name| vec![name.to_owned()]);
    let mut imports = Imports {
        modules: modules.into(),
        ..Imports::default()
    };
    imports.read_in_place(&vec!["at".to_owned()], &items);
    let to = ["a", "b"].map(|name| vec![name.to_owned()]);
    let edges = BTreeMap::from([(vec!["at".to_owned()], BTreeSet::from(to))]);
    assert_eq!(imports.edges(), edges);
}

#[test]
fn a_circle_is_seen() {
    let module = |name: &str| vec![name.to_owned()];
    let edge = |from: &str, to: &[&str]| (module(from), to.iter().map(|to| module(to)).collect());
    let edges = BTreeMap::from([
        edge("a", &["b"]),
        edge("b", &["c"]),
        edge("c", &["a", "d"]),
        edge("d", &["e"]),
    ]);
    let circle = ["a", "b", "c"].map(str::to_owned);
    assert_eq!(circles(&edges), BTreeSet::from([BTreeSet::from(circle)]));
}
