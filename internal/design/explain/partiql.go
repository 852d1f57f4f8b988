package explain

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/wire"
)

// A selection is a PartiQL SELECT, converted to a Scan. The WHERE clause becomes the filter, and the selected
// attributes become the projection.
type selection struct {
	scan request
	// ordered is the last attribute of ORDER BY, or "". reverse is true if DESC follows the attribute.
	ordered string
	reverse bool
}

// IsSelect reports whether s begins like a SELECT statement. The rest of s may be invalid.
func IsSelect(s string) bool { return partiql.IsSelect(s) }

// parseSelect parses the statement of an ExecuteStatement.
func parseSelect(in *wire.ExecuteStatementInput) (*selection, error) {
	src := value(in.Statement)
	st, err := partiql.Parse(src, in.Parameters)
	if e, ok := errors.AsType[*partiql.Error](err); ok && e.Pos >= 0 {
		msg := strings.TrimSuffix(e.Msg, ": ")
		if rest := src[e.Pos:]; len(rest) >= 5 && strings.EqualFold(rest[:5], "LIMIT") {
			msg = "PartiQL has no LIMIT clause: use the Limit of the request"
		}
		return nil, fmt.Errorf("%s\n%s", msg, terminal.Caret(src, e.Pos))
	}
	if err != nil {
		return nil, err
	}
	if st.Kind != partiql.Select {
		return nil, fmt.Errorf("can explain only SELECT statements, not %s", st.Kind)
	}

	s := &selection{scan: request{op: wire.OpScan}}
	r := &s.scan
	r.TableName, r.Limit, r.ConsistentRead = &st.Table, in.Limit, in.ConsistentRead
	if st.Index != "" {
		r.IndexName = &st.Index
	}
	if st.Where != nil {
		r.FilterExpression = new(st.Where.String())
	}
	if st.Paths != nil {
		paths := make([]string, len(st.Paths))
		for i, path := range st.Paths {
			paths[i] = path.Text
		}
		r.ProjectionExpression = new(strings.Join(paths, ", "))
	}

	r.ExpressionAttributeNames, r.ExpressionAttributeValues = st.Names, st.Values
	for _, o := range st.Order {
		s.ordered, s.reverse = o.Name, o.Desc
	}
	return s, nil
}
