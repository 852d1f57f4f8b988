package check

import (
	"context"
	"math"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// nothing fails a pattern that returns no rows, unless the pattern expects that. The usual cause is that the request
// writes a key with other delimiters or letters than the items do.
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

// expectsNothing reports whether the pattern has an expectation about its rows or its error, so that nothing need not
// judge an empty result.
func (j *judge) expectsNothing() bool {
	x := &j.p.Expect
	return x.Rows != nil || x.Keys != nil || x.Item != nil || x.NoItem || x.Error != "" ||
		x.MaxRows != nil && *x.MaxRows == 0
}

// nearest returns the key in the dataset that is most similar to the key that a request asked for, as text. It
// returns "" if the request is refused or names no partition, or if the table or index has no rows.
func nearest(ctx context.Context, w *dataset.Dataset, r *explain.Report) (string, error) {
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
		i, err := likest(ctx, r.Partition.Text, len(space.Parts), func(i int) string {
			return keyText(space.Rows[space.Parts[i].From].Item.Attributes, space.Hash)
		})
		if err != nil {
			return "", err
		}
		at = space.Parts[i]
	}
	rows := space.In(at)
	i, err := likest(ctx, r.Low.Text, len(rows), func(i int) string {
		return keyText(rows[i].Item.Attributes, space.Sort)
	})
	if err != nil {
		return "", err
	}
	row := &rows[i]
	var key model.Key
	for _, a := range append(append([]model.Attribute(nil), space.Hash...), space.Sort...) {
		key = append(key, row.Item.Attributes.Get(a.Name))
	}
	return key.Text(), nil
}

// likest compares n texts with wanted, and returns the index of the most similar one. It measures [text.Distance],
// ignoring case.
func likest(ctx context.Context, wanted string, n int, textOf func(i int) string) (likest int, err error) {
	least := math.MaxInt
	for i := range n {
		if i%1024 == 0 && context.Cause(ctx) != nil {
			return 0, context.Cause(ctx)
		}
		if d := text.Distance(strings.ToLower(wanted), strings.ToLower(textOf(i))); d < least {
			least, likest = d, i
		}
	}
	return likest, nil
}

// keyText returns the values of the listed attributes as text.
func keyText(it attr.Item, list []model.Attribute) string {
	var key model.Key
	for _, a := range list {
		key = append(key, it.Get(a.Name))
	}
	return key.Text()
}
