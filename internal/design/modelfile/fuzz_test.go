package modelfile_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

// FuzzParse checks that no file causes a panic, that every error has a place, and that a model is written and read
// back unchanged.
func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/shop.yaml", "starter.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("name: x\ntables: &t {Tab: {partition: PK, <<: *t}}\nitems: {Tab: [{PK: !!binary AA==, b: {M: {S: {S: x}}}}]}"))
	f.Add([]byte("name: x\ntables: {Tab: {partition: [{name: a, type: N}], sort: b}}\npatterns: [{name: p, get: {table: Tab, where: {a: 1, b: {between: [1, 2]}}}}]"))
	f.Add([]byte("{\"name\": \"\", \"tables\": {\"Tab\": {\"partition\": \"K\"}}}"))
	f.Add([]byte("{\"name\": \"x\", \"tables\": {\"Tab\": {\"partition\": \"PK\"}}, \"about\": \"\\ud83d\\ude00\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := modelfile.Parse("m", data)
		if err != nil {
			list, ok := errors.AsType[model.Errors](err)
			if !ok || len(list) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			for _, e := range list {
				if e.Pos.Line == 0 || e.Msg == "" {
					t.Errorf("%q is nowhere", e.Msg)
				}
			}
			return
		}
		var b bytes.Buffer
		if err := modelfile.Write(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := modelfile.Parse("m", b.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		requireSame(t, m, again, b.String())
		for _, p := range m.Patterns {
			if _, err := compile.Pattern(p); err != nil {
				if _, ok := errors.AsType[*compile.Error](err); !ok {
					t.Errorf("%T", err)
				}
			}
		}
		for _, e := range m.Entities {
			if e.Count > 50 {
				return
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w, err := dataset.Build(ctx, m, dataset.Options{MaxItems: 50})
		if err != nil {
			if _, ok := errors.AsType[model.Errors](err); !ok {
				t.Errorf("%T %v", err, err)
			}
			return
		}
		w.Close()
	})
}

// TestEndless parses values that contain themselves or are deeply nested.
func TestEndless(t *testing.T) {
	for _, src := range []string{
		"name: x\ntables: &t {Tab: {partition: PK}, <<: *t}\n",
		"a: &a [*a]\n",
		strings.Repeat("- ", 20000) + "x",
		strings.Repeat("[", 20000),
		strings.Repeat("{a: ", 9000) + strings.Repeat("}", 9000),
	} {
		_, err := modelfile.Parse("m", []byte(src))
		if err == nil {
			t.Errorf("%.40s is a model", src)
		}
	}
}
