// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"time"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/stack/gro"
)

// Packets that a bucket of its table holds.
const bucketSize = 8

// gvisor links buffers, verifies both checksums and copies nothing.
type gvisor struct {
	frames  *frames
	packets []*stack.PacketBuffer
	gro     gro.GRO
	sink    sink
}

// sink is the network stack.
type sink struct{ out int }

func (s *sink) DeliverNetworkPacket(tcpip.NetworkProtocolNumber, *stack.PacketBuffer) { s.out++ }
func (s *sink) DeliverLinkPacket(tcpip.NetworkProtocolNumber, *stack.PacketBuffer)    {}

func newGvisor(most int) (engine, error) {
	frames, err := newFrames(most, stride)
	g := &gvisor{frames: frames}
	g.gro.Init(true)
	g.gro.Dispatcher = &g.sink
	return g, err
}

func (g *gvisor) load(flows, run, packets int) {
	g.frames.load(flows, run, packets)
	g.frames.restore()
	g.packets = make([]*stack.PacketBuffer, packets)
}

// prepare makes all packet buffers before the pass, not batch by batch: else they would be in the
// cache even where the pass is to be a cold one.
func (g *gvisor) prepare() {
	for i, buf := range g.frames.bufs {
		view := buffer.NewViewWithData(buf[headroom:])
		packet := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithView(view)})
		packet.NetworkProtocolNumber = header.IPv4ProtocolNumber
		packet.RXChecksumValidated = false
		g.packets[i] = packet
	}
}

// pass measures Enqueue, Flush after each batch, and the driver's release of its reference.
func (g *gvisor) pass() (time.Duration, int, error) {
	g.prepare()
	g.sink.out = 0
	begin := now()
	for packets := g.packets; len(packets) > 0; packets = packets[min(batch, len(packets)):] {
		for _, packet := range packets[:min(batch, len(packets))] {
			g.gro.Enqueue(packet)
			packet.DecRef()
		}
		// In this version a Flush takes only the first packet of each bucket: its loop asks the
		// packet that it removed for the next.
		for range bucketSize {
			g.gro.Flush()
		}
	}
	return since(begin), g.sink.out, nil
}
