package apitest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/store"
)

// swift is the longest time that a pair occupies a slot; the slots limit how many pairs run at once. A pair that has
// not ended by then is probably waiting, and not computing, so the next pair may begin.
const swift = time.Second

// Matrix calls every method of a table within a transaction while another goroutine calls a method of the database or
// changes a table. It also makes these other calls inside a transaction. Each pair of calls has a database of its
// own. Matrix prints how the pairs ended. It fails if a pair hangs, if an error cannot be explained by the other
// call, or if the database is not usable afterwards.
//
// The function open returns an empty store, or nil for a new one in memory. Pause is how long a transaction waits for
// the other call, because Matrix cannot see whether that call is waiting. With a shorter pause, a pair that would
// hang may pass.
func Matrix(t *testing.T, pause time.Duration, open func(t *testing.T) store.Store) {
	m := &matrix{t: t, pause: pause, dir: t.TempDir(), slots: make(chan struct{}, 8*runtime.GOMAXPROCS(0))}
	for _, view := range []bool{false, true} {
		for i := range matrixOthers {
			for j := range matrixMethods {
				m.begin(&cell{view: view, method: &matrixMethods[j], other: &matrixOthers[i]}, open)
			}
			if !matrixOthers[i].alone {
				m.begin(&cell{view: view, other: &matrixOthers[i]}, open)
			}
		}
	}
	m.running.Wait()
	m.report()
	for _, c := range m.cells {
		c.cancel()
	}
}

// A matrix holds all pairs for one engine.
type matrix struct {
	t       *testing.T
	pause   time.Duration
	dir     string
	slots   chan struct{} // limits the pairs that run at once; see swift
	running sync.WaitGroup
	cells   []*cell
}

// A cell is one pair of calls: a method in a transaction, and another call beside the transaction. If the method is
// nil, the cell has only the other call, which runs in the transaction.
type cell struct {
	*subject
	view          bool
	method, other *matrixCall
	cancel        context.CancelFunc

	watch
	// within is the error of the transaction. beside is the error of the other call.
	within, beside error
	broken         string // error before the pair began or after it ended
}

func (c *cell) transaction() string {
	if c.view {
		return "View"
	}
	return "Update"
}

func (c *cell) String() string {
	if c.method == nil {
		return fmt.Sprintf("%s inside %s", c.other.name, c.transaction())
	}
	return fmt.Sprintf("%s in %s beside %s", c.method.name, c.transaction(), c.other.name)
}

// begin starts a pair in goroutines that have the pair's name as a label. If the pair hangs, its goroutines stay
// until the process ends.
func (m *matrix) begin(c *cell, open func(t *testing.T) store.Store) {
	m.slots <- struct{}{}
	free := sync.OnceFunc(func() { <-m.slots })
	c.subject = newSubject(m.t, open(m.t), filepath.Join(m.dir, strconv.Itoa(len(m.cells))))
	ctx, cancel := context.WithCancel(m.t.Context())
	c.cancel = cancel
	m.cells = append(m.cells, c)
	m.running.Go(func() {
		defer free()
		defer time.AfterFunc(swift, free).Stop()
		pprof.Do(ctx, pprof.Labels(label, c.String()), func(ctx context.Context) { c.run(ctx, m.pause) })
	})
}

func (c *cell) run(ctx context.Context, pause time.Duration) {
	if err := c.inTime("making the tables", func() error { return c.fill(ctx, 3) }); err != nil || c.hung != "" {
		c.broken = fmt.Sprint("making the tables: ", err)
		return
	}
	if c.method == nil {
		c.runInside(ctx)
	} else {
		c.runBeside(ctx, pause)
	}
	if c.hung != "" {
		return
	}

	if c.other.name != "Close" {
		if err := c.inTime("the next calls", func() error { return c.use(ctx) }); err != nil {
			c.broken = fmt.Sprint("the next calls: ", err)
		}
	}
	if err := c.inTime("Close after all", c.db.Close); err != nil {
		c.broken = fmt.Sprint("Close: ", err)
	}
}

// runBeside calls the method twice in a transaction, and meanwhile makes the other call outside of it.
func (c *cell) runBeside(ctx context.Context, pause time.Duration) {
	between, ended := make(chan struct{}), make(chan struct{})
	pass := sync.OnceFunc(func() { close(between) })
	transaction := begin("the transaction", func() error {
		defer pass()
		return c.transact(ctx, c.view, func(ctx context.Context) error {
			before := c.method.call(ctx, c.subject)
			pass()
			select {
			case <-ended:
			case <-time.After(pause):
			}
			return errors.Join(before, c.method.call(ctx, c.subject))
		})
	})
	other := begin(c.other.name, func() error {
		defer close(ended)
		<-between
		return c.other.call(ctx, c.subject)
	})
	limit := make(chan time.Time)
	defer time.AfterFunc(timeout, func() { close(limit) }).Stop()
	c.within = c.wait(transaction, limit)
	c.beside = c.wait(other, limit)
}

