// Package bench measures the layers of Sortkey beside the bare engines below them, and the store in Go beside other
// embedded stores.
//
// [Run] runs workloads of package work on the layers of package layer, [Grow] one query on a table that grows, and
// [RunEmbedded] the same work on several stores. What is compared is measured in the same run, in rounds that
// alternate, and a ratio is the median of the rounds' own ratios. A machine that is slow for a while is then slow
// for both sides. [Report.Print] prints the tables.
//
// Its benchmarks have the same figures in Go's format, so that benchstat can compare commits: see README.md.
package bench

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
)

// A Config says what to measure. Zero fields mean defaults.
type Config struct {
	// Workloads to run. Default: all.
	Workloads []*work.Workload
	// Engines. Default: memory.
	Engines []layer.Engine
	// Layers. Default: all. Bare is added.
	Layers []layer.Name
	// Size of tables. Default: 100,000 items of 100 bytes.
	Size work.Size
	// Rounds of each layer. Default: 5.
	Rounds int
	// Duration of a round. Default: 100 ms.
	Duration time.Duration
	// Workers that call at the same time. Default: 1. Some workloads need more.
	Workers int
	// Calls is the maximum of different requests. Default: 4096, and 16384 for growth.
	Calls int
	// Seed of the requests. Default: 1.
	Seed uint64
	// Dir is the folder for databases on disk while they are measured. Default:
	// the system's folder for temporary files.
	Dir string
	// Progress receives a line for each step. Default: none.
	Progress func(text string)
}

func (c Config) withDefaults() Config {
	if c.Workloads == nil {
		c.Workloads = work.All()
	}
	if c.Engines == nil {
		c.Engines = []layer.Engine{layer.Memory}
	}
	wanted := c.Layers
	c.Layers = nil
	for _, name := range layer.Names() {
		if name == layer.Bare || wanted == nil || slices.Contains(wanted, name) {
			c.Layers = append(c.Layers, name)
		}
	}
	defaultTo(&c.Rounds, 5)
	defaultTo(&c.Duration, 100*time.Millisecond)
	defaultTo(&c.Workers, 1)
	defaultTo(&c.Calls, 4096)
	defaultTo(&c.Seed, 1)
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

func defaultTo[T int | uint64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

func (c *Config) say(format string, args ...any) { c.Progress(fmt.Sprintf(format, args...)) }

func (c *Config) workers(w *work.Workload) int { return max(c.Workers, w.Workers) }

// callBytes bounds the requests kept ready for one layer.
const callBytes = 16 << 20

func (c *Config) calls(w *work.Workload, s work.Shape) []work.Call {
	return w.Calls(s, min(c.Calls, max(callBytes/s.Size, 64)), c.Seed)
}

// tempDir creates a folder, which remove removes.
func (c *Config) tempDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(c.Dir, "sortkey-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
