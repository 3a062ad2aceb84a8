/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>
#include <rte_mbuf.h>

/* The frames of src/frames.rs in mbufs. */
struct frames {
	uint32_t most;
	uint32_t packets;
	struct rte_mbuf **mbufs;
	/* What is handed to GRO, which permutes it. */
	struct rte_mbuf **work;
	/* Headers as they were. */
	uint8_t *headers;
};

/* Room for so many packets; exits with a message if there is none. */
void frames_create(struct frames *frames, uint32_t most);
void frames_load(struct frames *frames, uint32_t flows, uint32_t run, uint32_t packets);
/* Undoes what GRO did to mbufs and headers. */
void frames_restore(struct frames *frames);

#endif