// runInside makes the other call in a transaction, with the transaction's context.
func (c *cell) runInside(ctx context.Context) {
	var inside error
	c.within = c.inTime("it", func() error {
		return c.transact(ctx, c.view, func(ctx context.Context) error {
			inside = c.other.call(ctx, c.subject)
			return nil
		})
	})
	if c.hung == "" {
		c.beside = inside
	}
}

// The signs of a matrix.
const (
	signEnded       = '.'
	signExplained   = 'e'
	signUnsupported = '-'
	signFailed      = 'E'
	signHangs       = 'H'

	legend = ". ended, e ended with an error that the other call explains, - not supported by the store, " +
		"E ended with another error, H hangs"
)

// sign returns the character that shows how a pair ended.
func (c *cell) sign() byte {
	switch {
	case c.hung != "":
		return signHangs
	case c.broken != "":
		return signFailed
	case errors.Is(c.beside, errors.ErrUnsupported):
		return signUnsupported
	case c.method == nil: // inside a transaction, every call may be refused
		return sign(c.beside != nil || c.within != nil, true)
	case c.view && c.method.writes:
		return sign(c.within != nil && c.beside == nil, true)
	}
	return sign(c.within != nil || c.beside != nil, c.other.ends && c.beside == nil)
}

func sign(failed, explained bool) byte {
	switch {
	case !failed:
		return signEnded
	case explained:
		return signExplained
	}
	return signFailed
}

func (c *cell) errors() string {
	var all []string
	for _, one := range []struct {
		of  string
		err error
	}{{"transaction", c.within}, {"other call", c.beside}} {
		if one.err != nil {
			all = append(all, one.of+": "+strings.ReplaceAll(one.err.Error(), "\n", "; "))
		}
	}
	if c.broken != "" {
		all = append(all, c.broken)
	}
	return strings.Join(all, " | ")
}

// report prints the matrix and fails the test for each pair that hangs or has failed.
func (m *matrix) report() {
	m.t.Helper()
	count := map[byte]int{}
	signs := map[string]byte{}
	for _, c := range m.cells {
		s := c.sign()
		signs[c.String()] = s
		count[s]++
	}
	m.t.Logf("%d pairs: %d ended, %d of them with an error; %d are not supported, %d failed, %d hang\n%s\n%s",
		len(m.cells), count[signEnded]+count[signExplained], count[signExplained], count[signUnsupported],
		count[signFailed], count[signHangs], legend, m.table(signs))

	stacks := labelled()
	shown := map[string]bool{}
	for _, c := range m.cells {
		switch signs[c.String()] {
		case signFailed:
			m.t.Errorf("%s: %s", c, c.errors())
		case signHangs:
			m.t.Errorf("%s hangs: %s", c, c.hung)
			// Other pairs with this call hang at the same places.
			if kind := c.transaction() + c.other.name; !shown[kind] {
				shown[kind] = true
				m.t.Log(stacks[c.String()])
			}
		case signExplained:
			if c.method == nil {
				m.t.Logf("%s: %s", c, c.errors())
			}
		}
	}
}

// table formats the signs. It has a column for each other call and, for each kind of transaction, a line for each
// method and a last line for the calls inside the transaction.
func (m *matrix) table(signs map[string]byte) string {
	var b strings.Builder
	b.WriteByte('\n')
	longest := 0
	for _, other := range matrixOthers {
		longest = max(longest, len(other.name))
	}
	const margin = "%-24s"
	for line := range longest { // print the names downwards
		fmt.Fprintf(&b, margin, "")
		for _, other := range matrixOthers {
			at := line - longest + len(other.name)
			if at < 0 {
				b.WriteString("  ")
				continue
			}
			fmt.Fprintf(&b, " %c", other.name[at])
		}
		b.WriteByte('\n')
	}

	for _, view := range []bool{false, true} {
		for j := range len(matrixMethods) + 1 {
			c := cell{view: view}
			name := "called inside"
			if j < len(matrixMethods) {
				c.method = &matrixMethods[j]
				name = c.method.name
			}
			fmt.Fprintf(&b, margin, fmt.Sprintf("%-7s %s", c.transaction(), name))
			for i := range matrixOthers {
				c.other = &matrixOthers[i]
				fmt.Fprintf(&b, " %c", signs[c.String()])
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
