// A tunnel's ends as eBPF programs, as container networks have them: IP in IP. FLAGS is what the end that unpacks asks for.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define OUTER ((int)sizeof(struct iphdr))

// The IP header, if it is of this protocol.
static __always_inline int has(struct __sk_buff *skb, struct iphdr *ip, __u8 protocol) {
    return skb->protocol == bpf_htons(ETH_P_IP) && bpf_skb_load_bytes(skb, ETH_HLEN, ip, sizeof(*ip)) == 0 &&
           ip->protocol == protocol;
}

SEC("pack")
int pack_tcp(struct __sk_buff *skb) {
    struct iphdr outer;
    if (!has(skb, &outer, 6))
        return TC_ACT_OK;
    if (bpf_skb_adjust_room(skb, OUTER, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 | BPF_F_ADJ_ROOM_FIXED_GSO))
        return TC_ACT_SHOT;
    outer.protocol = 4;
    outer.tot_len = bpf_htons(bpf_ntohs(outer.tot_len) + OUTER);
    outer.check = 0;
    __u32 sum = bpf_csum_diff(0, 0, (__be32 *)&outer, OUTER, 0);
    sum = (sum & 0xffff) + (sum >> 16);
    outer.check = ~((sum & 0xffff) + (sum >> 16));
    bpf_skb_store_bytes(skb, ETH_HLEN, &outer, OUTER, 0);
    return TC_ACT_OK;
}

SEC("unpack")
int unpack_tcp(struct __sk_buff *skb) {
    struct iphdr outer;
    if (!has(skb, &outer, 4))
        return TC_ACT_OK;
    return bpf_skb_adjust_room(skb, -OUTER, BPF_ADJ_ROOM_MAC, FLAGS) ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SEC("license") = "Dual MIT/GPL";
