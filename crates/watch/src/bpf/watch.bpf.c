// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Counts frames and merged frames of each interface, and dropped frames by where and why: facts, no opinion.
// Built by scripts/bpf; the object is committed beside this file.
//
// Only fields of the kernel that are named below are read, each found by name in the kernel's own BTF (CO-RE), so
// that one object suits kernels from 5.10 on. The names are the kernel's interface; nothing of its sources is copied.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
    unsigned int inum;
};

struct net {
    struct ns_common ns;
    u32 hash_mix;
};

typedef struct {
    struct net *net;
} possible_net_t;

struct net_device {
    int ifindex;
    unsigned int mtu;
    possible_net_t nd_net;
};

struct dst_entry {
    struct net_device *dev;
};

struct sk_buff {
    struct net_device *dev;
    unsigned int len;
    unsigned int data_len;
    int skb_iif;
    unsigned long _skb_refdst;
    u16 network_header;
    u16 transport_header;
    u16 protocol;
    unsigned int end;
    unsigned char *head;
    unsigned char *data;
};

struct skb_shared_info {
    u16 gso_size;
    u16 gso_segs;
    unsigned int gso_type;
};

#pragma clang attribute pop

// Network namespaces have numbers of the kernel's range for its own files (include/linux/proc_ns.h); whatever else
// stands where a frame's interface may stand has none of these there.
#define FIRST_INODE 0xEFFFFF00u
// Headers of the Ethernet link and two tags, which no MTU counts.
#define LINK_ROOM 22
#define PROBES 8
#define HEADERS 96

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86DD
#define ETH_P_8021Q 0x8100
#define TCP 6
#define UDP 17
#define TCP_WORDS 12
// Headers of a segment without data are up to this long.
#define NO_DATA 100
// The lowest bit of a frame's route says whether the frame holds a reference to it.
#define DST_PTRMASK (~1ul)
// Frames of flows are counted for so long after the last merged one of any flow was dropped.
#define FLOWS_NS 10000000000ull
#define UDP_HEADER 8
// SKB_GSO_TCPV4 and SKB_GSO_TCPV6 (include/linux/skbuff.h).
#define GSO_TCP 0x11

struct place {
    u32 space;
    u32 interface;
    // The kernel gives the number of a namespace that is gone to the next one, and each a random number of its own.
    u32 mix;
    u32 padding;
};

// Of one interface on one processor. Names as in crates/watch/src/kernel/layout.rs.
struct counters {
    struct place place;
    // Received, as they go up from the driver, after merging.
    u64 in_frames;
    u64 in_bytes;
    u64 in_segments;
    u64 in_merged;
    u64 in_long;
    // Some of them were looked into.
    u64 looked;
    u64 looked_tcp;
    u64 looked_tcp_merged;
    u64 looked_tcp_segments;
    // Queued to be sent, before they are cut.
    u64 out_frames;
    u64 out_segments;
    u64 out_merged;
    u64 out_long;
    // Those among them that were received before.
    u64 forwarded_frames;
    u64 forwarded_merged;
    // Handed to the driver, after they were cut.
    u64 sent_frames;
    u64 sent_merged;
    // Cut by the processor, and how long that took; only where programs may be attached to functions.
    u64 cut_frames;
    u64 cut_ns;
    // Frames until the next one that is looked into.
    u64 until_look;
};

struct dropped {
    u32 space;
    u32 interface;
    u32 from;
    u32 reason;
    u64 location;
    u32 shape;
    u32 mix;
};

enum shape { SINGLE, MERGED, LONG };

struct drops {
    u64 frames;
    u64 segments;
    u64 bytes;
    u64 next_sample_ns;
};

struct sample {
    u64 time_ns;
    struct dropped dropped;
    u32 bytes;
    u32 segment_bytes;
    u32 segments;
    u32 gso_type;
    u16 protocol;
    u16 headers_bytes;
    u32 padding;
    u8 headers[HEADERS];
};

