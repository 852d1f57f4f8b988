package fuzz_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/prop"
)

var (
	seedFlag   = flag.Int64("seed", envInt("SORTKEY_SEED", 0), "the seed of the properties; 0 takes one from the clock")
	checksFlag = flag.Float64("checks", float64(envInt("SORTKEY_CHECKS", 1)), "multiplies the number of random cases")
)

func envInt(name string, def int64) int64 {
	if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return def
}

// TestMain gives gopter and rapid one seed and one number of cases.
func TestMain(m *testing.M) {
	flag.Parse()
	if *seedFlag == 0 {
		*seedFlag = time.Now().UnixNano() & (1<<53 - 1)
	}
	set := func(name, value string) {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue { // not given itself
			if err := f.Value.Set(value); err != nil {
				panic(err)
			}
		}
	}
	set("rapid.seed", strconv.FormatInt(*seedFlag, 10))
	set("rapid.checks", strconv.Itoa(cases(100)))
	// The fuzzer would spend nearly all of its time on making inputs smaller
	// that are only new, not wrong.
	set("test.fuzzminimizetime", "200x")
	os.Exit(m.Run())
}

// cases returns how many cases to run of something that has n by default.
func cases(n int) int {
	if testing.Short() {
		n = (n + 4) / 5
	}
	return max(1, int(float64(n)**checksFlag))
}

// parameters are those of a gopter property with n cases.
func parameters(n int) *gopter.TestParameters {
	p := gopter.DefaultTestParametersWithSeed(*seedFlag)
	p.MinSuccessfulTests = cases(n)
	return p
}

// A reporter tells a test what gopter found.
type reporter struct {
	*testing.T
	fail func(arg any) // called with the argument of a failed property
}

func (r reporter) ReportTestResult(name string, result *gopter.TestResult) {
	if result.Passed() {
		return
	}
	r.Errorf("%s is false after %d cases; run again with -seed=%d\n%s%v%s", name, result.Succeeded, *seedFlag,
		strings.Join(result.Labels, "\n"), result.Error, result.ErrorStack)
	for _, arg := range result.Args {
		if r.fail != nil {
			r.fail(arg.Arg)
			continue
		}
		r.Logf("%s%s", arg.Label, arg.ArgFormatted)
	}
}

// A choice is the case of a property: a tape and the mode it is played in.
type choice []byte

func (c choice) String() string { return fmt.Sprintf("%d choices", len(c)) }

// A patience ends shrinking some time after the first failure.
type patience struct{ failed time.Time }

// note takes the result of a case.
func (p *patience) note(report string) string {
	if report != "" && p.failed.IsZero() {
		p.failed = time.Now()
	}
	return report
}

func (p *patience) over() bool { return !p.failed.IsZero() && time.Since(p.failed) > 15*time.Second }

// genChoices makes tapes. They shrink by losing parts, then by choosing less.
func genChoices(least, most int, p *patience) gopter.Gen {
	shrink := func(v any) gopter.Shrink { return shrinkChoices(v.(choice), p) }
	return func(params *gopter.GenParameters) *gopter.GenResult {
		c := make(choice, least+params.Rng.Intn(most-least))
		params.Rng.Read(c)
		return gopter.NewGenResult(c, shrink)
	}
}

func shrinkChoices(c choice, p *patience) gopter.Shrink {
	step := len(c) / 2
	at, zero := 0, false
	return func() (any, bool) {
		for step > 0 && !p.over() {
			if at >= len(c) {
				if at = 0; zero {
					step /= 2
				}
				zero = !zero
				continue
			}
			end := min(at+step, len(c))
			out := append(choice{}, c...)
			if zero {
				clear(out[at:end])
			} else {
				out = append(out[:at], out[end:]...)
			}
			at = end
			if zero && string(out) == string(c) {
				continue
			}
			return out, true
		}
		return nil, false
	}
}

