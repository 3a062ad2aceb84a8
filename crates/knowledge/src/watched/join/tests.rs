use super::super::tests::router;
use super::*;
use crate::watched::MERGED_FRAMES_DROPPED;

/// What settings let suspect of an interface.
fn suspected(interface: Option<&str>, dropped_as: &[&str]) -> HostFinding {
    let watched = router(200, 0, "NETFILTER_DROP", 2.0);
    let seen = crate::judge_watched(&watched).remove(0);
    HostFinding {
        id: "a-rule".to_owned(),
        proof: Proof::Suspected,
        blame: Blame::Ask,
        interface: interface.map(str::to_owned),
        explains: vec![Id::MergedFramesLost],
        dropped_as: dropped_as.iter().map(|one| (*one).to_owned()).collect(),
        holding: Vec::new(),
        evidence: Vec::new(),
        ..seen
    }
}

fn joined(finding: HostFinding, watched: &Watched) -> Vec<HostFinding> {
    let checked = Checked {
        findings: vec![finding],
        ..Checked::default()
    };
    let mut hosts = [("router".to_owned(), checked)];
    join_watched(&mut hosts, std::slice::from_ref(watched));
    let [(_, checked)] = hosts;
    checked.findings
}

/// Ids and levels.
fn said(finding: HostFinding, watched: &Watched) -> Vec<(String, Proof)> {
    let findings = joined(finding, watched).into_iter();
    findings.map(|one| (one.id, one.proof)).collect()
}

#[test]
fn what_explains_the_drops_is_raised_and_told_once() {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    watched.interfaces[0].master = Some("br0".to_owned());
    for place in [Some("eth0"), Some("br0"), None] {
        let findings = joined(suspected(place, &["NETFILTER_DROP"]), &watched);
        assert_eq!(findings.len(), 1, "{place:?}: {findings:#?}");
        assert_eq!(findings[0].id, "a-rule");
        assert_eq!(findings[0].proof, Proof::Observed);
        assert_eq!(findings[0].blame, Blame::Harms);
        let text = &findings[0].evidence[0].text;
        assert!(text.contains("200 of 300"), "{text}");
        assert!(text.contains(MERGED_FRAMES_DROPPED), "{text}");
    }
}

#[test]
fn what_does_not_explain_them_stays_suspected_beside_them() {
    let watched = router(200, 0, "NETFILTER_DROP", 2.0);
    let others = [
        (
            "another interface",
            suspected(Some("eth1"), &["NETFILTER_DROP"]),
        ),
        ("another reason", suspected(Some("eth0"), &["TC_INGRESS"])),
        ("no filter", suspected(Some("eth0"), &[])),
    ];
    for (why, finding) in others {
        let both = [
            (MERGED_FRAMES_DROPPED.to_owned(), Proof::Observed),
            ("a-rule".to_owned(), Proof::Suspected),
        ];
        assert_eq!(said(finding, &watched), both, "{why}");
    }
    let too_long = router(200, 0, "PKT_TOO_BIG", 2.0);
    let raised = [("a-rule".to_owned(), Proof::Observed)];
    assert_eq!(said(suspected(Some("eth0"), &[]), &too_long), raised);
}

#[test]
fn a_watch_of_another_host_says_nothing() {
    let mut watched = router(200, 0, "NETFILTER_DROP", 2.0);
    watched.host = Some("other".to_owned());
    let hosts = ["router", "OTHER"].map(|name| (name.to_owned(), Checked::default()));
    let mut hosts = hosts.to_vec();
    join_watched(&mut hosts, &[watched]);
    let found: Vec<_> = hosts.iter().map(|(_, one)| one.findings.len()).collect();
    assert_eq!(found, [0, 1]);
}

#[test]
fn many_merged_frames_that_live_speak_against_a_suspicion() {
    let notes = |watched: &Watched| {
        let findings = joined(suspected(Some("eth0"), &[]), watched);
        let against = findings[0].evidence.iter();
        against
            .filter(|one| one.text.contains("speaks against"))
            .count()
    };
    let mut watched = router(0, 0, "", 0.0);
    watched.level = Level::Bpf;
    assert_eq!(notes(&watched), 1);
    let received = |watched: &mut Watched, merged| {
        let frames = watched.interfaces[0].frames.as_mut().unwrap();
        frames.received.merged_frames = merged;
    };
    received(&mut watched, 299);
    assert_eq!(notes(&watched), 0, "too few");
    received(&mut watched, 300);
    watched.drops[0].merged_frames = 1;
    assert_eq!(notes(&watched), 0, "one died");
    watched.drops.clear();
    watched.level = Level::Counters;
    assert_eq!(notes(&watched), 0, "counters do not tell");
}
