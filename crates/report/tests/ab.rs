//! What people read of an experiment.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod widths;

use std::collections::BTreeMap;

use coalescope_experiment::counters::Moved;
use coalescope_experiment::effects::{Metric, Rules, Sense};
use coalescope_experiment::record::{Asked, ChangeNote, Ending, Record, Run, Vary};
use coalescope_knowledge::rules::Blame;
use coalescope_knowledge::{Experiment, Proof, SetTo, Suspicion, Switch, Switched, Went, settle};
use coalescope_report::{AbReport, Document, Made, TextOptions, WIDTH};

fn setting(subject: &str, levels: [&str; 2]) -> Vary {
    Vary::Setting {
        subject: subject.to_owned(),
        levels: levels.map(str::to_owned).to_vec(),
    }
}

fn asked(factors: Vec<Vary>) -> Asked {
    Asked {
        command: vec!["curl -s http://far/file".to_owned()],
        factors,
        place: None,
        metrics: Vec::new(),
        sense: None,
        max_runs: 40,
        seed: 5,
        settle_s: 0.5,
        timeout_s: Some(300.0),
        deadline_s: None,
        ignore_failure: false,
        interface: None,
        peer: None,
        rules: Rules::default(),
    }
}

fn metric(name: &str, unit: &str, sense: Sense) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: (!unit.is_empty()).then(|| unit.to_owned()),
        sense,
    }
}

/// Each cell's throughput, varied a little and always in the same way.
fn record(factors: Vec<Vary>, blocks: usize, bps: &[f64]) -> Record {
    let mut record = Record::new(asked(factors), 1_700_000_000);
    record.metrics = vec![
        metric("throughput_bps", "bit/s", Sense::Speed),
        metric("service_demand_us_per_kb", "us/KB", Sense::Plain),
        metric("wall_s", "s", Sense::Time),
    ];
    let design = record.design().unwrap();
    for block in 0..blocks {
        for cell in design.order(block) {
            let wobble = 1.0 + 0.01 * ((block * 7 + cell * 3) % 5) as f64;
            let figures = [
                ("throughput_bps", bps[cell] * wobble),
                ("service_demand_us_per_kb", 2e8 / bps[cell] * wobble),
                ("wall_s", 1.0),
            ];
            let levels = design.level_names(cell);
            record.runs.push(Run {
                block: Some(block),
                cell,
                levels: levels.into_iter().map(str::to_owned).collect(),
                begun_s: record.runs.len() as f64,
                wall_s: 1.0,
                problem: None,
                figures: figures.map(|(name, value)| (name.to_owned(), value)).into(),
                changes: Vec::<ChangeNote>::new(),
                moved: None,
                interface_moved: None,
                peer_moved: None,
            });
        }
    }
    record.ended = Ending::Clear;
    record.conclude(&design).unwrap();
    record
}

fn text(report: &AbReport) -> String {
    let write = |options: &TextOptions| {
        let mut out = Vec::new();
        report.write_text(&mut out, options).unwrap();
        String::from_utf8(out).unwrap()
    };
    widths::fits("an experiment", true, write);
    let text = write(&TextOptions::default());
    assert!(
        text.lines().all(|line| line.chars().count() <= WIDTH),
        "{text}"
    );
    text
}

#[test]
fn a_flag_that_is_proven() {
    let gro = setting("eth0:gro", ["on", "off"]);
    let mut record = record(vec![gro], 8, &[2_744_000.0, 125_000_000.0]);
    record.note("eth0:gro=off: the link of eth0 went down, and was waited for (2.1 s)".to_owned());
    let suspicion = Suspicion {
        id: "linux-bridge-gro".to_owned(),
        place: Some("eth0".to_owned()),
        title: "GRO is on at eth0, in front of a bridge that loses what it merged".to_owned(),
        blame: Blame::Harms,
        proof: Proof::Suspected,
        experiment: Experiment::with(vec![SetTo::switch("eth0", "gro", false)]),
    };
    let switched = Switched {
        made: Switch::Setting(SetTo::switch("eth0", "gro", false)),
        went: Went::Better,
        cost_went: None,
        words: record.effects[0].words.clone(),
    };
    let report = AbReport::new(record, settle(&[suspicion], &[switched]));
    insta::assert_snapshot!(text(&report));
    let mut csv = Vec::new();
    report.write_csv(&mut csv).unwrap();
    insta::assert_snapshot!(String::from_utf8(csv).unwrap());
}

/// Nothing of an experiment stays, and `fix` keeps only what a finding is about.
#[test]
fn what_helps_without_a_finding_is_told_how_to_be_kept() {
    let gro = || setting("eth0:gro", ["on", "off"]);
    let faster = record(vec![gro()], 8, &[2_744_000.0, 125_000_000.0]);
    let said = text(&AbReport::new(faster, Vec::new()));
    assert!(
        said.contains("next: no finding of `coalescope check`"),
        "{said}"
    );
    assert!(said.contains("eth0:gro to off where"), "{said}");
    let slower = record(vec![gro()], 8, &[125_000_000.0, 2_744_000.0]);
    let said = text(&AbReport::new(slower, Vec::new()));
    assert!(!said.contains("next: "), "{said}");
}

#[test]
fn a_factorial_whose_effects_depend_on_each_other() {
    let factors = vec![
        setting("ns/receiver/eth0:mtu", ["1500", "9000"]),
        setting("ns/receiver/eth0:gro", ["off", "on"]),
    ];
    // Story C's throughput, with TSO off at the sender.
    let bps = [1_646.13e6, 2_613.83e6, 2_957.52e6, 2_847.64e6];
    let report = AbReport::new(record(factors, 10, &bps), Vec::new());
    insta::assert_snapshot!(text(&report));
}

