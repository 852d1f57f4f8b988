package resident

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// release takes what mappings finds out of the process. An error of the system
// is no loss: the pages stay.
func release() {
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range mappings(smaps) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.low, m.high-m.low, syscall.MADV_DONTNEED)
	}
}

// A mapping is a range of addresses.
type mapping struct{ low, high uintptr }

// mappings returns those of /proc/PID/smaps that are files, cannot be written
// to, and have no page that differs from its file: addresses that a dynamic
// linker filled in before it locked them, and the breakpoints of a debugger,
// would be lost.
func mappings(smaps []byte) (found []mapping) {
	var m mapping
	for line := range bytes.Lines(smaps) {
		fields := bytes.Fields(line)
		switch {
		case len(fields) >= 6 && bytes.HasPrefix(fields[5], []byte("/")) && (string(fields[1]) == "r--p" || string(fields[1]) == "r-xp"):
			m = addresses(string(fields[0]))
		case len(fields) >= 5 && !bytes.HasSuffix(fields[0], []byte(":")):
			m = mapping{} // of memory, or one that can be written to
		case len(fields) == 3 && string(fields[0]) == "Anonymous:" && string(fields[1]) == "0" && m.high > m.low:
			found = append(found, m)
		}
	}
	return found
}

// addresses reads LOW-HIGH, which are hexadecimal.
func addresses(s string) (m mapping) {
	low, high, _ := strings.Cut(s, "-")
	from, err := strconv.ParseUint(low, 16, strconv.IntSize)
	if err != nil {
		return m
	}
	to, err := strconv.ParseUint(high, 16, strconv.IntSize)
	if err != nil {
		return m
	}
	return mapping{uintptr(from), uintptr(to)}
}
