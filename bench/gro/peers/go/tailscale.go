// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"time"
	"unsafe"

	"github.com/tailscale/wireguard-go/tun"
)

var _ tun.Device

// tsToWrite has the layout of the fork's groToWrite.
type tsToWrite struct {
	iovs      [][][]byte
	allocated int
}

//go:linkname tsNewTCP github.com/tailscale/wireguard-go/tun.newTCPGROTable
func tsNewTCP() unsafe.Pointer

//go:linkname tsNewUDP github.com/tailscale/wireguard-go/tun.newUDPGROTable
func tsNewUDP() unsafe.Pointer

//go:linkname tsNewWrite github.com/tailscale/wireguard-go/tun.newGROToWrite
func tsNewWrite() tsToWrite

//go:linkname tsResetWrite github.com/tailscale/wireguard-go/tun.(*groToWrite).reset
func tsResetWrite(*tsToWrite)

//go:linkname tsResetTCP github.com/tailscale/wireguard-go/tun.(*tcpGROTable).reset
func tsResetTCP(unsafe.Pointer)

//go:linkname tsResetUDP github.com/tailscale/wireguard-go/tun.(*udpGROTable).reset
func tsResetUDP(unsafe.Pointer)

//go:linkname tsHandle github.com/tailscale/wireguard-go/tun.handleGRO
func tsHandle(bufs [][]byte, offset int, tcp, udp unsafe.Pointer, disabled int, toWrite *tsToWrite) error

// tailscale gathers references to payload for writev; it copies none.
type tailscale struct {
	frames   *frames
	tcp, udp unsafe.Pointer
	toWrite  tsToWrite
}

func newTailscale(most int) (engine, error) {
	frames, err := newFrames(most, stride)
	return &tailscale{frames, tsNewTCP(), tsNewUDP(), tsNewWrite()}, err
}

func (t *tailscale) load(flows, run, packets int) { t.frames.load(flows, run, packets) }

func (t *tailscale) pass() (time.Duration, int, error) {
	t.frames.restore()
	out := 0
	begin := now()
	for bufs := t.frames.bufs; len(bufs) > 0; bufs = bufs[min(batch, len(bufs)):] {
		if err := tsHandle(bufs[:min(batch, len(bufs))], headroom, t.tcp, t.udp, 0, &t.toWrite); err != nil {
			return 0, 0, err
		}
		out += len(t.toWrite.iovs)
		tsResetTCP(t.tcp)
		tsResetUDP(t.udp)
		tsResetWrite(&t.toWrite)
	}
	return since(begin), out, nil
}
