//! Options of every command, widths of what is printed by commands alone, suggestions.

use std::process::Output;

use crate::common::{Captures, coalescope, stderr, stdout};

const COMMANDS: [&[&str]; 18] = [
    &[],
    &["trace"],
    &["check"],
    &["diagnose"],
    &["ab"],
    &["fix"],
    &["undo"],
    &["replay"],
    &["collect"],
    &["rules"],
    &["rules", "show"],
    &["schema"],
    &["demo"],
    &["lab"],
    &["lab", "run"],
    &["lab", "wire"],
    &["completions"],
    &["man"],
];

fn at(width: usize, arguments: &[&str]) -> Output {
    let mut command = coalescope();
    command.env("COLUMNS", width.to_string());
    command.args(arguments).output().unwrap()
}

/// Lines that are longer than the width, but for commands that are to be copied.
fn too_long(text: &str, width: usize) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.chars().count() > width);
    let others = lines.filter(|line| {
        let command = line.trim_start();
        let is_usage = command.starts_with("Usage:");
        let is_command = line.starts_with("  ") && command.contains("coalescope ");
        !is_usage && !is_command && command.contains(' ')
    });
    others.collect()
}

#[test]
fn help_and_lists_fit_every_width() {
    let lists: [&[&str]; 3] = [&["demo", "list"], &["rules", "list"], &["schema"]];
    for width in [60, 80, 100, 200] {
        let helps = COMMANDS
            .iter()
            .map(|command| [command, &["--help"][..]].concat());
        let all = helps.chain(lists.iter().map(|list| list.to_vec()));
        for arguments in all {
            let output = at(width, &arguments);
            assert_eq!(output.status.code(), Some(0), "{arguments:?}");
            let text = stdout(&output);
            let long = too_long(&text, width);
            assert!(long.is_empty(), "{arguments:?} at {width}: {long:#?}");
            assert!(!text.contains('\u{a0}'), "{arguments:?} at {width}");
        }
    }
}

#[test]
fn examples_in_help_stay_whole() {
    let narrow = stdout(&at(60, &["trace", "--help"]));
    let example = "  tcpdump -i eth0 -s 128 -U -w - tcp | coalescope trace -";
    assert!(narrow.lines().any(|line| line == example), "{narrow}");
    let wide = "  coalescope ab --set eth0:gro=off -- curl -so /dev/null http://server/file";
    let narrow = stdout(&at(60, &["ab", "--help"]));
    assert!(narrow.lines().any(|line| line == wide), "{narrow}");
}

#[test]
fn every_command_has_the_options() {
    for command in COMMANDS {
        let help = stdout(&at(100, &[command, &["--help"]].concat()));
        for option in ["--color <WHEN>", "-q, --quiet", "-v, --verbose"] {
            assert!(help.contains(option), "{command:?} lacks {option}:\n{help}");
        }
    }
}

#[test]
fn quiet_leaves_the_result_and_the_exit_code() {
    let captures = Captures::of("ipvs-gro-vip");
    let whole = std::fs::read(captures.path().join("CLIENT.pcap")).unwrap();
    captures.write("cut.pcap", &whole[..whole.len() - 10]);
    let usual = captures.trace(&["cut.pcap"]);
    let quiet = captures.trace(&["-q", "cut.pcap"]);
    assert_eq!(quiet.status.code(), usual.status.code());
    assert_eq!(stderr(&quiet), "");
    let result = stdout(&quiet);
    assert!(stdout(&usual).contains(result.trim_end()), "{result}");
    assert!(
        !result.contains("warning") && result.lines().count() <= 6,
        "{result}"
    );
    let json = |output: Output| stdout(&output);
    let whole = captures.trace(&["--format", "json", "cut.pcap"]);
    assert!(stderr(&whole).contains("warning: "));
    let quiet = captures.trace(&["--format", "json", "--quiet", "cut.pcap"]);
    assert_eq!(stderr(&quiet), "");
    assert_eq!(json(quiet), json(whole));
}

#[test]
fn a_quiet_demo_is_its_story() {
    let output = coalescope()
        .args(["-q", "demo", "hyperv-rsc-jumbo"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
    let story = stdout(&output).replace('\n', " ");
    assert!(
        story.contains(
            "158 of 158 merged frames and 0 of 745 single ones lost between CAP-02 and VM-01"
        ),
        "{story}"
    );
    assert!(story.ends_with("your machine was not touched. "), "{story}");
    assert!(story.contains("not proven or fixed"), "{story}");
}

#[test]
fn verbose_says_what_was_read_and_how_long_it_took() {
    let captures = Captures::of("ipvs-gro-vip");
    let usual = captures.trace(&["CLIENT.pcap"]);
    let verbose = captures.trace(&["-v", "CLIENT.pcap"]);
    assert_eq!(stdout(&verbose), stdout(&usual));
    let said = stderr(&verbose);
    for words in [
        "  CLIENT: CLIENT.pcap",
        "read all of it in ",
        "judged it in ",
        "done in ",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let both = captures.trace(&["-q", "-v", "CLIENT.pcap"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn colours_are_as_asked() {
    let coloured = |arguments: &[&str], no_color: bool| {
        let mut command = coalescope();
        command.args(["demo", "ipvs-gro-vip"]).args(arguments);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        stdout(&command.output().unwrap()).contains('\u{1b}')
    };
    assert!(!coloured(&[], false), "not a terminal");
    assert!(coloured(&["--color", "always"], false));
    assert!(
        coloured(&["--color=always"], true),
        "an option says more than the environment"
    );
    assert!(!coloured(&["--color", "never"], false));
    let help = |color: &str| stdout(&at(100, &["trace", "--help", "--color", color]));
    assert!(help("always").contains('\u{1b}'));
    assert!(!help("never").contains('\u{1b}'));
}

#[test]
fn names_that_are_not_known_get_a_suggestion() {
    let said = |arguments: &[&str]| {
        let output = at(100, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        stderr(&output)
    };
    let meant = "there is no incident opnstack-gro: did you mean openstack-gro?";
    for command in [
        &["demo"][..],
        &["lab", "show"],
        &["lab", "run", "--simulated"],
    ] {
        let said = said(&[command, &["opnstack-gro"]].concat());
        assert!(said.contains(meant), "{said}");
    }
    let only = said(&["lab", "show", "random-loss"]);
    assert!(
        only.contains("`coalescope demo random-loss` shows it"),
        "{only}"
    );
    let rule = said(&["rules", "show", "gro-latency-hodl"]);
    assert!(rule.contains("did you mean gro-latency-hold?"), "{rule}");
}

/// What only the lab had before.
#[test]
fn demo_traces_what_the_lab_builds() {
    let output = coalescope()
        .args(["-q", "demo", "ipvs-gro"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let story = stdout(&output).replace('\n', " ");
    assert!(
        story.contains("`coalescope lab run ipvs-gro` proves and fixes it live"),
        "{story}"
    );
}
