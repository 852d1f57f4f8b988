package sdk_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/fault"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/sortkeytest"
)

// TestBehaviour runs the scripts in testdata through Client, Direct and a server on a socket, each over a database of
// its own. All of them must give the same answers and the same errors: types, texts and HTTP status. With go test
// ./sdk -rewrite it writes the answers into the scripts; review the difference. The scripts of testdata/simulation
// simulate DynamoDB's delays, limits and faults.
//
// A script starts with no tables. Its commands are
//
//	table NAME          the key, then lines "local NAME sort" and "global NAME key [only a b …]";
//	                    keys as in sortkeytest
//	put NAME            items as plain JSON, one after another
//	fill NAME count=n size=bytes   items {"pk":"P","sk":0…,"fat":"xx…"}
//	OPERATION [pages]   the input as JSON; all pages with the SDK's paginator
//	repeat OPERATION    until it is refused; «n» is the number of the call, from 0
//	simulate            opens another database with a sortkey.Simulation as JSON
//	advance DURATION    moves the clock; nobody sweeps
//	hold, settle        the indexes
//	fault, lift         a sortkeytest.Fault as JSON, and its end
//
// Attribute values may be written as plain JSON, a string for {"S":…}, a number for {"N":…} and so on, and are
// printed in the same form. A request without a table uses the table that the script created last.
func TestBehaviour(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		ways := append(inProcess, "HTTP")
		drivers := make([]*driver, len(ways))
		for i, way := range ways {
			drivers[i] = newDriver(t, way)
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			answers := make([]string, len(drivers))
			for i, driver := range drivers {
				answer, err := driver.run(t, d)
				if err != nil {
					d.Fatalf(t, "%v", err)
				}
				// The answer of DescribeEndpoints contains the host.
				answers[i] = strings.ReplaceAll(answer, driver.host, "dynamodb.us-east-1.amazonaws.com")
			}
			for i, way := range ways {
				if answers[i] != answers[0] {
					t.Errorf("%s: the answers differ\n%s: %s\n%s: %s", d.Pos, ways[0], answers[0], way, answers[i])
				}
			}
			visible, _, _ := strings.Cut(answers[0], hidden)
			return visible
		})
	})
}

// hidden separates the part of an answer that scripts show from the part that they do not show but all clients must
// agree on.
const hidden = "\x00"

// A driver runs the commands of one script with one client.
type driver struct {
	way    string
	db     *sortkeytest.DB
	client *dynamodb.Client
	host   string // host in requests
	table  string
	fault  *fault.Rule
	lift   func()
}

