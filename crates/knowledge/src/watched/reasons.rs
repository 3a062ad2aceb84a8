//! The kernel's reasons for dropping, in plain words.
//!
//! Names: `enum skb_drop_reason`, include/net/dropreason-core.h of Linux 6.18, where each has a comment on its purpose.

use coalescope_watch::facts::{Drop, is_of_queue};

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
        reason if is_of_queue(reason) => "the queue is full",
        "TCP_OLD_DATA" | "TCP_OLD_SEQUENCE" | "TCP_OFOMERGE" => {
            "the receiver has these data already"
        }
        "TCP_OVERWINDOW" | "TCP_ZEROWINDOW" => "the receiver's window is full",
        "TCP_OFO_DROP" | "TCP_OFO_QUEUE_PRUNE" | "PROTO_MEM" => "the receiver has no memory for it",
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

/// Whether merging is not at fault, whatever the shape of the frames.
pub(super) fn is_innocent(drop: &Drop) -> bool {
    match drop.reason.as_deref() {
        Some(reason) => is_of_queue(reason) || FULL.contains(&reason) || is_unwanted(reason),
        None => drop.location.as_deref().is_some_and(is_innocent_place),
    }
}

/// Kernels before 5.17 have no reasons, but functions that drop for these alone.
fn is_innocent_place(function: &str) -> bool {
    const PLACES: [&str; 9] = [
        "__dev_queue_xmit",
        "__udp4_lib_rcv",
        "__udp6_lib_rcv",
        "__udp_enqueue_schedule_skb",
        "enqueue_to_backlog",
        "kfree_skb_list",
        "sock_queue_rcv",
        "tcp_",
        "udp_queue_rcv",
    ];
    begins_with_one(function, &PLACES)
}

fn begins_with_one(text: &str, all: &[&str]) -> bool {
    all.iter().any(|begin| text.starts_with(begin))
}

/// There was no room. A merged frame needs as much room as its segments, all at once.
const FULL: [&str; 7] = [
    "CPU_BACKLOG",
    "FULL_RING",
    "NOMEM",
    "PFMEMALLOC",
    "PROTO_MEM",
    "SOCKET_RCVBUFF",
    "SOCKET_BACKLOG",
];

/// Whether nobody wants the data: TCP has them already, cannot take them yet, or has ended, and of a merged frame it
/// judges by sequence numbers as of its segments. Checksums and signatures are not among these.
fn is_unwanted(reason: &str) -> bool {
    const OF_TCP: [&str; 12] = [
        "ABORT",
        "ACK_",
        "CLOSE",
        "FASTOPEN",
        "INVALID_",
        "OFO",
        "OLD_",
        "OVERWINDOW",
        "RESET",
        "RFC7323_",
        "TOO_OLD_",
        "ZEROWINDOW",
    ];
    const OTHERS: [&str; 3] = ["NO_SOCKET", "QUEUE_PURGE", "SOCKET_CLOSE"];
    let of_tcp = reason.strip_prefix("TCP_");
    let of_tcp = of_tcp.is_some_and(|rest| begins_with_one(rest, &OF_TCP));
    of_tcp || OTHERS.contains(&reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_wants_or_has_room_for_accuses_nobody() {
        let innocent = [
            "QDISC_DROP",
            "FQ_FLOW_LIMIT",
            "CAKE_FLOOD",
            "FULL_RING",
            "PROTO_MEM",
            "NO_SOCKET",
            "TCP_OLD_DATA",
            "TCP_OFOMERGE",
            "TCP_ZEROWINDOW",
            "TCP_RFC7323_PAWS",
        ];
        let of = |reason: Option<&str>, location: &str| {
            is_innocent(&Drop {
                reason: reason.map(str::to_owned),
                location: Some(location.to_owned()),
                ..Drop::default()
            })
        };
        assert!(innocent.iter().all(|reason| of(Some(reason), "")));
        assert!(of(None, "tcp_drop") && of(None, "kfree_skb_list"));
        assert!(!of(None, "ip_forward"));
        let others = [
            "NETFILTER_DROP",
            "PKT_TOO_BIG",
            "TCP_CSUM",
            "TCP_MD5FAILURE",
            "SOCKET_FILTER",
        ];
        assert!(!others.iter().any(|reason| of(Some(reason), "tcp_drop")));
    }

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