// Who sends to whom, as in the headers.
struct flow {
    u32 space;
    u32 protocol;
    u32 ports;
    u32 source[4];
    u32 destination[4];
};

// What became of a flow since a merged frame of it was dropped.
struct fate {
    u64 first_ns;
    u64 last_ns;
    // Dropped at that place.
    u64 merged_died;
    u64 single_died;
    // Received, by the first interface that received any.
    u64 merged_came;
    u64 single_came;
    // Queued to be sent, on the first interface that queued any: addresses may be others than those received.
    u64 merged_went;
    u64 single_went;
    struct dropped dropped;
    u32 came_by;
    u32 went_by;
};

// A frame that is being cut on this processor.
struct cutting {
    u64 skb;
    u64 since_ns;
};

// A frame as its own fields describe it.
struct frame {
    u32 bytes;
    u32 segment_bytes;
    u32 segments;
    u32 gso_type;
};

// What the program could not keep.
enum lost { LOST_PLACES, LOST_DROPS, LOST_SAMPLES, LOST_KINDS };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1024);
    __type(key, u32);
    __type(value, struct counters);
} places SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __uint(map_flags, 1); // BPF_F_NO_PREALLOC: most hosts have few.
    __type(key, struct dropped);
    __type(value, struct drops);
} drops SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 256 * 1024);
} samples SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LOST_KINDS);
    __type(key, u32);
    __type(value, u64);
} lost SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct cutting);
} being_cut SEC(".maps");

// Flows of which merged frames were dropped: whether single ones of the same flow pass, no other count tells. What is least
// used makes room.
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024);
    __type(key, struct flow);
    __type(value, struct fate);
} flows SEC(".maps");

// Until when frames of flows are counted; 0: no merged frame was dropped lately, and looking costs nothing.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} flows_until SEC(".maps");

// What a frame counts for: 0 while none is counted, 1 where each is, more where frames are counted in some spans of time alone.
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} weights SEC(".maps");

// Frames that the programs were called for.
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, u64);
} calls SEC(".maps");

// Set before the programs are loaded.
const volatile u32 places_mask = 1023;
// Only this namespace is counted; 0: all.
const volatile u32 only_space = 0;
// Nanoseconds between samples of the same drop.
const volatile u64 sample_every_ns = 200000000;
// One frame of so many, on average, is looked into; a power of two, less one.
const volatile u32 look_mask = 63;

static __always_inline void lose(u32 kind)
{
    u64 *count = bpf_map_lookup_elem(&lost, &kind);
    if (count)
        *count += 1;
}

static __always_inline u32 weight(void)
{
    u32 first = 0;
    u64 *weight = bpf_map_lookup_elem(&weights, &first);
    return weight ? *weight : 1;
}

// What the frame counts for that a program is called with.
static __always_inline u32 weight_of_call(void)
{
    u32 first = 0;
    u64 *count = bpf_map_lookup_elem(&calls, &first);
    if (count)
        *count += 1;
    return weight();
}

// Whose interface a frame has; false where its field holds something else.
static __always_inline int place_of(struct net_device *dev, struct place *place)
{
    if (!dev)
        return 0;
    place->space = dev->nd_net.net->ns.inum;
    place->mix = dev->nd_net.net->hash_mix;
    place->interface = dev->ifindex;
    return place->space >= FIRST_INODE;
}

// The counters of a place on this processor: open addressing, since a hash map costs several times as much.
// Receiving and sending run with soft interrupts off, so nobody else on this processor takes a slot meanwhile.
static __always_inline struct counters *counters_of(struct net_device *dev)
{
    struct place place = {};
    if (!place_of(dev, &place) || (only_space && place.space != only_space))
        return 0;
    u32 hash = place.interface * 0x9E3779B1u + place.space * 0x85EBCA77u + place.mix;
    hash ^= hash >> 15;
#pragma unroll
    for (int probe = 0; probe < PROBES; probe++) {
        u32 slot = (hash + probe) & places_mask;
        struct counters *counters = bpf_map_lookup_elem(&places, &slot);
        if (!counters)
            return 0;
        if (counters->place.interface == place.interface && counters->place.space == place.space &&
            counters->place.mix == place.mix)
            return counters;
        if (!counters->place.interface) {
            counters->place = place;
            return counters;
        }
    }
    lose(LOST_PLACES);
    return 0;
}

