package tabledef_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/tabledef"
)

// The fuzz targets of this file read documents that are made of the grammars of Terraform, of CloudFormation and of
// the Serverless Framework, with every function and source of variables that the readers know. What a reader
// does with bytes, FuzzRead looks for.

// A source makes the choices of a document: the bytes of the fuzzer's input, and what they determine after that.
type source struct {
	data []byte
	more *rand.Rand
	left int // of the nodes that the document may have
}

func newSource(data []byte) *source {
	h := fnv.New64a()
	_, _ = h.Write(data)
	return &source{data: data, more: rand.New(rand.NewPCG(h.Sum64(), 1)), left: 20 + 2*min(len(data), 100)}
}

func (s *source) n(n int) int {
	if len(s.data) > 0 {
		c := s.data[0]
		s.data = s.data[1:]
		return int(c) % n
	}
	return s.more.IntN(n)
}

func (s *source) of(words ...string) string { return words[s.n(len(words))] }

// deeper reports whether a production may have others in it, and counts them.
func (s *source) deeper() bool {
	s.left--
	return s.left > 0
}

// list makes up to n parts.
func (s *source) list(n int, part func() string) []string {
	all := make([]string, s.n(n+1))
	for i := range all {
		all[i] = part()
	}
	return all
}

// A document is files by their names, one of which is read.
type document struct {
	files map[string]string
	main  string
}

// The bounds of what a document takes: a part of the budget, so that many can be read, what one value may take
// beyond it, and the bytes of memory, as readers count only the values that they make.
const (
	part          = 50
	slack         = 16 << 20
	mostAllocated = 1 << 30
)

func checkDocument(t *testing.T, d document) {
	dir := t.TempDir()
	for name, text := range d.files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}

	read := func() string {
		r, left := tabledef.Counted(tabledef.Reader{}, part)
		list, notes, err := r.Read(filepath.Join(dir, d.main))
		if bytes, values := left(); bytes < -slack || values < -slack {
			t.Errorf("the budget is exceeded: %d bytes and %d values are left", bytes, values)
		}
		if err == nil && len(list) == 0 && d.main != "." {
			t.Error("neither a table nor an error")
		}
		for _, text := range []string{fmt.Sprint(err), advice.Of(err)} {
			if len(text) > advice.MaxText+8 {
				t.Errorf("a message of %d bytes: %s", len(text), text[:200])
			}
		}
		out, _ := json.Marshal([]any{list, notes, fmt.Sprint(err), advice.Of(err)})
		return string(out)
	}

	before := allocated()
	first := read()
	if took := allocated() - before; took > mostAllocated {
		t.Errorf("reading takes %d MB", took>>20)
	}
	if again := read(); again != first {
		t.Errorf("the same files read as\n%s\nand as\n%s", first, again)
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// cases are the first inputs of a fuzz target, and what runs without fuzzing.
func cases(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 1))
	for i := range 30 {
		data := make([]byte, i)
		for j := range data {
			data[j] = byte(r.Uint32())
		}
		f.Add(data)
	}
}

// A terraform makes modules.
type terraform struct {
	*source
	functions []string
	loops     int // the variables of loops that are known: v0, v1, …
}

func FuzzTerraform(f *testing.F) {
	cases(f)
	functions := tabledef.Functions()
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &terraform{source: newSource(data), functions: functions}
		d := document{files: map[string]string{}, main: g.of(".", "main.tf")}
		d.files["main.tf"] = g.module(true)
		d.files["inner/main.tf"] = g.module(false)
		d.files["terraform.tfvars"] = strings.Join(g.list(3, func() string {
			return g.of("a", "b", "c") + " = " + g.plain() + "\n"
		}), "")
		d.files["t.tftpl"] = g.template()
		d.files["d.json"] = g.of(`{"a": [1, {"b": null}]}`, `[[[[1]]]]`, `"x"`)
		d.files["d.yml"] = g.of("a: &a [1, *a]\n", "a: &a {b: [c]}\nd: {<<: *a}\n", "x")
		d.files["d.csv"] = g.of("a,b\n1,2\n", "a\n\"", "")
		checkDocument(t, d)
	})
}

