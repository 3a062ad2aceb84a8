//! Interfaces, hosts and namespaces may be called whatever a kernel, or who wrote a file, likes: no command
//! that is printed of them does more for it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use coalescope_host::model::{Platform, Snapshot};
use coalescope_host::safe::{is_unseen, sh};
use coalescope_knowledge::rules::{Rules, check};
use coalescope_needs::shell;
use serde_json::Value;

/// Each makes a file called PWN if a shell obeys it, whatever quotes it stands in.
const NAMES: [&str; 13] = [
    "x$(>PWN)",
    "x`>PWN`",
    "x;>PWN;#",
    "x|>PWN",
    "x&>PWN&",
    "x>PWN",
    "x';>PWN;'",
    "x\";>PWN;\"",
    "x\n>PWN\n",
    "x\\';>PWN;\\'",
    "x' $(>PWN) \"$(>PWN)",
    "$(>PWN)/../x",
    "#\r\n>PWN",
];

/// A host whose names are others, wherever they stand.
fn renamed(host: &Snapshot, to: impl Fn(&str) -> String) -> Option<Snapshot> {
    let mut names: Vec<String> = host.interfaces.keys().cloned().collect();
    names.extend(host.interfaces.values().map(|one| one.name.clone()));
    names.extend(host.switches.keys().cloned());
    names.extend(host.namespaces.keys().cloned());
    names.extend(host.name.clone());
    let mut value = serde_json::to_value(host).unwrap();
    replace(&mut value, &|text| {
        names.iter().any(|name| name == text).then(|| to(text))
    });
    serde_json::from_value(value).ok()
}

fn replace(value: &mut Value, new: &dyn Fn(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(new) = new(text) {
                *text = new;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, new)),
        Value::Object(all) => {
            let entries = std::mem::take(all).into_iter();
            let renamed = entries.map(|(key, mut value)| {
                replace(&mut value, new);
                (new(&key).unwrap_or(key), value)
            });
            *all = renamed.collect();
        }
        _ => {}
    }
}

/// All that is printed to be copied into a shell, of every rule that fires.
fn commands(rules: &Rules, rename: &dyn Fn(&str) -> String) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for rule in rules.iter() {
        let fires = &rule.fixtures.as_ref().unwrap().fires;
        let Some(host) = renamed(fires, rename) else {
            continue;
        };
        let is_windows = host.platform == Some(Platform::Windows);
        for finding in check(rules, &host).findings {
            let evidence = finding.evidence.iter().map(|one| one.text.as_str());
            for text in evidence.chain([finding.title.as_str()]) {
                all.extend(in_backquotes(text, &rename("")));
            }
            all.extend(finding.experiment.map(String::from));
            if !is_windows {
                all.extend(finding.remedies.into_iter().map(|remedy| remedy.command));
            }
        }
    }
    all
}

/// Commands within a text; those of a name with a backquote in it are not told from the text's.
fn in_backquotes(text: &str, name: &str) -> Vec<String> {
    if name.contains('`') {
        return Vec::new();
    }
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// Runs a text in a shell that finds no program, in an empty folder; what files it has made.
fn made_by(text: &str, folder: &Path) -> Vec<String> {
    shell::run(text, folder, Path::new("/nonexistent")).unwrap();
    let files = fs::read_dir(folder).unwrap().flatten();
    files
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn no_name_makes_a_printed_command_do_something_else() {
    let folder = std::env::temp_dir().join(format!("coalescope-hostile-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let all = || {
        NAMES
            .iter()
            .map(|name| run_all(name, &folder))
            .sum::<usize>()
    };
    let run = shell::confined(&folder, all);
    fs::remove_dir(&folder).unwrap();
    match run {
        Some(run) => assert!(run > 500, "{run}"),
        None => coalescope_needs::skipped("printed commands are run", "a kernel with Landlock"),
    }
}

/// Runs all commands with a name in them; how many there were.
fn run_all(name: &str, folder: &Path) -> usize {
    let rules = Rules::with_fixtures().expect("built-in rules are sound");
    let mut run = 0;
    let instead = |_: &str| name.to_owned();
    let behind = |old: &str| format!("{old}{name}");
    let renames: [&dyn Fn(&str) -> String; 2] = [&instead, &behind];
    for rename in renames {
        for command in commands(&rules, rename) {
            assert!(
                !command.chars().any(|c| c != '\n' && is_unseen(c)),
                "{command:?}"
            );
            // What is no shell's command with a plain name either is PowerShell's, or a line of a file.
            let plain = command.replace(&*sh(name), "eth0").replace(name, "eth0");
            assert!(shell::reads(&command) || !shell::reads(&plain), "{command}");
            assert_eq!(made_by(&command, folder), [""; 0], "{command}");
            run += 1;
        }
    }
    run
}

/// What a shell reads of a plain name, it reads of one in quotes.
#[test]
fn commands_in_quotes_are_sound() {
    let rules = Rules::with_fixtures().expect("built-in rules are sound");
    let plain: Vec<_> = commands(&rules, &str::to_owned).into_iter().collect();
    let odd = commands(&rules, &|old| format!("{old}'$(>PWN)"));
    let [bad, odd] = [
        plain.iter().filter(|text| !shell::reads(text)).count(),
        odd.iter().filter(|text| !shell::reads(text)).count(),
    ];
    assert!(odd <= bad, "{odd} cannot be read, {bad} with plain names");
}
