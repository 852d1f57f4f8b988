package explain

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/text"
)

// A selection is a PartiQL SELECT in the form of a Scan, with WHERE as the
// filter and the selected attributes as the projection.
type selection struct {
	m members
	// ordered is the sort key attribute of ORDER BY, or the only one, and reverse
	// is true for DESC.
	ordered string
	reverse bool
}

// IsSelect reports whether a text begins like a SELECT statement, valid or not.
func IsSelect(s string) bool { return partiql.IsSelect(s) }

// parseSelect parses the request of an ExecuteStatement.
func parseSelect(m members) (*selection, error) {
	src := m.text("Statement")
	var raw []json.RawMessage
	if m.has("Parameters") && json.Unmarshal(m["Parameters"], &raw) != nil {
		return nil, errors.New("the value of Parameters is not a list")
	}
	params := make([]attr.Value, len(raw))
	for i := range raw {
		var err error
		if params[i], err = attr.ParseValue(raw[i]); err != nil {
			return nil, fmt.Errorf("parameter %d: %w", i+1, err)
		}
	}
	st, err := partiql.Parse(src, params)
	if e, ok := errors.AsType[*partiql.Error](err); ok && e.Pos >= 0 {
		msg := strings.TrimSuffix(e.Msg, ": ")
		if rest := src[e.Pos:]; len(rest) >= 5 && strings.EqualFold(rest[:5], "LIMIT") {
			msg = "PartiQL has no LIMIT clause: use the Limit of the request"
		}
		return nil, fmt.Errorf("%s\n%s", msg, text.Caret(src, e.Pos))
	}
	if err != nil {
		return nil, err
	}
	if st.Kind != partiql.Select {
		return nil, fmt.Errorf("can explain only SELECT statements, not %s", st.Kind)
	}
	s := &selection{m: members{}}
	s.m.set("TableName", st.Table)
	if st.Index != "" {
		s.m.set("IndexName", st.Index)
	}
	if st.Where != nil {
		s.m.set("FilterExpression", st.Where.String())
	}
	if st.Paths != nil {
		paths := make([]string, len(st.Paths))
		for i, path := range st.Paths {
			paths[i] = path.Text
		}
		s.m.set("ProjectionExpression", strings.Join(paths, ", "))
	}
	if st.Names != nil {
		s.m.set("ExpressionAttributeNames", st.Names)
	}
	if st.Values != nil {
		s.m.set("ExpressionAttributeValues", st.Values)
	}
	for _, o := range st.Order {
		s.ordered, s.reverse = o.Name, o.Desc
	}
	for _, name := range []string{"Limit", "ConsistentRead"} {
		if m.has(name) {
			s.m[name] = m[name]
		}
	}
	return s, nil
}