func newDriver(t *testing.T, way string, optFns ...func(*sortkey.Options)) *driver {
	db := sortkeytest.New(t, optFns...)
	db.Clock.Set(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	d := &driver{way: way, db: db, client: clientOf(t, db, way), host: "dynamodb.us-east-1.amazonaws.com"}
	if way == "HTTP" {
		d.host = strings.TrimPrefix(*d.client.Options().BaseEndpoint, "http://")
	}
	return d
}

func (d *driver) run(t *testing.T, td *datadriven.TestData) (string, error) {
	arg := ""
	if len(td.CmdArgs) > 0 {
		arg = td.CmdArgs[0].Key
	}
	switch td.Cmd {
	case "table":
		lines := strings.Split(td.Input, "\n")
		indexes := []sortkeytest.Index{}
		for _, line := range lines[1:] {
			fields := strings.Fields(line)
			key, only, limited := strings.Cut(strings.Join(fields[2:], " "), " only")
			ix := sortkeytest.Global(fields[1], key)
			if fields[0] == "local" {
				ix = sortkeytest.Local(fields[1], key)
			}
			if limited {
				ix = ix.Only(strings.Fields(only)...)
			}
			indexes = append(indexes, ix)
		}
		d.table = arg
		d.db.Table(arg, lines[0], indexes...)
		return "", nil
	case "put":
		dec := json.NewDecoder(strings.NewReader(td.Input))
		dec.UseNumber()
		for dec.More() {
			item := map[string]types.AttributeValue{}
			var x any
			if err := dec.Decode(&x); err != nil {
				return "", err
			}
			if err := decode(reflect.ValueOf(&item).Elem(), x); err != nil {
				return "", err
			}
			if _, err := d.client.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: &arg, Item: item,
			}); err != nil {
				return "", err
			}
		}
		return "", nil
	case "fill":
		var count, size int
		td.ScanArgs(t, "count", &count)
		td.ScanArgs(t, "size", &size)
		for i := range count {
			item, err := attributevalue.MarshalMap(map[string]any{"pk": "P", "sk": i, "fat": strings.Repeat("x", size)})
			if err != nil {
				return "", err
			}
			if _, err := d.client.PutItem(context.Background(), &dynamodb.PutItemInput{
				TableName: &arg, Item: item,
			}); err != nil {
				return "", err
			}
		}
		return "", nil
	case "simulate":
		var simulation sortkey.Simulation
		err := decodeText(reflect.ValueOf(&simulation).Elem(), td.Input)
		*d = *newDriver(t, d.way, func(o *sortkey.Options) { o.Simulate = simulation })
		return "", err
	case "advance":
		by, err := time.ParseDuration(arg)
		d.db.Clock.Set(d.db.Clock.Now().Add(by))
		return "", err
	case "hold":
		d.db.HoldIndexes()
		return "", nil
	case "settle":
		d.db.Settle()
		return "", nil
	case "fault":
		var f fault.Fault
		err := decodeText(reflect.ValueOf(&f).Elem(), td.Input)
		d.fault, d.lift = engine.Of(d.db.DB).Fail(f)
		return "", err
	case "lift":
		d.lift()
		return fmt.Sprintf("met by %d\n", d.fault.Met()), nil
	case "repeat":
		for n := range 5000 {
			answer, err := d.operation(arg, strings.ReplaceAll(td.Input, "«n»", strconv.Itoa(n)), false)
			if err != nil || strings.Contains(answer, hidden) {
				return fmt.Sprintf("%d answers, then\n%s", n, answer), err
			}
		}
		return "", errors.New("no call is refused")
	}
	return d.operation(td.Cmd, td.Input, arg == "pages")
}

// operation calls the client's method with the name of the operation.
func (d *driver) operation(name, input string, pages bool) (string, error) {
	method := reflect.ValueOf(d.client).MethodByName(name)
	if !method.IsValid() {
		return "", fmt.Errorf("no operation %s", name)
	}
	in := reflect.New(method.Type().In(1).Elem())
	if err := decodeText(in.Elem(), input); err != nil {
		return "", err
	}
	if f := in.Elem().FieldByName("TableName"); f.IsValid() && f.IsNil() {
		f.Set(reflect.ValueOf(aws.String(d.table)))
	}
	var b strings.Builder
	for {
		results := method.Call([]reflect.Value{reflect.ValueOf(context.Background()), in})
		if err, _ := results[1].Interface().(error); err != nil {
			renderError(&b, err)
			return b.String(), nil
		}
		out := results[0].Elem()
		renderOutput(&b, out)
		if next := out.FieldByName("NextToken"); pages && next.IsValid() && !next.IsNil() {
			in.Elem().FieldByName("NextToken").Set(next)
			continue
		} else if !pages || next.IsValid() || out.FieldByName("LastEvaluatedKey").IsNil() {
			return b.String(), nil
		}
		in.Elem().FieldByName("ExclusiveStartKey").Set(out.FieldByName("LastEvaluatedKey"))
	}
}

var tableID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f-]{27}$`)

var address = regexp.MustCompile(`"https?://[^"]*"`)

var requestID = regexp.MustCompile(`RequestID: \w*`)

