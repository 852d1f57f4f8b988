package apitest

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A translation turns one request into a call of the Go API.
type translation struct {
	t      *testing.T
	pair   *pair
	in     map[string]any
	table  *sortkey.TableOf[attr.Item]
	keys   *keyschema.Table
	names  map[string]string
	values map[string]attr.Value
	used   map[string]bool // placeholders that the expressions have used
}

// translate returns a function that makes the call of the Go API for a request. It returns false for a request that
// the Go API cannot express. The Go API always asks for some parts of a response, such as old items. So translate
// changes the request to ask for them too.
func (p *pair) translate(t *testing.T, name string, in map[string]any) (says func() (answer, error), ok bool) {
	maker := map[string]func(*translation) (func() (answer, error), bool){
		"GetItem": (*translation).get, "PutItem": (*translation).put, "DeleteItem": (*translation).delete,
		"UpdateItem": (*translation).update, "Query": (*translation).query, "Scan": (*translation).scan,
	}[name]
	table, isText := in["TableName"].(string)
	if maker == nil || !isText {
		return nil, false
	}
	out, err := engine.Of(p.requests.db).Service.DescribeTable(t.Context(), &wire.DescribeTableInput{TableName: &table})
	if err != nil || *out.Table.TableName != table { // the Go API accepts no ARN
		return nil, false
	}
	keys, err := keyschema.Of(out.Table)
	if err != nil {
		return nil, false
	}

	tr := &translation{
		t: t, pair: p, in: in, keys: keys, table: sortkey.Table[attr.Item](p.api.db, table),
		names: map[string]string{}, values: map[string]attr.Value{}, used: map[string]bool{},
	}
	for name, x := range member[map[string]any](in, "ExpressionAttributeNames") {
		if tr.names[name], isText = x.(string); !isText || strings.Contains(tr.names[name], "`") {
			return nil, false
		}
	}
	if values := member[map[string]any](in, "ExpressionAttributeValues"); values != nil {
		it, ok := item(values)
		if !ok {
			return nil, false
		}
		for name, v := range it.Item.All() {
			tr.values[string(name)] = v
		}
	}
	says, ok = maker(tr)
	return says, ok && len(tr.used) == len(tr.names)+len(tr.values)
}

// member returns a member of a request, or the zero value if it is missing or has another type.
func member[T any](in map[string]any, name string) T {
	x, _ := in[name].(T)
	return x
}

// item returns an item with typed attribute values.
func item(x any) (typed, bool) {
	if it, ok := x.(typed); ok {
		return it, true
	}
	m, ok := x.(map[string]any)
	if !ok {
		return typed{}, false
	}
	text, err := json.Marshal(typedMap(m))
	if err != nil {
		return typed{}, false
	}
	it, err := attr.ParseItem(text)
	return typed{it}, err == nil
}

// only reports whether the request has no other members than the named ones and those that any request may have.
func (tr *translation) only(names string) bool {
	always := []string{
		"TableName", "ExpressionAttributeNames", "ExpressionAttributeValues", "ReturnConsumedCapacity",
		"ReturnItemCollectionMetrics",
	}
	for name := range tr.in {
		if !slices.Contains(always, name) && !slices.Contains(strings.Fields(names), name) {
			return false
		}
	}
	switch tr.in["ReturnConsumedCapacity"] {
	case nil, "TOTAL", "INDEXES", "NONE":
	default:
		return false
	}
	metrics := tr.in["ReturnItemCollectionMetrics"]
	return metrics == nil || metrics == "SIZE" || metrics == "NONE"
}

// key returns the values of the request's Key, or false if it is not a whole primary key.
func (tr *translation) key() (key sortkey.Key, ok bool) {
	it, ok := item(tr.in["Key"])
	schema := tr.keys.Schema("")
	if !ok || it.Len() != schema.Len() {
		return nil, false
	}
	for _, a := range schema.Attributes() {
		v := it.Get(a.Name)
		if v.IsZero() {
			return nil, false
		}
		key = append(key, v)
	}
	return key, true
}

var placeholders = regexp.MustCompile(`[:#]\w+`)

// expression returns an expression of the request in the form that the Go API takes, and the values of its
// placeholders. It returns false if a placeholder in the expression is not defined.
func (tr *translation) expression(name string) (source string, values []any, ok bool) {
	source, isText := tr.in[name].(string)
	if tr.in[name] != nil && !isText || strings.Contains(source, "`") {
		return "", nil, false
	}
	ok, source = true, expand(source)
	seen := map[string]bool{}
	source = placeholders.ReplaceAllStringFunc(source, func(place string) string {
		tr.used[place] = true
		if name, known := tr.names[place]; known {
			return "`" + name + "`"
		}
		v, known := tr.values[place]
		if ok = ok && known; !seen[place] {
			values, seen[place] = append(values, v), true
		}
		return place
	})
	return source, values, ok
}

