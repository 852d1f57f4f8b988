package table

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
// database and the kind of the transaction on the stack. Only operations that would wait, or
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
	return fn(ctx)
}

var insideEntry = reflect.ValueOf(inside).Pointer()

func (db *DB) mark(kind uintptr) [2]uintptr { return [2]uintptr{uintptr(unsafe.Pointer(db)), kind} }

// ownUpdate returns an error if this goroutine is in the function of an Update of the database:
// it must not wait for Updates. In a shared store they do not wait for each other.
func (db *DB) ownUpdate() error {
	if db.sharing != nil || db.updating.Load() == 0 {
		return nil
	}
	return db.outside(insideUpdate)
}

// Outside returns an error if this goroutine is in the function of a transaction of the
// database, with whatever context.
func (db *DB) Outside() error { return db.outside(insideUpdate, insideView) }

func (db *DB) outside(kinds ...uintptr) error {
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

	// The function of the transaction is on this stack, or that of another database's.
	stack := make([]byte, 64<<10)
	stack = stack[:runtime.Stack(stack, false)]
	for _, kind := range kinds {
		mark := fmt.Appendf(nil, "{%#x, %#x})\n", uintptr(unsafe.Pointer(db)), kind)
		if i := bytes.Index(stack, mark); i >= 0 {
			return errInside(placeOf(callers), placeIn(stack[i+len(mark):]))
		}
	}
	return nil
}

func errInside(place, began string) error {
	return invalid("the call at %s would wait for the transaction that it is in, which began at %s: "+
		"use the context of the transaction, or call it before or after", place, began)
}

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
	for {
		frame, more := frames.Next()
		if !isOurs(frame.Function) || !more {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
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