// module makes the files of a module.
func (g *terraform) module(root bool) string {
	var b strings.Builder
	for range 1 + g.n(3) {
		fmt.Fprintf(&b, "variable %q {\n%s%s}\n", g.of("a", "b", "c"),
			g.of("", "type = "+g.typeOf(2)+"\n"), g.of("", "default = "+g.plain()+"\n", "default = "+g.expr()+"\n"))
	}

	if g.n(8) == 0 { // texts, lists or numbers that double
		step := g.of(`"${X}${X}"`, "[X, X]", "concat(X, X)", `join("", [X, X])`, "X * X", "{a = X, b = X}",
			`replace(X, "x", X)`, `format("%s%s", X, X)`, "setproduct(X, X)", "flatten([X, X])", "merge({a = X}, {b = X})",
			`jsonencode(X)`, `[for y in [X, X] : y]`, `zipmap(["a", "b"], [X, X])`)
		fmt.Fprintf(&b, "locals {\na0 = %s\n", g.expr())
		for i := range 60 {
			fmt.Fprintf(&b, "a%d = %s\n", i+1, strings.ReplaceAll(step, "X", fmt.Sprintf("local.a%d", i)))
		}
		b.WriteString("}\n")
	}
	b.WriteString("locals {\n")
	for _, name := range []string{"a", "b", "c", "d"} {
		fmt.Fprintf(&b, "%s = %s\n", name, g.expr())
	}
	b.WriteString("}\n")
	for i := range 1 + g.n(3) {
		fmt.Fprintf(&b, "resource \"aws_dynamodb_table\" \"t%d\" {\n%s%s}\n", i, g.repeated(), g.table())
	}
	for i := range g.n(3) {
		source := g.of("./inner", "./", "../", "./none", "terraform-aws-modules/dynamodb-table/aws", "git::x")
		if !root && g.n(3) == 0 {
			source = "../"
		}
		fmt.Fprintf(&b, "module \"m%d\" {\nsource = %q\n%s", i, source, g.repeated())
		for _, name := range g.list(3, func() string { return g.of("a", "b", "c", "name", "hash_key", "attributes") }) {
			fmt.Fprintf(&b, "%s = %s\n", name, g.expr())
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func (g *terraform) repeated() string {
	switch g.n(6) {
	case 0:
		return "count = " + g.expr() + "\n"
	case 1:
		return "for_each = " + g.of("toset("+g.expr()+")", g.expr()) + "\n"
	}
	return ""
}

func (g *terraform) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %s\nhash_key = %s\n", g.expr(), g.of(`"pk"`, `"pk"`, g.expr()))
	for _, name := range g.list(3, func() string {
		return g.of("range_key", "billing_mode", "read_capacity", "write_capacity", "stream_enabled", "table_class",
			"deletion_protection_enabled", "tags")
	}) {
		fmt.Fprintf(&b, "%s = %s\n", name, g.expr())
	}
	b.WriteString("attribute {\nname = \"pk\"\ntype = \"S\"\n}\n")
	for range g.n(3) {
		kind := g.of("attribute", "global_secondary_index", "local_secondary_index", "ttl", "key_schema", "lifecycle")
		body := fmt.Sprintf("name = %s\n%s = %s\n", g.expr(),
			g.of("type", "hash_key", "range_key", "projection_type", "non_key_attributes", "attribute_name", "enabled"), g.expr())
		if g.n(2) == 0 {
			fmt.Fprintf(&b, "%s {\n%s}\n", kind, body)
			continue
		}
		iterator := g.of("", "iterator = it\n")
		fmt.Fprintf(&b, "dynamic %q {\nfor_each = %s\n%scontent {\n%s%s}\n}\n", kind, g.expr(), iterator, body,
			g.of("", "name2 = "+kind+".value\n", "name2 = it.key\n", "dynamic \"x\" {\nfor_each = [1]\ncontent {\n}\n}\n"))
	}
	return b.String()
}

func (g *terraform) typeOf(depth int) string {
	if depth == 0 {
		return g.of("string", "number", "bool", "any")
	}
	inner := g.typeOf(depth - 1)
	return g.of("string", "list("+inner+")", "set("+inner+")", "map("+inner+")", "tuple(["+inner+"])",
		"object({a = optional("+inner+"), b = "+inner+"})")
}

// plain makes an expression without references.
func (g *terraform) plain() string {
	return g.of("1", `"x"`, "true", "null", "[]", "{}", `["a", "b"]`, `{a = 1, b = "x"}`, "-1", "1e300", `""`, "[[1], [2]]",
		`"2020-01-01T00:00:00Z"`, `[{a = "x"}, {a = "y"}]`, "0.1", `"d.json"`, `"t.tftpl"`, `"1e999999"`, `"(a*)*b"`, "1000",
		`"%[1]s%5d%v"`, `"**/*.{yml,json}"`, `"äö\\u0000\n"`)
}

func (g *terraform) reference() string {
	if g.loops > 0 && g.n(2) == 0 {
		return fmt.Sprintf("v%d", g.n(g.loops))
	}
	return g.of("var.a", "var.b", "var.c", "local.a", "local.b", "local.c", "local.d", "local.a60", "each.key", "each.value",
		"count.index", "path.module", "path.root", "terraform.workspace", "data.aws_region.current.name",
		"data.aws_caller_identity.me.account_id", "data.x.y[0].z", "module.m0.name", "module.m0", "random_pet.x.id",
		"aws_dynamodb_table.t0.name", "aws_dynamodb_table.t0[0].hash_key", "aws_dynamodb_table.t1.name", "self.x", "it.value",
		"attribute.value", "var.a.b.c", "local.a[0]", "local.b[*].a", "local.c.*.a", "aws_dynamodb_table.t0[*].name")
}

// expr makes an expression.
func (g *terraform) expr() string {
	if !g.deeper() {
		return g.plain()
	}
	switch g.n(14) {
	case 0, 1:
		return g.plain()
	case 2, 3:
		return g.reference()
	case 4, 5, 6:
		args := g.list(3, g.expr)
		dots := ""
		if len(args) > 0 && g.n(6) == 0 {
			dots = "..."
		}
		return g.of(g.functions...) + "(" + strings.Join(args, ", ") + dots + ")"
	case 7:
		return `"` + g.inText() + `"`
	case 8:
		return "[" + strings.Join(g.list(3, g.expr), ", ") + "]"
	case 9:
		return "{" + strings.Join(g.list(3, func() string { return g.of("a", "b", `"c"`, "("+g.expr()+")") + " = " + g.expr() }), ", ") + "}"
	case 10:
		return g.loop()
	case 11:
		return fmt.Sprintf("(%s %s %s)", g.expr(), g.of("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"), g.expr())
	case 12:
		return fmt.Sprintf("(%s ? %s : %s)", g.expr(), g.expr(), g.expr())
	}
	return g.of("(!"+g.expr()+")", "(-"+g.expr()+")", "("+g.expr()+")["+g.expr()+"]", "("+g.expr()+")[*]", "("+g.expr()+").a",
		"("+g.expr()+").*.a", "<<E\n"+g.inText()+"\nE\n")
}

func (g *terraform) loop() string {
	over, name := g.expr(), fmt.Sprintf("v%d", g.loops)
	g.loops++
	defer func() { g.loops-- }()
	condition := g.of("", "", " if "+g.expr())
	if g.n(2) == 0 {
		return fmt.Sprintf("[for %s in %s : %s%s]", name, over, g.expr(), condition)
	}
	return fmt.Sprintf("{for k, %s in %s : %s => %s%s%s}", name, over, g.of("k", g.expr()), g.expr(), g.of("", "..."), condition)
}

// inText makes what is between quotes.
func (g *terraform) inText() string {
	return strings.Join(g.list(3, func() string {
		if !g.deeper() {
			return "x"
		}
		return g.of("x", "$${a}", "${"+g.expr()+"}", "${~ "+g.expr()+" ~}", "%{ if "+g.expr()+" }y%{ else }z%{ endif }",
			"%{ for q in "+g.expr()+" }${q}%{ endfor }")
	}), "")
}

func (g *terraform) template() string {
	return g.of(g.inText(), "%{ for a in b }${a}%{ endfor }", "${jsonencode(a)}", "${b}")
}

// A formation makes CloudFormation templates.
type formation struct{ *source }

// functionForm finds the functions of templates in the code of their reader.
var functionForm = regexp.MustCompile(`"(Ref|Condition|Fn::\w+)"`)

// sourceForm finds the sources of variables in the code of the reader of services.
var sourceForm = regexp.MustCompile(`(?m)^\tcase "([a-zA-Z]+)":$`)

// TestGrammars holds that the grammars have every function that the readers know.
func TestGrammars(t *testing.T) {
	for _, tt := range []struct {
		file string
		form *regexp.Regexp
		have []string
	}{
		{"cloudformation.go", functionForm, slices.Collect(maps.Keys((&formation{newSource(nil)}).functions()))},
		{"serverless.go", sourceForm, (&framework{formation: formation{newSource(nil)}}).sources()},
	} {
		text, err := os.ReadFile(tt.file)
		require.NoError(t, err)
		found := tt.form.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found)
		for _, name := range found {
			require.Contains(t, tt.have, name[1], tt.file)
		}
	}
	require.Greater(t, len(tabledef.Functions()), 80)
}

func FuzzCloudFormation(f *testing.F) {
	cases(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &formation{newSource(data)}
		d := document{files: map[string]string{}, main: g.of("a.json", "a.yaml", ".")}
		for _, name := range []string{"a.json", "b.json", "x.template.json"} {
			text, err := json.Marshal(g.template())
			require.NoError(t, err)
			d.files[name] = string(text)
		}
		d.files["a.yaml"] = d.files["a.json"] // JSON is YAML too
		if g.n(3) == 0 {
			d.files["a.yaml"] = strings.NewReplacer(
				`{"Ref":"A"}`, "!Ref A", `"x${A}"`, "!Sub 'x${A}'", `"anchor"`, "&x [a, *x]", `"alias"`, "*x",
			).Replace(d.files["a.yaml"])
		}
		checkDocument(t, d)
	})
}

