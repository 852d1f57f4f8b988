package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	engines, layers         []string
	items, collection, size int
	rounds, workers         int
	duration                time.Duration
	temp                    string
	quiet, details          bool
}

func workloadNames() (names []string) {
	for _, w := range work.All() {
		names = append(names, w.Name)
	}
	return names
}

func layerNames() (names []string) {
	for _, n := range layer.Names() {
		names = append(names, string(n))
	}
	return names
}

// config reads the flags.
func (f *benchFlags) config(env *app.Env, args []string) (c bench.Config, err error) {
	c = bench.Config{
		Size:   work.Size{Items: f.items, Collection: f.collection, Bytes: f.size},
		Rounds: f.rounds, Duration: f.duration, Workers: f.workers, Dir: f.temp,
	}
	if f.size > maxItem {
		return c, app.Usage("bench", "--size: %d bytes are more than the largest item's %d", f.size, maxItem)
	}
	for _, name := range args {
		w := work.Find(name)
		if w == nil {
			return c, app.UsageError("see sortkey bench --help", "unknown workload %q", name)
		}
		c.Workloads = append(c.Workloads, w)
	}

	for _, name := range f.engines {
		e := layer.Engine(name)
		switch {
		case e == layer.Memory || e == layer.Disk:
			c.Engines = append(c.Engines, e)
		default:
			return c, app.UsageError("the engines are memory and disk", "--engine: unknown engine %q", name)
		}
	}

	for _, name := range f.layers {
		if !slices.Contains(layer.Names(), layer.Name(name)) {
			return c, app.UsageError(
				"the layers are "+strings.Join(layerNames(), ", "), "--layer: unknown layer %q", name,
			)
		}
		c.Layers = append(c.Layers, layer.Name(name))
	}

	if !f.quiet {
		c.Progress = func(text string) { fmt.Fprintf(env.Stderr, "bench: %s\n", text) }
	}
	return c, nil
}

// maxItem bounds --size, in bytes. DynamoDB limits an item to 400 KB, and an item of maxItem bytes needs the rest for
// its keys.
const maxItem = 390 << 10
