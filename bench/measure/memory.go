package measure

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"
	"sync"
	"time"
)

// held returns the memory the Go runtime holds from the system, in bytes. It
// is read into s, which [samples] makes, so as to allocate nothing.
func held(s []metrics.Sample) uint64 {
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// Held returns the memory the Go runtime holds from the system, in bytes.
func Held() uint64 { return held(samples()) }

func samples() []metrics.Sample {
	return []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
}

// watch looks at held from time to time until the function it returns is
// called, which returns the most it saw.
func watch() (stop func() uint64) {
	s, quit := samples(), make(chan struct{})
	peak := held(s)
	var wg sync.WaitGroup
	wg.Go(func() {
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				peak = max(peak, held(s))
			}
		}
	})
	return func() uint64 {
		close(quit)
		wg.Wait()
		return max(peak, held(s))
	}
}

// Available returns the bytes of memory that the machine can still give, or 0
// if it does not say.
func Available() uint64 { return procBytes("/proc/meminfo", "MemAvailable:") }

// Total returns the bytes of memory of the machine, or 0.
func Total() uint64 { return procBytes("/proc/meminfo", "MemTotal:") }

// Resident returns the bytes of memory a process has resident, or 0 where the
// system does not say.
func Resident(pid int) uint64 { return procBytes("/proc/"+strconv.Itoa(pid)+"/status", "VmRSS:") }

// ResidentFile returns the part of [Resident] that is pages of files, such as
// the program itself.
func ResidentFile(pid int) uint64 {
	return procBytes("/proc/"+strconv.Itoa(pid)+"/status", "RssFile:")
}

// PeakResident returns the most Resident has been for this process, or 0.
func PeakResident() uint64 { return procBytes("/proc/self/status", "VmHWM:") }

func procBytes(file, field string) uint64 {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			kb, err := strconv.ParseUint(string(bytes.Fields(rest)[0]), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}
