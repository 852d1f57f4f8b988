package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/sortkey/sortkey/internal/text"
)

// keptRequests is the number of requests that a log keeps.
const keptRequests = 1000

// A request is one that a tool has sent to the database or its fork.
type request struct {
	Number  int    `json:"number"`
	Tool    string `json:"tool"`
	Request string `json:"request"` // in words
	// Examined and Returned count rows, and are nil for requests that write.
	Examined *int    `json:"examined,omitempty"`
	Returned *int    `json:"returned,omitempty"`
	Reads    float64 `json:"readUnits,omitempty"`
	Writes   float64 `json:"writeUnits,omitempty"`
	// Waste is the share of the rows that were read and not returned.
	Waste float64 `json:"waste,omitempty"`
	Error string  `json:"error,omitempty"`
}

// A requestLog has the last requests.
type requestLog struct {
	mu            sync.Mutex
	all           []request
	count         int
	reads, writes float64
}

func (l *requestLog) add(r request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.reads += r.Reads
	l.writes += r.Writes
	r.Number = l.count
	if r.Examined != nil && r.Returned != nil {
		r.Waste = waste(*r.Examined, *r.Returned)
	}
	if len(l.all) == keptRequests {
		l.all = append(l.all[:0], l.all[1:]...)
	}
	l.all = append(l.all, r)
}

// waste returns the share of the rows read that were not returned, with two digits.
func waste(examined, returned int) float64 {
	if examined <= returned {
		return 0
	}
	return math.Round(100*float64(examined-returned)/float64(examined)) / 100
}

type requestsArgs struct {
	Last int `json:"last,omitempty" jsonschema:"how many of the last requests to list; default 50"`
}

var requestsTool = tool{name: "requests", title: "Requests so far", description: `
Lists the requests that the tools of this server have sent so far, the newest last, with the rows that each
examined and returned, its read or write units, and its waste: the share of the rows that were read, and paid
for, but not returned. Use it at the end of an investigation to see which requests to improve. Needs no
arguments.
Example: {"last": 10}`}

func (s *Server) requests(_ context.Context, in requestsArgs) (string, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	last := in.Last
	if last <= 0 {
		last = 50
	}
	shown := s.log.all[max(0, len(s.log.all)-last):]
	var lines []json.RawMessage
	size := 0
	for i := len(shown) - 1; i >= 0; i-- {
		line, err := text.JSON(shown[i])
		if err != nil {
			return "", err
		}
		if size += len(line); size > s.o.MaxAnswer {
			break
		}
		lines = append([]json.RawMessage{line}, lines...)
	}

	var o object
	o.add("requests", list(lines))
	o.add("readUnits", s.log.reads)
	o.add("writeUnits", s.log.writes)
	if hidden := s.log.count - len(lines); hidden > 0 {
		o.add("note", fmt.Sprintf("%s before these; the units are those of all", text.Count(hidden, "request")))
	}
	return o.text()
}
