// Package apitest compares the Go API of a table, [sortkey.TableOf], with the operations of the service. It runs
// each script of sdk/testdata/behaviour on two databases. One gets every operation as a request. The other gets it as
// a call of the Go API ("the API") if that API can express the request. Then apitest compares the answers and the
// stored items.
//
// [Matrix] and [Hazards] test concurrent calls and functions that misbehave. The tests of every engine run them.
package apitest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/engine"
)

// fewest is the least number of requests of all scripts that must go through the Go API. A change of the scripts or
// of this package could make hardly any request do so, and Run would test nothing.
const fewest = 250

// Run runs all scripts of a folder. For each script it calls open twice, which opens an empty database.
func Run(t *testing.T, folder string, open func(*testing.T, sortkey.Options) *sortkey.DB) {
	said := 0
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		p := &pair{requests: newSide(t, open), api: newSide(t, open)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if err := p.run(t, d); err != nil {
				d.Fatalf(t, "%v", err)
			}
			return d.Expected // the tests of package sdk compare the answers with the script
		})
		p.compareTables(t)
		said += p.said
	})
	if t.Logf("%d requests went through the API", said); said < fewest {
		t.Errorf("only %d requests went through the API, want at least %d", said, fewest)
	}
}

// A side is one of the two databases.
type side struct{ db *sortkey.DB }

func newSide(t *testing.T, open func(*testing.T, sortkey.Options) *sortkey.DB) side {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return side{open(t, sortkey.Options{Clock: func() time.Time { return now }})}
}

// An answer is the result of an operation, in a form that both sides can produce.
type answer struct {
	Type, Message       string
	Item, Attributes    attr.Item
	Items               []attr.Item
	Count, ScannedCount int
	LastEvaluatedKey    attr.Item
}

func (s side) serve(t *testing.T, operation string, in map[string]any) []byte {
	body, err := json.Marshal(in)
	require.NoError(t, err)
	out, _ := engine.Of(s.db).Service.Serve(t.Context(), "DynamoDB_20120810."+operation, body, nil)
	return out
}

// A pair is the two databases of a script: one gets requests, the other calls of the Go API.
type pair struct {
	requests, api side
	table         string // the table that the script created last
	said          int    // requests that went through the Go API
}

func (p *pair) run(t *testing.T, d *datadriven.TestData) error {
	arg := ""
	if len(d.CmdArgs) > 0 {
		arg = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "table":
		p.table = arg
		return p.create(t, d.Input)
	case "put":
		dec := json.NewDecoder(strings.NewReader(d.Input))
		dec.UseNumber()
		for dec.More() {
			var item map[string]any
			if err := dec.Decode(&item); err != nil {
				return err
			}
			p.operation(t, "PutItem", map[string]any{"TableName": arg, "Item": item})
		}
		return nil
	case "fill":
		var count, size int
		d.ScanArgs(t, "count", &count)
		d.ScanArgs(t, "size", &size)
		for i := range count {
			item := map[string]any{"pk": "P", "sk": json.Number(strconv.Itoa(i)), "fat": strings.Repeat("x", size)}
			p.operation(t, "PutItem", map[string]any{"TableName": arg, "Item": item})
		}
		return nil
	}

	var in map[string]any
	dec := json.NewDecoder(strings.NewReader(d.Input))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return err
	}
	for {
		last := p.operation(t, d.Cmd, in)
		if arg != "pages" || last == nil || d.Cmd != "Query" && d.Cmd != "Scan" {
			return nil
		}
		in["ExclusiveStartKey"] = typed{last}
	}
}

// create creates a table in both databases by the Go API.
func (p *pair) create(t *testing.T, definition string) error {
	key, lines, _ := strings.Cut(definition, "\n")
	var opts []sortkey.TableOption
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		text, only, limited := strings.Cut(strings.Join(fields[2:], " "), " only")
		ix := sortkey.Global(fields[1], text)
		if fields[0] == "local" {
			ix = sortkey.Local(fields[1], text)
		}
		if limited {
			ix = ix.Only(strings.Fields(only)...)
		}
		opts = append(opts, ix)
	}
	for _, s := range []side{p.requests, p.api} {
		if err := s.db.CreateTable(t.Context(), p.table, key, opts...); err != nil {
			return err
		}
	}
	return nil
}