func renderError(b *strings.Builder, err error) {
	var own smithy.APIError
	if !errors.As(err, &own) {
		fmt.Fprintf(b, "%s\n", address.ReplaceAllString(err.Error(), ""))
		return
	}
	fmt.Fprintf(b, "%s: %s\n", own.ErrorCode(), own.ErrorMessage())
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok && failed.Item != nil {
		fmt.Fprintf(b, "Item: %s\n", compact(render(reflect.ValueOf(failed.Item))))
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, r := range cancelled.CancellationReasons {
			fmt.Fprintf(b, "  %s\n", compact(render(reflect.ValueOf(r))))
		}
	}
	status := 0
	var answered interface{ HTTPStatusCode() int }
	if errors.As(err, &answered) {
		status = answered.HTTPStatusCode()
	}
	fmt.Fprintf(b, "%s%d %T %s", hidden, status, own, requestID.ReplaceAllString(err.Error(), ""))
}

// renderOutput prints an output: one line for each member, and one for each element of a list of structures.
func renderOutput(b *strings.Builder, out reflect.Value) {
	if b.Len() > 0 {
		b.WriteString("--\n")
	}
	for i := range out.NumField() {
		f, v := out.Type().Field(i), out.Field(i)
		if !f.IsExported() || f.Type == reflect.TypeFor[middleware.Metadata]() || isNil(v) {
			continue
		}
		if f.Name == "NextToken" {
			b.WriteString("NextToken: a token\n")
			continue
		}
		list := v.Kind() == reflect.Slice && v.Len() > 0 && v.Index(0).Kind() != reflect.String
		if !list {
			fmt.Fprintf(b, "%s: %s\n", f.Name, compact(render(v)))
			continue
		}
		fmt.Fprintf(b, "%s:\n", f.Name)
		for i := range v.Len() {
			fmt.Fprintf(b, "  %s\n", compact(render(v.Index(i))))
		}
	}
	if b.Len() == 0 {
		b.WriteString("{}\n")
	}
}

func compact(x any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(b.String())
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	}
	return false
}

// render returns a member of an output as plain JSON.
func render(v reflect.Value) any {
	if isNil(v) {
		return nil
	}
	switch x := v.Interface().(type) {
	case *types.AttributeValueMemberS:
		return x.Value
	case *types.AttributeValueMemberN:
		return json.Number(x.Value)
	case *types.AttributeValueMemberBOOL:
		return x.Value
	case *types.AttributeValueMemberNULL:
		return nil
	case *types.AttributeValueMemberL:
		return render(reflect.ValueOf(x.Value))
	case *types.AttributeValueMemberM:
		return map[string]any{"M": render(reflect.ValueOf(x.Value))}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": x.Value}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": x.Value}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": x.Value}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": x.Value}
	case time.Time:
		return x.UTC().Format(time.RFC3339)
	case *string:
		return tableID.ReplaceAllString(*x, "an id")
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return render(v.Elem())
	case reflect.Struct:
		m := map[string]any{}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !isNil(v.Field(i)) {
				m[f.Name] = render(v.Field(i))
			}
		}
		return m
	case reflect.Map:
		m := map[string]any{}
		for k, e := range v.Seq2() {
			m[k.String()] = render(e)
		}
		return m
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = render(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// decodeText decodes the text of plain JSON into an input.
func decodeText(v reflect.Value, text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var x any
	if err := dec.Decode(&x); err != nil {
		return err
	}
	return decode(v, x)
}

// decode decodes plain JSON into a member of an input.
func decode(v reflect.Value, x any) error {
	if v.Type() == reflect.TypeFor[types.AttributeValue]() {
		value, err := attribute(x)
		if err == nil && value != nil {
			v.Set(reflect.ValueOf(value))
		}
		return err
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(fmt.Sprint(x))
		v.SetInt(int64(d))
		return err
	}
	wrong := fmt.Errorf("%v cannot be a %v", x, v.Type())
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(v.Elem(), x)
	case reflect.Struct:
		m, ok := x.(map[string]any)
		if !ok {
			return wrong
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			f := v.FieldByName(k)
			if !f.IsValid() {
				return fmt.Errorf("%v has no member %s", v.Type(), k)
			}
			if err := decode(f, m[k]); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		m, ok := x.(map[string]any)
		if !ok {
			return wrong
		}
		v.Set(reflect.MakeMap(v.Type()))
		for k, e := range m {
			elem := reflect.New(v.Type().Elem()).Elem()
			if err := decode(elem, e); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(k), elem)
		}
		return nil
	case reflect.Slice:
		list, ok := x.([]any)
		if !ok {
			return wrong
		}
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, e := range list {
			if err := decode(v.Index(i), e); err != nil {
				return err
			}
		}
		return nil
	}
	switch x := x.(type) {
	case string:
		if v.Kind() == reflect.String {
			v.SetString(expand(x))
			return nil
		}
	case bool:
		if v.Kind() == reflect.Bool {
			v.SetBool(x)
			return nil
		}
	case json.Number:
		n, err := x.Int64()
		if v.CanInt() && err == nil {
			v.SetInt(n)
			return nil
		}
	}
	return wrong
}

