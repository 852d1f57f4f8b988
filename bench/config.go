// Package bench measures the layers of Sortkey, each compared with the bare engine below it, and the store in Go,
// compared with other embedded stores.
//
// [Run] runs workloads of package work on the layers of package layer. [Grow] runs one query on a table that grows.
// [RunEmbedded] runs the same work on several stores. All of them measure both sides of a comparison in one run, in
// rounds that alternate, and a ratio is the median of the ratios of the rounds. If the machine is slow for a while,
// both sides are slow. [Report.Print] prints the tables.
//
// The package's benchmarks give the same figures in Go's format, so that benchstat can compare commits: see
// README.md.
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
	// Layers to measure. Default: all. Bare is always measured too, because ratios refer to it.
	Layers []layer.Name
	// Size of tables. Default: 100,000 items of 100 bytes.
	Size work.Size
	// Rounds of each layer. Default: 5.
	Rounds int
	// Duration of a round. Default: 100 ms.
	Duration time.Duration
	// Workers that call at the same time. Default: 1. Some workloads need more.
	Workers int
	// Calls is the largest number of different requests. Default: 4096.
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

// callBytes limits the size, in bytes, of the requests that are prepared for one layer.
const callBytes = 16 << 20

func (c *Config) calls(w *work.Workload, s work.Shape) []work.Call {
	return w.Calls(s, min(c.Calls, max(callBytes/s.Size, 64)), c.Seed)
}

// tempDir creates a folder, which the caller removes by calling remove.
func (c *Config) tempDir() (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(c.Dir, "sortkey-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
