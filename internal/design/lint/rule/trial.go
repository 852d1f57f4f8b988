package rule

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/text"
)

// Limits on the copies of a model in which changes of indexes are tried.
const (
	trialItems   = 200     // generated
	moreItems    = 3000    // generated, for findings that show only then
	trialWritten = 200     // samples of one entity, and raw items
	maxTrials    = 60      // further findings keep their general advice
	maxPairs     = 300_000 // of entities in all trials: 30 trials of 100 entities
)

// trials try the proposals of findings.
type trials struct {
	*Study
	rules  []Rule
	found  []*Finding
	left   int
	text   []byte         // of the model that the trials edit
	before map[int]*trial // of the model as it is, by number of generated items
}

// A trial is what the rules find in a small dataset, and what its patterns read.
type trial struct {
	serious, all map[subject]int
	reads        []reading // of the patterns
	writes       []float64 // units of one item of each entity
}

// A subject is what a finding is about, but for its place.
type subject struct{ rule, table, index, entity, pattern string }

func subjectOf(f *Finding) subject { return subject{f.Rule, f.Table, f.Index, f.Entity, f.Pattern} }

// tryAll tries each proposal and writes what came of it into the advice of its finding.
func (t *trials) tryAll() error {
	for _, f := range t.found {
		var remarks []string
		for _, p := range f.Proposals {
			if len(p.Edits) == 0 {
				continue
			}
			if t.left == 0 {
				break
			}

			t.left--
			notes, ok, err := t.holds(f, &p)
			if err != nil {
				return context.Cause(t.ctx) // a model made by a program may not be writable
			}
			if !ok {
				continue
			}

			f.Advice = p.Text
			for _, note := range notes {
				if !slices.Contains(remarks, note) {
					remarks = append(remarks, note)
				}
			}
			f.Applied = append(f.Applied, p)
			break
		}
		for _, remark := range remarks {
			f.Advice += "; " + remark
		}
	}
	return nil
}

// holds reports whether a proposal removes a finding and does no harm. It returns how units change. It tries with
// few items, and with more if those do not show the finding.
func (t *trials) holds(f *Finding, p *Proposal) (notes []string, ok bool, err error) {
	for _, items := range []int{trialItems, moreItems} {
		if t.before[items] == nil {
			if t.before[items], err = t.try(nil, items); err != nil {
				return nil, false, err
			}
		}
		before := t.before[items]
		if before.all[subjectOf(f)] == 0 {
			continue
		}
		after, err := t.try(p.Edits, items)
		if err != nil {
			return nil, false, context.Cause(t.ctx)
		}
		if !after.improves(before, f) {
			return nil, false, nil
		}
		return t.gains(before, after, f), true, nil
	}
	return nil, false, nil
}

// improves reports whether a finding is gone in a changed model, no other hazard has come, and all patterns are
// answered as before.
func (t *trial) improves(before *trial, f *Finding) bool {
	if about := subjectOf(f); t.all[about] >= before.all[about] {
		return false
	}
	for other, n := range t.serious {
		if n > before.serious[other] {
			return false
		}
	}
	for i, r := range t.reads {
		if r.breaks(before.reads[i]) {
			return false
		}
	}
	return true
}

// gains says how a change brings fewer or more units.
func (t *trials) gains(before, after *trial, f *Finding) (all []string) {
	for i, q := range t.Queries {
		units := unitsGained(before.reads[i].units, after.reads[i].units)
		if !before.reads[i].accepted || units == "" || len(all) > 1 {
			continue
		}
		of := ""
		if q.Name != f.Pattern {
			of = " of " + text.Quote(q.Name)
		}
		all = append(all, "read units"+of+" "+units)
	}
	for i, e := range t.Entities {
		if units := unitsGained(before.writes[i], after.writes[i]); units != "" {
			return append(all, "write units of "+e.Name+" "+units) // others change in the same way
		}
	}
	return all
}

// try applies edits to a copy of the model, runs the rules on it with a number of generated items, and measures
// its patterns and writes.
func (t *trials) try(edits []Edit, items int) (*trial, error) {
	if t.text == nil {
		text, err := Shortened(t.Model)
		if err != nil {
			return nil, err
		}
		t.text = text
	}
	m, err := Edited(t.Model.Pos.File, t.text, edits)
	if err != nil {
		return nil, err
	}
	w, err := dataset.Build(t.ctx, m, dataset.Options{MaxItems: items, OnDemand: true})
	if err != nil {
		return nil, err
	}
	defer w.Close()

	small, err := newStudy(t.ctx, w)
	if err != nil {
		return nil, err
	}
	found, err := small.look(t.rules)
	if err != nil {
		return nil, err
	}

	out := &trial{serious: map[subject]int{}, all: map[subject]int{}}
	for _, f := range found {
		out.all[subjectOf(f)]++
		if f.Severity >= model.Warning {
			out.serious[subjectOf(f)]++
		}
	}
	for _, q := range small.Queries {
		r, err := small.readingOf(t.ctx, q)
		if err != nil {
			return nil, err
		}
		out.reads = append(out.reads, r)
	}
	for _, e := range small.Entities {
		out.writes = append(out.writes, small.writesOf(e))
	}
	return out, nil
}

// Shortened returns the text of a model without allowances and with fewer items.
func Shortened(m *model.Model) ([]byte, error) {
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

// Edited returns the model with a text of [Shortened], changed by edits and checked.
func Edited(file string, text []byte, edits []Edit) (*model.Model, error) {
	m, err := modelfile.Parse(file, text)
	if err != nil || len(edits) == 0 {
		return m, err
	}
	for _, change := range edits {
		if !change(m) {
			return nil, errors.New("the proposal does not apply")
		}
	}

	var b bytes.Buffer
	if err := modelfile.Write(&b, m); err != nil {
		return nil, err
	}
	return modelfile.Parse(file, b.Bytes())
}
