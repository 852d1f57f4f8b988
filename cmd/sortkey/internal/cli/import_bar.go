package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
)

// A bar shows progress on a terminal, and nothing elsewhere. What an import or
// export waits for is told everywhere.
type bar struct {
	stderr  io.Writer
	advice  string // what to do about waiting
	mu      sync.Mutex
	w       io.Writer // nil for none
	bar     *progressbar.ProgressBar
	phase   string
	tries   int       // told of
	told    time.Time // when
	advised bool
}

func (a *App) newBar(advice string) *bar {
	b := &bar{stderr: a.Stderr, advice: advice}
	f, ok := a.Stderr.(*os.File)
	if ok && term.IsTerminal(int(f.Fd())) && a.Getenv("TERM") != "dumb" {
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
		b.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(b.w), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30), progressbar.OptionShowBytes(total > 0),
			progressbar.OptionUseANSICodes(false))
	}
	if p.Items > 0 {
		b.bar.Describe(fmt.Sprintf("%s %s items", p.Phase, count(p.Items)))
	} else {
		b.bar.Describe(p.Phase)
	}
	n := p.Bytes
	if total < 0 {
		n = p.Items
	}
	_ = b.bar.Set64(n) // a terminal that is gone is no reason to stop
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

// often is how often an endpoint that keeps many requests waiting is told of.
const often = time.Second

// wait tells of an endpoint that does not answer, or has no time. Several
// requests wait for it at once; the one that has waited longest is told of.
func (b *bar) wait(w transfer.Wait) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case w.Tries == 0:
		b.clear()
		b.tries = 0
		fmt.Fprintf(b.stderr, "sortkey: %s answers again\n", w.Endpoint)
		return
	case w.Tries <= b.tries, w.Tries < w.Of-1 && time.Since(b.told) < often:
		return
	}
	b.clear()
	b.tries, b.told = w.Tries, time.Now()
	fmt.Fprintf(b.stderr, "sortkey: waiting for %s: %s (try %d of %d failed, the next is in %s)\n",
		w.Endpoint, w.Reason, w.Tries, w.Of, w.Pause.Round(time.Millisecond))
	if !b.advised {
		b.advised = true
		fmt.Fprintf(b.stderr, "hint: %s\n", b.advice)
	}
}