var repeats = regexp.MustCompile(`«(.*?)×(\d+)»`)

// expand replaces patterns such as «ab×3» by the repeated text, ababab.
func expand(s string) string {
	return repeats.ReplaceAllStringFunc(s, func(m string) string {
		parts := repeats.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2])
		return strings.Repeat(parts[1], n)
	})
}

// attribute converts plain JSON to an attribute value.
func attribute(x any) (types.AttributeValue, error) {
	switch x := x.(type) {
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case string:
		return &types.AttributeValueMemberS{Value: expand(x)}, nil
	case json.Number:
		return &types.AttributeValueMemberN{Value: x.String()}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: x}, nil
	case []any:
		v := &types.AttributeValueMemberL{}
		return v, decode(reflect.ValueOf(&v.Value).Elem(), x)
	case map[string]any:
		if len(x) != 1 {
			return nil, fmt.Errorf("%v is not an attribute value", x)
		}
		for kind, e := range x {
			return typed(kind, e)
		}
	}
	return nil, fmt.Errorf("%v is not an attribute value", x)
}

func typed(kind string, x any) (types.AttributeValue, error) {
	text, _ := x.(string)
	truth, _ := x.(bool)
	var texts []string
	if list, ok := x.([]any); ok && kind != "L" {
		texts = []string{}
		for _, e := range list {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("%v in a %s is not a string", e, kind)
			}
			texts = append(texts, s)
		}
	}
	switch kind {
	case "S":
		return &types.AttributeValueMemberS{Value: expand(text)}, nil
	case "N":
		return &types.AttributeValueMemberN{Value: text}, nil
	case "B":
		b, err := base64.StdEncoding.DecodeString(text)
		return &types.AttributeValueMemberB{Value: b}, err
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: truth}, nil
	case "NULL":
		return &types.AttributeValueMemberNULL{Value: truth}, nil
	case "SS":
		return &types.AttributeValueMemberSS{Value: texts}, nil
	case "NS":
		return &types.AttributeValueMemberNS{Value: texts}, nil
	case "BS":
		v := &types.AttributeValueMemberBS{}
		for _, s := range texts {
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				return nil, err
			}
			v.Value = append(v.Value, b)
		}
		return v, nil
	case "L":
		v := &types.AttributeValueMemberL{}
		return v, decode(reflect.ValueOf(&v.Value).Elem(), x)
	case "M":
		v := &types.AttributeValueMemberM{}
		return v, decode(reflect.ValueOf(&v.Value).Elem(), x)
	case "NESTED": // this many lists inside each other
		var v types.AttributeValue = &types.AttributeValueMemberS{Value: "x"}
		n, err := strconv.Atoi(fmt.Sprint(x))
		for range n {
			v = &types.AttributeValueMemberL{Value: []types.AttributeValue{v}}
		}
		return v, err
	}
	return nil, fmt.Errorf("%s is not a kind", kind)
}

func TestExpand(t *testing.T) {
	require.Equal(t, "xabababy", expand("x«ab×3»y"))
}
