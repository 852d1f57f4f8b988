package modelfile_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// TestScripts runs testdata/scripts: models with their errors, and patterns
// with their requests.
func TestScripts(t *testing.T) {
	var m *model.Model
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				_, err := modelfile.Parse("m.yaml", []byte(d.Input))
				if err == nil {
					return "ok\n"
				}
				if _, ok := errors.AsType[model.Errors](err); !ok {
					t.Fatalf("%T", err)
				}
				return err.Error() + "\n"
			case "model":
				var err error
				if m, err = modelfile.Parse("m.yaml", []byte(d.Input)); err != nil {
					return err.Error() + "\n"
				}
				return "ok\n"
			case "compile":
				return compileScript(m, d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// compileScript compiles the single pattern in src against the model m.
func compileScript(m *model.Model, src string) string {
	with := *m
	with.Patterns = nil
	var b strings.Builder
	if err := modelfile.Write(&b, &with); err != nil {
		return err.Error() + "\n"
	}
	full, err := modelfile.Parse("", []byte(b.String()+"\npatterns:\n  - name: p\n    "+strings.ReplaceAll(src, "\n", "\n    ")+"\n"))
	if err != nil {
		var out strings.Builder
		for _, e := range err.(model.Errors) {
			fmt.Fprintf(&out, "parse error: %s\n", e.Msg)
			if e.Hint != "" {
				fmt.Fprintf(&out, "  hint: %s\n", e.Hint)
			}
		}
		return out.String()
	}
	request, err := compile.PatternJSON(full.Patterns[0])
	if err != nil {
		ce, _ := errors.AsType[*compile.Error](err)
		return fmt.Sprintf("error at %s/%s: %s\n  advice: %s\n", ce.Attribute, ce.Component, ce.Msg, ce.Advice)
	}
	return full.Patterns[0].Operation + " " + string(request) + "\n"
}
