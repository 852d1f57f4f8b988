package examples_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/examples"
)

func TestAll(t *testing.T) {
	all, err := examples.All()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"composite-patterns": 9, "content-management": 16, "employees": 5, "file-tree": 6,
		"overloaded-index": 8, "product-catalog": 9, "task-management": 10,
	}
	if len(all) != len(want) {
		t.Errorf("All() = %d systems, want %d", len(all), len(want))
	}
	total := 0
	for _, s := range all {
		total += len(s.Patterns)
		if len(s.Patterns) != want[s.Name] {
			t.Errorf("%s has %d patterns, want %d", s.Name, len(s.Patterns), want[s.Name])
		}
		if s.About == "" {
			t.Errorf("%s does not say what it is about", s.Name)
		}
		keysExist(t, s)
	}
	if total != 63 {
		t.Errorf("there are %d patterns, want 63", total)
	}
}

// keysExist checks that every key an answer names is that of an item, so that
// a slip of the pen in a file is not taken for a fault of the database.
func keysExist(t *testing.T, s *examples.System) {
	t.Helper()
	have := map[string]bool{}
	for i, data := range s.Tables {
		var table struct {
			TableName string
			KeySchema []struct{ AttributeName string }
		}
		if err := json.Unmarshal(data, &table); err != nil {
			t.Fatalf("%s: table %d: %v", s.Name, i, err)
		}
		for _, data := range s.Items[table.TableName] {
			item, err := attr.ParseItem(data)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			var key examples.Key
			for _, e := range table.KeySchema {
				key = append(key, item.Get(e.AttributeName))
			}
			if have[key.String()] {
				t.Errorf("%s: two items have the key %v", s.Name, key)
			}
			have[key.String()] = true
		}
	}
	for _, p := range s.Patterns {
		for _, key := range p.Keys {
			if !have[key.String()] {
				t.Errorf("%s: %s: no item has the key %v", s.Name, p.Name, key)
			}
		}
	}
}

func TestLoadUnknown(t *testing.T) {
	for _, name := range []string{"", "nothing", "../examples", "file-tree/model.json"} {
		if _, err := examples.Load(name); !errors.Is(err, examples.ErrUnknown) {
			t.Errorf("Load(%q) = %v, want %v", name, err, examples.ErrUnknown)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const (
		table = `{"TableName": "T", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]}`
		head  = `{"name": "x", "tables": [` + table + `]`
	)
	for _, tt := range []struct{ name, text, want string }{
		{"empty", ``, "m.json:1: the text ends before the model does"},
		{"cut off", "{\"name\":\n\"x\"", "m.json:2: the text ends before the model does"},
		{"syntax", "{\n\"name\" 1}", "m.json:2: invalid character '1' after object key"},
		{"type", "{\n\n\"name\": 1}", "m.json:3: name cannot be a JSON number"},
		{"array", `[]`, "m.json:1: a JSON object must be here, not a JSON array"},
		{"unknown member", "{\n\"extra\": 1}", `m.json:2: unknown member "extra"`},
		{"two models", head + `} {}`, "m.json:1: more text after the model"},
		{"nameless", `{}`, `m.json: the model has no "name"`},
		{"no tables", `{"name": "x"}`, `m.json: the model has no "tables"`},
		{"nameless table", `{"name": "x", "tables": [{}]}`, "m.json: table 1 has no TableName"},
		{"table is a string", `{"name": "x", "tables": ["T"]}`, "m.json: table 1: a JSON object must be here, not a JSON string"},
		{"keyless table", `{"name": "x", "tables": [{"TableName": "T"}]}`, "m.json: table T: KeySchema must name one or two attributes"},
		{"table twice", `{"name": "x", "tables": [` + table + `,` + table + `]}`, "m.json: table T is there twice"},
		{"foreign items", head + `, "items": {"U": []}}`, `m.json: there are items for "U", which is not among the tables`},
		{"bad item", head + `, "items": {"T": [{"a": {"S": "x"}}, {"a": 1}]}}`, "m.json: item 2 of T: "},
		{"nameless pattern", head + `, "patterns": [{}]}`, `m.json: pattern 1 has no "name"`},
		{"no question", head + `, "patterns": [{"name": "p"}]}`, `m.json: pattern "p": exactly one of "query", "get" and "scan" must be there`},
		{"two questions", head + `, "patterns": [{"name": "p", "query": {}, "get": {}}]}`, `exactly one of "query", "get" and "scan"`},
		{"no answer", head + `, "patterns": [{"name": "p", "query": {}}]}`, `exactly one of "keys", "item" and "error"`},
		{"two answers", head + `, "patterns": [{"name": "p", "get": {}, "item": null, "error": "E"}]}`, `exactly one of "keys", "item" and "error"`},
		{"get with keys", head + `, "patterns": [{"name": "p", "get": {}, "keys": []}]}`, `a "get" answers with "item"`},
		{"query with item", head + `, "patterns": [{"name": "p", "query": {}, "item": null}]}`, `only a "get" answers with "item"`},
		{"foreign table", head + `, "patterns": [{"name": "p", "query": {"TableName": "U"}, "keys": []}]}`, `it asks "U", which is not among the tables`},
		{"short key", head + `, "patterns": [{"name": "p", "query": {"TableName": "T"}, "keys": [[]]}]}`, "key 1 has 0 values, the key of T has 1"},
		{"bad key", head + `, "patterns": [{"name": "p", "query": {"TableName": "T"}, "keys": [[true]]}]}`, "key value true: "},
		{"key is no array", head + `, "patterns": [{"name": "p", "query": {"TableName": "T"}, "keys": ["a"]}]}`, "a key must be an array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := examples.Parse("m.json", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%s) = %v, want %s", tt.text, err, tt.want)
			}
		})
	}
}

func TestKey(t *testing.T) {
	const text = `["a\"b",-12.5,{"B":"AAE="}]`
	var key examples.Key
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		t.Fatal(err)
	}
	if got, want := key.String(), `("a\"b", -12.5, {B:AAE=})`; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
	out, err := json.Marshal(key)
	if err != nil || string(out) != text {
		t.Errorf("Marshal = %s, %v, want %s", out, err, text)
	}
	if !key.Equal(slices.Clone(key)) || key.Equal(key[:2]) || key.Equal(examples.Key{key[0], key[2], key[1]}) {
		t.Error("Equal does not tell keys apart")
	}
}

func ExampleLoad() {
	s, err := examples.Load("file-tree")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range s.Patterns[:2] {
		fmt.Println(p.Name, "→", len(p.Keys), "rows")
	}
	// Output:
	// everything under root/photos/ → 4 rows
	// everything that starts with root/photos → 9 rows
}

func ExampleNames() {
	fmt.Println(strings.Join(examples.Names(), "\n"))
	// Output:
	// composite-patterns
	// content-management
	// employees
	// file-tree
	// overloaded-index
	// product-catalog
	// task-management
}
