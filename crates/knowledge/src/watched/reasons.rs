//! The kernel's reasons for dropping, in plain words.
//!
//! Names: `enum skb_drop_reason`, include/net/dropreason-core.h of Linux 6.18, where each has a comment on its purpose.

/// Why a frame was dropped, in words; the kernel's own name where there are none.
#[must_use]
pub fn plain_reason(reason: Option<&str>, location: Option<&str>) -> String {
    let place = location
        .map(|name| format!(" in {name}"))
        .unwrap_or_default();
    let Some(reason) = reason else {
        return format!("dropped{place}");
    };
    match words(reason) {
        Some(words) => format!("{words} ({reason}{place})"),
        None => format!("{reason}{place}"),
    }
}

fn words(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "PKT_TOO_BIG" => "longer than the way out takes",
        "NETFILTER_DROP" => "a rule of the firewall",
        "TC_INGRESS" => "a filter or policer of tc, on the way in",
        "TC_EGRESS" => "a filter or policer of tc, on the way out",
        "QDISC_DROP" | "QDISC_OVERLIMIT" | "QDISC_CONGESTED" => "the queue is full",
        "CPU_BACKLOG" => "the processor's backlog is full",
        "FULL_RING" => "the ring of the device is full",
        "SOCKET_RCVBUFF" | "SOCKET_BACKLOG" => "the socket's buffer is full",
        "IP_INNOROUTES" | "IP_OUTNOROUTES" | "IPV6_NOROUTES" => "no route",
        "IP_RPFILTER" => "the reverse path filter",
        "XDP" => "an XDP program",
        "SOCKET_FILTER" => "a filter of the socket",
        "NO_SOCKET" => "nobody listens",
        "IP_CSUM" | "TCP_CSUM" | "UDP_CSUM" | "ICMP_CSUM" | "SKB_CSUM" => "a wrong checksum",
        "SKB_GSO_SEG" => "it could not be cut",
        "DEV_HDR" => "no header of the device for it",
        "NOT_SPECIFIED" => "the kernel does not say why",
        _ => return None,
    })
}

/// Whether there was no room for the frame. A merged frame needs as much room as its segments, all at once: if more
/// merged frames find no room, merging is not at fault.
pub(super) fn is_queue(reason: &str) -> bool {
    const FULL: [&str; 5] = [
        "CPU_BACKLOG",
        "FULL_RING",
        "SOCKET_RCVBUFF",
        "SOCKET_BACKLOG",
        "TCP_OFOMERGE",
    ];
    reason.starts_with("QDISC_") || FULL.contains(&reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_without_words_keeps_its_name() {
        let said = plain_reason(Some("PKT_TOO_BIG"), Some("ip_forward"));
        assert_eq!(
            said,
            "longer than the way out takes (PKT_TOO_BIG in ip_forward)"
        );
        assert_eq!(plain_reason(Some("NEW_ONE"), None), "NEW_ONE");
        assert_eq!(
            plain_reason(None, Some("ip_forward")),
            "dropped in ip_forward"
        );
    }
}
