package gen_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

var to = flag.String("to", "", "folder to write to, as scripts/check-gen.sh does; the arguments are model files")

// TestWrite writes the files that scripts/check-gen.sh needs to check generated Python and TypeScript: the code of
// models, the calls of its functions with the items that they should return, and random calls of templates with the
// results of package keys.
func TestWrite(t *testing.T) {
	dir, models := t.TempDir(), []string{"testdata/store/model.yaml"}
	if *to != "" {
		dir, models = *to, flag.Args()
	}
	require.NoError(t, run(t.Context(), dir, models))
}

// A check says what to expect of the code of a model.
type check struct {
	Model  string // the file
	Module string
	// Calls are the calls of patterns' functions, and Keys those that build keys, both by language.
	Calls map[string][]patternCall
	Keys  map[string][]keyCall
}

// A patternCall is a call of a pattern's function, with the items that its request returns.
type patternCall struct {
	Pattern, Function string
	Args              []gen.Arg
	Operation         string
	Items             []json.RawMessage
}

// A keyCall has the values in the keys of an item, and the key attributes that they should give.
type keyCall struct {
	Type, Attributes string
	Values           map[string]gen.Arg
	Item             map[string]json.RawMessage
}

func run(ctx context.Context, dir string, paths []string) error {
	var checks []*check
	for _, path := range paths {
		c, err := newCheck(ctx, dir, path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		checks = append(checks, c)
	}
	if err := write(filepath.Join(dir, "checks.json"), checks); err != nil {
		return err
	}
	return write(filepath.Join(dir, "vectors.json"), newVectors(20_000))
}

func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

var writers = map[string]func(*model.Model) ([]byte, error){"python": gen.Python, "typescript": gen.TypeScript}

func newCheck(ctx context.Context, dir, path string) (*check, error) {
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()

	c := &check{
		Model: path, Module: strings.ReplaceAll(m.Name, "-", "_"), Calls: map[string][]patternCall{},
		Keys: map[string][]keyCall{},
	}
	for lang, extension := range map[string]string{"python": ".py", "typescript": ".ts"} {
		code, err := writers[lang](m)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, c.Module+extension), code, 0o600); err != nil {
			return nil, err
		}
		calls, all, err := gen.Calls(m, lang)
		if err != nil {
			return nil, err
		}
		for _, f := range calls {
			parts, err := compile.Split(f.Pattern) // one part for each value that the pattern lists
			if err != nil {
				return nil, err
			}
			for _, part := range parts {
				items, err := itemsOf(ctx, w, part)
				if err != nil {
					return nil, fmt.Errorf("pattern %s: %w", part.Name, err)
				}
				c.Calls[lang] = append(c.Calls[lang], patternCall{part.Name, f.Function, f.Args(part), part.Operation, items})
			}
		}
		for _, k := range all {
			for _, s := range k.Entity.Samples {
				if k, ok := newKeyCall(&k, s); ok {
					c.Keys[lang] = append(c.Keys[lang], k)
				}
			}
		}
	}
	return c, nil
}

// itemsOf returns the items of all pages of a pattern's request, in order.
func itemsOf(ctx context.Context, w *dataset.Dataset, part *model.Pattern) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	in, err := compile.Pattern(part)
	if err != nil {
		return nil, err
	}
	for {
		out, _, err := explain.InProcess(w.DB).Do(ctx, in)
		if err != nil {
			return nil, err
		}
		var page struct {
			Item  json.RawMessage
			Items []json.RawMessage
		}
		if err := json.Unmarshal(wire.AppendJSON(nil, out), &page); err != nil {
			return nil, err
		}

		all = append(all, page.Items...)
		if page.Item != nil {
			all = append(all, page.Item)
		}
		next, ok := nextPage(in, out)
		if !ok {
			return all, nil
		}
		in = next
	}
}

// nextPage returns the request of the next page. It returns false after the last page, or if the request has a limit.
func nextPage(in wire.Request, out wire.Output) (wire.Request, bool) {
	switch in := in.(type) {
	case *wire.QueryInput:
		if o := out.(*wire.QueryOutput); o.LastEvaluatedKey != nil && in.Limit == nil {
			next := *in
			next.ExclusiveStartKey = o.LastEvaluatedKey
			return &next, true
		}
	case *wire.ScanInput:
		if o := out.(*wire.ScanOutput); o.LastEvaluatedKey != nil && in.Limit == nil {
			next := *in
			next.ExclusiveStartKey = o.LastEvaluatedKey
			return &next, true
		}
	}
	return nil, false
}

