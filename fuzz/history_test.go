package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"
)

const maxTables = 3

// step does one random thing to the database.
func (w *world) step() {
	if len(w.tables) == 0 {
		w.createTable(3)
		return
	}
	m := pick(w.draw, w.tables)
	switch w.choose(20) {
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

// history is a state machine: a random history of a database through its JSON
// side, with everything checked after each step.
func history(t *rapid.T) {
	w := newWorld(t, draw{rapidChooser{t}})
	defer func() { _ = w.db.Close() }()
	w.createTable(3)
	action := func(fn func(*model)) func(*rapid.T) {
		return func(t *rapid.T) {
			if len(w.tables) == 0 {
				w.createTable(3)
			}
			fn(pick(w.draw, w.tables))
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) { w.check() },
		"create table": action(func(*model) {
			if len(w.tables) < maxTables {
				w.createTable(3)
			}
		}),
		"delete table": action(func(m *model) {
			if w.often(20) {
				w.deleteTable(m)
			}
		}),
		"create index": action(w.createIndex),
		"delete index": action(w.deleteIndex),
		"write":        action(func(m *model) { w.write(m) }),
		"write again":  action(func(m *model) { w.write(m) }),
		"batch write":  action(func(*model) { w.batchWrite() }),
		"batch get":    action(func(*model) { w.batchGet() }),
		"get":          action(w.get),
		"read":         action(func(m *model) { w.run(w.newRead(w.view(m))) }),
		"pages":        action(func(m *model) { w.joined(w.newRead(w.view(m))) }),
		"changes":      action(func(m *model) { w.stable(w.newRead(w.view(m))) }),
	})
}

// TestPropertyHistory is shrunk and repeated by rapid, which says how.
func TestPropertyHistory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, history)
}

// FuzzHistory lets the fuzzer choose the history.
func FuzzHistory(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(rapid.MakeFuzz(history))
}
