package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
)

// serve: the command from its start to its first answer, its memory when it
// does nothing, and its size.
func (t *targets) serve(ctx context.Context) ([]Target, error) {
	const (
		start  = "serve: from start to the first answer"
		memory = "serve: resident memory, idle"
		binary = "serve: size of the binary"
	)
	musts := []Target{{Measure: start, Must: "below 30 ms"}, {Measure: memory, Must: "below 25 MB"}, {Measure: binary, Must: "below 40 MB"}}
	if len(t.Serve) == 0 {
		for i := range musts {
			musts[i].Skipped = "no command is given"
		}
		return musts, nil
	}
	var firsts []float64
	var resident, file uint64
	for range t.items(7, 1) {
		first, rss, part, err := t.start(ctx)
		if err != nil {
			return nil, err
		}
		firsts, resident = append(firsts, first), max(resident, rss)
		file = max(file, part)
	}
	info, err := os.Stat(t.Serve[0])
	if err != nil {
		return nil, err
	}
	ns, mb := measure.Median(firsts), func(n float64) string { return fmt.Sprintf("%.1f MB", n/1e6) }
	rows := []Target{
		atMost(start, musts[0].Must, 30e6, ns, duration(ns), "median of %d starts, a ListTables each", len(firsts)),
		atMost(memory, musts[1].Must, 25e6, float64(resident), mb(float64(resident)), "after one request; %s of it are pages of the program file", mb(float64(file))),
		atMost(binary, musts[2].Must, 40e6, float64(info.Size()), mb(float64(info.Size())), "as built: %s", stripped()),
	}
	if resident == 0 {
		rows[1] = Target{Measure: memory, Must: musts[1].Must, Skipped: "this system does not say"}
	}
	return rows, nil
}

// start runs the command once.
func (t *targets) start(ctx context.Context) (first float64, resident, file uint64, err error) {
	begin := time.Now()
	s, err := serve(ctx, t.Serve)
	if err != nil {
		return 0, 0, 0, err
	}
	defer s.stop()
	w, err := layer.NewWire(s.url)
	if err != nil {
		return 0, 0, 0, err
	}
	defer w.Close()
	out, status, err := w.Do(ctx, w.Request("DynamoDB_20120810.ListTables", []byte("{}")), nil)
	if err != nil {
		return 0, 0, 0, err
	}
	if status != 200 {
		return 0, 0, 0, fmt.Errorf("ListTables: %s", out)
	}
	first = float64(time.Since(begin))
	time.Sleep(time.Duration(t.items(300, 1)) * time.Millisecond)
	pid := s.cmd.Process.Pid
	return first, measure.Resident(pid), measure.ResidentFile(pid), nil
}
