// Command embedded measures package sortkey, bbolt, Badger and two SQLites, in memory and on disk. It prints the
// processor time of an operation in each store as a multiple of the time in Sortkey. It takes about ten minutes.
//
//	cd bench/embedded && GOWORK=off go run .
//
// It starts itself once for each store, so that each store runs in a process of its own; package contest describes
// the protocol between them. It skips SQLite in C where Go finds no C compiler.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/bench"
	"github.com/sortkey/sortkey/bench/contest"
	"github.com/sortkey/sortkey/bench/measure"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "embedded:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 0:
		return compare(context.Background(), out)
	case len(args) == 1 && args[0] == "list":
		return list(out)
	case len(args) == 5 && args[0] == "run":
		items, err := strconv.Atoi(args[4])
		if err != nil || items < perSensor || items%perSensor != 0 {
			return fmt.Errorf("%s items: want a multiple of %d", args[4], perSensor)
		}
		return serve(context.Background(), args[1], contest.Mode(args[2]), args[3], newDataset(items), in, out)
	}
	return errors.New("want no arguments, or list, or run STORE MODE DIR ITEMS")
}

// compare measures all stores, each in a process of this program, and prints a report.
func compare(ctx context.Context, out io.Writer) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	report, err := bench.RunEmbedded(ctx, bench.Config{
		Progress: func(text string) { fmt.Fprintln(os.Stderr, "embedded:", text) },
	}, program)
	if err == nil {
		report.Print(out, true)
	}
	return err
}

// list prints the catalogue.
func list(out io.Writer) error {
	var c contest.Catalogue
	for _, x := range contenders {
		s := contest.Store{Name: x.name, Skipped: x.skipped}
		if x.skipped == "" {
			var err error
			if s.Version, err = x.version(); err != nil {
				return fmt.Errorf("%s: %w", x.name, err)
			}
		}
		c.Stores = append(c.Stores, s)
	}
	for _, w := range works(newDataset(perSensor)) {
		c.Works = append(c.Works, w.Work)
	}
	return json.NewEncoder(out).Encode(c)
}

// serve fills a store and answers requests until the input ends.
func serve(
	ctx context.Context, name string, mode contest.Mode, dir string, d dataset, in io.Reader, out io.Writer,
) (err error) {
	i := slices.IndexFunc(contenders, func(c contender) bool { return c.name == name && c.skipped == "" })
	if i < 0 {
		return fmt.Errorf("unknown store %q", name)
	}
	s, err := contenders[i].open(mode, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := load(ctx, s, d); err != nil {
		return err
	}

	m := &meter{store: s, data: d, series: map[string]*measure.Series{}}
	enc, dec := json.NewEncoder(out), json.NewDecoder(in)
	for {
		var request contest.Request
		if err := dec.Decode(&request); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var reply contest.Reply
		var err error
		if request.Work == "" {
			reply.Answers, err = answers(ctx, s, d)
		} else {
			reply.Round, err = m.round(ctx, request.Work, request.Duration)
		}
		if err != nil {
			reply.Error = err.Error()
		}
		if err := enc.Encode(reply); err != nil {
			return err
		}
	}
}

// load fills a store.
func load(ctx context.Context, s store, d dataset) error {
	all := make([]Reading, d.items)
	for i := range all {
		all[i] = d.reading(i)
	}
	for batch := range slices.Chunk(all, 1000) {
		if err := s.load(ctx, batch); err != nil {
			return fmt.Errorf("loading: %w", err)
		}
	}
	return nil
}