// write returns the options of a write. It changes the request to ask for the items that the Go API always asks for.
func (tr *translation) write(old *attr.Item) (opts []sortkey.Option, ok bool) {
	const onFailure = "ReturnValuesOnConditionCheckFailure"
	switch tr.in[onFailure] {
	case nil, "NONE", "ALL_OLD":
		tr.in[onFailure] = "ALL_OLD"
	default:
		return nil, false
	}
	if old != nil {
		switch tr.in["ReturnValues"] {
		case nil, "NONE", "ALL_OLD":
			tr.in["ReturnValues"] = "ALL_OLD"
		default:
			return nil, false
		}
		opts = append(opts, sortkey.Old(old))
	}
	if tr.in["ConditionExpression"] == nil {
		return opts, true
	}
	source, values, ok := tr.expression("ConditionExpression")
	return append(opts, sortkey.If(source, values...)), ok
}

func (tr *translation) put() (func() (answer, error), bool) {
	var a answer
	opts, ok := tr.write(&a.Attributes)
	it, isItem := item(tr.in["Item"])
	ok = ok && isItem && tr.only("Item ConditionExpression ReturnValues ReturnValuesOnConditionCheckFailure")
	return func() (answer, error) {
		err := tr.table.Put(tr.t.Context(), it.Item, opts...)
		return a, err
	}, ok
}

func (tr *translation) delete() (func() (answer, error), bool) {
	var a answer
	opts, ok := tr.write(&a.Attributes)
	key, whole := tr.key()
	ok = ok && whole && tr.only("Key ConditionExpression ReturnValues ReturnValuesOnConditionCheckFailure")
	return func() (answer, error) {
		err := tr.table.Delete(tr.t.Context(), with(key, opts)...)
		return a, err
	}, ok
}

func (tr *translation) update() (func() (answer, error), bool) {
	opts, ok := tr.write(nil)
	key, whole := tr.key()
	source, values, bound := tr.expression("UpdateExpression")
	switch tr.in["ReturnValues"] {
	case nil, "NONE", "ALL_NEW", "ALL_OLD", "UPDATED_NEW", "UPDATED_OLD":
		tr.in["ReturnValues"] = "ALL_NEW"
	default:
		ok = false
	}
	ok = ok && whole && bound && tr.in["UpdateExpression"] != nil &&
		tr.only("Key UpdateExpression ConditionExpression ReturnValues ReturnValuesOnConditionCheckFailure")
	return func() (a answer, err error) {
		a.Attributes, err = tr.table.Update(tr.t.Context(), key, source, with(values, opts)...)
		return a, err
	}, ok
}

func (tr *translation) get() (func() (answer, error), bool) {
	opts, ok := tr.read()
	key, whole := tr.key()
	ok = ok && whole && tr.only("Key ConsistentRead ProjectionExpression")
	return func() (a answer, err error) {
		a.Item, err = tr.table.Get(tr.t.Context(), with(key, opts)...)
		if err == sortkey.ErrNotFound {
			err = nil
		}
		return a, err
	}, ok
}

// read returns the options that all reads share.
func (tr *translation) read() (opts []sortkey.Option, ok bool) {
	switch tr.in["ConsistentRead"] {
	case true:
		opts = append(opts, sortkey.Consistent)
	case nil, false:
	default:
		return nil, false
	}
	if tr.in["ProjectionExpression"] == nil {
		return opts, true
	}
	source, values, ok := tr.expression("ProjectionExpression")
	if !ok || len(values) > 0 || source == "" {
		return nil, false
	}
	return append(opts, sortkey.Only(strings.Split(source, ",")...)), true
}

