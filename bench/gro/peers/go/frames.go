// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const (
	payloadLen = 1448
	headerLen  = 20 + 32
	packetLen  = headerLen + payloadLen
	// Room for the virtio-net header, which the engines for TUN write.
	headroom = 16
)

// frames are those of src/frames.rs, without Ethernet.
type frames struct {
	memory  []byte
	stride  int
	headers []byte
	bufs    [][]byte
}

// newFrames asks for huge pages, as all engines get here.
func newFrames(most, stride int) (*frames, error) {
	memory, err := unix.Mmap(-1, 0, most*stride, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE)
	return &frames{memory: memory, stride: stride}, nil
}

func (f *frames) load(flows, run, packets int) {
	payload := makePayload()
	payloadSum := sum(payload, 0)
	sent := make([]uint32, flows)
	f.headers = make([]byte, packets*headerLen)
	f.bufs = make([][]byte, packets)
	for i := range packets {
		flow := i / run % flows
		makeHeader(f.headers[i*headerLen:][:headerLen], uint32(flow), sent[flow], payloadSum)
		sent[flow]++
		slot := f.memory[i*f.stride:][:f.stride:f.stride]
		copy(slot[headroom+headerLen:], payload)
		f.bufs[i] = slot
	}
}

// restore undoes what an engine did to lengths and headers.
func (f *frames) restore() {
	for i := range f.bufs {
		buf := f.bufs[i][:headroom+packetLen]
		clear(buf[:headroom])
		copy(buf[headroom:], f.headers[i*headerLen:][:headerLen])
		f.bufs[i] = buf
	}
}

func makePayload() []byte {
	payload := make([]byte, payloadLen)
	for i := range payload {
		payload[i] = byte(i*7 + i>>8)
	}
	return payload
}

func makeHeader(bytes []byte, flow, number, payloadSum uint32) {
	ip, tcp := bytes[:20], bytes[20:]
	ip[0] = 0x45
	binary.BigEndian.PutUint16(ip[2:], packetLen)
	binary.BigEndian.PutUint16(ip[4:], uint16(number))
	ip[6], ip[8], ip[9] = 0x40, 64, unix.IPPROTO_TCP
	binary.BigEndian.PutUint32(ip[12:], 0x0a000000+flow>>8)
	copy(ip[16:], []byte{10, 128, 0, 1})
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum(ip, 0)))

	binary.BigEndian.PutUint16(tcp, uint16(10000+flow&0xff))
	binary.BigEndian.PutUint16(tcp[2:], 443)
	binary.BigEndian.PutUint32(tcp[4:], 1+number*payloadLen)
	binary.BigEndian.PutUint32(tcp[8:], 777+flow)
	tcp[12], tcp[13] = 32/4<<4, 0x10
	binary.BigEndian.PutUint16(tcp[14:], 4096)
	copy(tcp[20:], []byte{1, 1, 8, 10, 0, 0, 0, 16, 0, 0, 0, 32})
	pseudo := sum(ip[12:], unix.IPPROTO_TCP+32+payloadLen)
	binary.BigEndian.PutUint16(tcp[16:], ^uint16(sum(tcp, pseudo+payloadSum)))
}

// sum is that of the Internet checksum, folded.
func sum(bytes []byte, start uint32) uint32 {
	for i := 0; i+1 < len(bytes); i += 2 {
		start += uint32(binary.BigEndian.Uint16(bytes[i:]))
	}
	start = start&0xffff + start>>16
	return start&0xffff + start>>16
}
