package lint

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits on trials. A trial checks a small copy of the model.
const (
	trialItems   = 200 // generated items
	trialWritten = 200 // samples of each entity, and raw items
	maxTrials    = 60  // largest number of proposals tried; later findings keep their general advice
	// pairs of entities that all trials together may compare, such as 30 trials of 100 entities
	maxPairs = 300_000
)

// A trial is the result of checking a copy of the model, with the findings of the rules.
type trial struct {
	*check.Result
	writes []float64 // by entity of the study: average write units of one item
}

// A subject says what a finding is about. It contains no line number, because the lines of an edited model differ
// from those of the original, and trials compare the findings of both.
type subject struct{ rule, table, index, entity, pattern string }

func subjectOf(f *model.Finding) subject {
	return subject{f.Rule, f.Table, f.Index, f.Entity, f.Pattern}
}

// findings counts, for each subject, the findings with a severity of least or more.
func (t *trial) findings(least model.Severity) map[subject]int {
	all := map[subject]int{}
	for i := range t.Findings {
		if f := &t.Findings[i]; f.Severity >= least {
			all[subjectOf(f)]++
		}
	}
	return all
}

// try tries the proposals of each finding. The first proposal that improves the model becomes the finding's advice,
// which then says how many units the edit saves or costs.
func (st *Study) try(found []*Finding, rules []Rule) error {
	var source []byte // text of the shortened model, of which each trial edits a copy
	var before *trial // the check of the unchanged model
	n := max(len(st.Model.Entities), 1)
	// A trial compares all entities with each other, so large models get fewer trials.
	left := max(1, min(maxTrials, maxPairs/(n*n)))
	for _, f := range found {
		for _, p := range f.Proposals {
			if left == 0 {
				return nil
			}
			var err error
			if before == nil {
				if source, err = shortened(st.Model); err == nil {
					before, err = st.tryEdit(source, nil, rules)
				}
				if err != nil {
					return context.Cause(st.ctx) // a model that a program built may have no text form
				}
			}
			left--
			after, err := st.tryEdit(source, p.Edit, rules)
			if cause := context.Cause(st.ctx); cause != nil {
				return cause
			}
			if err == nil && after.improves(before, f) {
				f.Advice, f.Applied = p.Text+st.gains(before, after, f), append(f.Applied, p)
				break
			}
		}
	}
	return nil
}

// tryEdit checks a copy of the model, with at most trialItems generated items. If edit is not nil, it edits the copy
// first.
func (st *Study) tryEdit(source []byte, edit Edit, rules []Rule) (*trial, error) {
	m, err := edited(st.Model.Pos.File, source, edit)
	if err != nil {
		return nil, err
	}
	w, err := dataset.Build(st.ctx, m, dataset.Options{MaxItems: trialItems, OnDemand: true})
	if err != nil {
		return nil, err
	}
	defer w.Close()

	out := &trial{}
	lint := func(
		ctx context.Context, w *dataset.Dataset, patterns []check.PatternResult,
	) (all []model.Finding, err error) {
		small, err := newStudy(ctx, w, patterns)
		if err != nil {
			return nil, err
		}
		found, err := small.look(rules)
		for _, f := range found {
			all = append(all, f.Finding)
		}
		for _, e := range small.Entities {
			out.writes = append(out.writes, small.writesOf(e))
		}
		return all, err
	}
	out.Result, err = check.Run(st.ctx, w, check.Options{Lint: lint})
	return out, err
}

// improves reports whether the trial is better than the one before the edit. It must have fewer findings about the
// subject of f, and no more errors or warnings about any subject. Each pattern must return at least as many rows as
// before for its own values, and at least half as many on average.
func (t *trial) improves(before *trial, f *Finding) bool {
	about := subjectOf(&f.Finding)
	if t.findings(model.Note)[about] >= before.findings(model.Note)[about] {
		return false
	}
	serious := before.findings(model.Warning)
	for other, n := range t.findings(model.Warning) {
		if n > serious[other] {
			return false
		}
	}
	for i := range t.Patterns {
		was, is := before.Patterns[i].Total, t.Patterns[i].Total
		switch {
		case was == nil || was.Refused != nil:
		case is == nil || is.Refused != nil || is.Returned < was.Returned,
			meanRows(&t.Patterns[i]) < meanRows(&before.Patterns[i])/2:
			return false
		}
	}
	return true
}

// meanRows returns how many rows a pattern returns on average at the declared scale.
func meanRows(pr *check.PatternResult) float64 {
	if pr.Spread != nil {
		return pr.Spread.MeanRows
	}
	return pr.Own().DeclaredRows()
}

// gains returns text that says how the read and write units differ between two trials.
func (st *Study) gains(before, after *trial, f *Finding) (all string) {
	said := 0
	for i := range before.Patterns {
		was, is := &before.Patterns[i], &after.Patterns[i]
		units := unitsGained(was.MeanUnits(), is.MeanUnits())
		if was.Total == nil || units == "" || said > 1 {
			continue
		}
		of := ""
		if was.Pattern.Name != f.Pattern {
			of = " of " + text.Quote(was.Pattern.Name)
		}
		all += "; read units" + of + " " + units
		said++
	}
	for i, e := range st.Entities {
		if units := unitsGained(before.writes[i], after.writes[i]); units != "" {
			// one entity is enough, because the write units of the others change in a similar way
			return all + "; write units of " + e.Name + " " + units
		}
	}
	return all
}

// unitsGained returns "before → after", or "" if the units hardly change.
func unitsGained(before, after float64) string {
	if math.Abs(after-before) < max(0.5, before/20) {
		return ""
	}
	return text.Figure(before) + " → " + text.Figure(after)
}

// writesOf returns the average write units of one item of an entity, in its table and all indexes.
func (st *Study) writesOf(e *model.Entity) float64 {
	units := 0.0
	for _, it := range st.items[e] {
		for _, v := range st.Views {
			if size, ok := v.Size(it.Attributes); ok && v.Table == e.Table {
				units += table.WriteUnits(size)
			}
		}
	}
	return units / float64(max(len(st.items[e]), 1))
}

// shortened returns the text of a copy of a model without allowances. The copy has at most trialWritten raw items,
// and at most as many samples of each entity.
func shortened(m *model.Model) ([]byte, error) {
	small := *m
	small.Allow = nil
	small.Items = m.Items[:min(len(m.Items), trialWritten)]
	small.Entities = nil
	for _, e := range m.Entities {
		fewer := *e
		fewer.Samples = e.Samples[:min(len(e.Samples), trialWritten)]
		small.Entities = append(small.Entities, &fewer)
	}
	var b bytes.Buffer
	err := modelfile.Write(&b, &small)
	return b.Bytes(), err
}

// edited parses and checks a text that shortened returned. If edit is not nil, it applies edit and checks the model
// again.
func edited(file string, text []byte, edit Edit) (*model.Model, error) {
	m, err := modelfile.Parse(file, text)
	if err != nil || edit == nil {
		return m, err
	}
	if !edit(m) {
		return nil, errors.New("the proposal does not apply")
	}
	var b bytes.Buffer
	if err := modelfile.Write(&b, m); err != nil {
		return nil, err
	}
	return modelfile.Parse(file, b.Bytes())
}