func (g *formation) template() map[string]any {
	root := map[string]any{
		"Parameters": map[string]any{
			"A": g.parameter(), "B": g.parameter(),
		},
		"Mappings": map[string]any{"M": map[string]any{
			"a": map[string]any{"x": g.value(), "y": g.value()}, "b": g.value(),
		}},
		"Conditions": map[string]any{"C0": g.condition(), "C1": g.condition(), "C2": g.condition()},
	}
	if g.n(4) == 0 {
		root["Transform"] = g.of("AWS::LanguageExtensions", "AWS::Serverless-2016-10-31")
	}
	if g.n(5) == 0 { // conditions and mappings that double
		conditions, mappings := object(root["Conditions"]), object(object(root["Mappings"])["M"])
		for i := range 60 {
			again := map[string]any{"Condition": fmt.Sprintf("D%d", i)}
			conditions[fmt.Sprintf("D%d", i+1)] = map[string]any{g.of("Fn::And", "Fn::Or"): []any{again, again}}
			find := map[string]any{"Fn::FindInMap": []any{"M", fmt.Sprintf("d%d", i), "x"}}
			mappings[fmt.Sprintf("d%d", i+1)] = map[string]any{"x": map[string]any{"Fn::Join": []any{g.of("", ","), []any{find, find}}}}
		}
		conditions["D0"], mappings["d0"] = g.condition(), map[string]any{"x": g.value()}
	}
	resources := map[string]any{}
	for range 1 + g.n(3) {
		g.resource(resources, 0)
	}
	root["Resources"] = resources
	return root
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func (g *formation) parameter() map[string]any {
	p := map[string]any{"Type": g.of(
		"String", "Number", "List<Number>", "CommaDelimitedList", "AWS::SSM::Parameter::Value<String>",
	)}
	if g.n(2) == 0 {
		p["Default"] = g.of("x", "1", "a,b,c", "")
	}
	if g.n(4) == 0 {
		p["AllowedValues"] = []any{"p", "q"}
	}
	if g.n(4) == 0 {
		p["MinValue"] = 3
	}
	return p
}

func (g *formation) resource(all map[string]any, depth int) {
	id := g.of("R", "S", "T", "T${N}", "T&{N}", "${N}${N}")
	switch g.n(8) {
	case 0:
		all[id] = map[string]any{
			"Type":       g.of("AWS::CloudFormation::Stack", "AWS::Serverless::Application"),
			"Properties": map[string]any{g.of("TemplateURL", "Location"): g.of("a.json", "b.json", "a.yaml", "none.json", "https://x"), "Parameters": map[string]any{"A": g.value()}},
		}
	case 1:
		all[id] = map[string]any{"Type": "AWS::Serverless::SimpleTable", "Properties": map[string]any{"PrimaryKey": g.value(), "TableName": g.value()}}
	case 2:
		if depth < 4 {
			body := map[string]any{}
			for range 1 + g.n(2) {
				g.resource(body, depth+1)
			}
			all["Fn::ForEach::"+g.of("L", "K")] = []any{g.of("N", "A"), g.value(), body}
		}
	default:
		properties := map[string]any{
			"TableName": g.value(), "BillingMode": g.value(),
			"KeySchema":            []any{map[string]any{"AttributeName": "pk", "KeyType": "HASH"}},
			"AttributeDefinitions": []any{map[string]any{"AttributeName": "pk", "AttributeType": "S"}},
		}
		for _, name := range g.list(3, func() string {
			return g.of("KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "StreamSpecification",
				"ProvisionedThroughput", "TimeToLiveSpecification", "TableClass", "DeletionProtectionEnabled", "Fn::Transform")
		}) {
			properties[name] = g.value()
		}
		r := map[string]any{"Type": g.of("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"), "Properties": properties}
		if g.n(3) == 0 {
			r["Condition"] = g.of("C0", "C1", "C2", "D60", "None")
		}
		all[id] = r
	}
}

func (g *formation) condition() any {
	if !g.deeper() {
		return map[string]any{"Condition": g.of("C0", "C1", "C2")}
	}
	switch g.n(6) {
	case 0:
		return map[string]any{"Fn::Equals": []any{g.value(), g.value()}}
	case 1:
		return map[string]any{"Fn::Not": []any{g.condition()}}
	case 2:
		return map[string]any{g.of("Fn::And", "Fn::Or"): []any{g.condition(), g.condition()}}
	case 3:
		return map[string]any{"Condition": g.of("C0", "C1", "C2", "D60"), "Fn::Equals": []any{g.value(), "x"}}
	case 4:
		return g.value()
	}
	return map[string]any{"Condition": g.of("C0", "C1", "C2", "D60")}
}

// functions makes the argument of each function.
func (g *formation) functions() map[string]func() any {
	list := func(n int) func() any {
		return func() any {
			all := make([]any, n)
			for i := range all {
				all[i] = g.value()
			}
			return all
		}
	}
	text := func(words ...string) func() any { return func() any { return g.of(words...) } }
	return map[string]func() any{
		"Ref":       text("A", "B", "T", "N", "AWS::Region", "AWS::NoValue", "AWS::StackName", "AWS::AccountId", "AWS::StackId", "AWS::Partition"),
		"Condition": text("C0", "C1", "D60"),
		"Fn::If":    func() any { return []any{g.of("C0", "C1", "C2", "D60"), g.value(), g.value()} },
		"Fn::Sub": func() any {
			src := strings.Join(g.list(4, func() string {
				return g.of("${A}", "${a}", "${b}", "${AWS::Region}", "${T.Arn}", "${!x}", "x", "${", "${N}")
			}), "")
			if g.n(2) == 0 {
				return src
			}
			return []any{src, map[string]any{"a": g.value(), "b": g.value()}}
		},
		"Fn::Join": func() any { return []any{g.of("", "-"), g.value()} },
		"Fn::FindInMap": func() any {
			return []any{g.of("M", "M", "?"), g.of("a", "b", "d60"), g.of("x", "y")}
		},
		"Fn::Select":      func() any { return []any{g.of("0", "1", "-1", "9"), g.value()} },
		"Fn::Split":       func() any { return []any{g.of(",", "-", ""), g.value()} },
		"Fn::ImportValue": list(1), "Fn::GetAtt": list(2), "Fn::Equals": list(2), "Fn::Not": list(1), "Fn::And": list(2),
		"Fn::Or": list(2), "Fn::Base64": list(1), "Fn::Cidr": list(3), "Fn::GetAZs": list(1), "Fn::Length": list(1),
		"Fn::ToJsonString": list(1), "Fn::Transform": list(1),
		"Fn::ForEach": func() any { return []any{"N", g.value(), g.value()} },
	}
}

// value makes a value.
func (g *formation) value() any {
	if !g.deeper() {
		return g.of("x", "1", "${A}")
	}
	switch g.n(8) {
	case 0:
		return g.of("x", "", "1", "pk", "HASH", "PAY_PER_REQUEST", "x${A}", "anchor", "alias", "${N}", strings.Repeat("y", 3000))
	case 1:
		return []any{7, true, nil, 0.5, "x"}[g.n(5)]
	case 2:
		all := []any{}
		for range g.n(4) {
			all = append(all, g.value())
		}
		return all
	case 3:
		m := map[string]any{}
		for range g.n(3) {
			m[g.of("AttributeName", "KeyType", "IndexName", "Name", "Type", "Enabled", "ReadCapacityUnits", "${N}", "DefaultValue")] = g.value()
		}
		return m
	case 4:
		find := map[string]any{"Fn::FindInMap": []any{g.value(), g.value(), g.value(), map[string]any{"DefaultValue": g.value()}}}
		for range g.n(30) { // in itself
			find = map[string]any{"Fn::FindInMap": []any{find, "a", "x"}}
		}
		return find
	case 5:
		sub := g.value()
		for range g.n(30) {
			sub = map[string]any{"Fn::Sub": []any{"${a}${a}", map[string]any{"a": sub}}}
		}
		return sub
	}
	functions := g.functions()
	name := g.of(slices.Sorted(maps.Keys(functions))...)
	return map[string]any{name: functions[name]()}
}

// A framework makes services of the Serverless Framework.
type framework struct{ formation }

func FuzzServerless(f *testing.F) {
	cases(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &framework{formation{newSource(data)}}
		d := document{files: map[string]string{}, main: g.of("serverless.yml", ".", "part.json")}
		put := func(name string, v any) {
			text, err := json.Marshal(g.vary(v))
			require.NoError(t, err)
			d.files[name] = string(text)
		}
		put("serverless.yml", g.service())
		put("part.json", g.template())
		put("a.json", map[string]any{"a": g.value(), "b": map[string]any{"c": g.value()}})
		put("b.yml", g.value())
		d.files["x.js"], d.files["x.txt"] = "module.exports = 1", "x${self:custom.a}"
		checkDocument(t, d)
	})
}

