package explain

import (
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// CheaperQuery returns the Query that Cheaper puts into words, with the index that it needs if that does not exist.
func CheaperQuery(t *keyschema.Table, in wire.Request) (*keyschema.Index, wire.Request) {
	e, ok := cheapened(t, in)
	if !ok || e.q.filter == nil {
		return nil, nil
	}
	p, ok := e.cheaperPlan()
	if !ok {
		return nil, nil
	}
	q := e.planQuery(p, false).(*wire.QueryInput)
	if p.index != nil {
		q.ConsistentRead = nil
	}
	if !p.isNew() {
		return nil, q
	}
	p.index.Key = t.Key.NewIndex("New", p.schema.Partition(), p.schema.Sort())
	q.IndexName = new("New")
	return p.index, q
}
