//! Reading rule files.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use coalescope_unpack::bounded::text_within;

use super::condition::Condition;
use super::error::{RulesError, shown};
use super::names::Names;
use super::recipes::Recipes;
use super::rule::Rule;
use super::yaml::{parse, place};

/// The longest file of rules that is read; the built-in ones have 250 kB together.
const LONGEST: u64 = 4 << 20;

macro_rules! built_in {
    ($name:literal) => {
        (
            concat!("rules/", $name, ".yaml"),
            include_str!(concat!("../../rules/", $name, ".yaml")),
        )
    };
}

/// The rules that come with the program, by file.
const BUILT_IN: &[(&str, &str)] = &[
    built_in!("linux-lro"),
    built_in!("linux-gro"),
    built_in!("linux-overlay"),
    built_in!("linux-virtual"),
    built_in!("linux-vpn"),
    built_in!("linux-drivers"),
    built_in!("linux-filters"),
    built_in!("freebsd"),
    built_in!("windows"),
    built_in!("esxi"),
];

/// How switches of interfaces are set on each platform.
const RECIPES: &str = include_str!("../../rules/recipes.yaml");

/// Rules, ready to be evaluated.
pub struct Rules {
    pub(super) rules: Vec<(Rule, Condition)>,
    pub(super) recipes: Recipes,
}

impl Rules {
    /// The rules that come with the program, without their fixtures: reading those takes a third of the time, and
    /// only tests of rules need them.
    ///
    /// # Errors
    /// Never in a released program: a test loads them.
    pub fn built_in() -> Result<Self, RulesError> {
        let mut rules = Self::none()?;
        for (file, text) in BUILT_IN {
            rules.add(file, &without_fixtures(text))?;
        }
        Ok(rules)
    }

    /// The rules that come with the program, whole.
    ///
    /// # Errors
    /// Never in a released program: a test loads them.
    pub fn with_fixtures() -> Result<Self, RulesError> {
        let (mut rules, names) = (Self::none()?, Names::new());
        for (file, text) in BUILT_IN {
            rules.add_new(file, text, &names)?;
        }
        Ok(rules)
    }

    fn none() -> Result<Self, RulesError> {
        Ok(Self {
            rules: Vec::new(),
            recipes: parse("rules/recipes.yaml", RECIPES)?,
        })
    }

    /// Adds the rules of a file, or of a folder (`*.yaml`, `*.yml`), in the order of their names.
    ///
    /// # Errors
    /// If a file cannot be read, is malformed, or a rule of it cannot work.
    pub fn add_from(&mut self, path: &Path) -> Result<(), RulesError> {
        let files = match path.is_dir() {
            true => yaml_files(path)?,
            false => vec![path.to_owned()],
        };
        let names = Names::new();
        for file in files {
            let text = text_within(LONGEST, &file, "file of rules").map_err(unreadable(&file))?;
            self.add_new(&shown(&file), &text, &names)?;
        }
        Ok(())
    }

    /// All rules, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|(rule, _)| rule)
    }

    /// A rule by its id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.iter().find(|rule| rule.id == id)
    }

    /// Adds rules whose names were not checked yet: an unknown name is reported with its line.
    fn add_new(&mut self, file: &str, text: &str, names: &Names) -> Result<(), RulesError> {
        let known = self.rules.len();
        self.add(file, text)?;
        let mut added = self.rules.iter().skip(known);
        let wrong = added.find_map(|(rule, condition)| {
            let unknown = names.unknown(rule, condition)?;
            Some(RulesError::Wrong {
                file: place(file, text, &rule.id, &unknown.name),
                id: rule.id.clone(),
                error: unknown.said,
            })
        });
        wrong.map_or(Ok(()), Err)
    }

    fn add(&mut self, file: &str, text: &str) -> Result<(), RulesError> {
        let rules: Vec<Rule> = parse(file, text)?;
        for rule in rules {
            let wrong = |error| RulesError::Wrong {
                file: place(file, text, &rule.id, &rule.id),
                id: rule.id.clone(),
                error,
            };
            self.fits(&rule).map_err(wrong)?;
            let condition = Condition::compile(&rule.when).map_err(wrong)?;
            self.rules.push((rule, condition));
        }
        Ok(())
    }

    /// Checks what the YAML types alone do not.
    fn fits(&self, rule: &Rule) -> Result<(), String> {
        let well_named = rule
            .id
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if rule.id.is_empty() || !well_named {
            return Err("an id is lower-case words joined by '-'".to_owned());
        }
        if self.get(&rule.id).is_some() {
            return Err(
                "there is a rule of this id already; ids are unique over all files".to_owned(),
            );
        }
        if rule.sources.is_empty() || rule.evidence.is_empty() || rule.platforms.is_empty() {
            return Err("needs platforms, evidence and sources".to_owned());
        }
        self.recipes.know(rule)
    }

    /// Ids that rules replace and no rule has.
    #[must_use]
    pub fn dangling(&self) -> BTreeSet<&str> {
        let replaced = self.iter().flat_map(|rule| &rule.replaces);
        replaced
            .map(String::as_str)
            .filter(|id| self.get(id).is_none())
            .collect()
    }
}

/// The text of a built-in file without the fixtures of its rules: all that is deeper than `fixtures:`.
fn without_fixtures(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        inside = line == "  fixtures:" || (inside && line.starts_with("    "));
        if !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>, RulesError> {
    let entries = std::fs::read_dir(folder).map_err(unreadable(folder))?;
    let paths: Result<Vec<PathBuf>, _> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect();
    let mut paths = paths.map_err(unreadable(folder))?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|ending| ending == "yaml" || ending == "yml")
    });
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> RulesError {
    let path = path.to_owned();
    |error| RulesError::Unreadable { path, error }
}
