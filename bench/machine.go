package bench

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// A Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Procs  int    `json:"gomaxprocs"`
	Memory uint64 `json:"memory_bytes,omitempty"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Go     string `json:"go"`
}

func thisMachine() Machine {
	return Machine{
		CPU: cpu(), Cores: runtime.NumCPU(), Procs: runtime.GOMAXPROCS(0), Memory: measure.Total(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
	}
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

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slug returns the name of the machine for files: its processor and cores.
func (m Machine) slug() string {
	return fmt.Sprintf("%s-%dc", strings.Trim(notSlug.ReplaceAllString(strings.ToLower(m.CPU), "-"), "-"), m.Cores)
}

// String returns the machine in one line.
func (m Machine) String() string {
	s := fmt.Sprintf("%s, %s, %s/%s, %s", m.CPU, text.Count(m.Cores, "core"), m.OS, m.Arch, m.Go)
	if m.Memory > 0 {
		s += ", " + text.Size(int64(m.Memory)) //nolint:gosec // less than 2^63
	}
	return s
}

// A Build is the version that was measured.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Dirty is true when files differ from the commit.
	Dirty bool `json:"dirty,omitempty"`
}

// thisBuild returns the version and the revision that the process was built from. A
// program built without stamps of version control asks git, if it runs in a repository.
func thisBuild() (b Build) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "unknown"}
	}
	b.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	if b.Commit == "" {
		if out, err := exec.Command("git", "rev-parse", "HEAD").Output(); err == nil {
			b.Commit = strings.TrimSpace(string(out))
			out, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
			b.Dirty = err == nil && len(out) > 0
		}
	}
	return b
}

// String returns the build in a few words.
func (b Build) String() string {
	s := b.Version
	if b.Commit != "" {
		s = b.Commit[:min(len(b.Commit), 12)]
	}
	if b.Dirty {
		s += " with changes"
	}
	return s
}