// operation runs a request on both sides and compares the answers. It returns the LastEvaluatedKey.
func (p *pair) operation(t *testing.T, name string, in map[string]any) attr.Item {
	in = maps.Clone(in)
	if _, ok := in["TableName"]; !ok && !strings.Contains(name, "Batch") && !strings.Contains(name, "Transact") &&
		!strings.Contains(name, "Statement") {
		in["TableName"] = p.table
	}
	says, ok := p.translate(t, name, in)
	request := typedMembers("", in).(map[string]any)
	if !ok {
		p.api.serve(t, name, request)
		return parse(t, p.requests.serve(t, name, request)).LastEvaluatedKey
	}

	want := parse(t, p.requests.serve(t, name, request))
	if strings.Contains(want.Message, "reserved keyword") { // the Go API escapes reserved words
		return nil
	}
	got, err := says()
	// The Go API refuses a wrong argument before it makes a request, with a message of its own, so compare only the
	// kind.
	if errors.Is(err, sortkey.ErrUsage) && !errors.As(err, new(*sortkey.Error)) {
		require.Equal(t, "ValidationException", want.Type, "%s %s: %v", name, request, err)
		p.said++
		return nil
	}
	require.Equal(t, want.text(), got.orError(err).text(), "%s %s", name, request)
	p.said++
	return want.LastEvaluatedKey
}

// parse parses the JSON of a response.
func parse(t *testing.T, body []byte) answer {
	var raw struct {
		Type                               string `json:"__type"`
		Message                            string // json ignores case, so this reads message too
		Item, Attributes, LastEvaluatedKey json.RawMessage
		Items                              []json.RawMessage
		Count, ScannedCount                int
	}
	require.NoError(t, json.Unmarshal(body, &raw))
	item := func(text json.RawMessage) attr.Item {
		it, err := attr.ParseItem(text)
		if text == nil || err != nil { // the operation uses this name for something that is not an item
			return nil
		}
		return it
	}

	a := answer{
		Message: raw.Message, Item: item(raw.Item), Attributes: item(raw.Attributes),
		Count: raw.Count, ScannedCount: raw.ScannedCount, LastEvaluatedKey: item(raw.LastEvaluatedKey),
	}
	_, a.Type, _ = strings.Cut(raw.Type, "#")
	for _, text := range raw.Items {
		a.Items = append(a.Items, item(text))
	}
	return a
}

// orError returns a if err is nil, and otherwise the answer that corresponds to err.
func (a answer) orError(err error) answer {
	if err == nil {
		return a
	}
	if e, ok := errors.AsType[*sortkey.Error](err); ok {
		return answer{Type: e.Code, Message: e.Message, Item: e.Item}
	}
	return answer{Type: "not an answer", Message: err.Error()}
}

// text returns the parts of an answer that must be the same on both sides. It cuts the message of a syntax error off
// at "token:", because the Go API has rewritten the expression that the rest quotes.
func (a answer) text() string {
	message, _, _ := strings.Cut(placeholders.ReplaceAllString(a.Message, "?"), "token:")
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\nitem %s\nattributes %s\n", a.Type, message, textOf(a.Item), textOf(a.Attributes))
	fmt.Fprintf(&b, "%d of %d, last %s\n", a.Count, a.ScannedCount, textOf(a.LastEvaluatedKey))
	for _, it := range a.Items {
		fmt.Fprintln(&b, textOf(it))
	}
	return b.String()
}

func textOf(it attr.Item) string {
	if it == nil {
		return "-"
	}
	return string(it.AppendJSON(nil))
}

// compareTables compares all items of both databases.
func (p *pair) compareTables(t *testing.T) {
	names, err := p.requests.db.Tables(t.Context())
	require.NoError(t, err)
	own, err := p.api.db.Tables(t.Context())
	require.NoError(t, err)
	require.Equal(t, names, own)
	for _, name := range names {
		require.Equal(t, stored(t, p.requests.db, name), stored(t, p.api.db, name), name)
	}
}

// stored returns the items of a table as sorted JSON texts.
func stored(t *testing.T, db *sortkey.DB, name string) (all []string) {
	for it, err := range sortkey.Table[attr.Item](db, name).Scan(t.Context()) {
		if err != nil {
			return []string{err.Error()} // such as a table that is still CREATING
		}
		all = append(all, textOf(it))
	}
	slices.Sort(all)
	return all
}

// cursor returns the [sortkey.Page].Cursor for a key.
func cursor(table, index string, key attr.Item) string {
	text, _ := json.Marshal(map[string]any{"t": table, "i": index, "k": json.RawMessage(key.AppendJSON(nil))})
	return base64.RawURLEncoding.EncodeToString(text)
}
