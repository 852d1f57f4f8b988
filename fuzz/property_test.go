package fuzz_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// Otherwise the fuzzer would spend most of its time shrinking inputs that
	// are merely new.
	if f := flag.Lookup("test.fuzzminimizetime"); f.Value.String() == f.DefValue { // not given itself
		if err := f.Value.Set("200x"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// property checks a mode. It stores a failing tape as a seed of FuzzQuery.
func property(t *testing.T, mode string, n, least, most int) {
	proptest.CheckTapes(t, n, least, most,
		func(tape []byte) string { return proptest.Play(t, tape, inWorld(modes[mode])) },
		func(tape []byte) { keep(t, "FuzzQuery", fmt.Sprintf("string(%q)\n", mode), tape) })
}

// inWorld returns a property that runs in a new world.
func inWorld(run func(*world)) func(*proptest.T) {
	return func(t *proptest.T) { run(newWorld(t)) }
}

// keep stores a tape as a seed of a fuzz target. before has the target's other
// arguments.
func keep(t *testing.T, target, before string, tape []byte) {
	name := filepath.Join("testdata", "fuzz", target, fmt.Sprintf("%x", sha256.Sum256(tape))[:16])
	file := fmt.Sprintf("go test fuzz v1\n%s[]byte(%q)\n", before, tape)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
		err = os.WriteFile(name, []byte(file), 0o644)
		t.Logf("stored as %s (%v); run it with -run %s/%s", name, err, target, filepath.Base(name))
	}
}

// modes are the properties of tapes, by name.
var modes = map[string]func(*world){
	"query": func(w *world) {
		m := w.fill(4, 30)
		for range 1 + w.IntN(30) {
			if w.often(10) {
				w.illegal(w.view(m))
				continue
			}
			w.run(w.newRead(w.view(m)))
		}
	},
	"start": func(w *world) {
		m := w.fill(3, 25)
		for range 1 + w.IntN(20) {
			r := w.newRead(w.view(m))
			if r.clauses == nil && !r.scanOrderKnown() {
				continue
			}
			r.start = w.newStart(r)
			w.run(r)
		}
	},
	"pages": func(w *world) {
		m := w.fill(3, 30)
		for range 1 + w.IntN(4) {
			w.joined(w.newRead(w.view(m)))
		}
	},
	"changes": func(w *world) {
		m := w.fill(3, 30)
		for range 1 + w.IntN(4) {
			w.stable(w.newRead(w.view(m)))
		}
		w.check()
	},
	"index": func(w *world) { // an index must equal a filter over the table
		m := w.fill(4, 25)
		for range 1 + w.IntN(3) {
			switch {
			case w.often(40):
				w.createIndex(m)
			case w.often(30):
				w.deleteIndex(m)
			}
			w.write(m)
			for _, v := range m.views() {
				w.filtered(v)
			}
		}
		w.check()
	},
	"large": func(w *world) { // pages end near 1 MB
		m := w.fill(2, 5)
		for range 45 {
			it := w.newItem(m)
			names := m.keyNames()
			last := names[len(names)-1]
			it[last] = w.key(m.kinds[last], 500, nil)
			it["p"] = text(strings.Repeat("y", w.IntN(100_000)))
			w.writeItem(m, "PutItem", "Item", it, it)
		}
		for _, v := range m.views() {
			w.pages(&read{view: v}, nil)
			w.joined(w.newRead(v))
		}
	},
	"history": func(w *world) {
		for range 1 + w.IntN(60) {
			w.step()
		}
		w.check()
	},
}

// fill creates a table with some items.
func (w *world) fill(indexes, items int) *model {
	m := w.createTable(indexes)
	w.Logf("%s", m.describe())
	for range w.IntN(items + 1) {
		w.write(m)
	}
	return m
}

// filtered checks that an index has those items of a table scan that have its
// keys. It compares answers of the database only.
func (w *world) filtered(v view) {
	want := map[string]bool{}
	for _, it := range w.pages(&read{view: view{m: v.m}, limit: 7}, nil) {
		if e := v.entry(it); e != nil {
			want[e.canon()] = true
		}
	}
	got := w.pages(&read{view: v, limit: 5}, nil)
	for _, it := range got {
		if !want[it.canon()] {
			w.Fatalf("%q has %s", v.name(), it.canon())
		}
	}
	if len(got) != len(want) {
		w.Fatalf("%q has %d items, want %d", v.name(), len(got), len(want))
	}
}

func TestPropertyQuery(t *testing.T)   { t.Parallel(); property(t, "query", 600, 200, 3000) }
func TestPropertyStart(t *testing.T)   { t.Parallel(); property(t, "start", 400, 200, 3000) }
func TestPropertyPages(t *testing.T)   { t.Parallel(); property(t, "pages", 300, 200, 3000) }
func TestPropertyChanges(t *testing.T) { t.Parallel(); property(t, "changes", 300, 200, 3000) }
func TestPropertyIndex(t *testing.T)   { t.Parallel(); property(t, "index", 250, 200, 3000) }
func TestPropertyLarge(t *testing.T)   { t.Parallel(); property(t, "large", 3, 3000, 6000) }

// FuzzQuery plays tapes: their bytes determine the tables, the items and the
// requests, in one of the modes above. With a + after the mode, random choices
// follow the end of the tape, so short tapes make complete cases.
func FuzzQuery(f *testing.F) {
	names := sortedNames(modes)
	for _, mode := range names {
		f.Add(mode, []byte{})
		for i := range 3 {
			if mode != "large" { // a second each
				f.Add("+"+mode, []byte{byte(i)})
			}
		}
	}
	f.Fuzz(func(t *testing.T, mode string, c []byte) {
		name, more := strings.CutPrefix(mode, "+")
		if len(c) > 1<<14 || more && len(c) > 64 || modes[name] == nil {
			return
		}
		var rest io.Reader
		if more {
			rest = rand.NewChaCha8(sha256.Sum256(c))
		}
		if report := proptest.PlayOn(t, c, rest, inWorld(modes[name])); report != "" {
			t.Fatal(report)
		}
	})
}
