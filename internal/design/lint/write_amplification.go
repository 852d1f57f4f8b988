package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var writeAmplification = rule.Rule{
	ID: "write-amplification", Title: "One write that updates many rows", Severity: model.Note,
	Help: "A write of an item is also a write to each index that holds it, charged by the projected size; changing " +
		"an index key costs two. A write of an item in three indexes that project all attributes costs four times " +
		"as much as the item alone.",
	Example: []string{`"ARTICLE#A2", "METADATA"`, `GSI1: "USER#U1", "ARTICLE#A2"`},
	Cure: "Project only what the patterns read, with projection: keys or a list of attributes. Overload one index " +
		"with several entities. Drop indexes that save few reads.",
	Source: guide + "bp-indexes-general.html; " + guide + "GSI.html",

	Entity: checkWriteAmplification,
}

func checkWriteAmplification(p *rule.Pass, e *model.Entity) {
	var own, all float64
	var at *world.Item
	var indexes []*rule.View // that hold it
	for _, it := range p.Items(e) {
		units := table.WriteUnits(it.Attributes.Size())
		own += units
		all += units
		var held []*rule.View
		for _, v := range p.Views {
			if v.Table != e.Table || v.Index == nil {
				continue
			}
			if size, ok := v.Size(it.Attributes); ok {
				all += table.WriteUnits(size)
				held = append(held, v)
			}
		}
		if len(held) > len(indexes) {
			at, indexes = it, held
		}
	}
	if len(indexes) < 3 || own == 0 {
		return
	}

	n := float64(len(p.Items(e)))
	var names []string
	for _, v := range indexes {
		names = append(names, v.Index.Name)
	}

	v := p.TableView(e.Table)
	f := v.Finding("a write of %s writes up to %d rows, because %s hold it too: %s on average instead of %s",
		e.Name, len(indexes)+1, names, text.Amount(text.Figure(all/n), "unit"), text.Figure(own/n))
	f.Pos, f.Entity = e.Pos, e.Name
	if rate := p.Model.WriteRate(e, nil); rate > 0 {
		f.Say("; at %s per second that is %s", text.Amount(text.Figure(rate), "write"),
			text.Amount(text.Figure(rate*all/n), "unit"))
	}

	f.Keys = append(v.Shown(at), names[0]+": "+indexes[0].KeyOf(at.Attributes))
	f.Advice = "project only what the patterns read from each index, or leave " + e.Name +
		" out of indexes that no pattern needs"
	p.Report(f)
}
