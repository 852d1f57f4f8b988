package gate

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// An operation in the function of a transaction that does not have the transaction's context
// may wait for itself. To find that out, a transaction has a number, and its function is called
// through inside, which writes the number on the stack: each of its frames is at the call of one
// digit. Only operations that would wait, or that change all tables, look for it there.

// digits is how many digits of base 16 the number of a transaction has.
const digits = 6

// inside calls the function of a transaction below frames for the digits of its number. The last
// argument keeps the calls apart, which the compiler might otherwise join.
//
//go:noinline
func inside(ctx context.Context, fn func(context.Context) error, number uint32, left, _ int) error {
	if left == 0 {
		return fn(ctx)
	}
	digit := number & 15
	left, number = left-1, number>>4
	switch digit {
	case 0:
		return inside(ctx, fn, number, left, 0)
	case 1:
		return inside(ctx, fn, number, left, 1)
	case 2:
		return inside(ctx, fn, number, left, 2)
	case 3:
		return inside(ctx, fn, number, left, 3)
	case 4:
		return inside(ctx, fn, number, left, 4)
	case 5:
		return inside(ctx, fn, number, left, 5)
	case 6:
		return inside(ctx, fn, number, left, 6)
	case 7:
		return inside(ctx, fn, number, left, 7)
	case 8:
		return inside(ctx, fn, number, left, 8)
	case 9:
		return inside(ctx, fn, number, left, 9)
	case 10:
		return inside(ctx, fn, number, left, 10)
	case 11:
		return inside(ctx, fn, number, left, 11)
	case 12:
		return inside(ctx, fn, number, left, 12)
	case 13:
		return inside(ctx, fn, number, left, 13)
	case 14:
		return inside(ctx, fn, number, left, 14)
	default:
		return inside(ctx, fn, number, left, 15)
	}
}

const insideName = "github.com/sortkey/sortkey/internal/table/gate.inside"

// code is where a function is in memory.
type code struct{ begin, end uintptr }

func (c code) has(pc uintptr) bool { return c.begin < pc && pc <= c.end } // a caller's is after its call

// insideCode is where inside is, which is compiled as a function of its own.
var insideCode = sync.OnceValue(func() code {
	f := runtime.FuncForPC(reflect.ValueOf(inside).Pointer())
	c := code{f.Entry(), f.Entry()}
	for next := f; next != nil && next.Entry() == f.Entry(); next = runtime.FuncForPC(c.end) {
		c.end++
	}
	return c
})

// digitLines are the digits by the lines of their calls in inside.
var digitLines = sync.OnceValue(func() map[int]uint32 {
	lines := map[int]uint32{}
	for digit := range uint32(16) {
		_ = inside(context.Background(), func(context.Context) error {
			calls := 0
			for frame := range frames(stack()) {
				if frame.Function == insideName {
					if calls++; calls == 2 { // the first one calls this function
						lines[frame.Line] = digit
					}
				}
			}
			return nil
		}, digit, 1, 0)
	}
	return lines
})

// lastNumber is the number of the last transaction of all gates.
var lastNumber atomic.Uint32

// numbers are the transactions of a gate whose functions run.
type numbers struct {
	mu  sync.Mutex
	all map[uint32]bool // whether they write
}

func (n *numbers) add(number uint32, writes bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = map[uint32]bool{}
	}
	n.all[number] = writes
}

func (n *numbers) remove(number uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.all, number)
}

func (n *numbers) get(number uint32) (writes, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	writes, ok = n.all[number]
	return writes, ok
}

// Inside calls the function of a transaction, which writes or only reads.
func (g *Gate) Inside(ctx context.Context, writes bool, fn func(context.Context) error) error {
	number := lastNumber.Add(1) & (1<<(4*digits) - 1)
	g.numbers.add(number, writes)
	defer g.numbers.remove(number)
	if writes {
		g.running.Add(1)
		defer g.running.Add(-1)
	}
	return inside(ctx, fn, number, digits, 0)
}

// OutsideUpdates returns an [InsideError] if this goroutine is in the function of an update, with
// whatever context, so that it must not wait for updates.
func (g *Gate) OutsideUpdates() error {
	if g.running.Load() == 0 {
		return nil
	}
	return g.outside(true)
}

// Outside is OutsideUpdates for transactions that only read, too.
func (g *Gate) Outside() error { return g.outside(false) }

func (g *Gate) outside(updates bool) error {
	callers := stack()
	if code := insideCode(); !slices.ContainsFunc(callers, code.has) { // the usual case, without names of functions
		return nil
	}
	var number uint32
	found := -1 // digits of the number, -1 for none
	var began bool
	for frame := range frames(callers) {
		switch {
		case began:
			if !isOurs(frame.Function) {
				return &InsideError{placeOf(callers), fmt.Sprintf("%s:%d", frame.File, frame.Line)}
			}
		case frame.Function != insideName:
		case found < 0: // the call of the transaction's function
			number, found = 0, 0
		default:
			number = number<<4 | digitLines()[frame.Line]
			if found++; found == digits {
				writes, ok := g.numbers.get(number)
				began, found = ok && (writes || !updates), -1
			}
		}
	}
	if began {
		return &InsideError{placeOf(callers), unknownPlace}
	}

	return nil
}

// stack returns the callers of a function of this package.
func stack() []uintptr {
	callers := make([]uintptr, 64)
	for {
		n := runtime.Callers(3, callers)
		if n < len(callers) {
			return callers[:n]
		}
		callers = make([]uintptr, 2*len(callers))
	}
}

// frames yields the frames of callers.
func frames(callers []uintptr) func(func(runtime.Frame) bool) {
	return func(yield func(runtime.Frame) bool) {
		list := runtime.CallersFrames(callers)
		for {
			frame, more := list.Next()
			if frame.PC != 0 && !yield(frame) || !more {
				return
			}
		}
	}
}

// An InsideError is the error of a call that would wait for the transaction that it is in.
type InsideError struct {
	// Place is the file and line of the call, and Began those of the transaction.
	Place, Began string
}

// Error says what to do, too.
func (e *InsideError) Error() string {
	return fmt.Sprintf("sortkey: the call at %s would wait for the transaction that it is in, which began at %s: "+
		"use the context of the transaction, or make the call before or after it", e.Place, e.Began)
}

// Refusal marks the error as one that has changed nothing.
func (e *InsideError) Refusal() {}

// Misuse marks the error as a fault of the calling program.
func (e *InsideError) Misuse() {}

// ours begins the names of functions that are not the caller's of an operation: the database, and
// what lies between it and the caller.
var ours = []string{
	"github.com/sortkey/sortkey.", "github.com/sortkey/sortkey/internal/", "github.com/sortkey/sortkey/sdk.",
	"github.com/sortkey/sortkey/server.", "github.com/sortkey/sortkey/store/",
	"github.com/sortkey/sortkey/sortkeytest.", "github.com/aws/", "runtime.", "context.", "sync.", "iter.", "net/http.",
}

func isOurs(function string) bool {
	return slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// unknownPlace is the place of what no function of the caller's calls, such as the database's own
// work in the background, and requests over HTTP.
const unknownPlace = "no caller in this program"

// placeOf returns the file and line of the caller of an operation.
func placeOf(callers []uintptr) string {
	for frame := range frames(callers) {
		if !isOurs(frame.Function) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
	return unknownPlace
}
