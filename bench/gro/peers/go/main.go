// SPDX-License-Identifier: MIT OR Apache-2.0

// The GRO of wireguard-go, of its Tailscale fork and of gVisor, driven by the lines that
// src/peer.rs describes.
//
//	peer wireguard|tailscale|gvisor PACKETS
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// IdealBatchSize of wireguard-go.
	batch = 128
	// Distance of frames where none of them grows; see src/frames.rs.
	stride = 2368
)

type engine interface {
	load(flows, run, packets int)
	// pass restores the frames and merges them; only merging is measured.
	pass() (time.Duration, int, error)
}

type maker struct {
	module string
	make   func(most int) (engine, error)
}

var makers = map[string]maker{
	"wireguard": {"golang.zx2c4.com/wireguard", newWireguard},
	"tailscale": {"github.com/tailscale/wireguard-go", newTailscale},
	"gvisor":    {"gvisor.dev/gvisor", newGvisor},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: peer wireguard|tailscale|gvisor PACKETS")
	}
	most, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	maker, known := makers[args[0]]
	if !known {
		return fmt.Errorf("unknown engine %q", args[0])
	}
	engine, err := maker.make(most)
	if err != nil {
		return err
	}
	// The clock is the thread's, and garbage is collected between passes.
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	fmt.Println("ready", version(maker.module))
	return serve(engine)
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module {
				return dep.Path + " " + dep.Version + ", " + runtime.Version()
			}
		}
	}
	return module
}

func serve(engine engine) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var flows, run, packets, hold, loops int
		if n, _ := fmt.Sscanf(lines.Text(), "load %d %d %d %d", &flows, &run, &packets, &hold); n == 4 {
			engine.load(flows, run, packets)
			fmt.Println("ok")
		} else if n, _ := fmt.Sscanf(lines.Text(), "pass %d", &loops); n == 1 {
			if err := passes(engine, loops); err != nil {
				return err
			}
		} else {
			fmt.Println("what?")
		}
	}
	return lines.Err()
}

func passes(engine engine, loops int) error {
	var total time.Duration
	var out int
	for range loops {
		took, merged, err := engine.pass()
		if err != nil {
			return err
		}
		total += took
		out = merged
	}
	fmt.Println(total.Nanoseconds(), out)
	runtime.GC()
	return nil
}

// since is the time that this thread was running since then, without what asking for it takes, which
// is as long as nothing takes.
func since(begin time.Duration) time.Duration {
	end := now()
	nothing := now() - end
	return end - begin - nothing
}

// now is the time that this thread was running.
func now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}
