package convert_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/internal/design/convert"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// FuzzImport checks that an import either fails with an [*convert.Error], or returns a model that can be written,
// read back and built.
func FuzzImport(f *testing.F) {
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, []byte(nil))
	}
	table, err := os.ReadFile("testdata/tables.json")
	if err != nil {
		f.Fatal(err)
	}
	items, err := os.ReadFile("testdata/items.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(table, items)
	f.Fuzz(func(t *testing.T, a, b []byte) { holds(t, a, b) })
}

// holds imports one or two files and checks the result.
func holds(t *testing.T, a, b []byte) {
	t.Helper()
	list := []convert.File{{Name: "a", Data: a}}
	if len(b) > 0 {
		list = append(list, convert.File{Name: "b", Data: b})
	}
	m, _, err := convert.Import(t.Context(), list, convert.Options{Items: 50})
	if err != nil {
		if _, ok := err.(*convert.Error); !ok {
			t.Fatalf("%T: %v", err, err)
		}
		for _, bad := range []string{"what came of it", "cannot be made"} {
			if strings.Contains(err.Error(), bad) {
				t.Fatalf("%v\n%s", err, a)
			}
		}
		return
	}
	var out bytes.Buffer
	if err := modelfile.Write(&out, m); err != nil {
		t.Fatal(err)
	}
	again, err := modelfile.Parse("again", out.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.Bytes(), a)
	}
	w, err := dataset.Build(t.Context(), again, dataset.Options{})
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.Bytes(), a)
	}
	w.Close()
}

// nasty are unusual texts for names, keys and templates.
var nasty = []string{
	"", " ", "a", "PK", "SK", "GSI1PK", "{x}", "}", "{", "${a}${b}", "${id}", "${id:3}", "${a.b}", "#", "a#", "#a", "a##b", "ORDER#1", "ORDER#2#x", "~", "null", "true", "1", "-1", "007",
	"2026-01-05", "2026-01-05T10:00:00Z", "é", "日本", "\u0000", "\U0010FFFF", "a: b", "- x", "<<", "*a", "&a", "! x", "| y", "a\nb", "a\tb", "\"", "'", "%", "@", "`", "..", "---", "S", "N", "M",
	"INCLUDE", "KEYS_ONLY", "local", "number", "date", "binary", "boolean", "keys", "all", "type", "_type", "0x1", "1e3", "1_000", "12:30", "=", "Drive", "Hotels", strings.Repeat("k", 300),
}

// mutate changes one place in a JSON value.
func mutate(rng *rand.Rand, v any, pool *[]any) any {
	if rng.IntN(6) == 0 {
		switch rng.IntN(8) {
		case 0:
			return nil
		case 1:
			return rng.IntN(2) == 0
		case 2:
			return json.Number([]string{"0", "1", "-3.5", "1e400", "12345678901234567890123456789012345678901234567890"}[rng.IntN(5)])
		case 3:
			return []any{}
		case 4:
			return map[string]any{}
		case 5:
			return (*pool)[rng.IntN(len(*pool))]
		}
		return nasty[rng.IntN(len(nasty))]
	}
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			return x
		}
		names := slices.Sorted(maps.Keys(x))
		name := names[rng.IntN(len(names))]
		out := maps.Clone(x)
		switch rng.IntN(10) {
		case 0:
			delete(out, name)
		case 1:
			out[nasty[rng.IntN(len(nasty))]] = x[name]
		default:
			out[name] = mutate(rng, x[name], pool)
		}
		return out
	case []any:
		if len(x) == 0 {
			return x
		}
		i := rng.IntN(len(x))
		out := slices.Clone(x)
		switch rng.IntN(10) {
		case 0:
			return slices.Delete(out, i, i+1)
		case 1:
			return append(out, x[i])
		}
		out[i] = mutate(rng, x[i], pool)
		return out
	}
	return nasty[rng.IntN(len(nasty))]
}

// collect lists the values in v.
func collect(v any, pool *[]any) {
	*pool = append(*pool, v)
	switch x := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			collect(x[name], pool)
		}
	case []any:
		for _, e := range x {
			collect(e, pool)
		}
	}
}

// TestMutants imports designs with random changes.
func TestMutants(t *testing.T) {
	seed, rounds := uint64(1), 40
	if s := os.Getenv("MUTANTS"); s != "" {
		_, err := fmt.Sscan(s, &seed, &rounds)
		if err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, tt := range imports {
		var docs []any
		for _, f := range inputFiles(t, tt.files) {
			dec := json.NewDecoder(bytes.NewReader(f.Data))
			dec.UseNumber()
			var lines []any
			for dec.More() {
				var v any
				if err := dec.Decode(&v); err != nil {
					t.Fatal(err)
				}
				lines = append(lines, v)
			}
			if len(lines) == 1 {
				docs = append(docs, lines[0])
			} else {
				docs = append(docs, map[string]any{"Items": lines})
			}
		}
		var pool []any
		for _, d := range docs {
			collect(d, &pool)
		}
		for range rounds {
			data := make([][]byte, 2)
			for i, d := range docs {
				for range 1 + rng.IntN(12) {
					d = mutate(rng, d, &pool)
				}
				var err error
				if data[i], err = json.Marshal(d); err != nil {
					t.Fatal(err)
				}
			}
			holds(t, data[0], data[1])
		}
	}
}
