// Package fault injects faults into calls of operations: it decides which calls fail, and how. For each call, package
// api asks a [Set] for a fault. sortkeytest.Fault is the public form of a [Fault].
package fault

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Call describes a call of an operation. Rules match it.
type Call struct {
	Operation string
	Tables    []string // sorted
	Index     string
	// Keys returns the key attribute values of the items that the call names, as text. It returns those of the given
	// table, or of all tables if table is "". Only rules with a Key call it.
	Keys func(table string) []string
}

// A Fault says which calls fail and how. See sortkeytest.Fault for its fields.
type Fault struct {
	Operation     string
	Table, Index  string
	Key           string
	Skip, Times   int
	Nth           []int
	Chance        float64
	Seed          uint64
	Code, Message string
	Reasons       []string
	Unprocessed   int
	Delay         time.Duration
	Hang          bool
	Reset         bool
	LoseAnswer    bool
}

// A Rule injects a fault while the rule is in a [Set]. Do not change its Fault meanwhile.
type Rule struct {
	Fault

	mu    sync.Mutex     // guards the fields below
	calls map[string]int // number of calls while the rule was in the set, by operation and tables
	seen  int            // calls that matched
	met   int            // calls that failed
	rng   *rand.Rand
}

// A Set holds the rules in force. The zero Set is ready to use. A Set is safe for concurrent use.
type Set struct {
	some    atomic.Bool
	mu      sync.Mutex // guards the fields below
	rules   []*Rule
	waiting map[*context.CancelCauseFunc]bool // calls that wait
	closed  error
	endless func(operation string)
}

// Endless sets a function for [Set.Hang]. Hang calls it before it blocks a call whose context never ends, as only
// [Set.Close] ends such a call.
func (s *Set) Endless(fn func(operation string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endless = fn
}

// Hang blocks until the context wait ends, and returns its cause. [Set.Wait] has derived wait from ctx.
func (s *Set) Hang(ctx, wait context.Context, operation string) error {
	s.mu.Lock()
	endless := s.endless
	s.mu.Unlock()
	if ctx.Done() == nil && endless != nil {
		endless(operation)
	}
	<-wait.Done()
	return context.Cause(wait)
}

// Add appends a rule to the set.
func (s *Set) Add(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Chance > 0 {
		r.rng = rand.New(rand.NewPCG(r.Seed, 1)) //nolint:gosec // reproducible by design
	}
	s.rules = append(slices.Clone(s.rules), r)
	s.some.Store(true)
}

// Remove lifts a rule.
func (s *Set) Remove(r *Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = slices.DeleteFunc(slices.Clone(s.rules), func(x *Rule) bool { return x == r })
	s.some.Store(len(s.rules) > 0)
}

// Wait returns a context for a call that a fault delays. The context ends when ctx ends or the set is closed. The
// caller must call release.
func (s *Set) Wait(ctx context.Context) (wait context.Context, release func()) {
	wait, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		cancel(s.closed)
		return wait, func() {}
	}
	if s.waiting == nil {
		s.waiting = map[*context.CancelCauseFunc]bool{}
	}
	s.waiting[&cancel] = true
	return wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, &cancel)
		cancel(nil)
	}
}

// Close ends the contexts of all calls that wait, with the given cause. Later calls do not wait at all.
func (s *Set) Close(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = cause
	for cancel := range s.waiting {
		(*cancel)(cause)
	}
}

// Empty reports whether the set has no rules. It takes a few nanoseconds.
func (s *Set) Empty() bool { return s == nil || !s.some.Load() }

// Match returns the fault of the first rule that makes the call fail, or nil if no rule does. Later rules count the
// call as one that succeeded.
func (s *Set) Match(c *Call) *Fault {
	s.mu.Lock()
	rules := s.rules
	s.mu.Unlock()
	what := strings.TrimSpace(c.Operation + " " + strings.Join(c.Tables, ", "))
	var found *Fault
	for _, r := range rules {
		if r.applies(what, r.matches(c), found == nil) {
			found = &r.Fault
		}
	}
	return found
}

func (r *Rule) matches(c *Call) bool {
	return (r.Operation == "" || r.Operation == c.Operation) &&
		(r.Table == "" || slices.Contains(c.Tables, r.Table)) &&
		(r.Index == "" || r.Index == c.Index) &&
		(len(r.Reasons) == 0 || slices.Contains(Transactions, c.Operation)) &&
		(r.Unprocessed == 0 || slices.Contains(Batches, c.Operation)) &&
		(r.Key == "" || slices.ContainsFunc(c.Keys(r.Table), func(key string) bool { return like(r.Key, key) }))
}

// Transactions are the operations for which a Fault may set Reasons. Batches are the operations for which it may set
// Unprocessed.
var (
	Transactions = []string{"TransactGetItems", "TransactWriteItems", "ExecuteTransaction"}
	Batches      = []string{"BatchGetItem", "BatchWriteItem"}
)

// maxCalls is the maximum number of different calls that Calls reports. It bounds the memory for counting them.
const maxCalls = 1000

// applies counts a call and reports whether the rule makes it fail. matches is true if the call matches the rule.
// first is true if no earlier rule makes the call fail.
func (r *Rule) applies(call string, matches, first bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]int{}
	}
	if len(r.calls) < maxCalls || r.calls[call] > 0 {
		r.calls[call]++
	}
	if !matches {
		return false
	}
	r.seen++
	if r.Nth != nil && !slices.Contains(r.Nth, r.seen-r.Skip) {
		return false
	}
	if r.seen <= r.Skip || r.Times > 0 && r.met >= r.Times || r.rng != nil && r.rng.Float64() >= r.Chance {
		return false
	}
	if first {
		r.met++
	}
	return first
}

// Calls returns a text that lists the calls made while the rule was in force.
func (r *Rule) Calls() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return "no calls were made"
	}
	var list []string
	for what, n := range r.calls {
		list = append(list, fmt.Sprintf("%d × %s", n, what))
	}
	slices.Sort(list)
	return "the calls were " + strings.Join(list, "; ")
}

// Met returns the number of calls that the rule made fail.
func (r *Rule) Met() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.met
}

// Describe returns a text about the calls that the rule matches. If the rule made no call fail, the text also lists
// all calls.
func (r *Rule) Describe() string {
	if r.Met() == 0 {
		return r.String() + "; " + r.Calls()
	}
	return r.String()
}

// String describes the calls that the rule matches, for example as "PutItem, table Orders, after one call".
func (r *Rule) String() string {
	what := cmp.Or(r.Operation, "any operation")
	for _, part := range [][2]string{{"table", r.Table}, {"index", r.Index}, {"key", r.Key}} {
		if part[1] != "" {
			what += ", " + part[0] + " " + part[1]
		}
	}
	switch {
	case len(r.Reasons) > 0:
		what += ", transactions only"
	case r.Unprocessed > 0:
		what += ", batches only"
	}

	if r.Nth != nil {
		what += ", calls " + strings.Trim(fmt.Sprint(r.Nth), "[]")
	}
	if r.Chance > 0 {
		what += fmt.Sprintf(", chance %v", r.Chance)
	}
	switch {
	case r.Skip == 1:
		what += ", after one call"
	case r.Skip > 1:
		what += fmt.Sprintf(", after %d calls", r.Skip)
	}
	return what
}

// like reports whether text matches a pattern. A * in the pattern stands for any text.
func like(pattern, text string) bool {
	first, rest, more := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, first)
	if !ok || !more {
		return ok && text == ""
	}
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], next
	}
}
