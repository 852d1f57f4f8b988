package measure

import (
	"bytes"
	"os"
	"strconv"
)

// The functions below return 0 where there is no /proc.

// Available returns the bytes of memory that programs can still get from the machine.
func Available() uint64 { return procBytes("/proc/meminfo", "MemAvailable:") }

// Total returns the bytes of memory of the machine.
func Total() uint64 { return procBytes("/proc/meminfo", "MemTotal:") }

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