// Headers in front of the payload, where a guest or a driver has left the count of segments to whoever needs it.
static __always_inline u32 headers_bytes(struct sk_buff *skb, void *shared)
{
    u32 type = 0;
    u8 words = 0;
    u32 transport = skb->transport_header;
    u32 begin = skb->data - skb->head;
    u32 before = transport - begin;

    bpf_probe_read_kernel(&type, sizeof(type), shared + bpf_core_field_offset(struct skb_shared_info, gso_type));
    // The field is all ones where nobody has set it.
    if (transport == 0xFFFF || before >= skb->len)
        return 0;
    if (!(type & GSO_TCP))
        return before + UDP_HEADER;
    bpf_probe_read_kernel(&words, sizeof(words), skb->head + transport + TCP_WORDS);
    return before + (words >> 4) * 4;
}

static __always_inline void describe(struct sk_buff *skb, struct frame *frame)
{
    void *shared = skb->head + skb->end;
    u16 size = 0;

    frame->bytes = skb->len;
    frame->segments = 1;
    bpf_probe_read_kernel(&size, sizeof(size), shared + bpf_core_field_offset(struct skb_shared_info, gso_size));
    frame->segment_bytes = size;
    if (!size)
        return;
    u16 segments = 0;
    bpf_probe_read_kernel(&segments, sizeof(segments),
                          shared + bpf_core_field_offset(struct skb_shared_info, gso_segs));
    if (!segments)
        segments = (frame->bytes - headers_bytes(skb, shared) + size - 1) / size;
    frame->segments = segments;
}

// Longer than one packet of the interface can be, though nothing says where to cut: a merged frame that lost its
// segment size.
static __always_inline int is_long(const struct frame *frame, struct net_device *dev)
{
    return !frame->segment_bytes && frame->bytes > dev->mtu + LINK_ROOM;
}

// The transport protocol of an IP packet, without extension headers; 0 of others.
static __always_inline u8 protocol_of(void *network, u16 link)
{
    u8 protocol = 0;
    if (link == ETH_P_IP)
        bpf_probe_read_kernel(&protocol, 1, network + 9);
    else if (link == ETH_P_IPV6)
        bpf_probe_read_kernel(&protocol, 1, network + 6);
    return protocol;
}

// The flow of a packet; false of others than TCP and UDP, and of fragments without ports.
static __always_inline int flow_of(void *network, u16 link, u32 space, struct flow *flow)
{
    u32 length = 40;
    if (link == ETH_P_8021Q) {
        bpf_probe_read_kernel(&link, sizeof(link), network + 2);
        link = __builtin_bswap16(link);
        network += 4;
    }
    flow->space = space;
    flow->protocol = protocol_of(network, link);
    if (flow->protocol != TCP && flow->protocol != UDP)
        return 0;
    if (link == ETH_P_IP) {
        u8 first = 0;
        u16 fragment = 0;
        bpf_probe_read_kernel(&first, 1, network);
        bpf_probe_read_kernel(&fragment, 2, network + 6);
        if (__builtin_bswap16(fragment) & 0x1fff)
            return 0;
        length = (first & 15) * 4;
        bpf_probe_read_kernel(flow->source, 4, network + 12);
        bpf_probe_read_kernel(flow->destination, 4, network + 16);
    } else {
        bpf_probe_read_kernel(flow->source, 16, network + 8);
        bpf_probe_read_kernel(flow->destination, 16, network + 24);
    }
    return !bpf_probe_read_kernel(&flow->ports, 4, network + length);
}

