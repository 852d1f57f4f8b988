package explain

import (
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
)

// CheaperQuery returns the Query that Cheaper describes, or nil if it needs a new index.
func CheaperQuery(t *keyschema.Table, in wire.Request) wire.Request {
	e, ok := cheapened(t, in)
	if !ok || e.q.filter == nil {
		return nil
	}
	all := e.cheaperPlans()
	if len(all) == 0 {
		return nil
	}
	q := e.planQuery(all[0], false).(*wire.QueryInput)
	if all[0].index != nil {
		q.ConsistentRead = nil
	}
	return q
}
