package lint

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
)

// newStudy builds a study from a dataset and the results of its patterns.
func newStudy(ctx context.Context, w *dataset.Dataset, patterns []check.PatternResult) (*Study, error) {
	st := &Study{
		Dataset: w, Model: w.Model,
		ctx: ctx, items: map[*model.Entity][]*dataset.Item{}, written: map[column][]Written{},
	}
	for _, e := range w.Model.Entities {
		if e.Table != nil && slices.Contains(w.Model.Tables, e.Table) {
			st.Entities = append(st.Entities, e)
		}
	}

	for i := range w.Items {
		it := &w.Items[i]
		st.items[it.Entity] = append(st.items[it.Entity], it)
	}
	for _, t := range w.Model.Tables {
		for _, x := range append([]*model.Index{nil}, t.Indexes...) {
			s, err := w.Space(ctx, t, x)
			if err != nil {
				return nil, err
			}
			st.Views = append(st.Views, &View{Space: s, Keys: slices.Concat(s.Hash, s.Sort), study: st})
		}
	}

	for _, e := range st.Entities {
		for _, t := range e.Attributes {
			if places := st.places(e, t); t.Template != nil && len(places) > 0 {
				st.Slots = append(st.Slots, &Slot{
					Entity: e, Name: t.Name, Kind: t.Kind, Pos: t.Pos,
					Template: t.Template, Parts: t.Template.Parts(), Places: places, study: st,
				})
			}
		}
	}
	for i := range patterns {
		if !patterns[i].Pattern.IsWrite() {
			st.Queries = append(st.Queries, st.query(&patterns[i]))
		}
	}
	return st, nil
}

// places returns the views that have the attribute of t in their key and that can hold items of e.
func (st *Study) places(e *model.Entity, t *model.Template) (all []Place) {
	for _, v := range st.Views {
		if v.Table != e.Table || !v.WrittenBy(e) {
			continue
		}
		for i, a := range v.Keys {
			if a.Name == t.Name {
				all = append(all, Place{v, i >= len(v.Hash)})
			}
		}
	}
	return all
}

// query returns the Query of a pattern that reads. It keeps the report of the pattern only for queries and for scans
// with a filter, because rules examine only the rows of these.
func (st *Study) query(pr *check.PatternResult) *Query {
	p := pr.Pattern
	q := &Query{Pattern: p, Compiled: pr.Input, Failed: pr.Compile, study: st}
	if q.Parts, _ = compile.Split(p); len(q.Parts) > 0 {
		q.Pattern = q.Parts[0] // examine only the first request; the others differ only in values
	}
	if p.Table != nil {
		index := ""
		if p.Index != nil {
			index = p.Index.Name
		}
		q.View = st.view(p.Table.Name, index)
	}
	if q.Compiled == nil || q.View == nil || p.Operation == "GetItem" || p.Operation == "Scan" && p.Filter == "" {
		return q
	}

	q.Clauses, _ = explain.Clauses(q.Compiled)
	if q.Report = pr.Report; q.Report == nil {
		return q
	}
	for _, s := range q.Report.Entities {
		if e := st.Model.Entity(s.Entity); e != nil && s.Examined > 0 {
			q.Entities = append(q.Entities, e)
		}
	}
	return q
}