static __always_inline int has_data(const struct flow *flow, const struct frame *frame)
{
    // Nobody merges acknowledgments, so that they tell nothing of single segments.
    return flow->protocol != TCP || frame->bytes > NO_DATA;
}

enum { CAME, WENT };

// Counts a frame of a flow of which merged frames were dropped.
static __always_inline void count_flow(struct sk_buff *skb, void *network, const struct frame *frame, int way)
{
    u32 first = 0;
    u64 *until = bpf_map_lookup_elem(&flows_until, &first);
    if (!until || !*until)
        return;
    if (bpf_ktime_get_ns() > *until) {
        *until = 0;
        return;
    }
    struct flow flow = {};
    if (!flow_of(network, __builtin_bswap16(skb->protocol), skb->dev->nd_net.net->ns.inum, &flow))
        return;
    struct fate *fate = bpf_map_lookup_elem(&flows, &flow);
    if (!fate || !has_data(&flow, frame))
        return;
    u32 *by = way == CAME ? &fate->came_by : &fate->went_by;
    u32 here = skb->dev->ifindex;
    if (!*by)
        *by = here;
    // Each interface on the way of a frame tells of the same frame.
    if (*by != here)
        return;
    int is_merged = frame->segments > 1 || (way == CAME && is_long(frame, skb->dev));
    if (way == CAME)
        __sync_fetch_and_add(is_merged ? &fate->merged_came : &fate->single_came, 1);
    else
        __sync_fetch_and_add(is_merged ? &fate->merged_went : &fate->single_went, 1);
}

