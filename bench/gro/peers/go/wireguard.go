// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"time"
	"unsafe"

	"golang.zx2c4.com/wireguard/tun"
)

// handleGRO and its tables are not exported. Linking to them by name measures what is built into
// the programs, and copies none of it.
var _ tun.Device

//go:linkname wgNewTCP golang.zx2c4.com/wireguard/tun.newTCPGROTable
func wgNewTCP() unsafe.Pointer

//go:linkname wgNewUDP golang.zx2c4.com/wireguard/tun.newUDPGROTable
func wgNewUDP() unsafe.Pointer

//go:linkname wgResetTCP golang.zx2c4.com/wireguard/tun.(*tcpGROTable).reset
func wgResetTCP(unsafe.Pointer)

//go:linkname wgResetUDP golang.zx2c4.com/wireguard/tun.(*udpGROTable).reset
func wgResetUDP(unsafe.Pointer)

//go:linkname wgHandle golang.zx2c4.com/wireguard/tun.handleGRO
func wgHandle(bufs [][]byte, offset int, tcp, udp unsafe.Pointer, canUDP bool, toWrite *[]int) error

// wireguard merges into the buffer of the first segment, which must have room for all.
type wireguard struct {
	frames   *frames
	tcp, udp unsafe.Pointer
	toWrite  []int
}

func newWireguard(most int) (engine, error) {
	frames, err := newFrames(most, (headroom+65535+63)&^63)
	return &wireguard{frames, wgNewTCP(), wgNewUDP(), make([]int, 0, batch)}, err
}

func (w *wireguard) load(flows, run, packets int) { w.frames.load(flows, run, packets) }

// pass is what NativeTun.Write does before it writes.
func (w *wireguard) pass() (time.Duration, int, error) {
	w.frames.restore()
	out := 0
	begin := now()
	for bufs := w.frames.bufs; len(bufs) > 0; bufs = bufs[min(batch, len(bufs)):] {
		w.toWrite = w.toWrite[:0]
		if err := wgHandle(bufs[:min(batch, len(bufs))], headroom, w.tcp, w.udp, true, &w.toWrite); err != nil {
			return 0, 0, err
		}
		out += len(w.toWrite)
		wgResetTCP(w.tcp)
		wgResetUDP(w.udp)
	}
	return since(begin), out, nil
}