#[test]
fn vantages_that_clear_the_box() {
    let from = Vary::Vantage {
        levels: ["here", "ns/vm"].map(str::to_owned).to_vec(),
    };
    let report = AbReport::new(record(vec![from], 12, &[9.1e8, 9.1e8]), Vec::new());
    insta::assert_snapshot!(text(&report));
}

#[test]
fn vantages_by_how_much() {
    let verdict = |levels: [&str; 2], bps: [f64; 2]| {
        let levels = levels.map(str::to_owned).to_vec();
        record(vec![Vary::Vantage { levels }], 12, &bps).verdict
    };
    let far = verdict(["here", "ns/vm"], [1e9, 3e6]);
    assert!(far.contains("Fast from here, slow from ns/vm: "), "{far}");
    let turned = verdict(["ns/vm", "here"], [3e6, 1e9]);
    assert!(
        turned.contains("Fast from here, slow from ns/vm: "),
        "{turned}"
    );
    let near = verdict(["here", "ns/vm"], [1e9, 8.8e8]);
    assert!(
        near.contains("Slower from ns/vm than from here: "),
        "{near}"
    );
}

#[test]
fn one_that_ended_by_an_error_and_left_something() {
    let gro = setting("eth0:gro", ["on", "off"]);
    let mut record = record(vec![gro], 1, &[1e9, 1e9]);
    record.ended = Ending::Failed;
    record.error = Some("the command ended with exit code 7: connection refused".to_owned());
    record.restored = false;
    record.unrestored =
        vec!["eth0: gro is off, was on: busy; run: ethtool -K eth0 gro on".to_owned()];
    record.runs.push(Run {
        block: Some(1),
        problem: Some("the command ended with exit code 7".to_owned()),
        figures: BTreeMap::new(),
        ..record.runs[0].clone()
    });
    insta::assert_snapshot!(text(&AbReport::new(record, Vec::new())));
}

/// Retransmissions while it is on, and something that moves either way.
fn moved(is_on: bool, block: usize) -> Moved {
    let mut moved = Moved::default();
    moved
        .protocols
        .insert("IpInReceives".to_owned(), 100 + block as u64);
    if is_on {
        moved.protocols.insert("TcpRetransSegs".to_owned(), 40);
    }
    moved
}

/// What is not clear is no headline, and neither good nor bad.
#[test]
fn a_difference_that_is_not_clear_is_not_coloured() {
    let gro = setting("eth0:gro", ["on", "off"]);
    let record = record(vec![gro], 2, &[100_000_000.0, 104_000_000.0]);
    let mut page = Vec::new();
    let report = AbReport::new(record, Vec::new());
    report.write_html(&Made::default(), &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let figure = page
        .split("<figure class=\"before-after\">")
        .nth(1)
        .unwrap();
    let figure = figure.split("</figure>").next().unwrap();
    assert!(!page.contains("class=\"impact\""));
    assert!(
        !figure.contains("lost") && !figure.contains("good-fill"),
        "{figure}"
    );
}

#[test]
fn the_page_has_every_run_interval_and_counter() {
    let gro = setting("eth0:gro", ["on", "off"]);
    let mut record = record(vec![gro], 8, &[2_744_000.0, 125_000_000.0]);
    for run in &mut record.runs {
        let is_on = run.levels == ["on"];
        run.moved = Some(moved(is_on, run.block.unwrap_or_default()));
    }
    let mut page = Vec::new();
    let runs = record.runs.len();
    // A figure that the warm-up alone has is no picture.
    let mut warm_up = record.runs[0].clone();
    warm_up.block = None;
    warm_up.figures.insert("merge_factor".to_owned(), 1.4);
    record.runs.insert(0, warm_up);
    record
        .metrics
        .push(metric("merge_factor", "", Sense::Plain));
    AbReport::new(record, Vec::new())
        .write_html(&Made::default(), &mut page)
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    for heading in [
        "Every run",
        "Effects, with their intervals",
        "Counters that moved",
    ] {
        assert!(page.contains(&format!(">{heading}</h2>")), "{heading}");
    }
    let impact = "2.80 Mbit/s with eth0:gro=on, 128 Mbit/s with eth0:gro=off: 45.5 times, 95% interval 44.7 to 46.9";
    assert!(page.contains(impact), "before and after");
    let places =
        ["class=\"impact\"", "Before and after", "16 runs in"].map(|one| page.find(one).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let drawing = |id: &str| {
        let (_, rest) = page.split_once(&format!("<svg id=\"{id}\"")).unwrap();
        rest.split("</svg>").next().unwrap().to_owned()
    };
    assert_eq!(drawing("dots-0").matches("<circle").count(), runs);
    assert!(drawing("intervals").contains("eth0:gro=off against on, throughput:"));
    assert!(page.contains("<h3>us/KB</h3>") && !page.contains("<h3>segs/frame</h3>"));
    assert!(!page.contains("service_demand_us_per_kb"), "a name of JSON");
    // A run without retransmissions has none, which is apart from 40; what moves either way is not.
    assert!(page.contains(
        "<th scope=\"row\">TcpRetransSegs</th><td>yes</td>\
         <td class=\"number\">40</td><td class=\"number\">0</td>"
    ));
    assert!(page.contains("<th scope=\"row\">IpInReceives</th><td>no</td>"));
}