// play runs a case. It returns "" or what went wrong and how it came to it.
func play(tp *tape, run func(w *world)) (report string) {
	rec := &recorder{}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			report = "\n" + strings.Join(rec.lines, "\n") + "\n" + e.msg + "\n"
		default:
			report = fmt.Sprintf("\n%s\npanic: %v\n%s", strings.Join(rec.lines, "\n"), e, debug.Stack())
		}
	}()
	w := newWorld(rec, draw{tp})
	defer func() { _ = w.db.Close() }()
	run(w)
	return ""
}

// property checks a property of tapes with gopter. A failing tape is kept as a
// seed of FuzzQuery, whose modes are the properties.
func property(t *testing.T, mode string, n, least, most int) {
	run := modes[mode]
	p, wait := gopter.NewProperties(parameters(n)), new(patience)
	p.Property(mode, prop.ForAll(func(c choice) string { return wait.note(play(&tape{rest: c}, run)) }, genChoices(least, most, wait)))
	p.Run(reporter{t, func(arg any) {
		c := arg.(choice)
		name := filepath.Join("testdata", "fuzz", "FuzzQuery", fmt.Sprintf("%x", sha256.Sum256(c))[:16])
		file := fmt.Sprintf("go test fuzz v1\nstring(%q)\n[]byte(%q)\n", mode, []byte(c))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err == nil {
			err = os.WriteFile(name, []byte(file), 0o644)
			t.Logf("kept as %s (%v); run it with -run FuzzQuery/%s", name, err, filepath.Base(name))
		}
	}})
}

// modes are the properties of tapes.
var modes = map[string]func(*world){
	"query": func(w *world) {
		m := w.fill(4, 30)
		for range 1 + w.choose(30) {
			if w.often(10) {
				w.illegal(w.view(m))
				continue
			}
			w.run(w.newRead(w.view(m)))
		}
	},
	"start": func(w *world) {
		m := w.fill(3, 25)
		for range 1 + w.choose(20) {
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
		for range 1 + w.choose(4) {
			w.joined(w.newRead(w.view(m)))
		}
	},
	"changes": func(w *world) {
		m := w.fill(3, 30)
		for range 1 + w.choose(4) {
			w.stable(w.newRead(w.view(m)))
		}
		w.check()
	},
	"index": func(w *world) { // what an index answers is a filter over the table
		m := w.fill(4, 25)
		for range 1 + w.choose(3) {
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
			it["p"] = text(strings.Repeat("y", w.choose(100_000)))
			w.writeItem(m, "PutItem", "Item", it, it)
		}
		for _, v := range m.views() {
			w.pages(&read{view: v}, nil)
			w.joined(w.newRead(v))
		}
	},
	"history": func(w *world) {
		for range 1 + w.choose(60) {
			w.step()
		}
		w.check()
	},
}

// fill makes a table with some items.
func (w *world) fill(indexes, items int) *model {
	m := w.createTable(indexes)
	w.Logf("%s", m.describe())
	for range w.choose(items + 1) {
		w.write(m)
	}
	return m
}

// filtered checks that an index has the items of a scan of the table that have
// its keys: each answer of the database against another.
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

func TestPropertyQuery(t *testing.T)   { t.Parallel(); property(t, "query", 1200, 200, 3000) }
func TestPropertyStart(t *testing.T)   { t.Parallel(); property(t, "start", 800, 200, 3000) }
func TestPropertyPages(t *testing.T)   { t.Parallel(); property(t, "pages", 500, 200, 3000) }
func TestPropertyChanges(t *testing.T) { t.Parallel(); property(t, "changes", 500, 200, 3000) }
func TestPropertyIndex(t *testing.T)   { t.Parallel(); property(t, "index", 250, 200, 3000) }
func TestPropertyLarge(t *testing.T)   { t.Parallel(); property(t, "large", 6, 3000, 6000) }

// FuzzQuery plays tapes: their bytes make the tables, the items and the
// requests, in one of the modes above. After a + the mode goes on with random
// choices when the tape is at its end, so that short tapes make whole cases.
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
		tp := &tape{rest: c}
		if more {
			tp.more = rand.NewChaCha8(sha256.Sum256(c))
		}
		if report := play(tp, modes[name]); report != "" {
			t.Fatal(report)
		}
	})
}
