package expr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/partiql"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// TestPartiQL runs the scripts in testdata. Their commands are:
//
//	params  the parameters of the statements below, a list in DynamoDB JSON
//	parse   the parsed form of each line, or its error and the position of that
//	plan    how to read a SELECT with the WHERE and ORDER BY of each line, from a
//	        table with the key PK (S), SK (S)
//	key     the key that the WHERE of each line sets, and its other conditions
func TestPartiQL(t *testing.T) {
	datadriven.Walk(t, "../partiql/testdata", func(t *testing.T, path string) {
		var params []attr.Value
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "params":
				params = nil
				if v, err := attr.ParseValue([]byte(`{"L":` + d.Input + `}`)); d.Input != "" {
					require.NoError(t, err)
					for i := range v.Len() {
						params = append(params, v.Index(i))
					}
				}
				return ""
			case "parse":
				for line := range strings.Lines(d.Input) {
					out.WriteString(describe(partiql.Parse(strings.TrimSuffix(line, "\n"), params)) + "\n")
				}
			case "plan":
				for line := range strings.Lines(d.Input) {
					s, err := partiql.Parse("SELECT * FROM T "+line, params)
					if err != nil {
						out.WriteString("error: " + err.Error() + "\n")
						continue
					}
					out.WriteString(plan(s.Plan(schema)) + "\n")
				}
			case "key":
				for line := range strings.Lines(d.Input) {
					s, err := partiql.Parse("SELECT * FROM T WHERE "+line, params)
					require.NoError(t, err)
					key, rest, ok, err := s.Key(schema)
					if err != nil {
						out.WriteString("error: " + err.Error() + "\n")
						continue
					}
					fmt.Fprintf(&out, "%t %s", ok, text.Literal(attr.NewMap(key)))
					if rest != nil {
						out.WriteString(" AND " + spelled.Condition(expr.Node(rest)))
					}
					out.WriteString("\n")
				}
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			return out.String()
		})
	})
}

var (
	schema, _ = keycond.ParseSchema("PK / SK")
	spelled   = ast.Style{Name: text.Name, Value: text.Literal}
)

func describe(s *partiql.Statement, err error) string {
	if err != nil {
		e := err.(*partiql.Error)
		return fmt.Sprintf("error at %d: %s", e.Pos, e.Msg)
	}
	parts := []string{string(s.Kind), text.Name(s.Table)}
	if s.Index != "" {
		parts = append(parts, "index "+text.Name(s.Index))
	}
	for _, p := range s.Paths {
		parts = append(parts, "["+spelled.Path(p.Path)+"]")
	}
	if s.Item != nil {
		parts = append(parts, text.Literal(attr.NewMap(s.Item)))
	}
	if s.Update != nil {
		for _, a := range expr.Actions(s.Update) {
			parts = append(parts, string(a.Clause), spelled.Path(a.Path.Path))
			if a.Value != nil {
				parts = append(parts, operand(a.Value))
			}
		}
	}
	if s.Where != nil {
		parts = append(parts, "WHERE", spelled.Condition(expr.Node(s.Where)))
	}
	for _, o := range s.Order {
		parts = append(parts, fmt.Sprintf("ORDER %s %t", o.Name, o.Desc))
	}
	if s.Returning != "" {
		parts = append(parts, "RETURNING", s.Returning)
	}
	return strings.Join(parts, " ")
}

// operand prints an operand of an update.
func operand(o ast.Operand) string {
	switch o := o.(type) {
	case *ast.PathOperand:
		return spelled.Path(o.Path)
	case *ast.ValueOperand:
		return text.Literal(o.Value)
	case *ast.Arithmetic:
		return operand(o.L) + " " + string(o.Op) + " " + operand(o.R)
	case *ast.Call:
		return string(o.Func) + "(" + operand(o.Args[0]) + ", " + operand(o.Args[1]) + ")"
	}
	return "?"
}

func plan(p *partiql.Plan, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	parts := []string{p.String()}
	if p.Reverse {
		parts = append(parts, "descending")
	}
	for _, slice := range p.Slices {
		parts = append(parts, "["+slice.String()+"]")
	}
	if p.Filter != nil {
		parts = append(parts, "filter "+spelled.Condition(expr.Node(p.Filter)))
	}
	return strings.Join(parts, " ")
}

// FuzzPartiQL parses arbitrary text. It must not panic. Errors must be an *Error with a position in the text, and every
// SELECT must have a plan.
func FuzzPartiQL(f *testing.F) {
	files, err := filepath.Glob("../partiql/testdata/*")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // the folder of the fuzzer
		}
		for line := range strings.Lines(string(data)) {
			f.Add(strings.TrimSuffix(line, "\n"))
			f.Add("SELECT * FROM T " + strings.TrimSuffix(line, "\n"))
		}
	}
	params := []attr.Value{attr.NewString("a"), attr.NewBool(true)}
	it := attr.NewMap(nil).Map()
	f.Fuzz(func(t *testing.T, src string) {
		partiql.TableOf(src)
		s, err := partiql.Parse(src, params[:min(strings.Count(src, "?"), len(params))])
		if err != nil {
			e, ok := err.(*partiql.Error)
			if !ok || e.Pos < -1 || e.Pos > len(src) || e.Msg == "" {
				t.Errorf("Parse(%q) = %#v", src, err)
			}
			return
		}
		s.Where.Match(it)
		s.AppendResult(nil, it)
		if _, err := s.Plan(schema); err != nil {
			return
		}
		_, _, _, _ = s.Key(schema)
		if s.Update != nil {
			_, _ = s.Update.Apply(it, it)
		}
	})
}
