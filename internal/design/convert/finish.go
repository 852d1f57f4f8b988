package convert

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// finish builds the model from what the importer has collected, and reads it back as a check.
func (im *importer) finish(ctx context.Context, from string) (*model.Model, []Loss, error) {
	if len(im.m.Tables) == 0 {
		hint := ""
		if n := len(im.losses); n > 0 {
			hint = im.losses[n-1].String() // the last loss says why the last table was refused
		}
		return nil, im.losses, &Error{Pos: model.Pos{File: from}, Msg: "the design has no usable table", Hint: hint}
	}
	if err := im.pour(ctx); err != nil {
		return nil, nil, err
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
	im.m.Name = cmp.Or(im.m.Name, "imported")

	if checkModel(im.m) != nil {
		im.isolate()
	}
	sampled := im.o.Items > 0 && im.offered > im.o.Items*len(im.m.Tables)
	im.belong(!sampled)
	if sampled {
		if err := im.count(ctx); err != nil {
			return nil, nil, err
		}
	}
	im.next(from)
	if err := im.derive(ctx); err != nil {
		return nil, nil, err
	}

	m, err := reread(im.m)
	if err != nil {
		return nil, nil, &Error{Pos: model.Pos{File: from}, Msg: "the imported model is invalid: " + reason(err)}
	}
	return m, im.sorted(), nil
}

// next adds a hint for a model that has only tables. It says what to add to the model.
func (im *importer) next(from string) {
	if len(im.m.Entities) > 0 || len(im.m.Items) > 0 {
		return
	}
	im.add(Loss{
		Pos: model.Pos{File: from}, What: "entities and access patterns", Why: "definitions of tables have none",
		Hint: "import items with the tables: sortkey design import " + from + " items.json; or add entities " +
			"with a template for each key, such as PK: CUSTOMER#{customerId}, and patterns",
	})
}

// sorted returns the losses file by file, in the order of the files' first losses. Within a file, it sorts them by
// line. If there are more than maxLosses, it appends a loss that says how many it leaves out.
func (im *importer) sorted() []Loss {
	files := map[string]int{}
	for _, l := range im.losses {
		if _, ok := files[l.Pos.File]; !ok {
			files[l.Pos.File] = len(files)
		}
	}
	slices.SortStableFunc(im.losses, func(a, b Loss) int {
		return cmp.Or(files[a.Pos.File]-files[b.Pos.File], a.Pos.Line-b.Pos.Line, a.Pos.Col-b.Pos.Col)
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

// isolate removes each entity that makes the model unreadable after it is written. The items of these entities become
// raw items.
func (im *importer) isolate() {
	m := im.m
	entities := m.Entities
	m.Entities = nil
	for _, e := range entities {
		alone := *m
		alone.Items = nil
		alone.Entities = append(slices.Clone(m.Entities), e)
		err := checkModel(&alone)
		if err == nil {
			m.Entities = alone.Entities
			continue
		}
		im.add(Loss{What: "entity " + e.Name, Why: reason(err), Hint: "its items are imported as raw items"})
		for _, s := range e.Samples {
			m.Items = append(m.Items, &model.RawItem{Table: e.Table, Item: itemOf(e, s)})
		}
	}
}

// itemOf returns the item that a sample describes.
func itemOf(e *model.Entity, s *model.Sample) attr.Item {
	if made, err := e.ItemWith(s.Values, s.Attributes); err == nil {
		return made
	}
	return s.Attributes
}

// joined returns an item with the attributes of all items in list.
func joined(list ...attr.Item) attr.Item {
	var b attr.Builder
	for _, it := range list {
		for name, v := range it.All() {
			b.AddBytes(name, v)
		}
	}
	return b.Item()
}
