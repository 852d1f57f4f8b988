package compile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// maxRequests is the largest number of requests that a pattern may make.
const maxRequests = 1000

// Split divides a pattern into patterns that make one request each. If a condition lists values, such as the shards
// of a partition, there is one for each value. If a range of times overlaps several periods of the partition key,
// there is one for each period. Most patterns need only one request; for these, Split returns the pattern itself. The
// error is an [*Error].
func Split(p *model.Pattern) ([]*model.Pattern, error) {
	parts := []*model.Pattern{p}
	if p.Table == nil || p.IsWrite() {
		return parts, nil
	}

	for i, w := range p.Where {
		values, err := valuesOf(p, w)
		if err == nil && len(values)*len(parts) > maxRequests {
			err = &Error{
				Msg: "the pattern is more than " + text.Count(maxRequests, "request"), Advice: "narrow " + w.Field,
			}
		}
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok {
				e = &Error{Msg: w.Field + ": " + err.Error()}
			}
			e.Pos, e.Pattern, e.Component = w.Pos, p.Name, w.Field
			return nil, e
		}

		if values == nil {
			continue
		}
		var all []*model.Pattern
		for _, part := range parts {
			for _, c := range values {
				q := *part
				q.Where = slices.Clone(part.Where)
				q.Where[i] = c
				all = append(all, &q)
			}
		}

		parts = all
	}
	return parts, nil
}

// valuesOf divides a condition into one condition for each request. It returns nil if the condition needs only one
// request.
func valuesOf(p *model.Pattern, w model.Condition) (all []model.Condition, err error) {
	if w.Op == model.In {
		args := w.Args
		if len(args) == 0 {
			if args, err = everyValue(p, w.Field); err != nil {
				return nil, err
			}
		}
		for _, arg := range distinct(args) {
			all = append(all, model.Condition{Pos: w.Pos, Field: w.Field, Op: ast.Equal, Args: []string{arg}})
		}
		return all, nil
	}
	bucket, ok := Bucket(p, w.Field)
	if !ok {
		return nil, nil
	}
	w = whole(w, bucket)
	if w.Op != ast.OpBetween {
		return nil, nil
	}
	return buckets(w, bucket)
}

// everyValue returns all values of a field.
func everyValue(p *model.Pattern, name string) ([]string, error) {
	var f *model.Field
	if p.Entity != nil {
		f = p.Entity.Field(name)
	}

	switch {
	case f == nil:
	case len(f.Values) > 0:
		return f.Values, nil
	case len(f.Type.Values) > 0:
		return f.Type.Values, nil
	case f.From != "" && f.To != "":
		from, err1 := strconv.Atoi(f.From)
		to, err2 := strconv.Atoi(f.To)
		if err1 != nil || err2 != nil || to < from || to-from >= maxRequests {
			break
		}
		var all []string
		for n := from; n <= to; n++ {
			all = append(all, strconv.Itoa(n))
		}
		return all, nil
	}

	return nil, &Error{
		Msg:    "the model does not list the values of " + name,
		Advice: "list them here, as in {in: [a, b]}, or in the field, with values or with from and to",
	}
}

// distinct returns the values without duplicates.
func distinct(values []string) (all []string) {
	seen := map[string]bool{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return all
}

// Bucket returns the type of the period, such as the day, to which the partition key rounds a time field. It returns
// false if the partition key does not contain the field as a period.
func Bucket(p *model.Pattern, field string) (keys.Type, bool) {
	hash, _ := p.Keys()
	if p.Entity == nil {
		return keys.Type{}, false
	}
	for _, part := range p.Entity.Parts(hash) {
		if n, ok := precision(part.Type); part.Name == field && ok && n < len(model.Units) {
			return part.Type, true
		}
	}
	return keys.Type{}, false
}

// buckets divides a range of times into one condition for each period of type t that the range overlaps. It returns
// nil if the range is within one period.
func buckets(w model.Condition, t keys.Type) ([]model.Condition, error) {
	unit, _ := precision(t)
	u := model.Units[unit]
	bound := func(text string) (time.Time, error) {
		text, err := periodOf(t, text)
		if err != nil {
			return time.Time{}, err
		}
		return time.Parse(u.Layout, text)
	}
	from, err := bound(w.Args[0])
	if err != nil {
		return nil, err
	}
	to, err := bound(w.Args[1])
	if err != nil || !from.Before(to) {
		return nil, err // the range is within one period, or empty
	}

	var all []model.Condition
	for at := from; !at.After(to); at = u.Next(at) {
		if len(all) == maxRequests {
			return nil, &Error{
				Msg: fmt.Sprintf(
					"the range of %s touches more than %s", w.Field, text.Count(maxRequests, "partition"),
				),
				Advice: "narrow it, or read an index whose partitions are of longer periods",
			}
		}
		part := w
		part.Args = []string{at.Format(time.RFC3339), u.Next(at).Add(-1).Format(time.RFC3339Nano)}
		if at.Equal(from) {
			part.Args[0] = w.Args[0]
		}
		if at.Equal(to) {
			part.Args[1] = w.Args[1]
		}
		all = append(all, part)
	}
	return all, nil
}
