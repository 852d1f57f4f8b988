package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/tests/processor"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store/disk"
)

// smallItem is the size of the items of imports in bytes.
const smallItem = 71

func perSecond(x float64) string { return text.Figure(x) + " a second" }

// million measures sortkey import and export as a user runs them, the memory of a server
// that holds a million items, and a folder of ten million.
func (t *targets) million(ctx context.Context) (rows []Target, err error) {
	if t.Program == "" || len(t.Serve) == 0 {
		return []Target{Target{Measure: "import and export"}.skip("no command given")}, nil
	}
	dir, remove, err := t.tempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	debug.FreeOSMemory() // what others have measured is not to press on the commands
	n := t.items(1_000_000, 2000)
	lines, schema := filepath.Join(dir, "items.jsonl"), filepath.Join(dir, "table.json")
	if err := writeLines(lines, schema, n); err != nil {
		return nil, err
	}
	intoServer, memory, err := t.millionOverHTTP(ctx, lines, schema, n)
	if err != nil {
		return nil, err
	}
	rows = append(rows, intoServer)
	rows = append(rows, memory...)

	folder := filepath.Join(dir, "folder")
	one, err := t.command(ctx, n, "import", lines, "--schema", schema, "--data", folder, "--no-journal")
	if err != nil {
		return nil, err
	}
	rows = append(rows, one.target("import of a million items of 71 bytes into a folder", 400_000))
	out, err := t.command(ctx, n, "export", work.TableName, "--data", folder, "--to", filepath.Join(dir, "out"))
	if err != nil {
		return nil, err
	}
	rows = append(rows, out.target("export of a million items of 71 bytes from a folder", 300_000))
	for _, file := range []string{folder, filepath.Join(dir, "out")} {
		if err := os.RemoveAll(file); err != nil {
			return nil, err
		}
	}

	n *= 10
	if err := writeLines(lines, schema, n); err != nil {
		return nil, err
	}
	ten, err := t.command(ctx, n, "import", lines, "--schema", schema, "--data", folder, "--no-journal")
	if err != nil {
		return nil, err
	}
	rows = append(rows, ten.target("import of 10 million items of 71 bytes into a folder", 300_000))
	opened, err := t.opening(ctx, folder, n)
	return append(rows, opened...), err
}

// writeLines writes a file of items in the order of their numbers, and the table's description.
func writeLines(lines, schema string, n int) (err error) {
	shape := work.Shape{Items: n, Collection: 1000, Size: smallItem}
	if err := os.WriteFile(schema, shape.CreateBody(), 0o600); err != nil {
		return err
	}
	f, err := os.Create(lines) //nolint:gosec // in our own folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for i := range n {
		line = append(shape.ItemJSON(append(line[:0], `{"Item":`...), i, 0), "}\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// A commandRun is one run of Sortkey's command.
type commandRun struct {
	items     int
	took      time.Duration
	processor time.Duration
	resident  uint64 // the most that was seen, in bytes
}

// lookEvery is how often the memory of a command is looked at.
const lookEvery = 20 * time.Millisecond

func (r commandRun) rate() float64 { return float64(r.items) / r.took.Seconds() }

func (r commandRun) target(name string, bound float64) Target {
	return atLeast(
		name, bound, r.rate(), perSecond, "%s, %s of processor time an item, %s resident",
		measure.Duration(float64(r.took)), measure.Duration(float64(r.processor)/float64(r.items)),
		text.Size(float64(r.resident)),
	)
}

// command runs Sortkey's command over a number of items.
func (t *targets) command(ctx context.Context, items int, args ...string) (r commandRun, err error) {
	t.say("sortkey %s of %d items", args[0], items)
	cmd := exec.CommandContext(ctx, t.Program, args...) //nolint:gosec // the caller's own program
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	// What the system reports of an ended process is at least what this one had when it began.
	for look := time.NewTicker(lookEvery); ; {
		select {
		case <-look.C:
			r.resident = max(r.resident, measure.Resident(cmd.Process.Pid))
			continue
		case err = <-ended:
		}
		look.Stop()
		break
	}
	if err != nil {
		return r, fmt.Errorf("sortkey %s: %w: %s", args[0], err, &out)
	}
	r.items, r.took = items, time.Since(begin)
	r.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r, nil
}

// millionOverHTTP imports a file into a server in memory, and looks at its memory then.
func (t *targets) millionOverHTTP(
	ctx context.Context, lines, schema string, n int,
) (into Target, memory []Target, err error) {
	s, err := serve(ctx, t.Serve)
	if err != nil {
		return into, nil, err
	}
	defer s.stop()
	pid := s.cmd.Process.Pid
	run, err := t.command(ctx, n, "import", lines, "--schema", schema, "--endpoint", s.url, "--no-journal")
	if err != nil {
		return into, nil, err
	}

	into = run.target("import of a million items of 71 bytes into a server in memory", 200_000)
	into.Detail += fmt.Sprintf("; the server %s an item", measure.Duration(float64(processor.Time(pid))/float64(n)))
	for _, step := range []struct {
		name  string
		after time.Duration
		bound float64
	}{{"five seconds", 5 * time.Second, 230 << 20}, {"two minutes", 2 * time.Minute, 150e6}} {
		wait := step.after
		if t.quick {
			wait = time.Millisecond
		}

		select {
		case <-ctx.Done():
			return into, nil, context.Cause(ctx)
		case <-time.After(wait):
		}

		resident := float64(measure.Resident(pid))
		row := atMost(
			"resident memory of a server with a million items of 71 bytes, "+step.name+" after their import",
			step.bound, resident, text.Size, "%.0f bytes an item", resident/float64(n),
		)
		if resident == 0 {
			row = row.skip("this system does not report it")
		}
		memory = append(memory, row)
	}
	return into, memory, nil
}

// opening opens a folder again and again, and reads ten rows first.
func (t *targets) opening(ctx context.Context, folder string, n int) ([]Target, error) {
	var opens, firsts []float64
	shape := work.Shape{Items: n, Collection: 1000, Size: smallItem}
	calls := work.Find("query-10").Calls(shape, 16, t.Seed)
	for i := range t.items(9, 2) {
		begin := time.Now()
		st, err := disk.Open(folder, disk.Options{})
		if err != nil {
			return nil, err
		}

		db, err := sortkey.Open(sortkey.Options{Store: st})
		if err != nil {
			return nil, errors.Join(err, st.Close())
		}
		opens = append(opens, float64(time.Since(begin)))
		api, err := layer.New(layer.API, &layer.Data{API: inside.Service(db), Shape: shape}, false)
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}

		first, err := api.Prepare(ctx, &calls[i])
		if err == nil {
			begin = time.Now()
			_, _, err = first(ctx, new(measure.Scratch))
			firsts = append(firsts, float64(time.Since(begin)))
		}

		if err = errors.Join(err, db.Close()); err != nil {
			return nil, err
		}
	}

	detail := "median of %d, the system's cache of files warm"
	return []Target{
		atMost(
			"opening a folder of 10 million items", 30e6, measure.Median(opens), measure.Duration, detail, len(opens),
		),
		atMost(
			"first query of ten rows after it, nothing in Pebble's cache", 1e6, measure.Median(firsts),
			measure.Duration, detail, len(firsts),
		),
	}, nil
}
