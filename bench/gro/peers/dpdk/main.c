/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * DPDK's GRO library, driven by the lines that src/peer.rs describes.
 *
 *   peer burst|table PACKETS
 *
 * Headers are parsed in software within the measured time (rte_net_get_ptype), because GRO wants
 * packet type and header lengths, and our engine parses too.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_eal.h>
#include <rte_gro.h>
#include <rte_net.h>
#include <rte_version.h>

#include "frames.h"

enum { BATCH = 64, MOST_FLOWS = 65535 };

struct load {
	uint32_t flows;
	/* Packets after which the table is flushed. */
	uint32_t hold;
	void *table;
};

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Without what asking for the time takes, which is as long as nothing takes. */
static int64_t since(int64_t begin)
{
	int64_t end = now();
	int64_t nothing = now() - end;

	return end - begin - nothing;
}

static inline void parse(struct rte_mbuf *mbuf)
{
	struct rte_net_hdr_lens lens;

	mbuf->packet_type = rte_net_get_ptype(mbuf, &lens, RTE_PTYPE_ALL_MASK);
	mbuf->l2_len = lens.l2_len;
	mbuf->l3_len = lens.l3_len;
	mbuf->l4_len = lens.l4_len;
}

static uint32_t batch_of(const struct frames *frames, uint32_t at)
{
	return RTE_MIN((uint32_t)BATCH, frames->packets - at);
}

static uint32_t burst_pass(struct frames *frames)
{
	struct rte_gro_param param = {
		.gro_types = RTE_GRO_TCP_IPV4, .max_flow_num = BATCH, .max_item_per_flow = BATCH,
	};
	uint32_t out = 0;

	for (uint32_t at = 0; at < frames->packets; at += BATCH) {
		uint32_t count = batch_of(frames, at);

		for (uint32_t i = at; i < at + count; i++)
			parse(frames->work[i]);
		out += rte_gro_reassemble_burst(frames->work + at, count, &param);
	}
	return out;
}

static uint32_t flush(void *table)
{
	static struct rte_mbuf *out[MOST_FLOWS];
	uint32_t total = 0, count;

	do {
		count = rte_gro_timeout_flush(table, 0, RTE_GRO_TCP_IPV4, out, MOST_FLOWS);
		total += count;
	} while (count == MOST_FLOWS);
	return total;
}

static uint32_t table_pass(struct frames *frames, const struct load *load)
{
	uint32_t out = 0;

	for (uint32_t at = 0; at < frames->packets; at += BATCH) {
		uint32_t count = batch_of(frames, at);

		for (uint32_t i = at; i < at + count; i++)
			parse(frames->work[i]);
		out += rte_gro_reassemble(frames->work + at, count, load->table);
		if ((at + count) % load->hold == 0)
			out += flush(load->table);
	}
	return out + flush(load->table);
}

static void make_table(struct load *load)
{
	struct rte_gro_param param = {
		.gro_types = RTE_GRO_TCP_IPV4, .max_item_per_flow = 32,
		.max_flow_num = RTE_MIN(load->flows, (uint32_t)MOST_FLOWS),
	};

	if (load->table != NULL)
		rte_gro_ctx_destroy(load->table);
	load->table = rte_gro_ctx_create(&param);
	if (load->table == NULL)
		rte_exit(EXIT_FAILURE, "no memory for the table\n");
}

static void pass(struct frames *frames, const struct load *load, uint32_t loops)
{
	int64_t ns = 0;
	uint32_t out = 0;

	for (uint32_t i = 0; i < loops; i++) {
		int64_t begin;

		frames_restore(frames);
		begin = now();
		out = load->hold == BATCH ? burst_pass(frames) : table_pass(frames, load);
		ns += since(begin);
	}
	printf("%ld %u\n", (long)ns, out);
}

static void serve(struct frames *frames)
{
	struct load load = { 0 };
	char line[128];
	uint32_t run, packets, loops;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "load %u %u %u %u", &load.flows, &run, &packets, &load.hold) == 4
		    && load.flows > 0 && run > 0 && load.hold > 0 && packets <= frames->most) {
			frames_load(frames, load.flows, run, packets);
			if (load.hold != BATCH)
				make_table(&load);
			puts("ok");
		} else if (sscanf(line, "pass %u", &loops) == 1) {
			pass(frames, &load, loops);
		} else {
			puts("what?");
		}
		fflush(stdout);
	}
}

/* EAL pins itself: to the core that we are pinned to already. */
static void start(const char *name)
{
	char core[16];
	char *options[] = {
		(char *)name, "--no-huge", "-m", "512", "--no-pci", "--no-shconf", "--no-telemetry",
		"--log-level=3", "-l", core, NULL,
	};

	snprintf(core, sizeof(core), "%d", sched_getcpu());
	if (rte_eal_init(RTE_DIM(options) - 1, options) < 0)
		exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	struct frames frames;

	if (argc != 3 || (strcmp(argv[1], "burst") != 0 && strcmp(argv[1], "table") != 0)) {
		fprintf(stderr, "usage: %s burst|table PACKETS\n", argv[0]);
		return 2;
	}
	start(argv[0]);
	frames_create(&frames, strtoul(argv[2], NULL, 10));
	printf("ready %s\n", rte_version());
	fflush(stdout);
	serve(&frames);
	return 0;
}
