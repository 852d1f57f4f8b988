package storetest

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// A place is the key of the model's map.
type place struct {
	space           store.Space
	partition, sort string
}

func (p place) String() string { return fmt.Sprintf("(%d %q %q)", p.space, p.partition, p.sort) }

// A machine runs random operations on a store and on a map, and compares the
// two.
type machine struct {
	store store.Store
	model map[place]string
	used  []place // places that updates have used
}

var modelSpaces = []store.Space{0, 1, 2, 1<<64 - 1}

func drawKey(t *proptest.T) string {
	switch t.IntN(3) {
	case 0:
		return proptest.Pick(t, edges...)
	case 1:
		return t.Text("abc", 0, 3)
	}
	return string(t.Bytes(0, 4))
}

// draw returns a place. Often the place was used before, or is in the same partition as one that was.
func (m *machine) draw(t *proptest.T) place {
	at := place{proptest.Pick(t, modelSpaces...), drawKey(t), drawKey(t)}
	if len(m.used) > 0 {
		used := proptest.Pick(t, m.used...)
		switch t.IntN(3) {
		case 1:
			return used
		case 2:
			at.space, at.partition = used.space, used.partition
		}
	}
	return at
}

// testModel is a state machine test: random updates, some of them failing, and
// reads inside and outside of them, compared with the sorted keys of a map.
func testModel(t *testing.T, s store.Store) {
	property := func(t *proptest.T) {
		m := &machine{store: s, model: map[place]string{}}
		m.update(t, func(w store.Writer, model map[place]string) error {
			for _, space := range modelSpaces {
				if err := w.Clear(space); err != nil {
					return err
				}
			}
			return nil
		})
		t.Repeat(60, func() {},
			func() { m.read(t, m.get) },
			func() { m.read(t, m.query) },
			func() { m.read(t, m.scan) },
			func() { m.drawUpdate(t) },
		)
	}
	proptest.CheckTapes(t, 100, 2000, 8000, func(tape []byte) string { return proptest.Play(t, tape, property) }, nil)
}

func (m *machine) update(t *proptest.T, fn func(store.Writer, map[place]string) error) {
	var after map[place]string
	err := m.store.Update(background(), func(w store.Writer) error {
		after = maps.Clone(m.model)
		return fn(w, after)
	})
	switch err {
	case nil:
		m.model = after
	case errStop:
	default:
		t.Fatalf("Update: %v", err)
	}
}

func (m *machine) drawUpdate(t *proptest.T) {
	type op struct {
		kind  int
		at    place
		value string
	}
	keep, inside := !t.Often(20), t.Bool()
	ops := proptest.SliceOf(t, 0, 12, func(t *proptest.T) op {
		o := op{kind: t.IntN(21), at: m.draw(t), value: t.AnyText(0, 5)}
		m.used = append(m.used, o.at)
		return o
	})
	t.Logf("Update, kept %t", keep)
	m.update(t, func(w store.Writer, model map[place]string) error {
		for _, o := range ops {
			var err error
			p, k := []byte(o.at.partition), []byte(o.at.sort)
			switch {
			case o.kind == 20:
				t.Logf("  Clear(%d)", o.at.space)
				err = w.Clear(o.at.space)
				maps.DeleteFunc(model, func(at place, _ string) bool { return at.space == o.at.space })
			case o.kind > 14:
				t.Logf("  Delete%v", o.at)
				err = w.Delete(o.at.space, p, k)
				delete(model, o.at)
			default:
				t.Logf("  Put%v = %q", o.at, o.value)
				err = w.Put(o.at.space, p, k, []byte(o.value))
				model[o.at] = o.value
			}
			if err != nil {
				return err
			}
		}
		if inside {
			m.query(t, w, model)
			m.scan(t, w, model)
		}
		if !keep {
			return errStop
		}
		return nil
	})
}

func (m *machine) read(t *proptest.T, fn func(*proptest.T, store.Reader, map[place]string)) {
	err := m.store.View(background(), func(r store.Reader) error {
		fn(t, r, m.model)
		return nil
	})
	if err != nil {
		t.Fatalf("View: %v", err)
	}
}

func (m *machine) get(t *proptest.T, r store.Reader, model map[place]string) {
	at := m.draw(t)
	want, there := model[at]
	got, ok, err := r.Get(at.space, []byte(at.partition), []byte(at.sort))
	if err != nil || ok != there || string(got) != want {
		t.Fatalf("Get%v = %q, %t, %v, want %q, %t", at, got, ok, err, want, there)
	}
}

func (m *machine) query(t *proptest.T, r store.Reader, model map[place]string) {
	at := m.draw(t)
	space, partition := at.space, at.partition
	rng := store.Range{Lo: m.drawBound(t), Hi: m.drawBound(t)}
	reverse := t.Bool()
	want := []row{}
	for at, value := range model {
		if at.space == space && at.partition == partition && rng.Contains([]byte(at.sort)) {
			want = append(want, row{partition, at.sort, value})
		}
	}
	want = ordered(want)
	if reverse {
		slices.Reverse(want)
	}
	got, err := collect(r.Query(space, []byte(partition), rng, reverse))
	for i := range got {
		got[i].partition = partition // an engine may leave it out
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Query(%d, %q, %q, %t) = %v, %v, want %v", space, partition, rng, reverse, got, err, want)
	}
}

func (m *machine) scan(t *proptest.T, r store.Reader, model map[place]string) {
	space := proptest.Pick(t, modelSpaces...)
	span := store.Everything()
	if t.Bool() {
		total := t.Between(1, 8)
		span = store.Segment(uint32(t.Between(0, total)), uint32(total))
	}
	if t.Bool() {
		at := m.draw(t)
		span.After = &store.Position{Partition: []byte(at.partition), Sort: []byte(at.sort)}
	}
	want := []row{}
	for at, value := range model {
		if at.space == space && span.Contains(store.Position{Partition: []byte(at.partition), Sort: []byte(at.sort)}) {
			want = append(want, row{at.partition, at.sort, value})
		}
	}
	want = ordered(want)
	got, err := collect(r.Scan(space, span))
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("Scan(%d, %+v) = %v, %v, want %v", space, span, got, err, want)
	}
}

func (m *machine) drawBound(t *proptest.T) []byte {
	if t.Bool() {
		return []byte(m.draw(t).sort)
	}
	return nil
}
