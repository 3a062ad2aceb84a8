/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <rte_errno.h>
#include <rte_ip.h>
#include <rte_mempool.h>
#include <rte_tcp.h>

enum { ETHERNET = 14, IP = 20, TCP = 32, HEADERS = ETHERNET + IP + TCP, PAYLOAD = 1448 };
enum { HUGE_PAGE = 2 << 20 };

static void *checked(void *memory, const char *what)
{
	if (memory == NULL || memory == MAP_FAILED)
		rte_exit(EXIT_FAILURE, "%s: %s\n", what, rte_strerror(rte_errno));
	return memory;
}

/* Transparent huge pages: hugetlbfs needs to be set up by an administrator. */
static char *huge_area(size_t len)
{
	char *area = mmap(NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	checked(area, "mmap");
	area = (char *)RTE_ALIGN_CEIL((uintptr_t)area, (uintptr_t)HUGE_PAGE);
	madvise(area, len, MADV_HUGEPAGE);
	memset(area, 1, len);
	return area;
}

static struct rte_mempool *make_pool(uint32_t most)
{
	size_t len = RTE_ALIGN_CEIL((size_t)most * 2560 + (8 << 20), (size_t)HUGE_PAGE);
	struct rte_mempool *pool = rte_mempool_create_empty("frames", most,
		sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE, 0,
		sizeof(struct rte_pktmbuf_pool_private), 0, RTE_MEMPOOL_F_NO_IOVA_CONTIG);

	checked(pool, "mempool");
	rte_pktmbuf_pool_init(pool, NULL);
	if (rte_mempool_populate_iova(pool, huge_area(len), RTE_BAD_IOVA, len, NULL, NULL) < (int)most)
		rte_exit(EXIT_FAILURE, "the mempool cannot be populated\n");
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

void frames_create(struct frames *frames, uint32_t most)
{
	struct rte_mempool *pool = make_pool(most);

	frames->most = most;
	frames->packets = 0;
	frames->mbufs = checked(calloc(most, sizeof(*frames->mbufs)), "memory");
	frames->work = checked(calloc(most, sizeof(*frames->work)), "memory");
	frames->headers = checked(malloc((size_t)most * HEADERS), "memory");
	if (rte_pktmbuf_alloc_bulk(pool, frames->mbufs, most) != 0)
		rte_exit(EXIT_FAILURE, "the mempool is too small\n");
}

static void make_ip(struct rte_ipv4_hdr *ip, uint32_t flow, uint32_t number)
{
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(IP + TCP + PAYLOAD);
	ip->packet_id = rte_cpu_to_be_16(number);
	ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_TCP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 0) + (flow >> 8));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 128, 0, 1));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
}

/* Without a checksum: this engine does not look at it. */
static void make_tcp(struct rte_tcp_hdr *tcp, uint32_t flow, uint32_t number)
{
	tcp->src_port = rte_cpu_to_be_16(10000 + (flow & 0xff));
	tcp->dst_port = rte_cpu_to_be_16(443);
	tcp->sent_seq = rte_cpu_to_be_32(1 + number * PAYLOAD);
	tcp->recv_ack = rte_cpu_to_be_32(777 + flow);
	tcp->data_off = TCP / 4 << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG;
	tcp->rx_win = rte_cpu_to_be_16(4096);
	memcpy(tcp + 1, "\1\1\x08\x0a\0\0\0\x10\0\0\0\x20", 12);
}

void frames_load(struct frames *frames, uint32_t flows, uint32_t run, uint32_t packets)
{
	uint32_t *sent = checked(calloc(flows, sizeof(*sent)), "memory");

	frames->packets = packets;
	for (uint32_t i = 0; i < packets; i++) {
		uint32_t flow = i / run % flows, number = sent[flow]++;
		uint8_t *header = frames->headers + (size_t)i * HEADERS;

		memset(header, 0, HEADERS);
		memcpy(header, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0", ETHERNET);
		make_ip((struct rte_ipv4_hdr *)(header + ETHERNET), flow, number);
		make_tcp((struct rte_tcp_hdr *)(header + ETHERNET + IP), flow, number);
	}
	free(sent);
}

void frames_restore(struct frames *frames)
{
	for (uint32_t i = 0; i < frames->packets; i++) {
		struct rte_mbuf *mbuf = frames->mbufs[i];

		rte_pktmbuf_reset(mbuf);
		mbuf->data_len = HEADERS + PAYLOAD;
		mbuf->pkt_len = HEADERS + PAYLOAD;
		memcpy(rte_pktmbuf_mtod(mbuf, void *), frames->headers + (size_t)i * HEADERS, HEADERS);
		frames->work[i] = mbuf;
	}
}
