package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sortkey/sortkey/bench/layer"
	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/tests/processor"
)

// processorTargets bound the processor time of our server for a request: at most
// canned times that of a bare net/http handler with the same bytes, and at least
// dynoxide times less than that of dynoxide. 0 is no bound.
var processorTargets = []struct {
	workload, name   string
	canned, dynoxide float64
}{
	{"get", "GetItem", 1.2, 1.4},
	{"put", "put", 1.5, 4},
	{"update", "update", 0, 4},
	{"query-10", "10 rows", 1.5, 6},
	{"query-100", "100 rows", 2.2, 10},
	{"page", "1 MB page", 5, 17},
}

const (
	processorRounds   = 15
	processorDuration = 200 * time.Millisecond
	processorPeer     = "dynoxide"
)

// processor measures the processor time that servers take for a request, each in a
// process of its own.
func (t *targets) processor(ctx context.Context) (rows []Target, err error) {
	const cannedName = "HTTP, 8 clients, processor time of the server against a bare net/http handler " +
		"with the same bytes: "
	const peerName = "HTTP, 8 clients, processor time of the server against dynoxide: "
	var peer *Endpoint
	for i := range t.Endpoints {
		if e := &t.Endpoints[i]; e.Name == processorPeer && e.Process != 0 {
			peer = e
		}
	}

	var why string
	switch {
	case len(t.Serve) == 0 || len(t.Canned) == 0:
		why = "no commands given that serve"
	case processor.Time(os.Getpid()) == 0:
		why = "this system does not report the processor time of a process"
	}

	var ours, theirs *layer.Remote
	var process int
	if why == "" {
		shape := work.Find("page").Shape(t.Size)
		s, err := serve(ctx, t.Serve)
		if err != nil {
			return nil, err
		}
		defer s.stop()
		process = s.cmd.Process.Pid
		if ours, err = t.remote(ctx, s.url, shape); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, ours.Close()) }()
		if peer != nil {
			if theirs, err = t.remote(ctx, peer.URL, shape); err != nil {
				return nil, fmt.Errorf("%s: %w", peer.Name, err)
			}
			theirs.Exact = false
			defer func() { err = errors.Join(err, theirs.Drop(context.WithoutCancel(ctx)), theirs.Close()) }()
		}
	}

	for _, p := range processorTargets {
		canned := atMost(cannedName+p.name, p.canned, 0, measure.Times, "")
		against := atLeast(peerName+p.name+", times less", p.dynoxide, 0, measure.Times, "")
		if why != "" {
			canned, against = canned.skip(why), against.skip(why)
		} else {
			all, err := t.processorOf(ctx, p.workload, ours, process, theirs, peer)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.workload, err)
			}
			mine, bare := all[0].ProcessorPerOp(), all[1].ProcessorPerOp()
			r, _ := measure.RatioOf(mine, bare)
			canned = atMost(canned.Measure, p.canned, r.Median, measure.Times, "%s; %s, bare %s", spread(r),
				measure.Duration(measure.Median(mine)), measure.Duration(measure.Median(bare)))
			if len(all) == 3 {
				r, _ := measure.RatioOf(all[2].ProcessorPerOp(), mine)
				against = atLeast(against.Measure, p.dynoxide, r.Median, measure.Times, "%s; %s, theirs %s", spread(r),
					measure.Duration(measure.Median(mine)), measure.Duration(measure.Median(all[2].ProcessorPerOp())))
			} else {
				against = against.skip("needs an endpoint called " + processorPeer + " with its --process")
			}
		}
		if p.canned > 0 {
			rows = append(rows, canned)
		}
		rows = append(rows, against)
	}
	return rows, nil
}

// processorOf measures a workload on our server, on a new bare one and on a peer.
func (t *targets) processorOf(
	ctx context.Context, workload string, ours *layer.Remote, process int, theirs *layer.Remote, peer *Endpoint,
) ([]*measure.Series, error) {
	t.say("processor time: %s", workload)
	calls := t.calls(work.Find(workload), ours.Shape)
	answers, err := layer.NewAnswers(ctx, ours, calls)
	if err != nil {
		return nil, err
	}

	var input bytes.Buffer
	if err := answers.Write(&input); err != nil {
		return nil, err
	}
	s, err := feed(ctx, t.Canned, &input)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	wire, err := layer.NewWire(s.url)
	if err != nil {
		return nil, err
	}

	bare := &layer.Remote{Wire: wire, Shape: ours.Shape, Exact: true}
	defer bare.Close()
	remotes, processes := []*layer.Remote{ours, bare}, []int{process, s.cmd.Process.Pid}
	if theirs != nil {
		remotes, processes = append(remotes, theirs), append(processes, peer.Process)
	}

	var all []*measure.Series
	for i, r := range remotes {
		r.Begin()
		ops, err := prepare(ctx, r, calls)
		if err != nil {
			return nil, err
		}
		series := measure.NewSeries(fmt.Sprint(processes[i]), ops, peerWorkers)
		series.Process = processes[i]
		all = append(all, series)
	}

	return all, measure.Alternate(
		ctx, all, t.items(processorRounds, 2), time.Duration(t.items(int(processorDuration), int(10*time.Millisecond))),
	)
}

// remote fills a table at an endpoint, which must not have it.
func (t *targets) remote(ctx context.Context, url string, shape work.Shape) (*layer.Remote, error) {
	wire, err := layer.NewWire(url)
	if err != nil {
		return nil, err
	}
	r := &layer.Remote{Wire: wire, Shape: shape, Exact: true}
	if err := r.Create(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}
