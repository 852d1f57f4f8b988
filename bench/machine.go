package bench

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// machine describes the machine in one line.
func machine() string {
	cores := text.Count(runtime.NumCPU(), "core")
	s := fmt.Sprintf("%s, %s, %s/%s, %s", cpu(), cores, runtime.GOOS, runtime.GOARCH, runtime.Version())
	if memory := measure.Total(); memory > 0 {
		s += ", " + text.Size(int64(memory)) //nolint:gosec // less than 2^63
	}
	return s
}

// cpu returns the name of the processor where the system reports it.
func cpu() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// build returns the version or the commit that the process was built from.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	commit, changes := info.Main.Version, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = " with changes"
		}
	}
	return commit + changes
}
