package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/work"
)

// Ours is the name of Sortkey among endpoints.
const Ours = "sortkey"

// Stored is the name, among endpoints, of the Sortkey server of [Config.Store].
const Stored = "sortkey --store"

// An Endpoint is a server of another implementation.
type Endpoint struct {
	Name, URL string
	// Process is the number of its process on this machine; 0 if it is not known.
	Process int
}

// ParseEndpoint reads name=url.
func ParseEndpoint(text string) (Endpoint, error) {
	name, url, ok := strings.Cut(text, "=")
	if !ok || name == "" || name == Ours {
		return Endpoint{}, fmt.Errorf("%q is not a name and an address", text)
	}
	w, err := layer.NewWire(url)
	if err != nil {
		return Endpoint{}, err
	}
	w.Close()
	return Endpoint{Name: name, URL: url}, nil
}

// endpointItems is the default size of tables on endpoints, some of which take
// long to fill.
const endpointItems = 20_000

// RunEndpoints runs workloads over HTTP with one client: on a Sortkey server in a
// process of its own, on another with its rows in c.Store, and on other endpoints. A
// workload that an endpoint refuses or answers wrongly is reported as failed there.
func RunEndpoints(ctx context.Context, c Config) (*Report, error) {
	if c.Size.Items <= 0 {
		c.Size.Items = endpointItems
	}
	if c.Workloads == nil {
		for _, w := range work.All() {
			if w.Shape(c.Size).Items <= c.Size.Items {
				c.Workloads = append(c.Workloads, w)
			}
		}
	}
	c = c.withDefaults()
	if c.Store != "" {
		s, err := serve(ctx, append(slices.Clone(c.Serve), "--store", c.Store))
		if err != nil {
			return nil, err
		}
		defer s.stop()
		c.Endpoints = append(slices.Clip(c.Endpoints), Endpoint{Name: Stored, URL: s.url})
	}
	return c.groups(ctx, c.endpointGroup)
}

// endpointGroup measures a group on a new server of ours and on the endpoints.
func (c *Config) endpointGroup(ctx context.Context, g *group) (results []Result, err error) {
	command := slices.Clone(c.Serve)
	if g.engine == layer.Disk {
		dir, remove, err := c.tempDir()
		if err != nil {
			return nil, err
		}
		defer remove()
		command = append(command, "--data", filepath.Join(dir, "data"))
	}

	ours, err := serve(ctx, command)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	var remotes []*layer.Remote
	var sides []side
	for i, e := range append([]Endpoint{{Name: Ours, URL: ours.url}}, c.Endpoints...) {
		wire, err := layer.NewWire(e.URL)
		if err != nil {
			return nil, err
		}
		defer wire.Close()
		remote := &layer.Remote{Wire: wire, Shape: g.shape, Exact: i == 0}
		x := side{name: e.Name, layer: remote, optional: i > 0}
		c.say("%s: loading %d items of %d bytes", e.Name, g.shape.Items, g.shape.Size)
		x.err = remote.Create(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// A table that existed before stays.
		if status, ok := errors.AsType[*layer.StatusError](x.err); !ok || status.Op != "CreateTable" {
			defer func() {
				clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
				defer cancel()
				if dropErr := remote.Drop(clean); dropErr != nil && x.err == nil && err == nil {
					err = fmt.Errorf("%s: %w", e.Name, dropErr)
				}
			}()
		}
		remotes, sides = append(remotes, remote), append(sides, x)
	}

	for _, w := range g.workloads {
		c.say("%s", w.Name)
		for _, r := range remotes {
			r.Begin()
		}
		r, err := c.compare(ctx, g, w, sides, func(_, base string) bool { return base == Ours })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Name, err)
		}
		r.Endpoint = true
		for i := range r.Layers { // memory and allocations are the client's
			r.Layers[i].Allocs, r.Layers[i].AllocBytes, r.Layers[i].Peak = 0, 0, 0
		}
		results = append(results, r)
	}
	return results, nil
}
