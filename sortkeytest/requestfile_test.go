package sortkeytest_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortkey/sortkey/internal/requestfile"
)

// readAll describes all requests that a reader yields, as text.
func readAll(r *requestfile.Reader) string {
	var out []string
	for {
		w, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return strings.Join(out, "\n")
		case err != nil:
			return strings.Join(append(out, "end: "+err.Error()), "\n")
		case w.Err != nil:
			out = append(out, fmt.Sprintf("%d %s: %s", w.Line, w.Table, w.Err))
		case w.Delete:
			out = append(out, fmt.Sprintf("%d %s delete %s", w.Line, w.Table, w.Item.AppendJSON(nil)))
		default:
			out = append(out, fmt.Sprintf("%d %s %s", w.Line, w.Table, w.Item.AppendJSON(nil)))
		}
	}
}

const (
	putA    = `{"PutRequest":{"Item":{"id":{"S":"a"}}}}`
	deleteB = `{"DeleteRequest":{"Key":{"id":{"S":"b"}}}}`
)

func TestNext(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"batch", `{"Tab":[` + putA + "\n," + deleteB + `]}`, "1 Tab {\"id\":{\"S\":\"a\"}}\n2 Tab delete {\"id\":{\"S\":\"b\"}}"},
		{"two tables", `{"Tab":[` + putA + `],"Two":[` + putA + `]}`, "1 Tab {\"id\":{\"S\":\"a\"}}\n1 Two {\"id\":{\"S\":\"a\"}}"},
		{
			"request items", `{"ReturnConsumedCapacity":"TOTAL","RequestItems":{"Tab":[` + putA + `]}}`,
			`1 Tab {"id":{"S":"a"}}`,
		},
		{"arn", `{"arn:aws:dynamodb:us-east-1:123456789012:table/Tab":[` + putA + `]}`, `1 Tab {"id":{"S":"a"}}`},
		{"no table", "[" + putA + "," + deleteB + "]", "1  {\"id\":{\"S\":\"a\"}}\n1  delete {\"id\":{\"S\":\"b\"}}"},
		{"put", "\n" + `{"TableName":"Tab","Item":{"id":{"S":"a"}},"ReturnValues":"NONE"}`, `2 Tab {"id":{"S":"a"}}`},
		{
			"puts", `{"TableName":"Tab","Item":{"id":{"S":"a"}}}` + "\n" + `{"Item":{"id":{"S":"b"}},"TableName":"Two"}`,
			"1 Tab {\"id\":{\"S\":\"a\"}}\n2 Two {\"id\":{\"S\":\"b\"}}",
		},
		{
			"transaction", `{"ClientRequestToken":"x","TransactItems":[{"Put":{"TableName":"Tab","Item":{"id":{"S":"a"}}}},
			{"Delete":{"TableName":"Two","Key":{"id":{"S":"b"}}}}]}`,
			"1 Tab {\"id\":{\"S\":\"a\"}}\n2 Two delete {\"id\":{\"S\":\"b\"}}",
		},
		{"several batches", `[{"Tab":[` + putA + `]},{"Two":[` + putA + `]}]`, "1 Tab {\"id\":{\"S\":\"a\"}}\n1 Two {\"id\":{\"S\":\"a\"}}"},
		{"null members", `{"Tab":[{"PutRequest":{"Item":{"id":{"S":"a"}}},"DeleteRequest":null}]}`, `1 Tab {"id":{"S":"a"}}`},
		{"empty batch", `{"Tab":[]}`, ""},

		{
			"update", `{"TransactItems":[{"Update":{"TableName":"Tab","Key":{}}}]}`,
			"1 Tab: Update is not a write of a whole item: only puts and deletes are read from a file",
		},
		{
			"check", `{"TransactItems":[{"ConditionCheck":{"TableName":"Tab","Key":{}}},` + putA + `]}`,
			"1 Tab: ConditionCheck is not a write of a whole item: only puts and deletes are read from a file\n" +
				`1  {"id":{"S":"a"}}`,
		},
		{
			"condition", `{"TableName":"Tab","Item":{"id":{"S":"a"}},"ConditionExpression":"attribute_not_exists(id)"}`,
			"1 Tab: ConditionExpression is not checked when a file is read: remove it if the write is to be made in any case",
		},
		{"plain values", `{"Tab":[{"PutRequest":{"Item":{"id":"a"}}}]}`, `1 Tab: Item: Unexpected value type in payload; attributes are DynamoDB JSON such as {"S": "x"}`},
		{"null item", `{"Tab":[{"PutRequest":{"Item":null}}]}`, `1 Tab: an object with "PutRequest" is not a write such as {"PutRequest": {"Item": {…}}}`},
		{"unknown member", `{"Tab":[{"PutRequest":{"Item":{"id":{"S":"a"}},"Note":1}}]}`, `1 Tab: unknown member "Note" of a request`},
		{"member of a batch", `{"Tab":[` + putA + `],"note":"x"}`, "1 Tab {\"id\":{\"S\":\"a\"}}\n1 : unknown member \"note\" of a request"},
		{"two writes in one", `{"Tab":[{"PutRequest":{"Item":{"id":{"S":"a"}}},"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]}`,
			`1 Tab: an object with "DeleteRequest" is not a write such as {"PutRequest": {"Item": {…}}}`},
		{"no object", `{"Tab":[7,` + putA + `]}`, "1 Tab: 7 is not a request\n1 Tab {\"id\":{\"S\":\"a\"}}"},
		{"long value", `{"Tab":["` + strings.Repeat("a", 100) + `"]}`, `1 Tab: "` + strings.Repeat("a", 59) + "… is not a request"},
		{"no list", `{"RequestItems":{"Tab":{}}}`, "end: the writes of table Tab are not a list"},
		{"cut", `{"Tab":[` + putA + `,`, "1 Tab {\"id\":{\"S\":\"a\"}}\nend: file ends inside a JSON value"},
		{"cut in a list", `[`, "end: file ends inside a JSON value"},
		{"malformed", "{\n\"Tab\":[" + putA + "\n,}", "2 Tab {\"id\":{\"S\":\"a\"}}\nend: line 3: invalid character ',' at start of value"},
		{"repeated member", "{\"Tab\":[" + putA + "],\n\"Tab\":[]}", "1 Tab {\"id\":{\"S\":\"a\"}}\n" +
			`end: line 2: duplicate object member name "Tab" at offset 51`},
		{"bracket", `]`, "end: line 1: invalid character ']' at start of value"},
		{"nesting", strings.Repeat("[", 40), "end: lists of requests are nested too deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := readAll(requestfile.NewReader(strings.NewReader(tt.text), 1<<20)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if got := readAll(requestfile.NewReader(iotest.OneByteReader(strings.NewReader(tt.text)), 1<<20)); got != tt.want {
				t.Errorf("byte for byte: got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestLines tests the line numbers in a file that is larger than the decoder's buffer.
func TestLines(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"Tab":[`)
	for i := range 3000 {
		fmt.Fprintf(&text, "%s\n\n{\"PutRequest\":{\"Item\":{\"id\":{\"S\":\"%d\"},\"pad\":{\"S\":\"%080d\"}}}}", strings.Repeat(",", min(i, 1)), i, i)
	}
	text.WriteString("]}")
	r := requestfile.NewReader(strings.NewReader(text.String()), 1<<20)
	for i := range 3000 {
		if w, err := r.Next(); err != nil || w.Line != int64(2*i+3) || string(w.Item.Get("id").Raw()) != fmt.Sprint(i) {
			t.Fatalf("write %d is %v at line %d: %v", i, w.Item, w.Line, err)
		}
	}
}

// TestBound reads very long names, and tests that no error message repeats one in full.
func TestBound(t *testing.T) {
	for _, text := range []string{
		`{"RequestItems":{"X":1}}`, `{"T":[{"X":1}]}`, `{"T":[{"PutRequest":{"Item":{"a":{"S":"x"}},"X":1}}]}`,
		`{"T":["X"]}`, `{"X":1}`, `{"T":[{"PutRequest":{"Item":{"a":{"N":"X"}}}}]}`,
	} {
		text = strings.ReplaceAll(text, "X", strings.Repeat("x", 200_000))
		w, err := requestfile.NewReader(strings.NewReader(text), 1<<20).Next()
		if err == nil {
			err = w.Err
		}
		if err == nil || len(err.Error()) > 600 {
			t.Errorf("%.60s: %.700v", text, err)
		}
	}
}

// TestLong tests that a hostile file cannot take more memory than a bound.
func TestLong(t *testing.T) {
	const limit = 1 << 20
	fits := `{"Tab":[{"PutRequest":{"Item":{"id":{"S":"` + strings.Repeat("x", limit/4) + `"}}}}]}`
	if w, err := requestfile.NewReader(strings.NewReader(fits), limit).Next(); err != nil || w.Err != nil {
		t.Errorf("a write within the limit: %v %v", err, w.Err)
	}
	for _, text := range []string{`{"Tab":[{"PutRequest":{"Item":{"id":{"S":"`, `{"Tab":[`} {
		r := requestfile.NewReader(io.MultiReader(strings.NewReader(text), endless(text[len(text)-1])), limit)
		_, err := r.Next()
		if want := "line 1: longer than 1048576 bytes"; err == nil || err.Error() != want {
			t.Errorf("Next = %v, want %s", err, want)
		}
	}
}

// endless is a file without end: spaces in a list, or letters in a string.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = map[byte]byte{'"': 'x', '[': ' '}[byte(e)]
	}
	return len(p), nil
}

func TestIs(t *testing.T) {
	for _, tt := range []struct {
		text string
		want bool
	}{
		{`{"Tab":[` + putA, true},
		{`{"Tab":[` + deleteB, true},
		{`[` + putA + `]`, true},
		{`[[{"RequestItems":{"Tab":[` + putA, true},
		{`{"ReturnConsumedCapacity":"TOTAL","RequestItems":{"Tab":[` + putA, true},
		{`{"TableName":"Tab","Item":{"id":{"S":"a"}}}`, true},
		{`{"Item":{"id":{"S":"a"}},"TableName":"Tab"}`, true},
		{`{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"id":{"S":"a"}}}}`, true},
		{`{"TransactItems":[{"Update":{"TableName":"Tab","Key":{"id":{"S":"a"}}}}`, true},
		{`{"TableName":"Tab","Item":{"id":{"S":"a"}},"ConditionExpression":"x"}`, true},

		{`{"RequestItems":{"Aaa":[],"Bbb":[],"Tab":[` + putA, true},
		{`{"TransactItems":[],"RequestItems":{"Aaa":[],"Tab":[` + putA, true},

		// These are items and not requests, whatever the names of their attributes are.
		{``, false},
		{`{}`, false},
		{`7`, false},
		{`{"TableName":{"S":"Tab"},"Item":{"M":{"id":{"S":"a"}}}}`, false},
		{`{"RequestItems":{"M":{"Tab":{"L":[]}}}}`, false},
		{`{"RequestItems":{"L":[{"M":{}}]}}`, false},
		{`{"PutRequest":{"M":{"Item":{"M":{"id":{"S":"a"}}}}}}`, false},
		{`{"TransactItems":{"L":[]}}`, false},
		{`{"TransactItems":[]}`, false},
		{`{"RequestItems":{"Aaa":[]}}`, false},
		{`{"RequestItems":{"Aaa":[],"Tab":["x"]}}`, false},
		{`{"Tab":[]}`, false},
		{`{"Item":{"id":{"S":"a"}}}`, false},
		{`{"TableName":"Tab","Item":{"id":"a"}}`, false},
		{`{"TableName":"Tab","Item":{"id":{"S":"a"}},"note":"x"}`, false},
		{`{"TableName":"Tab","Item":{}}`, false},
		{`{"Tab":[{"PutRequest":{"Item":{"id":"a"}}}]}`, false},
		{`{"Tab":[{"id":{"S":"a"}}]}`, false},
		{`{"id":"a","Tab":[` + putA + `]}`, false},
		{`{"Items":[{"id":{"S":"a"}}],"Count":1}`, false},
		{strings.Repeat("[", 100), false},
	} {
		if got := requestfile.Is([]byte(tt.text)); got != tt.want {
			t.Errorf("Is(%.80s) = %v", tt.text, got)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add([]byte(`{"RequestItems":{"Tab":[` + putA + `,` + deleteB + `]}}`))
	f.Add([]byte(`{"TransactItems":[{"Put":{"TableName":"Tab","Item":{"id":{"S":"a"}}}}]}`))
	f.Add([]byte("[{\"TableName\":\"Tab\",\n\"Item\":{\"id\":{\"N\":\"1\"}}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		requestfile.Is(text)
		r := requestfile.NewReader(strings.NewReader(string(text)), 1<<10)
		line := int64(1)
		for {
			w, err := r.Next()
			if err != nil {
				return
			}
			if (w.Err == nil) == (w.Item == nil) || w.Line < line {
				t.Fatalf("%+v after line %d", w, line)
			}
			line = w.Line
		}
	})
}