// newKeyCall returns the keyCall of a sample. It returns false if the sample gives its key directly.
func newKeyCall(of *gen.Keys, s *model.Sample) (keyCall, bool) {
	k := keyCall{of.Type, of.Attributes, map[string]gen.Arg{}, map[string]json.RawMessage{}}
	for field, name := range of.Names {
		if text, ok := s.Values[field]; ok {
			k.Values[name] = gen.Arg{Text: text, Number: of.Numbers[field]}
		}
	}
	table := of.Entity.Table
	for name := range s.Attributes.All() {
		if table.IsKey(string(name)) {
			return k, false // the sample gives the key itself
		}
	}
	it, err := of.Entity.Item(s.Values)
	if err != nil {
		return k, false
	}
	for name, v := range it.All() {
		if table.IsKey(string(name)) {
			k.Item[string(name)] = v.AppendJSON(nil)
		}
	}
	return k, true
}

// A vectors has random calls of templates.
type vectors struct {
	Templates []template
	Vectors   []vector
}

type template struct {
	Source string
	Parts  []keys.Part
}

// A vector is a call of a template's method with its result: texts in Want, or an error.
type vector struct {
	Template int
	Method   string
	Args     []arg
	Want     []string    `json:",omitempty"`
	Error    *keys.Error `json:",omitempty"`
}

// An arg is a text, or if Int is true an integer. As the bound of a range, it may be excluded, or be none.
type arg struct {
	Text                string
	Int, Excluded, None bool
}

func (a arg) value() any {
	var v any = a.Text
	if a.Int {
		v, _ = strconv.ParseInt(a.Text, 10, 64)
	}
	switch {
	case a.None:
		return nil
	case a.Excluded:
		return keys.Excluding(v)
	}
	return v
}

func newVectors(n int) *vectors {
	v := &vectors{}
	var parsed []*keys.Template
	for _, source := range sources() {
		t := keys.MustParse(source)
		parsed = append(parsed, t)
		v.Templates = append(v.Templates, template{source, t.Parts()})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		i := r.IntN(len(parsed))
		v.Vectors = append(v.Vectors, newVector(r, i, parsed[i]))
	}
	return v
}

// sources returns templates with each type: alone, descending, between literals and before other components.
func sources() (all []string) {
	types := []string{
		"string", "string(3)", "path", "int(1)", "int(5)", "int(20)", "signed(5)", "signed(19)", "decimal(5,2)",
		"decimal(3,0)", "decimal(20,10)", "number", "year", "month", "date", "time", "millis", "micros", "nanos",
		"epoch", "epochms", "uuid", "ulid", "ksuid", "hex(8)", "enum(NEW,PAID)", "enum(b,a,ab)",
	}
	for _, t := range types {
		all = append(all, "{x:"+t+"}", "A#{x:"+t+"}", "{x:"+t+"}#", "{x:"+t+"}#{y}")
		if t != "path" {
			all = append(all, "P#{x:"+t+"}##{y:int(3)}#{z:path}", "{y}-{x:"+t+"}\U0010FFFF{z}")
		}
		if _, err := keys.ParseType(t + ":desc"); err == nil {
			all = append(all, "A#{x:"+t+":desc}#{y}", "{x:"+t+":desc}")
		}
	}
	kept := all[:0]
	for _, source := range all {
		if _, err := keys.Parse(source); err == nil {
			kept = append(kept, source)
		}
	}
	return append(kept, "CONSTANT", "{y:year}{m:int(2)}{d:int(2)}", "aXb{x}aXb{y}aX", "{x}é{y}")
}

func newVector(r *rand.Rand, i int, t *keys.Template) vector {
	var components []keys.Type
	for _, p := range t.Parts() {
		if p.Name != "" {
			components = append(components, p.Type)
		}
	}
	some := func(types []keys.Type) (all []arg) {
		for _, typ := range types {
			all = append(all, randomArg(r, typ))
		}
		return all
	}

	methods := []string{"format", "format", "prefix", "under", "between", "beginsWith", "values"}
	v := vector{Template: i, Method: methods[r.IntN(len(methods))]}
	n := r.IntN(len(components) + 1)
	switch v.Method {
	case "format":
		if v.Args = some(components); r.IntN(40) == 0 {
			v.Args = append(v.Args, arg{Text: "more"})
		}
	case "prefix", "under":
		v.Args = some(components[:n])
	case "between", "beginsWith":
		if n == len(components) {
			n = max(0, n-1)
		}
		if len(components) == 0 {
			v.Method = "under"
			break
		}
		v.Args = []arg{randomArg(r, components[n])}
		if v.Method == "between" {
			v.Args = append(v.Args, randomArg(r, components[n]))
			for k := range v.Args {
				v.Args[k].None, v.Args[k].Excluded = r.IntN(6) == 0, r.IntN(4) == 0
			}
		} else {
			v.Args[0].Text, v.Args[0].Int = v.Args[0].Text[:r.IntN(len(v.Args[0].Text)+1)], false
			v.Args[0].Text = strings.ToValidUTF8(v.Args[0].Text, "")
		}
		v.Args = append(v.Args, some(components[:n])...)
	case "values":
		v.Args = []arg{{Text: randomKey(r, t, some(components))}}
	}
	v.answer(t)
	return v
}

