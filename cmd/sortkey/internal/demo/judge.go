package demo

import (
	"cmp"
	"errors"
	"slices"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/explain"
)

// judge compares the answer with the pattern's expectations, by the rules of
// design check.
func (r *runner) judge(res *Result) {
	p := res.Pattern
	rep := &explain.Report{
		Operation: res.Pattern.Operation, Request: res.Request(), Consistent: res.consistent, Pages: max(1, len(res.Slices)),
		Returned: res.count, Items: res.Items, Strong: res.ReadUnits, Eventual: res.ReadUnits,
	}
	if api, ok := errors.AsType[smithy.APIError](res.Err); ok {
		rep.Refused = &explain.Refusal{Code: api.ErrorCode(), Message: api.ErrorMessage()}
	}
	entities := map[string]int{}
	for _, item := range res.Items {
		row := explain.Row{Key: item, Entity: r.entity(p.Table, item), Bytes: item.Size(), Returned: true}
		rep.Rows = append(rep.Rows, row)
		entities[row.Entity]++
	}
	for name, n := range entities {
		rep.Entities = append(rep.Entities, explain.Share{Entity: name, Examined: n, Returned: n})
	}
	slices.SortFunc(rep.Entities, func(a, b explain.Share) int {
		return cmp.Or(cmp.Compare(b.Returned, a.Returned), cmp.Compare(a.Entity, b.Entity))
	})
	res.Report = rep
	res.Pattern = r.expected(res)
	res.Judge()
	res.Pattern = p
}

// expected returns the pattern with only those expectations that its rows can be
// compared with: items without their keys can only be counted.
func (r *runner) expected(res *Result) *design.Pattern {
	q := *res.Pattern
	if res.projected && res.Pattern.Operation != "GetItem" {
		if q.Expect.Keys != nil {
			n := len(q.Expect.Keys)
			q.Expect.Rows = &n
		}
		q.Expect.Keys, q.Expect.Entities = nil, nil
		return &q
	}
	return &q
}

func (r *runner) entity(t *design.Table, item attr.Item) string {
	if t != nil {
		if e := r.m.Classify(t, item); e != nil {
			return e.Name
		}
	}
	return ""
}
