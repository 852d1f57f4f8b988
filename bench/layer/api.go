package layer

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// An apiLayer passes request bodies to the API and gets response bodies, without a socket.
type apiLayer struct{ data *Data }

// Close implements [Layer].
func (apiLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l apiLayer) Prepare(_ context.Context, c *work.Call) (measure.Op, error) {
	service, target, body := l.data.API, c.Op.Target(), c.Body(l.data.Shape)
	return func(ctx context.Context, s *measure.Scratch) (rows, size int, err error) {
		out, status := service.Serve(ctx, target, body, s.Buf[:0])
		s.Buf = out
		return answer(c, status, out)
	}, nil
}

// answer checks a response and returns its rows and its length.
func answer(c *work.Call, status int, body []byte) (rows, size int, err error) {
	if status != http.StatusOK {
		return 0, 0, fmt.Errorf("%s: status %d: %.400s", c.Op, status, body)
	}
	rows = countRows(c.Op, body)
	return rows, len(body), checkRows(c, rows)
}

var (
	countName = []byte(`"Count":`)
	itemName  = []byte(`"Item":`)
)

// countRows returns the number of rows that a response states, or -1 if it states none. For a Query or Scan it
// searches the first bytes of the body, then the last ones, and only then the whole body. The count is usually at one
// of the ends, so a long body takes no more time than a short one.
func countRows(op work.Op, body []byte) int {
	switch op {
	case work.Get:
		if bytes.Contains(body[:min(len(body), 64)], itemName) {
			return 1
		}
		return bytes.Count(body, itemName)
	case work.TransactGet:
		return bytes.Count(body, itemName)
	case work.Query, work.Scan:
	default:
		return 0
	}

	const near = 512
	for _, part := range [][]byte{body[:min(len(body), near)], body[max(len(body)-near, 0):], body} {
		if i := bytes.LastIndex(part, countName); i >= 0 {
			n := 0
			for _, c := range bytes.TrimLeft(part[i+len(countName):], " ") {
				if c < '0' || c > '9' || n > 1<<30 {
					break
				}
				n = n*10 + int(c-'0')
			}
			return n
		}
	}
	return -1
}
