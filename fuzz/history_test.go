package fuzz_test

import (
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const maxTables = 3

// step runs one random operation on the database.
func (w *world) step() {
	if len(w.tables) == 0 {
		w.createTable(3)
		return
	}
	m := pick(w.draw, w.tables)
	switch w.IntN(20) {
	case 0, 1, 2, 3, 4, 5:
		w.write(m)
	case 6, 7, 8:
		w.batchWrite()
	case 9:
		w.get(m)
	case 10:
		w.batchGet()
	case 11:
		w.createIndex(m)
	case 12:
		w.deleteIndex(m)
	case 13:
		w.stable(w.newRead(w.view(m)))
	case 14:
		if len(w.tables) < maxTables {
			w.createTable(3)
		}
	case 15:
		if w.often(20) {
			w.deleteTable(m)
		}
	default:
		w.run(w.newRead(w.view(m)))
	}
}

// history is a state machine: a random history of JSON requests to a database,
// with a check of everything after each step.
func history(t *proptest.T) {
	w := newWorld(t)
	w.streams = true
	w.createTable(3)
	w.check()
	action := func(fn func(*model)) func() {
		return func() {
			if len(w.tables) == 0 {
				w.createTable(3)
			}
			fn(pick(w.draw, w.tables))
		}
	}
	write := action(func(m *model) { w.write(m) })
	t.Repeat(60, w.check,
		action(w.get),
		write,
		write,
		action(func(*model) { w.batchWrite() }),
		action(func(*model) { w.batchGet() }),
		action(w.createIndex),
		action(w.deleteIndex),
		action(func(*model) {
			if len(w.tables) < maxTables {
				w.createTable(3)
			}
		}),
		action(func(m *model) {
			if w.often(20) {
				w.deleteTable(m)
			}
		}),
		action(func(m *model) { w.run(w.newRead(w.view(m))) }),
		action(func(m *model) { w.joined(w.newRead(w.view(m))) }),
		action(func(m *model) { w.stable(w.newRead(w.view(m))) }),
	)
}

// TestPropertyHistory stores a failing history as a seed of FuzzHistory.
func TestPropertyHistory(t *testing.T) {
	t.Parallel()
	proptest.CheckTapes(t, 25, 4000, 8000,
		func(tape []byte) string { return proptest.Play(t, tape, history) },
		func(tape []byte) { keep(t, "FuzzHistory", "", tape) })
}

// FuzzHistory lets the fuzzer choose the history.
func FuzzHistory(f *testing.F) { proptest.Fuzz(f, history) }
