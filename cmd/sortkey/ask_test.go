package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// TestIndexText tests that the text of an index is the text that it was parsed from.
func TestIndexText(t *testing.T) {
	for _, want := range []string{"city", "city / placed:N ()", "a, b:B / c, d:N (total, name)"} {
		ix, err := ask.Index("ByCity: "+want, false)
		if err != nil {
			t.Fatal(err)
		}
		in := &wire.CreateTableInput{TableName: new("Orders")}
		if err := keyschema.Define(in, "id", []keyschema.IndexSpec{ix}); err != nil {
			t.Fatal(err)
		}
		index := in.GlobalSecondaryIndexes[0]
		table, err := keyschema.Of(&wire.TableDescription{
			TableName: in.TableName, KeySchema: in.KeySchema, AttributeDefinitions: in.AttributeDefinitions,
			GlobalSecondaryIndexes: []wire.GlobalSecondaryIndexDescription{
				{IndexName: index.IndexName, KeySchema: index.KeySchema, Projection: index.Projection},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Index("ByCity").String(); got != want {
			t.Errorf("index is shown as %q, want %q", got, want)
		}
	}
}

func TestParseCondition(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`x`, `= [x]`},
		{` two words `, `= [two words]`},
		{`= x`, `= [x]`},
		{`=x`, `= [x]`},
		{`==x`, `= [x]`},
		{`= =x`, `= [=x]`},
		{`< 5`, `< [5]`},
		{`<=5`, `<= [5]`},
		{`> 5`, `> [5]`},
		{`>= 2024-01`, `>= [2024-01]`},
		{`-5`, `= [-5]`},
		{`root/photos/*`, `begins_with [root/photos/]`},
		{`a*b`, `= [a*b]`},
		{`a**`, `begins_with [a*]`},
		{`= a*`, `= [a*]`},
		{`"a*"`, `= [a*]`},
		{`"a b"*`, `begins_with [a b]`},
		{`begins_with root/`, `begins_with [root/]`},
		{`BEGINS_WITH root/`, `begins_with [root/]`},
		{`begins-with root/`, `begins_with [root/]`},
		{`starts_with "root/ "`, `begins_with [root/ ]`},
		{`begins_with(root/)`, `begins_with [root/]`},
		{`begins_with ( 'a)b' )`, `begins_with [a)b]`},
		{`begins_withx`, `= [begins_withx]`},
		{`between`, `= [between]`},
		{`between a and b`, `BETWEEN [a b]`},
		{`BETWEEN a  AND  b`, `BETWEEN [a b]`},
		{`between a b and c`, `BETWEEN [a b c]`},
		{`between "x and y" and z`, `BETWEEN [x and y z]`},
		{`between x and "y and z"`, `BETWEEN [x y and z]`},
		{`between 'x and y' and 'y and z'`, `BETWEEN [x and y y and z]`},
		{`between (a and b)`, `BETWEEN [(a b)]`},
		{`between sand and band`, `BETWEEN [sand band]`},
		{`'it''s'`, `= [it's]`},
		{`"tab\tend"`, "= [tab\tend]"},
		{`''`, `= []`},
		{`'between'`, `= [between]`},
		{`日本*`, `begins_with [日本]`},
		{`= begins with x`, `= [begins with x]`},
		{`"SK > 5"`, `= [SK > 5]`},
		{`= > 5 OR < 3`, `= [> 5 OR < 3]`},
		{`> "5 OR < 3"`, `> [5 OR < 3]`},
		{`between "a" and "b or < c"`, `BETWEEN [a b or < c]`},
		{`key=value`, `= [key=value]`},
		{`a => b`, `= [a => b]`},
		{`SKATE`, `= [SKATE]`},
		{`salt and pepper or both`, `= [salt and pepper or both]`},
		{`beginning with x`, `= [beginning with x]`},
		{`containsx`, `= [containsx]`},
		{`begins_with(a,b)`, `begins_with [a,b]`},
	} {
		c, err := ask.ParseCondition("SK", tt.text)
		if err != nil {
			t.Errorf("ParseCondition(%s): %v", tt.text, err)
			continue
		}
		if got := string(c.Op) + " [" + strings.Join(c.Operands, " ") + "]"; got != tt.want {
			t.Errorf("ParseCondition(%s) = %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestParseConditionErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{``, "the sort condition is empty"},
		{`   `, "the sort condition is empty"},
		{`<> x`, `a sort condition cannot be "<>"`},
		{`!= x`, `a sort condition cannot be "!="`},
		{`>=`, "missing value after >="},
		{`begins_with  `, "= [begins_with]"},
		{`begins_with()`, "missing value after begins_with"},
		{`begins_with(x`, "has no closing parenthesis"},
		{`*`, "cannot be just *"},
		{`between a`, "between needs two values"},
		{`between a and`, "between needs two values"},
		{`between and b`, "between needs two values"},
		{`between "a and b`, "between needs two values"},
		{`between a and and b`, `ambiguous "and" in`}, // either may be a value
		{`between a and b and c`, `ambiguous "and" in`},
		{`'open`, "is not a whole quoted text"},
		{`"bad \q"`, "is not a whole quoted text"},
		{`"a" b`, "unexpected text after the closing quote"},
	} {
		c, err := ask.ParseCondition("SK", tt.text)
		got := string(c.Op) + " [" + strings.Join(c.Operands, " ") + "]"
		if err != nil {
			got = err.Error()
			if h, ok := errors.AsType[*advice.Error](err); !ok || !errors.Is(err, ask.ErrUsage) || h.Advice == "" {
				t.Errorf("ParseCondition(%s) = %v, which has no hint", tt.text, err)
			}
		}
		if !strings.Contains(got, tt.want) {
			t.Errorf("ParseCondition(%s) = %s, want %s", tt.text, got, tt.want)
		}
	}
}

// TestParseConditionLookalikes parses text that only looks like a condition. It tests that the advice says what to
// write instead, and how to write the text itself.
func TestParseConditionLookalikes(t *testing.T) {
	for _, tt := range []struct{ text, advice string }{
		{`begins with x`, `write 'x*'; write '= begins with x' for exactly this text`},
		{`Starts with "a b"`, `write 'x*'; `},
		{`begin with x*`, `write 'x*'; `},
		{`startswith(x)`, `write 'x*'; `},
		{`begins_with(SK, "x")`, `write 'x*'; `},
		{`SK > 5`, `write a condition on the sort key without its name`},
		{`sk>5`, `write '>5'; `},
		{`total < 10`, `write a condition on the sort key without its name`},
		{`SK between a and b`, `write 'between a and b'; `},
		{`SK begins_with a`, `write 'begins_with a'; `},
		{`> 5 or < 3`, `a query reads one range: write 'between x and y', or run one query for each range; write '= > 5 or < 3' `},
		{`a* OR begins_with b`, `a query reads one range: `},
		{`>= a AND < b`, `a query reads one range: `},
		{`> 5 AND total < 10`, `a query reads one range: `},
		{`between(a and b)`, `write 'between x and y'; `},
		{`contains(x)`, `a query reads one range, such as 'x*' `},
		{`ends with x`, `a query reads one range, such as 'x*' `},
		{`like x%`, `a query reads one range, such as 'x*' `},
	} {
		c, err := ask.ParseCondition("SK", tt.text)
		if !errors.Is(err, ask.ErrUsage) || !strings.HasPrefix(advice.Of(err), tt.advice) {
			t.Errorf("ParseCondition(%s) = %v, %v (%s), want advice %s", tt.text, c, err, advice.Of(err), tt.advice)
		}
		if c, err := ask.ParseCondition("SK", "= "+tt.text); err != nil && !strings.ContainsAny(tt.text, `"`) {
			t.Errorf("ParseCondition(= %s) = %v, %v", tt.text, c, err)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{`between "a and b" and c`, `begins_with('x')`, `"\xff"*`, `<=`, `'`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ask.ParseCondition("SK", s)
		if err == nil && (c.Op == "" || len(c.Operands) == 0) {
			t.Errorf("ParseCondition(%q) = %v", s, c)
		}
		for _, kind := range []attr.Kind{attr.String, attr.Number, attr.Binary} {
			_, _ = c.Clause(keycond.Attribute{Name: "a", Kind: kind})
		}
	})
}

func table() *keyschema.Table {
	s := func(name string) keycond.Attribute { return keycond.Attribute{Name: name, Kind: attr.String} }
	n := func(name string) keycond.Attribute { return keycond.Attribute{Name: name, Kind: attr.Number} }
	b := func(name string) keycond.Attribute { return keycond.Attribute{Name: name, Kind: attr.Binary} }
	key := keycond.NewSchema([]keycond.Attribute{s("PK")}, []keycond.Attribute{s("SK")})
	return &keyschema.Table{Name: "T", Key: key, Indexes: []*keyschema.Index{
		{Key: key.NewIndex("num", []keycond.Attribute{n("id")}, []keycond.Attribute{n("at")})},
		{Key: key.NewIndex("bin", []keycond.Attribute{b("hash")}, nil)},
		{Key: key.NewIndex("multi",
			[]keycond.Attribute{s("state"), n("year")}, []keycond.Attribute{s("city"), n("score")})},
	}}
}

func TestQuestion(t *testing.T) {
	for _, tt := range []struct {
		q    ask.Query
		want string
	}{
		{ask.Query{Partition: []string{"a,b"}}, `T where PK = "a,b"`},
		{ask.Query{Partition: []string{"'x y'"}, Sort: []string{"x*"}}, `T where PK = "x y" AND begins_with(SK, "x")`},
		{ask.Query{Partition: []string{"x"}, Sort: []string{"between a and b"}}, `T where PK = "x" AND SK BETWEEN "a" AND "b"`},
		{ask.Query{Index: "num", Partition: []string{"42"}, Sort: []string{">= 1e3"}}, `T by index num where id = 42 AND at >= 1000`},
		{ask.Query{Index: "bin", Partition: []string{"0x00FF"}}, `T by index bin where hash = 0x00ff`},
		{ask.Query{Index: "bin", Partition: []string{"AP8="}}, `T by index bin where hash = 0x00ff`},
		{ask.Query{Index: "bin", Partition: []string{"AP8"}}, `T by index bin where hash = 0x00ff`},
		{ask.Query{Index: "multi", Partition: []string{"'W,A', 2024"}}, `T by index multi where state = "W,A" AND year = 2024`},
		{
			ask.Query{Index: "multi", Partition: []string{"W,A", "2024"}, Sort: []string{"Seattle, > 3"}},
			`T by index multi where state = "W,A" AND year = 2024 AND city = "Seattle" AND score > 3`,
		},
		{
			ask.Query{Index: "multi", Partition: []string{"WA", "2024"}, Sort: []string{"a,b", "> 3"}},
			`T by index multi where state = "WA" AND year = 2024 AND city = "a,b" AND score > 3`,
		},
		{
			ask.Query{Partition: []string{"x"}, Filter: `price>-10 and contains(name, "a:b") OR NOT status IN ('new', null, true)`, Backwards: true, Limit: 3, Consistent: true},
			`T where PK = "x", keeping price>-10 and contains(name, "a:b") OR NOT status IN ("new", null, true), backwards, reading at most 3, consistently`,
		},
		{
			ask.Query{Partition: []string{"x"}, Filter: "a.b[0].`c-d` != 1 AND size(e) == 1"},
			"T where PK = \"x\", keeping a.b[0].`c-d` <> 1 AND size(e) = 1",
		},
		{ask.Query{Partition: []string{"x"}, Project: []string{"a", "b.c[1]"}}, `T where PK = "x", only a,b.c[1]`},
	} {
		in, err := tt.q.Input(table())
		if err != nil {
			t.Errorf("%+v: %v", tt.q, err)
			continue
		}
		if got := ask.Question(in, nil); got != tt.want {
			t.Errorf("%+v asks\n%s, want\n%s", tt.q, got, tt.want)
		}
	}
}

func TestInputErrors(t *testing.T) {
	for _, tt := range []struct {
		q    ask.Query
		want string
		hint string
	}{
		{ask.Query{Index: "no"}, "table T has no index named no", "num, bin, multi"},
		{ask.Query{Index: "num", Partition: []string{"x"}}, `id is a number, but "x" is not`, "such as 42"},
		{ask.Query{Index: "num", Partition: []string{"1"}, Sort: []string{"1*"}}, "at is a number; begins_with works on strings", "between"},
		{ask.Query{Index: "num", Partition: []string{"1"}, Sort: []string{"between 10 and 9"}}, "between 10 and 9 is empty", "lower bound first"},
		{ask.Query{Index: "bin", Partition: []string{"0xf"}}, `hash is binary`, "0x00ff"},
		{ask.Query{Index: "bin", Partition: []string{"AA=="}, Sort: []string{"x"}}, "index bin has no sort key", "omit the sort condition"},
		{ask.Query{Index: "multi", Partition: []string{"x"}}, "the partition key of index multi has 2 attributes, not 1", "state, year"},
		{ask.Query{Index: "multi", Partition: []string{"x", "1"}, Sort: []string{"a*, 1"}}, "the range condition on city is followed by a condition on score", "only the last"},
		{ask.Query{Partition: []string{"x"}, Sort: []string{"a", "b"}}, "the sort key of the table has 1 attribute, not 2", "SK"},
		{ask.Query{Partition: []string{"\xff"}}, "PK is a string", "UTF-8"},
		{ask.Query{Partition: []string{"'x"}}, "not a whole quoted text", "close the quote"},
		{ask.Query{Partition: []string{"x"}, Filter: "a = :v"}, "--filter: placeholders such as :v are not needed here", "as they are"},
		{ask.Query{Partition: []string{"x"}, Filter: "a-b = 1"}, `--filter: unexpected "-"`, "backquotes"},
		{ask.Query{Partition: []string{"x"}, Filter: "`a"}, "no closing backquote", "backquotes"},
		{ask.Query{Partition: []string{"x"}, Filter: "a = 'b"}, "not a whole quoted text", "close the quote"},
		{ask.Query{Partition: []string{"x"}, Project: []string{"#a"}}, "--project: placeholders such as #a", "as they are"},
	} {
		_, err := tt.q.Input(table())
		h, ok := errors.AsType[*advice.Error](err)
		if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(h.Advice, tt.hint) {
			t.Errorf("%+v: %v (%+v), want %s (%s)", tt.q, err, h, tt.want, tt.hint)
		}
	}
	none := &keyschema.Table{Name: "T", Key: table().Key}
	if _, err := (&ask.Query{Index: "x"}).Input(none); err == nil || !strings.Contains(err.Error(), "table T has no index named x; it has no indexes") {
		t.Errorf("an index of a table without any: %v", err)
	}
}

func TestCompositeValues(t *testing.T) {
	for _, tt := range []struct{ src, want, values string }{
		{`SET a = ["x", {"b": [1]}] REMOVE c`, `SET #n1 = :v1 REMOVE #n2`, `{":v1":{"L":[{"S":"x"},{"M":{"b":{"L":[{"N":"1"}]}}}]}}`},
		{`SET a[0].b = {"c": null}`, `SET #n1[0].#n2 = :v1`, `{":v1":{"M":{"c":{"NULL":true}}}}`},
		{`SET a = list_append([1], a), n = n-1 DELETE tags {"SS": ["it's"]}`, `SET #n1 = list_append(:v1, #n1), #n2 = #n2- :v2 DELETE #n3 :v3`, `{":v1":{"L":[{"N":"1"}]},":v2":{"N":"1"},":v3":{"SS":["it's"]}}`},
		{`SET a = {"M": {"S": {"S": "x"}}}, b = {"S": "x"}`, `SET #n1 = :v1, #n2 = :v2`, `{":v1":{"M":{"S":{"S":"x"}}},":v2":{"S":"x"}}`},
	} {
		var p literal.Placeholders
		got, err := ask.Update(&p, tt.src)
		if err != nil || *got != tt.want || string(p.Values().AppendJSON(nil)) != tt.values {
			t.Errorf("Update(%s) = %v, %v with %s", tt.src, got, err, p.Values().AppendJSON(nil))
		}
	}

	var p literal.Placeholders
	got, err := ask.Expression(&p, `a.b[1] IN ([1, 2], {"NS": ["1"]}) AND NOT contains(b, {"c": "}"})`)
	if want := `#n1.#n2[1] IN (:v1, :v2) AND NOT contains(#n2, :v3)`; err != nil || *got != want {
		t.Errorf("Expression gives %v, %v, want %s", got, err, want)
	}
	for _, src := range []string{`SET a = [1`, `SET a = {"b" 1}`, `SET a = {"SS": []}`, `SET a = {"N": "x"}`} {
		_, err := ask.Update(&p, src)
		if !errors.Is(err, ask.ErrUsage) || !strings.Contains(err.Error(), "is not a list, a map or a set: ") {
			t.Errorf("Update(%s): %v", src, err)
		}
	}
}

func TestParameter(t *testing.T) {
	for _, tt := range []struct{ arg, want string }{
		{`c1`, `{"S":"c1"}`},
		{`two words`, `{"S":"two words"}`},
		{``, `{"S":""}`},
		{`42`, `{"N":"42"}`},
		{`-1.50`, `{"N":"-1.5"}`},
		{`"42"`, `{"S":"42"}`},
		{`'it''s'`, `{"S":"it's"}`},
		{`true`, `{"BOOL":true}`},
		{`null`, `{"NULL":true}`},
		{`["a", {"b": 1}]`, `{"L":[{"S":"a"},{"M":{"b":{"N":"1"}}}]}`},
		{`{"NS": ["1", "2"]} `, `{"NS":["1","2"]}`},
	} {
		v, err := ask.Parameter(tt.arg)
		if got := string(v.AppendJSON(nil)); err != nil || got != tt.want {
			t.Errorf("Parameter(%s) = %s, %v, want %s", tt.arg, got, err, tt.want)
		}
	}
	for _, arg := range []string{`"open`, `[1`, `[1] 2`, `{"SS": [1]}`} {
		if v, err := ask.Parameter(arg); !errors.Is(err, ask.ErrUsage) {
			t.Errorf("Parameter(%s) = %s, %v, want an error", arg, v.AppendJSON(nil), err)
		}
	}
}

func TestOtherQuestions(t *testing.T) {
	for _, tt := range []struct{ op, text, want string }{
		{
			"Scan", `{"TableName": "T", "IndexName": "I", "FilterExpression": "a = :a", "Limit": 2, "ExpressionAttributeValues": {":a": {"BOOL": true}}}`,
			"everything in T by index I, keeping a = true, reading at most 2",
		},
		{
			"Scan", `{"TableName": "T", "ProjectionExpression": "#a", "ConsistentRead": true, "ExpressionAttributeNames": {"#a": "a"}}`,
			"everything in T, only a, consistently",
		},
		{"GetItem", `{"TableName": "T", "Key": {"SK": {"N": "1"}, "PK": {"S": "x"}}}`, `the item of T with PK = "x" and SK = 1`},
		{"ExecuteStatement", `{"Statement": "SELECT * FROM T"}`, ""},
	} {
		in, err := wire.DecodeRequest(tt.op, []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := ask.Question(in, table().Key); got != tt.want {
			t.Errorf("Question of %s = %s, want %s", tt.text, got, tt.want)
		}
	}
}