func (g *framework) service() map[string]any {
	custom := map[string]any{"a": g.text(), "b": map[string]any{"c": g.text(), "d": g.value()}, "e": []any{g.text(), g.value()}}
	if g.n(4) == 0 { // texts and lists that double
		for i := range 60 {
			again := fmt.Sprintf("${self:custom.a%d}", i)
			custom[fmt.Sprintf("a%d", i+1)] = []any{again + again, []any{again, again}, map[string]any{"x": again, "y": again}}[g.n(3)]
		}
		custom["a0"] = g.text()
	}
	root := map[string]any{
		"service":   g.of("s", "${self:custom.a}"),
		"provider":  map[string]any{"name": "aws", "stage": g.text(), "region": g.of("us-east-1", g.text()), "stackName": g.text()},
		"custom":    custom,
		"params":    map[string]any{"default": map[string]any{"p": g.text()}, "dev": map[string]any{"q": g.text()}},
		"stages":    map[string]any{"default": map[string]any{"params": map[string]any{"r": g.text()}}},
		"resources": g.template(),
	}
	switch g.n(4) {
	case 0:
		root["resources"] = []any{g.template(), g.text(), g.template()}
	case 1:
		root["resources"] = g.text()
	case 2:
		object(root["resources"])["Resources"] = []any{g.text(), object(root["resources"])["Resources"]}
	}
	return root
}

