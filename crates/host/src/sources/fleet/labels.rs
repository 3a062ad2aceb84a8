//! A label at the begin of every line: of the file that grep(1) found it in, of the service of a composition, of a pod, or of
//! what GNU parallel ran.

use std::borrow::Cow;

use super::heading::{is_host, of_file};
use super::{ReadLine, Share, gathered};
use crate::sources::command;

/// The shares of a text whose lines have a label of one of these forms.
pub(super) fn labelled(text: &str) -> Option<Vec<Share<'_>>> {
    let forms: [ReadLine; 4] = [
        |line, _| found(line).map(printed),
        |line, _| composed(line).map(printed),
        |line, _| of_pod(line).map(printed),
        |line, _| tagged(line).map(printed),
    ];
    let shares = forms.iter().find_map(|form| gathered(text, *form))?;
    Some(shares.into_iter().map(named).collect())
}

fn printed<'a>((label, line): (&'a str, &'a str)) -> (&'a str, Option<&'a str>) {
    (label, Some(line))
}

/// `gw:line`, `out/ethtool_-k_eth0.txt:line` of grep(1).
fn found(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once(':')?;
    // `gw:~ # ip link` is a prompt.
    let is_path = rest.starts_with(['~', '/']);
    (is_host(label.rsplit('/').next()?) && !is_path).then_some((label, rest))
}

/// `web-1  | line` of docker-compose(1), `web.1.x2vq@node1    | line` of a service of Docker.
fn composed(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once(" |")?;
    let label = label.trim_end();
    let label = label.split_once('@').map_or(label, |(_, node)| node);
    is_host(label).then_some((label, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `[pod/agent-x2vq/agent] line` of `kubectl logs --prefix`.
fn of_pod(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.strip_prefix("[pod/")?.split_once(']')?;
    let (pod, _) = label.split_once('/')?;
    is_host(pod).then_some((pod, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// `gw`, a tab, and the line, of `parallel --tag`.
fn tagged(line: &str) -> Option<(&str, &str)> {
    line.split_once('\t').filter(|(label, _)| is_host(label))
}

/// A label that names a command or a file after a host is none of a host itself.
fn named(share: Share<'_>) -> Share<'_> {
    let Some(Cow::Borrowed(label)) = share.host else {
        return share;
    };
    let is_command = command::of_name(label).is_some();
    Share {
        host: of_file(label).map(Cow::Borrowed),
        file: is_command.then_some(label),
        ..share
    }
}
