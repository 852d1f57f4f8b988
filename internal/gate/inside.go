package gate

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// An operation in the function of a transaction that does not have the transaction's context
// may wait for itself. To find that out, the function is called by inside, which leaves the
// gate and the kind of the transaction on the stack. Only operations that would wait, or
// that change all tables, look for them.

// The kinds of transactions, as they are on the stack.
const (
	insideUpdate uintptr = 0x75706474
	insideView   uintptr = 0x76696577
)

// inside calls the function of a transaction. Arrays are passed on the stack, where
// runtime.Stack finds them.
//
//go:noinline
func inside(ctx context.Context, fn func(context.Context) error, mark [2]uintptr) error {
	// While a panic or runtime.Goexit runs deferred functions of callers, this frame is still on the
	// stack, but the transaction has ended.
	defer func() { mark = [2]uintptr{} }()
	return fn(ctx)
}

var insideEntry = reflect.ValueOf(inside).Pointer()

// Inside calls the function of a transaction, which writes or only reads.
func (g *Gate) Inside(ctx context.Context, writes bool, fn func(context.Context) error) error {
	if !writes {
		return inside(ctx, fn, [2]uintptr{uintptr(unsafe.Pointer(g)), insideView})
	}
	g.running.Add(1)
	defer g.running.Add(-1)
	return inside(ctx, fn, [2]uintptr{uintptr(unsafe.Pointer(g)), insideUpdate})
}

// own returns an error if this goroutine is in the function of an update of the gate: it must not
// wait for updates. In a shared store they do not wait for each other.
func (g *Gate) own() error {
	if g.shared || g.running.Load() == 0 {
		return nil
	}
	return g.outside(insideUpdate)
}

// OutsideUpdates returns an [InsideError] if this goroutine is in the function of an update, with
// whatever context, so that it must not wait for updates.
func (g *Gate) OutsideUpdates() error { return g.own() }

// Outside is OutsideUpdates for transactions that only read, too.
func (g *Gate) Outside() error { return g.outside(insideUpdate, insideView) }

func (g *Gate) outside(kinds ...uintptr) error {
	callers := make([]uintptr, 64)
	n := runtime.Callers(2, callers)
	for n == len(callers) {
		callers = make([]uintptr, 2*n)
		n = runtime.Callers(2, callers)
	}
	callers = callers[:n]
	is := func(pc uintptr) bool {
		f := runtime.FuncForPC(pc - 1)
		return f != nil && f.Entry() == insideEntry
	}
	if !slices.ContainsFunc(callers, is) {
		return nil
	}

	// The function of the transaction is on this stack, or that of another gate's.
	stack := make([]byte, 64<<10)
	stack = stack[:runtime.Stack(stack, false)]
	for _, kind := range kinds {
		mark := fmt.Appendf(nil, "{%#x, %#x})\n", uintptr(unsafe.Pointer(g)), kind)
		if i := bytes.Index(stack, mark); i >= 0 {
			return &InsideError{placeOf(callers), placeIn(stack[i+len(mark):])}
		}
	}
	return nil
}

// An InsideError is the error of a call that would wait for the transaction that it is in.
type InsideError struct {
	// Place is the file and line of the call, and Began those of the transaction.
	Place, Began string
}

// Error says what to do, too.
func (e *InsideError) Error() string {
	return fmt.Sprintf("sortkey: the call at %s would wait for the transaction that it is in, which began at %s: "+
		"use the context of the transaction, or call it before or after", e.Place, e.Began)
}

// Refusal marks the error as one that has changed nothing.
func (e *InsideError) Refusal() {}

// Misuse marks the error as a fault of the calling program.
func (e *InsideError) Misuse() {}

// ours begins the names of functions that are not the caller's of an operation.
var ours = []string{
	"github.com/sortkey/sortkey.", "github.com/sortkey/sortkey/internal/", "github.com/sortkey/sortkey/sdk.",
	"github.com/sortkey/sortkey/server.", "github.com/sortkey/sortkey/store/", "runtime.", "context.",
}

func isOurs(function string) bool {
	return slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

// placeOf returns the file and line of the caller of an operation.
func placeOf(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	place := "an unknown place"
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			place = fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !isOurs(frame.Function) || !more {
			return place
		}
	}
}

// placeIn returns the same for the caller of what a stack, as runtime.Stack prints it, goes on
// with after the name of a function.
func placeIn(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		if isOurs(lines[i]) && i+3 < len(lines) {
			continue
		}
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		return place
	}
	return "an unknown place"
}
