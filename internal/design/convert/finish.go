package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// finish builds the model from what was collected and reads it back.
func (im *importer) finish(ctx context.Context, from string) (*model.Model, []Loss, error) {
	im.losses = joinSettings(im.losses)
	if len(im.m.Tables) == 0 {
		hint := ""
		if len(im.losses) > 0 {
			hint = im.losses[0].String()
		}
		// A refused table matters more than its name.
		if i := slices.IndexFunc(im.losses, func(l Loss) bool { return strings.HasPrefix(l.What, "table ") }); i >= 0 {
			hint = im.losses[i].String()
		}
		return nil, im.losses, &Error{Pos: model.Pos{File: from}, Msg: "the design has no usable table", Hint: hint}
	}

	for _, t := range im.m.Tables {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		im.entities(t)
	}

	im.m.Name = im.name
	if im.m.Name == "" && len(im.m.Tables) == 1 {
		im.m.Name = slug(im.m.Tables[0].Name)
	}
	if im.m.Name == "" {
		im.m.Name = "imported"
	}

	im.m.Seed = 1
	if im.offeredItems > im.o.Items && im.o.Items > 0 {
		if err := im.count(ctx); err != nil {
			return nil, nil, err
		}
	}

	if im.derived {
		im.derive()
	}

	im.next(from)
	if err := checkModel(im.m); err != nil {
		if err := im.isolate(ctx); err != nil {
			return nil, nil, err
		}
	}

	if !im.counted {
		im.belong()
	}
	if err := im.runPatterns(ctx); err != nil {
		return nil, nil, err
	}

	m, err := reread(im.m)
	if err != nil {
		return nil, nil, &Error{Pos: model.Pos{File: from}, Msg: "the imported model is invalid: " + reason(err)}
	}
	return m, im.sorted(), nil
}

// sorted returns the losses in the order of the files.
func (im *importer) sorted() []Loss {
	sort.SliceStable(im.losses, func(i, j int) bool {
		a, b := im.losses[i].Pos, im.losses[j].Pos
		if a.File != b.File {
			return false
		}
		return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
	})
	if im.more > 0 {
		im.losses = append(
			im.losses,
			Loss{
				What: text.Count(im.more, "more loss"),
				Why:  "only the first " + strconv.Itoa(maxLosses) + " are listed",
			},
		)
	}
	return im.losses
}

// isolate removes the parts that keep the model from being read back.
func (im *importer) isolate(ctx context.Context) error {
	m := im.m
	part := func() *model.Model { return &model.Model{Name: "part", Tables: m.Tables, Fields: m.Fields} }
	entities := m.Entities
	m.Entities = nil
	for _, e := range entities {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		samples := e.Samples
		e.Samples = nil
		one := part()
		one.Entities = append(slices.Clone(m.Entities), e)
		if im.invalid(one, "entity "+e.Name, "its items are imported as raw items") {
			for _, s := range samples {
				im.m.Items = append(im.m.Items, &model.RawItem{Table: e.Table, Item: itemOf(e, s)})
			}
			continue
		}
		m.Entities = append(m.Entities, e)
		alone := part()
		alone.Entities = []*model.Entity{e}
		kept := samples[:0:0]
		for _, s := range samples {
			e.Samples = []*model.Sample{s}
			if checkModel(alone) == nil {
				kept = append(kept, s)
				continue
			}
			m.Items = append(m.Items, &model.RawItem{Table: e.Table, Item: itemOf(e, s)})
		}
		e.Samples = kept
	}

	m.Items = slices.DeleteFunc(m.Items, func(r *model.RawItem) bool {
		one := part()
		one.Items = []*model.RawItem{r}
		return im.invalid(one, "an item of table "+r.Table.Name, "")
	})

	patterns := m.Patterns
	m.Patterns = nil
	for _, p := range patterns {
		one := part()
		one.Entities, one.Patterns = m.Entities, append(slices.Clone(m.Patterns), p)
		if p.Entity != nil && !slices.Contains(m.Entities, p.Entity) {
			continue
		}
		if !im.invalid(one, "pattern "+p.Name, "") {
			m.Patterns = append(m.Patterns, p)
		}
	}
	return nil
}

// invalid reports whether a part of the model is, and then records the loss.
func (im *importer) invalid(part *model.Model, what, hint string) bool {
	err := checkModel(part)
	if err != nil {
		im.add(Loss{What: what, Why: reason(err), Hint: hint})
	}
	return err != nil
}

// itemOf returns the item of a sample.
func itemOf(e *model.Entity, s *model.Sample) attr.Item {
	made, err := e.Item(s.Values)
	if err != nil {
		return s.Attributes
	}
	return joined(made, s.Attributes)
}

// joined returns an item with the attributes of several.
func joined(list ...attr.Item) attr.Item {
	var b attr.Builder
	for _, it := range list {
		for name, v := range it.All() {
			b.AddBytes(name, v)
		}
	}
	return b.Item()
}

// runPatterns builds the model and runs its patterns. Derived patterns expect
// what they return now; refused patterns are losses.
func (im *importer) runPatterns(ctx context.Context) error {
	w, err := world.Build(ctx, im.m, world.Options{MaxItems: -1})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return &Error{Msg: "cannot create the tables or items of the design: " + reason(err)}
	}
	defer w.Close()
	for _, p := range im.m.Patterns {
		rows, refused, err := rowsOf(ctx, w, p)
		if _, not := errors.AsType[*compile.Error](err); not {
			im.loss(im.from[p], "pattern "+p.Name, err.Error(), "")
			continue
		}
		if err != nil {
			return err
		}
		if refused != "" {
			im.loss(
				im.from[p], "pattern "+p.Name, "the service refuses it: "+refused,
				"correct the request, or expect the error",
			)
			continue
		}

		if p.Request == nil && p.Operation == "Query" && !im.counted { // generated items are rows, too
			p.Expect.Rows = &rows
		}
	}
	return nil
}

// rowsOf returns the number of rows of a pattern over all pages, or what the service says
// to it.
func rowsOf(ctx context.Context, w *world.World, p *model.Pattern) (rows int, refused string, err error) {
	in, err := compile.Pattern(w.Model, p)
	if err == nil {
		o := explain.Options{Items: -1, Brief: true}
		var r *explain.Report
		r, err = explain.Run(ctx, explain.InProcess(w.DB), explain.Question{Input: in}, o)
		switch {
		case err != nil:
		case r.Refused != nil:
			return 0, cmp.Or(r.Refused.Message, r.Refused.Code), nil
		default:
			return r.Returned, "", nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return 0, "", cause
	}
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return 0, cmp.Or(e.Message, fmt.Sprintf("status %d", e.Status)), nil
	}
	return 0, "", err
}

// addPattern adds a pattern under a unique name.
func (im *importer) addPattern(p *model.Pattern) {
	name := strings.Join(strings.Fields(p.Name), " ")
	if name == "" {
		name = "pattern"
	}
	p.Name = name
	for i := 2; im.m.Pattern(p.Name) != nil; i++ {
		p.Name = name + " (" + strconv.Itoa(i) + ")"
	}
	im.m.Patterns = append(im.m.Patterns, p)
}
