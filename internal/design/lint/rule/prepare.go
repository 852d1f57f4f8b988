package rule

import (
	"context"
	"errors"
	"slices"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
)

// newStudy divides a dataset into the subjects of rules.
func newStudy(ctx context.Context, w *dataset.Dataset) (*Study, error) {
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
	return st, st.runPatterns()
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

// runPatterns adds a Query for each pattern that reads. It runs those patterns whose rows the rules examine: queries,
// and scans with a filter.
func (st *Study) runPatterns() error {
	table := load.TableOf(st.Dataset)
	for _, p := range st.Model.Patterns {
		if err := context.Cause(st.ctx); err != nil {
			return err
		}
		if p.IsWrite() {
			continue
		}

		parts, err := compile.Split(p)
		if err == nil {
			p = parts[0] // the first request stands for all, which differ only in values
		}
		q := &Query{Pattern: p, Parts: parts, study: st}
		st.Queries = append(st.Queries, q)
		if err != nil {
			q.Failed, _ = errors.AsType[*compile.Error](err)
			continue
		}

		if p.Table != nil {
			index := ""
			if p.Index != nil {
				index = p.Index.Name
			}
			q.View = st.view(p.Table.Name, index)
		}

		if q.Compiled, err = compile.Pattern(p); err != nil {
			q.Failed, _ = errors.AsType[*compile.Error](err)
			continue
		}
		if q.View == nil || p.Operation == "GetItem" || p.Operation == "Scan" && p.Filter == "" {
			continue
		}

		q.Clauses, _ = explain.Clauses(q.Compiled)
		q.Report, err = table.Run(st.ctx, q.Compiled, 0)
		if err != nil {
			if cause := context.Cause(st.ctx); cause != nil {
				return cause
			}
			q.Report = nil // package check reports the failure
			continue
		}

		for _, s := range q.Report.Entities {
			if e := st.Model.Entity(s.Entity); e != nil && s.Examined > 0 {
				q.Entities = append(q.Entities, e)
			}
		}
	}
	return nil
}
