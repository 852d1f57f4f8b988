package storetest

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sortkey/sortkey/store"
)

// A place is the key of the model's map.
type place struct {
	space           store.Space
	partition, sort string
}

// A machine runs random operations on a store and on a map, and compares.
type machine struct {
	store store.Store
	model map[place]string
}

var (
	drawKey   = rapid.OneOf(rapid.SampledFrom(edges), rapid.StringMatching(`[a-c]{0,3}`), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 4), func(b []byte) string { return string(b) }))
	drawSpace = rapid.SampledFrom(modelSpaces)

	modelSpaces = []store.Space{0, 1, 2, 1<<64 - 1}
)

// testModel is a state machine test: random updates, some of them dropped, and
// reads inside and outside of them, against a sorted slice of a map's keys.
func testModel(t *testing.T, s store.Store) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{store: s, model: map[place]string{}}
		m.update(t, func(w store.Writer, model map[place]string) error {
			for _, space := range modelSpaces {
				if err := w.Clear(space); err != nil {
					return err
				}
			}
			return nil
		})
		t.Repeat(map[string]func(*rapid.T){
			"update": m.drawUpdate,
			"query":  func(t *rapid.T) { m.read(t, m.query) },
			"scan":   func(t *rapid.T) { m.read(t, m.scan) },
			"get":    func(t *rapid.T) { m.read(t, m.get) },
		})
	})
}

func (m *machine) update(t *rapid.T, fn func(store.Writer, map[place]string) error) {
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

func (m *machine) drawUpdate(t *rapid.T) {
	type op struct {
		kind  int
		at    place
		value string
	}
	ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) op {
		return op{
			kind:  rapid.IntRange(0, 20).Draw(t, "kind"),
			at:    place{drawSpace.Draw(t, "space"), drawKey.Draw(t, "partition"), drawKey.Draw(t, "sort")},
			value: rapid.StringN(0, 5, -1).Draw(t, "value"),
		}
	}), 0, 12).Draw(t, "ops")
	keep := rapid.IntRange(0, 4).Draw(t, "keep") > 0
	inside := rapid.Bool().Draw(t, "read inside")
	m.update(t, func(w store.Writer, model map[place]string) error {
		for _, o := range ops {
			var err error
			p, k := []byte(o.at.partition), []byte(o.at.sort)
			switch {
			case o.kind == 0:
				err = w.Clear(o.at.space)
				maps.DeleteFunc(model, func(at place, _ string) bool { return at.space == o.at.space })
			case o.kind < 6:
				err = w.Delete(o.at.space, p, k)
				delete(model, o.at)
			default:
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

func (m *machine) read(t *rapid.T, fn func(*rapid.T, store.Reader, map[place]string)) {
	err := m.store.View(background(), func(r store.Reader) error {
		fn(t, r, m.model)
		return nil
	})
	if err != nil {
		t.Fatalf("View: %v", err)
	}
}

func (m *machine) get(t *rapid.T, r store.Reader, model map[place]string) {
	at := place{drawSpace.Draw(t, "space"), drawKey.Draw(t, "partition"), drawKey.Draw(t, "sort")}
	want, there := model[at]
	got, ok, err := r.Get(at.space, []byte(at.partition), []byte(at.sort))
	if err != nil || ok != there || string(got) != want {
		t.Fatalf("Get(%v) = %q, %t, %v, want %q, %t", at, got, ok, err, want, there)
	}
}

func (m *machine) query(t *rapid.T, r store.Reader, model map[place]string) {
	space, partition := drawSpace.Draw(t, "space"), drawKey.Draw(t, "partition")
	rng := store.Range{Lo: drawBound(t, "lo"), Hi: drawBound(t, "hi")}
	reverse := rapid.Bool().Draw(t, "reverse")
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

func (m *machine) scan(t *rapid.T, r store.Reader, model map[place]string) {
	space := drawSpace.Draw(t, "space")
	span := store.Everything()
	if rapid.Bool().Draw(t, "segment") {
		total := rapid.Uint32Range(1, 8).Draw(t, "total")
		span = store.Segment(rapid.Uint32Range(0, total).Draw(t, "i"), total)
	}
	if rapid.Bool().Draw(t, "after") {
		span.After = &store.Position{Partition: []byte(drawKey.Draw(t, "after partition")), Sort: []byte(drawKey.Draw(t, "after sort"))}
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

func drawBound(t *rapid.T, name string) []byte {
	if rapid.Bool().Draw(t, name+" set") {
		return bytes.Clone([]byte(drawKey.Draw(t, name)))
	}
	return nil
}
