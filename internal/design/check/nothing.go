package check

import (
	"context"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

// nothing fails a pattern that returns no rows although it does not expect that: the usual reason is
// a request whose separators or letters are not those of the keys.
func (j *judge) nothing() {
	r := j.pr.Total
	const meant = "if it is right that nothing is there, write expect: {rows: 0}"
	if r.Returned > 0 || j.expectsNothing() || len(j.pr.Failures) > 0 {
		return
	}
	j.pr.nothing = true
	switch {
	case r.Examined > 0:
		j.fail(
			j.wasted(), "use values for which rows remain; "+meant,
			"the pattern finds nothing: the filter drops all of %s", rows(r.Examined),
		)
	case j.pr.nearest == "":
		j.fail(nil, "use values of a sample; "+meant, "the pattern finds nothing")
	default:
		j.fail(
			nil, "use its values; "+meant, "the pattern finds nothing; the nearest key that exists is %s", j.pr.nearest,
		)
	}
}

// expectsNothing reports whether the author said that the pattern may find nothing.
func (j *judge) expectsNothing() bool {
	x := &j.p.Expect
	return x.Rows != nil || x.Keys != nil || x.Item != nil || x.NoItem || x.Error != "" ||
		x.MaxRows != nil && *x.MaxRows == 0
}

// nearest returns the key of a world that is most like the one that a report names, as text, or "".
func nearest(ctx context.Context, w *world.World, r *explain.Report) (string, error) {
	t := w.Model.Table(r.Table)
	if t == nil || r.Refused != nil || r.Partition.Bytes == nil || r.Index != "" && t.Index(r.Index) == nil {
		return "", nil
	}
	space, err := w.Space(ctx, t, t.Index(r.Index))
	if err != nil || len(space.Rows) == 0 {
		return "", err
	}
	at, ok := space.Partition(r.Partition.Bytes)
	if !ok {
		if at, err = likestPartition(ctx, space, r.Partition.Text); err != nil {
			return "", err
		}
	}
	row := likestRow(space, at, r.Low.Text)
	var key model.Key
	for _, a := range append(append([]model.Attribute(nil), space.Hash...), space.Sort...) {
		key = append(key, row.Item.Attributes.Get(a.Name))
	}
	return key.Text(), nil
}

// likestPartition returns the partition whose key is most like a text.
func likestPartition(ctx context.Context, s *world.Space, wanted string) (likest world.Part, err error) {
	most := likeness{prefix: -1}
	want := skeleton(wanted)
	for i, at := range s.Parts {
		if i%1024 == 0 && context.Cause(ctx) != nil {
			return likest, context.Cause(ctx)
		}
		if l := like(want, wanted, keyText(s.Rows[at.From].Item.Attributes, s.Hash)); l.above(most) {
			most, likest = l, at
		}
	}
	return likest, nil
}

// likestRow returns the row of a partition whose sort key is most like a text.
func likestRow(s *world.Space, at world.Part, wanted string) *world.Row {
	rows := s.In(at)
	likest, most, want := &rows[0], likeness{prefix: -1}, skeleton(wanted)
	for i := range rows {
		if l := like(want, wanted, keyText(rows[i].Item.Attributes, s.Sort)); l.above(most) {
			most, likest = l, &rows[i]
		}
	}
	return likest
}

// keyText returns key attributes of an item as text.
func keyText(it attr.Item, list []model.Attribute) string {
	var key model.Key
	for _, a := range list {
		key = append(key, it.Get(a.Name))
	}
	return key.Text()
}

// A likeness says how much two keys have in common: letters and digits at their beginning, whatever
// their case and separators, then how many bytes differ.
type likeness struct{ prefix, distance int }

func (l likeness) above(other likeness) bool {
	if l.prefix != other.prefix {
		return l.prefix > other.prefix
	}
	return l.distance < other.distance
}

func like(skeletonOfWanted, wanted, key string) likeness {
	other, n := skeleton(key), 0
	for n < len(other) && n < len(skeletonOfWanted) && other[n] == skeletonOfWanted[n] {
		n++
	}
	return likeness{n, text.Distance(wanted, key)}
}

// skeleton returns the letters and digits of a key in lower case.
func skeleton(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
