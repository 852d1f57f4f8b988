package keycond_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/cockroachdb/datadriven"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/keycond"
)

// TestCompile runs the scripts in testdata. A script declares schemas and
// compiles key conditions against them:
//
//	schema name=orders hash=PK:S range=SK:S
//	schema name=byTag table=orders hash=tag:S range=(n:N,at:S)
//	compile schema=orders
//	PK = :pk AND begins_with(SK, :p)
//	{":pk":{"S":"a"},":p":{"S":"b"}}
func TestCompile(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		schemas := map[string]*keycond.Schema{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "schema":
				var name, table string
				d.ScanArgs(t, "name", &name)
				partition, sort := attributes(t, d, "hash"), attributes(t, d, "range")
				if d.HasArg("table") {
					d.ScanArgs(t, "table", &table)
					schemas[name] = schemas[table].NewIndex(name, partition, sort)
				} else {
					schemas[name] = keycond.NewSchema(partition, sort)
				}
				return ""
			case "compile":
				var name string
				d.ScanArgs(t, "schema", &name)
				src, values, _ := strings.Cut(d.Input, "\n")
				return compile(t, schemas[name], src, values)
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

func attributes(t *testing.T, d *datadriven.TestData, arg string) []keycond.Attribute {
	for _, a := range d.CmdArgs {
		if a.Key != arg {
			continue
		}
		var out []keycond.Attribute
		for _, v := range a.Vals {
			name, kind, _ := strings.Cut(v, ":")
			k, ok := attr.ParseKind(kind)
			if !ok {
				t.Fatalf("%q is no kind", kind)
			}
			out = append(out, keycond.Attribute{Name: name, Kind: k})
		}
		return out
	}
	return nil
}

func compile(t *testing.T, s *keycond.Schema, src, values string) string {
	item, err := attr.ParseItem([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	env, err := expr.NewEnv(expr.Params{Values: item})
	if err != nil {
		return "error: " + err.Error()
	}
	cond, err := env.Condition(expr.KeyConditionExpression, src)
	if err != nil {
		return "error: " + err.Error()
	}
	slice, err := keycond.Compile(s, cond)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%s\npartition %s\n[%s, %s)", slice,
		show(slice.Partition), show(slice.Range.Lo), show(slice.Range.Hi))
}

// show returns bytes as text. It writes bytes that are not printable as \xx, and nil as -.
func show(b []byte) string {
	if b == nil {
		return "-"
	}
	var out strings.Builder
	for _, c := range b {
		if c < unicode.MaxASCII && unicode.IsPrint(rune(c)) && c != '\\' {
			out.WriteByte(c)
		} else {
			out.WriteString(`\` + hex.EncodeToString([]byte{c}))
		}
	}
	return `"` + out.String() + `"`
}