// pages returns the options of a query or scan, and its index.
func (tr *translation) pages() (opts []sortkey.Option, index string, ok bool) {
	if opts, ok = tr.read(); !ok {
		return nil, "", false
	}

	if tr.in["FilterExpression"] != nil {
		source, values, ok := tr.expression("FilterExpression")
		if !ok {
			return nil, "", false
		}
		opts = append(opts, sortkey.Where(source, values...))
	}

	if limit, has := tr.in["Limit"].(json.Number); has {
		n, err := limit.Int64()
		if err != nil || n < 1 {
			return nil, "", false
		}
		opts = append(opts, sortkey.Limit(int(n)))
	} else if tr.in["Limit"] != nil {
		return nil, "", false
	}

	if index, ok = tr.in["IndexName"].(string); !ok && tr.in["IndexName"] != nil {
		return nil, "", false
	}
	if index != "" && tr.keys.Index(index) == nil {
		return nil, "", false
	}
	if tr.in["ExclusiveStartKey"] == nil {
		return opts, index, true
	}

	start, ok := item(tr.in["ExclusiveStartKey"])
	return append(opts, sortkey.After(cursor(tr.in["TableName"].(string), index, start.Item))), index, ok
}

// members are the members of query and scan requests that the Go API can express.
const members = "IndexName FilterExpression ProjectionExpression Limit ConsistentRead ExclusiveStartKey "

func (tr *translation) query() (func() (answer, error), bool) {
	opts, index, ok := tr.pages()
	if !ok || !tr.only(members+"KeyConditionExpression ScanIndexForward") {
		return nil, false
	}
	switch tr.in["ScanIndexForward"] {
	case false:
		opts = append(opts, sortkey.Descending)
	case nil, true:
	default:
		return nil, false
	}

	key, options, ok := tr.slice(index)
	for _, o := range opts {
		options = append(options, o)
	}
	return func() (answer, error) {
		return tr.page(tr.on(index).QueryPage(tr.t.Context(), key, options...))
	}, ok
}

// slice returns the key values and the range of a query, from its key condition.
func (tr *translation) slice(index string) (key sortkey.Key, options []sortkey.QueryOption, ok bool) {
	if _, _, ok := tr.expression("KeyConditionExpression"); !ok || tr.in["KeyConditionExpression"] == nil {
		return nil, nil, false
	}

	values := typed{}
	if x := tr.in["ExpressionAttributeValues"]; x != nil {
		values, _ = item(x)
	}
	env, err := expr.NewEnv(expr.Params{Names: tr.names, Values: values.Item})
	if err != nil {
		return nil, nil, false
	}

	condition, err := env.Condition(expr.KeyConditionExpression, expand(tr.in["KeyConditionExpression"].(string)))
	if err != nil {
		return nil, nil, false
	}
	slice, err := keycond.Compile(tr.keys.Schema(index), condition)
	if err != nil {
		return nil, nil, false
	}

	for _, c := range slice.Clauses {
		switch v := c.Values[0]; c.Op {
		case ast.Equal:
			key = append(key, v)
		case ast.OpBetween:
			options = append(options, sortkey.Between(v, c.Values[1]))
		case ast.OpBeginsWith:
			options = append(options, sortkey.BeginsWith(v))
		default:
			options = append(options, sortkey.Compare(string(c.Op), v))
		}
	}
	return key, options, true
}

func (tr *translation) scan() (func() (answer, error), bool) {
	opts, index, ok := tr.pages()
	if !ok || !tr.only(members+"Segment TotalSegments") {
		return nil, false
	}
	segment, has := tr.in["Segment"].(json.Number)
	total, both := tr.in["TotalSegments"].(json.Number)
	if has != both || !has && (tr.in["Segment"] != nil || tr.in["TotalSegments"] != nil) {
		return nil, false
	}
	if has {
		n, err1 := segment.Int64()
		of, err2 := total.Int64()
		if err1 != nil || err2 != nil {
			return nil, false
		}
		opts = append(opts, sortkey.Segment(int(n), int(of)))
	}
	return func() (answer, error) {
		return tr.page(tr.on(index).ScanPage(tr.t.Context(), opts...))
	}, true
}

func (tr *translation) on(index string) *sortkey.TableOf[attr.Item] {
	if index == "" {
		return tr.table
	}
	return tr.table.Index(index)
}

// page returns a page as an answer.
func (tr *translation) page(p *sortkey.Page[attr.Item], err error) (answer, error) {
	if err != nil {
		return answer{}, err
	}
	a := answer{Items: p.Items, Count: len(p.Items), ScannedCount: p.Trace.Examined}
	if p.Cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(p.Cursor)
		require.NoError(tr.t, err)
		var c struct{ K json.RawMessage }
		require.NoError(tr.t, json.Unmarshal(text, &c))
		a.LastEvaluatedKey, err = attr.ParseItem(c.K)
		require.NoError(tr.t, err)
	}
	return a, nil
}

// with returns the arguments followed by the options.
func with(args []any, opts []sortkey.Option) []any {
	all := slices.Clone(args)
	for _, o := range opts {
		all = append(all, o)
	}
	return all
}
