//! JUnit's XML, as CI servers read it: a suite for each host, a case for each of its interfaces and switches.
//!
//! Names of cases stay the same from run to run, so that a server sees which cases begin and cease
//! to fail. The order of elements and attributes is that of the schema of Apache Ant's reports, the
//! strictest in use.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::SystemTime;

use coalescope_host::model::{Platform, Snapshot};
use coalescope_host::safe::printable;
use coalescope_knowledge::rules::{Blame, Checked, HostFinding};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::HOST;
use crate::check::{CheckReport, is_decided, name_of, not_read};
use crate::words::units::day;

/// Which findings make a case fail; others are skipped.
type Fails<'a> = &'a dyn Fn(Blame) -> bool;

/// Writes the document. `when`: the time of the check.
pub(crate) fn write(
    report: &CheckReport,
    out: &mut dyn Write,
    fails: Fails<'_>,
    when: SystemTime,
) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let when = timestamp(when);
    xml.create_element("testsuites")
        .write_inner_content(|xml| {
            let mut hosts = report.hosts.iter().enumerate();
            hosts.try_for_each(|(id, host)| suite(xml, id, host, fails, &when))
        })?;
    let out = xml.into_inner();
    out.write_all(b"\n")
}

/// The result of a case.
enum End<'a> {
    Passed,
    /// With possible faults or improvements.
    Skipped(&'a [&'a HostFinding]),
    Failed(&'a [&'a HostFinding]),
    /// With what is missing.
    Undecided(&'a [String]),
}

fn suite(
    xml: &mut Writer<&mut dyn Write>,
    id: usize,
    (snapshot, checked): &(Snapshot, Checked),
    fails: Fails<'_>,
    when: &str,
) -> io::Result<()> {
    let places = places(snapshot, checked);
    let mut cases: Vec<(&str, End<'_>)> = Vec::new();
    for (place, findings) in &places {
        cases.push((place, end(findings, fails)));
    }
    if !is_decided(snapshot, checked) {
        cases.push(("what was read", End::Undecided(&checked.gaps)));
    }
    let count = |wanted: fn(&End<'_>) -> bool| {
        let found = cases.iter().filter(|(_, end)| wanted(end)).count();
        found.to_string()
    };
    let (name, id) = (text(name_of(snapshot)), id.to_string());
    let attributes = [
        ("name", name.as_str()),
        ("timestamp", when),
        ("hostname", &name),
        ("tests", &count(|_| true)),
        ("failures", &count(|end| matches!(end, End::Failed(_)))),
        ("errors", &count(|end| matches!(end, End::Undecided(_)))),
        ("skipped", &count(|end| matches!(end, End::Skipped(_)))),
        ("time", "0"),
        ("package", "coalescope"),
        ("id", &id),
    ];
    let element = xml.create_element("testsuite").with_attributes(attributes);
    element.write_inner_content(|xml| {
        properties(xml, snapshot)?;
        for (place, end) in &cases {
            case(xml, &name, place, end)?;
        }
        xml.create_element("system-out").write_empty()?;
        let said = text(&not_read(snapshot, checked).join("\n"));
        let said = BytesText::new(&said);
        xml.create_element("system-err").write_text_content(said)?;
        Ok(())
    })?;
    Ok(())
}

/// All interfaces and switches of a host, with their findings.
fn places<'a>(
    snapshot: &'a Snapshot,
    checked: &'a Checked,
) -> BTreeMap<&'a str, Vec<&'a HostFinding>> {
    let interfaces = snapshot.interfaces.keys().map(String::as_str);
    let switches = snapshot.switches.keys().map(String::as_str);
    let all = interfaces.chain(switches).chain([HOST]);
    let mut places: BTreeMap<_, Vec<_>> = all.map(|place| (place, Vec::new())).collect();
    for finding in &checked.findings {
        let place = finding.place().unwrap_or(HOST);
        places.entry(place).or_default().push(finding);
    }
    places
}

fn end<'a>(findings: &'a [&'a HostFinding], fails: Fails<'_>) -> End<'a> {
    if findings.is_empty() {
        End::Passed
    } else if findings.iter().any(|finding| fails(finding.blame)) {
        End::Failed(findings)
    } else {
        End::Skipped(findings)
    }
}

fn properties(xml: &mut Writer<&mut dyn Write>, snapshot: &Snapshot) -> io::Result<()> {
    let platform = snapshot.platform.map(Platform::name);
    let all = [
        ("platform", platform),
        ("kernel", snapshot.kernel.as_deref()),
    ];
    let element = xml.create_element("properties");
    element.write_inner_content(|xml| {
        for (name, value) in all {
            if let Some(value) = value {
                let property = xml.create_element("property");
                let pair = [("name", name), ("value", &text(value))];
                property.with_attributes(pair).write_empty()?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn case(
    xml: &mut Writer<&mut dyn Write>,
    host: &str,
    place: &str,
    end: &End<'_>,
) -> io::Result<()> {
    let place = text(place);
    let attributes = [("name", place.as_str()), ("classname", host), ("time", "0")];
    let case = xml.create_element("testcase").with_attributes(attributes);
    if matches!(end, End::Passed) {
        case.write_empty()?;
        return Ok(());
    }
    case.write_inner_content(|xml| outcome(xml, end))?;
    Ok(())
}

fn outcome(xml: &mut Writer<&mut dyn Write>, end: &End<'_>) -> io::Result<()> {
    let (element, message, kind, said) = match end {
        End::Passed => return Ok(()),
        End::Skipped(findings) => ("skipped", titles(findings), None, None),
        End::Failed(findings) => {
            let ids: Vec<_> = findings.iter().map(|one| one.id.as_str()).collect();
            (
                "failure",
                titles(findings),
                Some(ids.join(" ")),
                Some(whole(findings)),
            )
        }
        End::Undecided(gaps) => {
            let message = "not enough was read to say that nothing is wrong".to_owned();
            (
                "error",
                message,
                Some("not-read".to_owned()),
                Some(gaps.join("\n")),
            )
        }
    };
    let element = xml
        .create_element(element)
        .with_attribute(("message", text(&message).as_str()));
    let element = match &kind {
        Some(kind) => element.with_attribute(("type", text(kind).as_str())),
        None => element,
    };
    match said {
        Some(said) => element.write_text_content(BytesText::new(&text(&said)))?,
        None => element.write_empty()?,
    };
    Ok(())
}

fn titles(findings: &[&HostFinding]) -> String {
    let titles: Vec<_> = findings.iter().map(|one| one.title.as_str()).collect();
    titles.join("; ")
}

/// The text of a failure: titles, meanings and remedies.
fn whole(findings: &[&HostFinding]) -> String {
    let one = |finding: &&HostFinding| {
        let evidence = finding.evidence.iter().map(|one| format!("- {}", one.text));
        let head = [
            format!("{} [{}]", finding.title, finding.id),
            finding.mechanism.clone(),
        ];
        let lines: Vec<_> = head
            .into_iter()
            .chain(evidence)
            .chain(finding.now())
            .collect();
        lines.join("\n")
    };
    findings.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

/// Text from outside, without characters that XML 1.0 does not allow.
fn text(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// `2026-11-25T20:41:07`, UTC; the schema allows no fraction or zone.
fn timestamp(when: SystemTime) -> String {
    let since = when.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| since.as_secs());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}", day(seconds))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_said_in_days_of_the_calendar() {
        for (seconds, said) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_199, "2024-02-29T23:59:59"),
            (1_735_689_599, "2024-12-31T23:59:59"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            let when = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(timestamp(when), said);
        }
    }
}
