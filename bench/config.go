package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A Config says what to measure. Its zero fields are defaults.
type Config struct {
	// Workloads to run. Default: all, except that endpoints are spared those
	// that need more items than Size says.
	Workloads []*work.Workload
	// Engines. Default: memory.
	Engines []layer.Engine
	// Layers. Default: all. Bare, and what is canned, are added to what is
	// compared with them.
	Layers []layer.Name
	// Size of tables. Default: 100,000 items of 100 bytes; 20,000 items for
	// endpoints.
	Size work.Size
	// Rounds of each layer. Default: 5.
	Rounds int
	// Duration of a round. Default: 100 ms.
	Duration time.Duration
	// Workers that call at once. Default: 1. Some workloads need more.
	Workers int
	// Calls is how many different requests there are at most. Default: 4096.
	Calls int
	// Seed of the requests. Default: 1.
	Seed uint64
	// Dir is where folders of databases are made, and removed. Default: the
	// system's for temporary files.
	Dir string
	// Endpoints to compare with, for [RunEndpoints].
	Endpoints []Endpoint
	// Serve is the command that serves Sortkey, with its arguments: it must
	// print its address as sortkey serve does.
	Serve []string
	// Progress is told what goes on. Default: nobody is.
	Progress func(text string)
}

// An Endpoint is another implementation.
type Endpoint struct{ Name, URL string }

// ParseEndpoint reads name=url.
func ParseEndpoint(text string) (Endpoint, error) {
	name, url, ok := strings.Cut(text, "=")
	if !ok || name == "" || url == "" {
		return Endpoint{}, fmt.Errorf("%q is not name=url", text)
	}
	w, err := layer.NewWire(url)
	if err != nil {
		return Endpoint{}, err
	}
	w.Close()
	return Endpoint{name, url}, nil
}

func (c Config) withDefaults() Config {
	if c.Workloads == nil {
		c.Workloads = work.All()
	}
	if c.Engines == nil {
		c.Engines = []layer.Engine{layer.Memory}
	}
	if c.Layers == nil {
		c.Layers = layer.Names()
	}
	var layers []layer.Name
	for _, name := range layer.Names() { // in their order, with what they are compared with
		wanted := name == layer.Bare || slices.Contains(c.Layers, name) ||
			name == layer.ClientCanned && slices.Contains(c.Layers, layer.Client) ||
			name == layer.DirectCanned && slices.Contains(c.Layers, layer.Direct)
		if wanted {
			layers = append(layers, name)
		}
	}
	c.Layers = layers
	if c.Rounds <= 0 {
		c.Rounds = 5
	}
	if c.Duration <= 0 {
		c.Duration = 100 * time.Millisecond
	}
	if c.Workers <= 0 {
		c.Workers = 1
	}
	if c.Calls <= 0 {
		c.Calls = 4096
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

func (c *Config) say(format string, args ...any) { c.Progress(fmt.Sprintf(format, args...)) }

func (c *Config) warm() time.Duration { return c.Duration / 2 }

func (c *Config) workers(w *work.Workload) int { return max(c.Workers, w.Workers) }

// callBytes bounds the requests kept ready for one layer.
const callBytes = 16 << 20

func (c *Config) calls(w *work.Workload, s work.Shape) []work.Call {
	return w.Calls(s, min(c.Calls, max(callBytes/s.Size, 64)), c.Seed)
}

// newReport begins a report.
func newReport() *Report {
	return &Report{Version: ReportVersion, Machine: ThisMachine(), Build: ThisBuild(), Started: time.Now().UTC().Truncate(time.Second)}
}

func (r *Report) end(start time.Time) *Report {
	r.Seconds = time.Since(start).Seconds()
	r.PeakResident = measure.PeakResident()
	return r
}
