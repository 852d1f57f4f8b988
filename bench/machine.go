package bench

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/bench/measure"
)

// A Machine is where a run was.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Procs  int    `json:"gomaxprocs"`
	Memory uint64 `json:"memory_bytes,omitempty"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Go     string `json:"go"`
}

// A Build is what was measured.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	// Dirty is true when files differ from the commit.
	Dirty bool `json:"dirty,omitempty"`
}

// ThisMachine returns the machine of the process.
func ThisMachine() Machine {
	return Machine{
		CPU: cpu(), Cores: runtime.NumCPU(), Procs: runtime.GOMAXPROCS(0), Memory: measure.Total(),
		OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
	}
}

func cpu() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return runtime.GOARCH
}

// Slug returns the machine's name for files: its processor and cores.
func (m Machine) Slug() string {
	var b strings.Builder
	for _, c := range strings.ToLower(m.CPU) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-") + "-" + strconv.Itoa(m.Cores) + "c"
}

// String returns the machine in one line.
func (m Machine) String() string {
	s := m.CPU + ", " + strconv.Itoa(m.Cores) + " cores, " + m.OS + "/" + m.Arch + ", " + m.Go
	if m.Memory > 0 {
		s += ", " + strconv.FormatUint(m.Memory>>30, 10) + " GB"
	}
	return s
}

// ThisBuild returns what the process was built from. A program built without
// version control stamps asks git, if it runs in a repository.
func ThisBuild() (b Build) {
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
