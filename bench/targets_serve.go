package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/internal/text"
)

// serve measures the command: the time from its start to its first answer, its
// memory when idle, and the size of its file.
func (t *targets) serve(ctx context.Context) ([]Target, error) {
	var firsts []float64
	var resident, size int64
	rows := func() []Target {
		return []Target{
			atMost(
				"serve: time from start to the first answer", 30e6, measure.Median(firsts), measure.Duration,
				"median of %d starts, a ListTables each", len(firsts),
			),
			atMost(
				"serve: resident memory, idle", 26<<20, float64(resident), text.Size,
				"after one request, with the pages of the program's file",
			),
			atMost("serve: size of the program's file", 36<<20, float64(size), text.Size, "as this program was built"),
		}
	}
	if len(t.Serve) == 0 {
		skipped := rows()
		for i := range skipped {
			skipped[i] = skipped[i].skip("no command given that serves Sortkey")
		}
		return skipped, nil
	}

	for range t.items(7, 1) {
		first, rss, err := t.start(ctx)
		if err != nil {
			return nil, err
		}
		firsts, resident = append(firsts, first), max(resident, rss)
	}

	info, err := os.Stat(t.Serve[0])
	if err != nil {
		return nil, err
	}
	size = info.Size()
	all := rows()
	if resident == 0 {
		all[1] = all[1].skip("this system does not report it")
	}
	return all, nil
}

// start runs the command once, and returns the time of its first answer in
// nanoseconds and its resident memory in bytes.
func (t *targets) start(ctx context.Context) (first float64, resident int64, err error) {
	begin := time.Now()
	s, err := serve(ctx, t.Serve)
	if err != nil {
		return 0, 0, err
	}
	defer s.stop()
	w, err := layer.NewWire(s.url)
	if err != nil {
		return 0, 0, err
	}
	defer w.Close()
	out, status, err := w.Do(ctx, w.Request("DynamoDB_20120810.ListTables", []byte("{}")), nil)
	if err != nil {
		return 0, 0, err
	}
	if status != http.StatusOK {
		return 0, 0, fmt.Errorf("ListTables: %s", out)
	}
	first = float64(time.Since(begin))
	time.Sleep(time.Duration(t.items(300, 1)) * time.Millisecond)
	return first, int64(measure.Resident(s.cmd.Process.Pid)), nil //nolint:gosec // less than 2^63
}
