package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A space is a table or an index on the page.
type space struct {
	*dataset.Space
	Stats    *check.TableStats
	N        int        // from 1
	Lines    lines      // how large it is
	Patterns []*pattern // those that read it, in order
	Picture  *picture   // the partition with the most rows, or nil
	Large    bool       // see [Page]

	colors palette
}

// spaces returns the tables and indexes of a dataset, in the order of the statistics.
func spaces(ctx context.Context, w *dataset.Dataset, r *check.Result, colors palette) (all []*space, err error) {
	for i := range r.Tables {
		stats := &r.Tables[i]
		s := &space{Stats: stats, N: i + 1, Lines: tableLines(stats, r.Scale >= 1 || r.Scale <= 0), colors: colors}
		if s.Space, err = w.Space(ctx, s.Stats.Table, s.Stats.Index); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// draw draws the partition with the most rows into s.Picture.
func (s *space) draw(d *painter) (err error) {
	if len(s.Parts) == 0 {
		return nil
	}
	at := slices.MaxFunc(s.Parts, func(a, b dataset.Part) int { return cmp.Compare(a.To-a.From, b.To-b.From) })
	s.Picture, err = d.partition(s, &s.Rows[at.From])
	return err
}

// of returns the number and size of an entity's items in the space.
func (s *space) of(e *model.Entity) (share check.EntityStats) {
	for _, one := range s.Stats.Entities {
		if one.Entity == e.Name {
			return one
		}
	}
	return share
}

// Title returns the name of the table, followed by the name of the index if there is one.
func (s *space) Title() string { return s.Stats.Name() }

// Projection describes what the index projects.
func (s *space) Projection() string {
	words := strings.ReplaceAll(strings.ToLower(s.Index.Projection), "_", " ")
	if len(s.Index.Include) > 0 {
		words += " " + strings.Join(s.Index.Include, ", ")
	}
	return words
}

// attributes lists key attributes. It adds the type of an attribute unless that is string.
func attributes(keys []model.Attribute) string {
	var words []string
	for _, a := range keys {
		word := a.Name
		switch a.Kind {
		case attr.Number:
			word += " (number)"
		case attr.Binary:
			word += " (binary)"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// An entityColor is an entity in a legend, with its number of rows.
type entityColor struct {
	Entity, Color string
	Rows          int
}

// Legend returns the entities of the space with their colours and numbers of rows.
func (s *space) Legend() (all []entityColor) {
	for _, e := range s.Stats.Entities {
		all = append(all, entityColor{e.Entity, s.colors[e.Entity], e.Items})
	}
	return all
}
