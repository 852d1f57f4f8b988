package check

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// nothing fails a pattern that returns no rows, unless the pattern expects no rows. The usual cause is that the key
// in the request has other delimiters or letters than the keys of the items.
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

// expectsNothing reports whether the pattern has an expectation about its rows or its error. If it has one, that
// expectation judges an empty result, and the method nothing need not.
func (j *judge) expectsNothing() bool {
	x := &j.p.Expect
	return x.Rows != nil || x.Keys != nil || x.Item != nil || x.NoItem || x.Error != "" ||
		x.MaxRows != nil && *x.MaxRows == 0
}

// mostCompared limits the keys that nearest compares.
const mostCompared = 10_000

// nearest returns, as text, the key in the table or index that is most similar to the key that a request asked for.
// It compares the first mostCompared keys by their [text.Distance], ignoring case. It returns "" if there are no
// keys, or if the request names no partition.
func nearest(ctx context.Context, w *dataset.Dataset, p *model.Pattern, r *explain.Report) (string, error) {
	if p.Table == nil || r.Refused != nil || r.Partition.Bytes == nil {
		return "", nil
	}
	space, err := w.Space(ctx, p.Table, p.Index)
	if err != nil {
		return "", err
	}
	wanted, likest, least := strings.ToLower(r.Partition.Text+", "+r.Low.Text), "", math.MaxInt
	for i := range space.Rows[:min(len(space.Rows), mostCompared)] {
		key := keyText(space.Rows[i].Item.Attributes, slices.Concat(space.Hash, space.Sort))
		if d := text.Distance(wanted, strings.ToLower(key)); d < least {
			likest, least = key, d
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
