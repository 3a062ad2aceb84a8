//! SARIF 2.1.0 (OASIS), as read by tools that gather results of static analysis. Each finding is a
//! result, with the logical location HOST/INTERFACE and, as the physical location, the file or
//! folder from which the host was read. No line is given, since no line of that file is wrong.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use coalescope_host::safe::printable;
use coalescope_knowledge::rules::{Blame, FindingRef, HostFinding};
use serde::Serialize;
use serde_json::{Value, json};

use super::HOST;
use crate::check::CheckReport;
use crate::document::{AT_ONCE, Document};
use crate::seen::Seen;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes the document.
pub(crate) fn write(report: &CheckReport, out: &mut dyn Write) -> io::Result<()> {
    let rules = rules(report);
    let ids: Vec<&str> = rules.keys().copied().collect();
    let found = report
        .findings()
        .map(|finding| result(finding, &ids, report));
    let aside = report.aside.ignored.iter();
    let aside = aside.map(|finding| suppressed(finding, report));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "coalescope",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": "https://docs.rs/coalescope",
                "rules": rules.values().collect::<Vec<_>>(),
            } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(report),
            }],
            "results": found.chain(aside).collect::<Vec<_>>(),
        }],
    });
    let mut out = BufWriter::with_capacity(AT_ONCE, Seen::new(out));
    let mut writer = serde_json::Serializer::pretty(&mut out);
    log.serialize(&mut writer)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The rules with findings, by id: their meaning and sources.
fn rules(report: &CheckReport) -> BTreeMap<&str, Value> {
    let mut rules = BTreeMap::new();
    for finding in report.findings() {
        rules.entry(finding.id.as_str()).or_insert_with(|| {
            let sources = finding.sources.join("\n");
            json!({
                "id": finding.id,
                "shortDescription": { "text": sentence(&finding.id.replace('-', " ")) },
                "fullDescription": { "text": said(&finding.mechanism) },
                "help": { "text": said(&format!("Sources:\n{sources}")) },
                "defaultConfiguration": { "level": level(finding.blame) },
            })
        });
    }
    rules
}

fn result(finding: &HostFinding, rules: &[&str], report: &CheckReport) -> Value {
    let (host, place) = (&finding.host, finding.place().unwrap_or(HOST));
    let mut result = json!({
        "ruleId": finding.id,
        "ruleIndex": rules.iter().position(|id| *id == finding.id),
        "level": level(finding.blame),
        "message": worded(&message(finding)),
        "locations": [location(host, place, report)],
        "partialFingerprints": { "coalescope/v1": said(&fingerprint(&finding.id, host, place)) },
        "properties": { "blame": finding.blame.name(), "proof": finding.proof.name() },
    });
    if report.has_baseline {
        result["baselineState"] = "new".into();
    }
    result
}

/// An ignored finding is in the log as suppressed, so that readers see that it was ignored.
fn suppressed(finding: &FindingRef, report: &CheckReport) -> Value {
    let place = finding.place().unwrap_or(HOST);
    json!({
        "ruleId": finding.id,
        "level": "none",
        "kind": "informational",
        "message": worded(&sentence(&finding.title)),
        "locations": [location(&finding.host, place, report)],
        "partialFingerprints": {
            "coalescope/v1": said(&fingerprint(&finding.id, &finding.host, place)),
        },
        "suppressions": [{ "kind": "external", "justification": "--ignore" }],
    })
}

fn level(blame: Blame) -> &'static str {
    match blame {
        Blame::Harms | Blame::BadRemedy => "error",
        Blame::Missed => "warning",
        Blame::Ask | Blame::Innocent => "note",
    }
}

fn location(host: &str, place: &str, report: &CheckReport) -> Value {
    let mut location = json!({ "logicalLocations": [{
        "name": said(place),
        "fullyQualifiedName": said(&format!("{host}/{place}")),
        "kind": "resource",
    }] });
    if let Some(path) = report.files.get(host) {
        location["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(path) } });
    }
    location
}

/// A path as a URI reference (RFC 3986): relative to the working folder, or absolute.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let escaped = path.bytes().map(|byte| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    let root = if path.starts_with('/') { "file://" } else { "" };
    escaped.fold(root.to_owned(), |uri, part| uri + &part)
}

fn fingerprint(id: &str, host: &str, place: &str) -> String {
    format!("{id}@{host}/{place}")
}

/// The finding in words, with its remedies.
fn message(finding: &HostFinding) -> String {
    let title = sentence(&finding.title);
    let evidence = finding.evidence.iter().map(|one| sentence(&one.text));
    let parts = [title, finding.mechanism.clone()].into_iter();
    parts
        .chain(evidence)
        .chain(finding.now())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Notifications about what was not read.
fn notifications(report: &CheckReport) -> Vec<Value> {
    let warnings = report.warnings().into_iter();
    let one = |text: String| json!({ "level": "warning", "message": worded(&sentence(&text)) });
    warnings.map(one).collect()
}

/// A text with a full stop, which the specification requires of messages.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', '?', '!']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// Text from outside, without control characters.
fn said(text: &str) -> String {
    printable(text).into_owned()
}

/// Text in a message, where braces are placeholders and brackets before parentheses are links.
fn worded(text: &str) -> Value {
    let mut text = said(text).replace('{', "{{").replace('}', "}}");
    if text.contains("](") {
        text = text.replace('[', "\\[").replace(']', "\\]");
    }
    json!({ "text": text })
}
