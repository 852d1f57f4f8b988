package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/text"
)

// A bar shows progress on a terminal. It reports waits everywhere.
type bar struct {
	stderr   io.Writer
	help     string // what to do about waits
	mu       sync.Mutex
	w        io.Writer // nil unless on a terminal
	bar      *progressbar.ProgressBar
	phase    string
	reported time.Time // of the last report
	advised  bool
}

func newBar(env *app.Env, help string) *bar {
	b := &bar{stderr: env.Stderr, help: help}
	f, ok := env.Stderr.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && env.Getenv("TERM") != "dumb" {
		b.w = f
	}
	return b
}

func (b *bar) show(p transfer.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w == nil {
		return
	}

	total := p.Total
	if total == 0 {
		total = -1
	}
	if b.phase != p.Phase {
		b.clear()
		b.phase = p.Phase
		b.bar = progressbar.NewOptions64(
			total, progressbar.OptionSetWriter(b.w), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowBytes(total > 0),
			progressbar.OptionUseANSICodes(false),
		)
	}

	if p.Items > 0 {
		b.bar.Describe(fmt.Sprintf("%s %s items", p.Phase, text.Thousands(p.Items)))
	} else {
		b.bar.Describe(p.Phase)
	}

	n := p.Bytes
	if total < 0 {
		n = p.Items
	}
	_ = b.bar.Set64(n) // continue without a terminal
}

func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
}

func (b *bar) clear() {
	if b.bar != nil {
		_ = b.bar.Clear()
		b.bar, b.phase = nil, ""
	}
}

// reportInterval is the time between two reports about one endpoint.
const reportInterval = time.Second

// wait reports an endpoint that does not answer or is overloaded. It reports one
// request a second of those that wait for it, and each that fails for the last but one time.
func (b *bar) wait(w transfer.Wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.Tries < w.Of-1 && time.Since(b.reported) < reportInterval {
		return
	}
	b.clear()
	b.reported = time.Now()
	fmt.Fprintf(b.stderr, "sortkey: waiting for %s: %s (attempt %d of %d failed, next one in %s)\n",
		w.Endpoint, w.Reason, w.Tries, w.Of, w.Pause.Round(time.Millisecond))
	if !b.advised {
		b.advised = true
		fmt.Fprintf(b.stderr, "hint: %s\n", b.help)
	}
}
