package convert

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/item"
)

// invent adds a sample to an entity without items, so that its patterns read a
// row. Entities that share a field share its value.
func (im *importer) invent(t *model.Table, e *model.Entity, g *group) {
	if im.o.Items < 0 {
		return
	}

	s := &model.Sample{Values: map[string]string{}}
	for _, f := range e.Fields {
		s.Values[f.Name] = invented(f)
	}
	it, err := e.Item(s.Values)
	if err != nil {
		return
	}

	quiet := len(im.losses)
	fit, ok := im.fit(t, it, g.n)
	if !ok || !fit.Equal(it) {
		im.losses = im.losses[:min(quiet, len(im.losses))]
		return
	}

	var key []byte
	for _, a := range t.Keys() {
		key = item.AppendKey(key, it.Get(a.Name))
	}
	p := im.pool(t)
	if p.byKey[string(key)] != nil {
		return
	}

	p.byKey[string(key)] = &row{it: it}
	if s = sample(e, it); s == nil {
		return
	}
	e.Samples = append(e.Samples, s)
	if !g.bare {
		im.loss(
			g.n, "the items of "+e.Name, "the design has none, so the import made one up",
			"add samples, or use count to generate items",
		)
	}
}

// invented returns a made-up value of a field.
func invented(f *model.Field) string {
	if len(f.Values) > 0 {
		return f.Values[0]
	}
	text := "1"
	switch f.Type.Name {
	case "", "string", "path":
		return strings.ToLower(f.Name) + "-1"
	case "year":
		text = "2026"
	case "month":
		text = "2026-01"
	case "date":
		text = "2026-01-05"
	case "time", "millis", "micros", "nanos", "epoch", "epochms":
		text = "2026-01-05T10:00:00Z"
	case "uuid":
		text = "018f0a5c-0000-7000-8000-000000000001"
	case "ulid":
		text = "01KE5WGCV000000000000000AA"
	}
	if v, err := f.Type.Canonical(text); err == nil {
		return v
	}
	return text
}
