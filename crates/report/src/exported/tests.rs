use super::*;
use coalescope_watch::facts::{Frames, Received, Sampling, Sent};

fn interface(name: &str, index: u32, frames: u64) -> Interface {
    Interface {
        name: name.to_owned(),
        index,
        frames: Some(Frames {
            received: Received {
                frames,
                ..Received::default()
            },
            ..Frames::default()
        }),
        ..Interface::default()
    }
}

fn dropped(from: &str, reason: &str, merged: u64) -> Drop {
    Drop {
        from: Some(from.to_owned()),
        reason: Some(reason.to_owned()),
        merged_frames: merged,
        ..Drop::default()
    }
}

fn look(interfaces: Vec<Interface>, drops: Vec<Drop>) -> Watched {
    Watched {
        level: Level::Bpf,
        interfaces,
        drops,
        ..Watched::default()
    }
}

/// Samples of a metric.
fn samples(exported: &Exported, metric: &str) -> Vec<String> {
    let mut said = Vec::new();
    exported.write(Form::OpenMetrics, &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert!(said.ends_with("# EOF\n"));
    let of_it = said.lines().filter(|line| line.starts_with(metric));
    of_it.map(str::to_owned).collect()
}

const RECEIVED: &str = "coalescope_watch_received_frames_total";
const DROPPED: &str = "coalescope_watch_dropped_frames_total";

fn received(exported: &Exported) -> Vec<String> {
    let all = samples(exported, RECEIVED).into_iter();
    let short = |line: String| {
        let line = line.replace(RECEIVED, "");
        line.replace("namespace=", "").replace("interface=", "")
    };
    all.map(short).collect()
}

#[test]
fn time_of_estimates_is_told() {
    const SAMPLED: &str = "coalescope_watch_sampled_seconds_total";
    let mut exported = Exported::new(10);
    exported.add(look(Vec::new(), Vec::new()));
    assert_eq!(samples(&exported, SAMPLED), [format!("{SAMPLED} 0")]);
    exported.add(Watched {
        sampling: Some(Sampling {
            one_in: 16,
            took_s: 7.9,
        }),
        ..look(Vec::new(), Vec::new())
    });
    assert_eq!(samples(&exported, SAMPLED), [format!("{SAMPLED} 7")]);
}

#[test]
fn what_perf_does_not_see_is_no_zero() {
    let mut exported = Exported::new(10);
    let one = Interface {
        name: "eth0".to_owned(),
        frames: Some(Frames::default()),
        ..Interface::default()
    };
    let drop = Drop {
        reason: Some("NETFILTER_DROP".to_owned()),
        unknown_frames: 7,
        ..Drop::default()
    };
    exported.add(Watched {
        level: Level::Perf,
        ..look(vec![one], vec![drop])
    });
    assert_eq!(samples(&exported, RECEIVED).len(), 1);
    assert_eq!(
        samples(&exported, "coalescope_watch_forwarded_frames_total"),
        [""; 0]
    );
    assert_eq!(
        samples(&exported, "coalescope_watch_perf"),
        ["coalescope_watch_perf 1"]
    );
    let died = samples(&exported, DROPPED);
    assert!(
        died[0].contains("shape=\"unknown\"") && died[0].ends_with(" 7"),
        "{died:?}"
    );
}

/// Lines about a metric, its declarations among them.
fn about(exported: &Exported, form: Form, metric: &str) -> Vec<String> {
    let mut said = Vec::new();
    exported.write(form, &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    let of_it = said.lines().filter(|line| line.contains(metric));
    of_it.map(str::to_owned).collect()
}

#[test]
fn the_older_format_declares_counters_by_the_names_of_their_samples() {
    let mut exported = Exported::new(10);
    exported.add(look(vec![interface("eth0", 2, 7)], Vec::new()));
    let sample = format!("{RECEIVED}{{namespace=\"\",interface=\"eth0\"}} 7");
    let help = "Frames received, after merging.";
    for (form, name) in [
        (Form::OpenMetrics, "coalescope_watch_received_frames"),
        (Form::Plain, RECEIVED),
    ] {
        let expected = [
            format!("# HELP {name} {help}"),
            format!("# TYPE {name} counter"),
            sample.clone(),
        ];
        let said = about(&exported, form, "coalescope_watch_received_frames");
        assert_eq!(said, expected);
    }
    let gauge = "# TYPE coalescope_watch_bpf gauge";
    assert!(about(&exported, Form::Plain, "watch_bpf").contains(&gauge.to_owned()));
}

#[test]
fn series_only_grow_whatever_becomes_of_the_interface() {
    let mut exported = Exported::new(10);
    exported.add(look(
        vec![interface("eth0", 2, 5), interface("ns/a/eth0", 2, 7)],
        vec![],
    ));
    assert_eq!(
        received(&exported),
        [r#"{"","eth0"} 5"#, r#"{"a","eth0"} 7"#]
    );
    // Renamed: what comes after that is of the new name.
    exported.add(look(
        vec![interface("wan", 2, 9), interface("ns/a/eth0", 2, 7)],
        vec![],
    ));
    assert_eq!(
        received(&exported),
        [r#"{"","wan"} 4"#, r#"{"a","eth0"} 7"#]
    );
    // Gone, and another one of its number in its place.
    exported.add(look(vec![interface("ns/a/#2", 2, 8)], vec![]));
    assert_eq!(received(&exported), [r#"{"","unnamed"} 1"#]);
    exported.add(look(vec![interface("eth0", 2, 3)], vec![]));
    assert_eq!(
        received(&exported),
        [r#"{"","eth0"} 3"#, r#"{"","unnamed"} 1"#]
    );
}

#[test]
fn what_waits_in_a_queue_is_not_counted_twice() {
    let mut exported = Exported::new(10);
    for cut_frames in [5, 3, 5, 6] {
        let mut one = interface("eth0", 2, 0);
        let sent = Sent {
            cut_frames,
            ..Sent::default()
        };
        one.frames.as_mut().unwrap().sent = sent;
        exported.add(look(vec![one], vec![]));
    }
    let cut = samples(&exported, "coalescope_watch_cut_frames_total");
    assert!(cut[0].ends_with(" 6"), "{cut:?}");
}

/// A container that is made anew by its name; a while later what the one before had counted is forgotten.
#[test]
fn a_namespace_that_was_made_anew_goes_on_where_the_one_before_ended() {
    let mut exported = Exported::new(10);
    let one = |frames| interface("ns/a/eth0", 2, frames);
    let died = |merged| vec![dropped("ns/a/eth0", "NETFILTER_DROP", merged)];
    exported.add(look(vec![one(1000)], died(50)));
    exported.add(look(vec![one(1000), one(5)], [died(50), died(1)].concat()));
    assert_eq!(received(&exported), [r#"{"a","eth0"} 1005"#]);
    exported.add(look(vec![one(6)], died(2)));
    exported.add(look(vec![one(10)], died(5)));
    assert_eq!(received(&exported), [r#"{"a","eth0"} 1009"#]);
    let said = samples(&exported, DROPPED);
    assert!(said[0].ends_with(" 54"), "{said:?}");
}

#[test]
fn beyond_the_limit_interfaces_are_summed_up() {
    let mut exported = Exported::new(2);
    let all = |frames| {
        (1..=100)
            .map(|n| interface(&format!("veth{n}"), n, frames))
            .collect()
    };
    exported.add(look(all(1), vec![]));
    exported.add(look(all(3), vec![]));
    assert_eq!(
        received(&exported),
        [
            r#"{"","other"} 294"#,
            r#"{"","veth1"} 3"#,
            r#"{"","veth2"} 3"#
        ]
    );
}

#[test]
fn kinds_of_drops_are_bounded() {
    let mut exported = Exported::new(10);
    let all = |merged| {
        let kinds = 0..10_000;
        kinds
            .map(|n| dropped("eth0", &format!("REASON_{n}"), merged))
            .collect()
    };
    exported.add(look(vec![], all(1)));
    exported.add(look(vec![], all(2)));
    let said = samples(&exported, DROPPED);
    assert_eq!(said.len(), DROPS + 1);
    let other = said.iter().find(|line| line.contains("other")).unwrap();
    assert!(other.ends_with(" 19000"), "{other}");
}

#[test]
fn no_name_breaks_a_label() {
    let mut exported = Exported::new(10);
    let hostile = "a\"\\\n{}\u{1b}[m#";
    exported.add(look(
        vec![interface(hostile, 2, 1)],
        vec![dropped(hostile, "X", 1)],
    ));
    for metric in [RECEIVED, DROPPED] {
        let said = samples(&exported, metric);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains(r#"interface="a\"\\"#), "{said:?}");
        assert!(!said[0].contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn nothing_from_a_packet_is_a_label() {
    let mut exported = Exported::new(10);
    let mut drop = dropped("eth0", "NETFILTER_DROP", 1);
    drop.samples = vec![coalescope_watch::facts::Sample {
        flow: Some(coalescope_watch::facts::Flow {
            source: "192.0.2.77".to_owned(),
            ..Default::default()
        }),
        ..Default::default()
    }];
    exported.add(look(vec![], vec![drop]));
    let said = samples(&exported, "");
    assert!(
        said.iter().all(|line| !line.contains("192.0.2")),
        "{said:?}"
    );
}
