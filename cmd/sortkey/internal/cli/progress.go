package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/text"
)

// A bar shows the progress of an import or export, if standard error is a terminal. It also reports waits for an
// endpoint, whether or not standard error is a terminal.
type bar struct {
	stderr   io.Writer
	help     string // what to do about waits
	mu       sync.Mutex
	status   *app.Status
	reported time.Time // of the last report
	advised  bool
}

func newBar(env *app.Env, help string) *bar {
	return &bar{stderr: env.Stderr, help: help, status: env.Status()}
}

func (b *bar) show(p transfer.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := p.Phase
	if p.Items > 0 {
		what += " " + text.Count(p.Items, "item")
	}
	if p.Total > 0 {
		what += fmt.Sprintf(", %d%% of %s", 100*p.Bytes/p.Total, text.Size(p.Total))
	}
	b.status.Show("%s", what)
}

func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.Clear()
}

// reportInterval is the time between two reports about waits.
const reportInterval = time.Second

// wait reports that a request waits because an endpoint does not answer or is overloaded. It reports at most one
// failed attempt a second, but it always reports the failure before the last attempt.
func (b *bar) wait(w transfer.Wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.Tries < w.Of-1 && time.Since(b.reported) < reportInterval {
		return
	}
	b.status.Clear()
	b.reported = time.Now()
	fmt.Fprintf(b.stderr, "sortkey: waiting for %s: %s (attempt %d of %d failed, next one in %s)\n",
		w.Endpoint, w.Reason, w.Tries, w.Of, w.Pause.Round(time.Millisecond))
	if !b.advised {
		b.advised = true
		fmt.Fprintf(b.stderr, "hint: %s\n", b.help)
	}
}
