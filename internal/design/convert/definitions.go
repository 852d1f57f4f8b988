package convert

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// definitions reads the tables of a template, which has no entities.
func (im *importer) definitions(f File) error {
	if im.name == "" {
		im.name = slug(strings.TrimSuffix(filepath.Base(f.Name), filepath.Ext(f.Name)))
	}
	im.derived = true
	for _, n := range f.Notes {
		im.add(Loss{Pos: model.Pos{File: f.Name}, What: n.Text, Hint: n.Advice})
	}
	for _, s := range f.Tables {
		if im.m.About == "" {
			im.m.About = s.About
		}
		if err := im.definition(s); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) definition(s *tabledef.Schema) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	d, err := read(s.Place, data)
	if err != nil {
		return err
	}
	from := len(im.losses)
	im.createTable(d.roots[0])
	for i := range im.losses[from:] {
		im.losses[from+i].Pos = model.Pos{File: s.Place} // the request is not in the file
	}
	return nil
}

// next says what to add to a model that has only tables.
func (im *importer) next(from string) {
	if len(im.m.Entities) > 0 || len(im.m.Items) > 0 || len(im.m.Patterns) > 0 {
		return
	}
	im.add(Loss{
		Pos: model.Pos{File: from}, What: "entities and access patterns", Why: "definitions of tables have none",
		Hint: "import items with the tables: sortkey design import " + from + " items.json; or add entities " +
			"with a template for each key, such as PK: CUSTOMER#{customerId}, and patterns",
	})
}