// answer sets the result that package keys gives.
func (v *vector) answer(t *keys.Template) {
	var args []any
	for _, a := range v.Args {
		args = append(args, a.value())
	}

	var err error
	text := func(s string, e error) { v.Want, err = []string{s}, e }
	in := func(rg keys.Range, e error) { v.Want, err = []string{rg.Low, rg.High, rg.Prefix}, e }
	switch v.Method {
	case "format":
		text(t.Format(args...))
	case "prefix":
		text(t.Prefix(args...))
	case "under":
		in(t.Under(args...))
	case "between":
		in(t.Between(args[0], args[1], args[2:]...))
	case "beginsWith":
		in(t.BeginsWith(v.Args[0].Text, args[1:]...))
	case "values":
		v.Want, err = t.Values(v.Args[0].Text)
	}

	if e, ok := errors.AsType[*keys.Error](err); ok {
		v.Want, v.Error = nil, e
		if !utf8.ValidString(e.Value) {
			v.Error = &keys.Error{} // the width cuts a character in two; other languages cut after it
		}
	}
}

// randomKey returns the key for some values, and sometimes alters it.
func randomKey(r *rand.Rand, t *keys.Template, args []arg) string {
	var values []any
	for _, a := range args {
		values = append(values, a.value())
	}
	key, err := t.Format(values...)
	if err != nil {
		key, _ = t.Prefix()
		key += randomText(r)
	}
	if r.IntN(3) == 0 {
		at := r.IntN(len(key) + 1)
		key = strings.ToValidUTF8(key[:at]+randomText(r)+key[at:], "")
	}
	return key
}

var alphabet = []rune("aZ09#-:/+.Te \"\\\x00\x7f\u00e9\u0130\u017f\u212a\ud7ff\ue000\U0001F600\U0010FFFF\n")

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	if r.IntN(60) == 0 {
		return strings.Repeat(b.String()+"x", 40)
	}
	return b.String()
}

// randomArg returns a value for a component. Usually the value has the component's type.
func randomArg(r *rand.Rand, t keys.Type) arg {
	text := randomValue(r, t)
	if r.IntN(12) == 0 {
		text = randomText(r)
	}
	if r.IntN(12) == 0 && text != "" {
		at := r.IntN(len(text))
		text = strings.ToValidUTF8(text[:at]+randomText(r)+text[at+1:], "")
	}
	if (t.Name == "int" || t.Name == "signed" || t.Name == "number" || t.Name == "string") && r.IntN(3) == 0 {
		n := r.Int64N(1<<r.IntN(62)) - r.Int64N(1000)
		return arg{Text: fmt.Sprint(n), Int: true}
	}
	return arg{Text: text}
}

// samples has values for each type by name. Those of "" are for all types of time.
var samples = map[string][]string{
	"string":  {"JFK", "abc", "é1", "x", "a b#c"},
	"path":    {"a/b", "/", "a#/b/"},
	"int":     {"0", "7", "+5", "042", "31415", "12345678901234567890"},
	"signed":  {"0", "-7", "+5", "31415", "-31415", "1234567890123456789"},
	"decimal": {"0", "-1.5", "+12.25", "99999.99", "100", "-12345678901234567890.0123456789", "1.234"},
	"number":  {"0", "-1.5", "1e130", "-2.5e-131", "12345678901234567890123456789012345678.5", "0.00012", "7E5"},
	"uuid":    {"12345678-9012-4ABc-8def-345678901234"},
	"ulid":    {"0123456789012abcHJKMNPQR34"},
	"ksuid":   {"0ujtsYcgvSTl8PAuAdqWYSM1234"},
	"hex":     {"1234AbcF"},
	"year":    {"2026", "1970"},
	"month":   {"2026-03", "1969-12"},
	"epoch":   {"1772600000", "-1", "+17"},
	"epochms": {"1772600000123", "-1", "+17"},
	"": {
		"2026-03-04", "1970-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999Z", "2286-11-20T17:46:40.123+01:00",
		"0000-02-29T12:30:00,5-23:59", "9999-12-31T24:00:00Z", "2026-03-04T05:06:07", "2026-02-28T10:10:10.1234567890Z",
	},
}

// randomValue returns a sample of a type, and sometimes changes digits in it.
func randomValue(r *rand.Rand, t keys.Type) string {
	list := samples[t.Name]
	switch t.Name {
	case "enum":
		return t.Values[r.IntN(len(t.Values))]
	case "year", "month", "date", "time", "millis", "micros", "nanos", "epoch", "epochms":
		list = append(list, samples[""]...)
	}
	text := []byte(list[r.IntN(len(list))])
	for i, c := range text {
		if c >= '0' && c <= '9' && r.IntN(6) == 0 {
			text[i] = '0' + byte(r.IntN(10))
		}
	}
	return string(text)
}