// vary puts variables into the place of some texts.
func (g *framework) vary(v any) any {
	switch v := v.(type) {
	case string:
		if g.n(8) == 0 {
			return g.text()
		}
	case []any:
		for i, m := range v {
			v[i] = g.vary(m)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = g.vary(v[name])
		}
	}
	return v
}

// sources are the kinds of variables.
func (g *framework) sources() []string {
	return []string{
		"self", "file", "opt", "param", "sls", "aws", "strToBool", "env", "cf", "ssm", "s3", "git", "terraform",
		"stage", "region", "accountId", // addresses of opt and aws
	}
}

// text makes a text with variables.
func (g *framework) text() string {
	return strings.Join(g.list(3, func() string {
		if !g.deeper() {
			return "x"
		}
		return g.of("x", "${"+g.variable()+"}", "${"+g.variable()+", "+g.variable()+"}", "#{AWS::Region}", "${AWS::Region}",
			"${"+g.variable()+", '"+g.of("y", "${self:custom.a}")+"'}", "${"+g.text()+"}", "${")
	}), "")
}

func (g *framework) variable() string {
	if !g.deeper() {
		return "self:custom.a"
	}
	address := g.of("custom.a", "custom.b.c", "custom.b", "custom", "custom.e.0", "custom.e.9", "", "provider.stage", "provider.region",
		"service", "resources", "custom.${"+g.variable()+"}", "custom.a60", "custom.b.d.x.y", "stage", "region", "accountId", "p", "q", "r",
		"instanceId", "provider")
	switch kind := g.of(g.sources()...); kind {
	case "file":
		return "file(" + g.of("a.json", "b.yml", "x.js", "x.txt", "none.yml", "serverless.yml", "./a.json", "${self:custom.a}.json", "../x.yml") + ")" +
			g.of("", ":a", ":b.c", ":"+address)
	case "strToBool":
		return "strToBool(" + g.of("true", "x", "${"+g.variable()+"}") + ")"
	case "self", "opt", "param", "sls", "aws":
		return kind + ":" + address
	case "stage", "region", "accountId":
		return g.of("opt", "aws", "sls") + ":" + kind
	default:
		return g.of(kind+":"+address, kind+"("+address+"):x", "'x'", `"y"`, "null", "true", "-1.5", "x")
	}
}