// Whether TCP carries data here: of a share of the frames, since headers are not always at hand.
static __always_inline void look_into(struct sk_buff *skb, const struct frame *frame, struct counters *counters, u32 weight)
{
    if (counters->until_look >= weight) {
        counters->until_look -= weight;
        return;
    }
    counters->until_look = bpf_get_prandom_u32() & (look_mask * 2 + 1);
    counters->looked += 1;
    // Acknowledgments are not merged.
    if (protocol_of(skb->data, __builtin_bswap16(skb->protocol)) != TCP || frame->bytes <= NO_DATA)
        return;
    counters->looked_tcp += 1;
    counters->looked_tcp_segments += frame->segments;
    if (frame->segments > 1)
        counters->looked_tcp_merged += 1;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(received, struct sk_buff *skb)
{
    u32 weight = weight_of_call();
    struct counters *counters = weight ? counters_of(skb->dev) : 0;
    if (!counters)
        return 0;
    struct frame frame = {};
    describe(skb, &frame);
    counters->in_frames += weight;
    counters->in_bytes += (u64)weight * frame.bytes;
    counters->in_segments += (u64)weight * frame.segments;
    if (frame.segments > 1)
        counters->in_merged += weight;
    else if (is_long(&frame, skb->dev))
        counters->in_long += weight;
    look_into(skb, &frame, counters, weight);
    count_flow(skb, skb->data, &frame, CAME);
    return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(queued, struct sk_buff *skb)
{
    u32 weight = weight_of_call();
    struct counters *counters = weight ? counters_of(skb->dev) : 0;
    if (!counters)
        return 0;
    struct frame frame = {};
    describe(skb, &frame);
    int is_merged = frame.segments > 1;
    counters->out_frames += weight;
    counters->out_segments += (u64)weight * frame.segments;
    if (is_merged)
        counters->out_merged += weight;
    else if (is_long(&frame, skb->dev))
        counters->out_long += weight;
    if (skb->skb_iif) {
        counters->forwarded_frames += weight;
        if (is_merged)
            counters->forwarded_merged += weight;
    }
    count_flow(skb, skb->head + skb->network_header, &frame, WENT);
    return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(handed, struct sk_buff *skb, struct net_device *dev)
{
    u32 weight = weight_of_call();
    struct counters *counters = weight ? counters_of(dev) : 0;
    if (!counters)
        return 0;
    struct frame frame = {};
    describe(skb, &frame);
    counters->sent_frames += weight;
    if (frame.segments > 1)
        counters->sent_merged += weight;
    return 0;
}

// The kernel cuts a frame: the clock is read at both ends. A frame that an interrupt cuts meanwhile takes the place of
// the one before, whose time is then not known.
SEC("fentry/__skb_gso_segment")
int BPF_PROG(cut_begins, struct sk_buff *skb)
{
    u32 first = 0;
    struct cutting *cutting = bpf_map_lookup_elem(&being_cut, &first);
    if (cutting) {
        cutting->skb = (u64)skb;
        cutting->since_ns = bpf_ktime_get_ns();
    }
    return 0;
}

SEC("fexit/__skb_gso_segment")
int BPF_PROG(cut_ends, struct sk_buff *skb, u64 features, u8 is_sent, struct sk_buff *segments)
{
    u32 first = 0;
    u64 made = (u64)segments;
    // An error (the last 4,095 addresses stand for errors), nothing to cut, or a copy for somebody in user space.
    if (!made || made >= -4095ul || !is_sent)
        return 0;
    struct counters *counters = counters_of(skb->dev);
    struct cutting *cutting = bpf_map_lookup_elem(&being_cut, &first);
    if (!counters || !cutting)
        return 0;
    counters->cut_frames += 1;
    if (cutting->skb == (u64)skb)
        counters->cut_ns += bpf_ktime_get_ns() - cutting->since_ns;
    cutting->skb = 0;
    return 0;
}

static __always_inline void give_sample(struct sk_buff *skb, const struct frame *frame, const struct dropped *dropped)
{
    struct sample *sample = bpf_ringbuf_reserve(&samples, sizeof(*sample), 0);
    if (!sample) {
        lose(LOST_SAMPLES);
        return;
    }
    void *shared = skb->head + skb->end;
    sample->time_ns = bpf_ktime_get_ns();
    sample->dropped = *dropped;
    sample->bytes = frame->bytes;
    sample->segment_bytes = frame->segment_bytes;
    sample->segments = frame->segments;
    sample->gso_type = 0;
    bpf_probe_read_kernel(&sample->gso_type, sizeof(u32),
                          shared + bpf_core_field_offset(struct skb_shared_info, gso_type));
    sample->protocol = __builtin_bswap16(skb->protocol);
    sample->padding = 0;
    __builtin_memset(sample->headers, 0, HEADERS);
    // As much as stands in one piece behind the headers' beginning.
    u32 at = skb->network_header;
    u32 room = skb->end > at ? skb->end - at : 0;
    sample->headers_bytes = room < HEADERS ? 0 : HEADERS;
    if (sample->headers_bytes && bpf_probe_read_kernel(sample->headers, HEADERS, skb->head + at))
        sample->headers_bytes = 0;
    bpf_ringbuf_submit(sample, 0);
}

// Where a frame without an interface is: what this host makes has its route alone until it is sent, and TCP takes the
// interface off what it received, whose route leads to the host itself.
static __always_inline int place_by_route(struct sk_buff *skb, struct place *place)
{
    struct dst_entry *route = (struct dst_entry *)(skb->_skb_refdst & DST_PTRMASK);
    struct net_device *dev = 0;
    struct net *net = 0;
    if (!route || bpf_core_read(&dev, sizeof(dev), &route->dev) || !dev)
        return 0;
    bpf_core_read(&net, sizeof(net), &dev->nd_net.net);
    bpf_core_read(&place->space, sizeof(place->space), &net->ns.inum);
    bpf_core_read(&place->mix, sizeof(place->mix), &net->hash_mix);
    bpf_core_read(&place->interface, sizeof(place->interface), &dev->ifindex);
    if (skb->skb_iif)
        place->interface = skb->skb_iif;
    return place->space >= FIRST_INODE;
}

// Notes that a frame of a flow was dropped.
static __always_inline void drop_of_flow(struct sk_buff *skb, const struct frame *frame, const struct dropped *dropped)
{
    u32 first = 0;
    u64 *until = bpf_map_lookup_elem(&flows_until, &first);
    int is_single = dropped->shape == SINGLE;
    if (!until || !dropped->space || (is_single && !*until))
        return;
    // What else comes of a flow is known only where each frame is counted, which begins now.
    if (weight() != 1) {
        if (!is_single)
            *until = bpf_ktime_get_ns() + FLOWS_NS;
        return;
    }
    struct flow flow = {};
    void *network = skb->head + skb->network_header;
    if (!flow_of(network, __builtin_bswap16(skb->protocol), dropped->space, &flow) || !has_data(&flow, frame))
        return;
    struct fate *fate = bpf_map_lookup_elem(&flows, &flow);
    u64 now = bpf_ktime_get_ns();
    if (!fate && !is_single) {
        struct fate begun = {.first_ns = now, .last_ns = now, .merged_died = 1, .dropped = *dropped};
        // The frame itself came before.
        begun.merged_came = !!dropped->from;
        bpf_map_update_elem(&flows, &flow, &begun, BPF_NOEXIST);
    } else if (fate && fate->dropped.location == dropped->location && fate->dropped.reason == dropped->reason) {
        __sync_fetch_and_add(is_single ? &fate->single_died : &fate->merged_died, 1);
        if (!is_single)
            fate->last_ns = now;
    }
    if (!is_single)
        *until = now + FLOWS_NS;
}

static __always_inline int count_drop(struct sk_buff *skb, u64 location, u32 reason)
{
    struct place place = {};
    if (!place_of(skb->dev, &place) && !place_by_route(skb, &place))
        place.space = place.mix = place.interface = 0;
    if (only_space && place.space != only_space)
        return 0;
    struct frame frame = {};
    describe(skb, &frame);
    struct dropped dropped = {
        .space = place.space,
        .interface = place.interface,
        .from = skb->skb_iif,
        .reason = reason,
        .location = location,
        .shape = SINGLE,
        .mix = place.mix,
    };
    if (frame.segments > 1)
        dropped.shape = MERGED;
    // On its way out a single frame may be too long as well, for a link of a smaller MTU.
    // A datagram that was put together from fragments is long too, and was not merged.
    else if (skb->dev && dropped.from && dropped.from == place.interface && is_long(&frame, skb->dev) &&
             protocol_of(skb->head + skb->network_header, __builtin_bswap16(skb->protocol)) == TCP)
        dropped.shape = LONG;
    struct drops *known = bpf_map_lookup_elem(&drops, &dropped);
    if (!known) {
        struct drops none = {};
        bpf_map_update_elem(&drops, &dropped, &none, BPF_NOEXIST);
        known = bpf_map_lookup_elem(&drops, &dropped);
        if (!known) {
            lose(LOST_DROPS);
            return 0;
        }
    }
    __sync_fetch_and_add(&known->frames, 1);
    __sync_fetch_and_add(&known->segments, frame.segments);
    __sync_fetch_and_add(&known->bytes, frame.bytes);
    drop_of_flow(skb, &frame, &dropped);
    if (dropped.shape == SINGLE)
        return 0;
    u64 now = bpf_ktime_get_ns();
    // Two processors that come at once give one sample too many.
    if (now < known->next_sample_ns)
        return 0;
    known->next_sample_ns = now + sample_every_ns;
    give_sample(skb, &frame, &dropped);
    return 0;
}

// From Linux 5.17 on.
SEC("tp_btf/kfree_skb")
int BPF_PROG(dropped_with_reason, struct sk_buff *skb, void *location, u32 reason)
{
    return count_drop(skb, (u64)location, reason);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(dropped_without_reason, struct sk_buff *skb, void *location)
{
    return count_drop(skb, (u64)location, 0);
}

// The kernel lends its tracing helpers to programs under the GPL.
char licence[] SEC("license") = "Dual MIT/GPL";
