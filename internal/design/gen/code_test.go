package gen_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/gen"
	store "github.com/sortkey/sortkey/internal/design/gen/testdata/store"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sdk"
)

func load(t *testing.T) *model.Model {
	t.Helper()
	m, err := modelfile.Load("testdata/store/model.yaml")
	require.NoError(t, err)
	return m
}

// golden compares generated code with a reviewed file, or writes the file with -rewrite.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(got) != string(want) {
		t.Errorf("%s is stale: run go test ./internal/design/gen -rewrite and review the difference", path)
	}
}

// TestLanguages compares the generated code with reviewed files. Other tests run the Go code, and
// scripts/check-gen.sh runs the rest.
func TestLanguages(t *testing.T) {
	for path, write := range map[string]func(*model.Model) ([]byte, error){
		"store/store.go": gen.Go, "store.py": gen.Python, "store.ts": gen.TypeScript,
	} {
		got, err := write(load(t))
		require.NoError(t, err)
		golden(t, filepath.Join("testdata", path), got)
	}
}

// TestCalls compares the calls of all functions, with the values of the patterns, with a list.
func TestCalls(t *testing.T) {
	m := load(t)
	for _, lang := range []string{"python", "typescript"} {
		calls, keys, err := gen.Calls(m, lang)
		require.NoError(t, err)
		reads := len(m.Patterns)
		for _, p := range m.Patterns {
			if p.IsWrite() || p.Expect.Error != "" {
				reads--
			}
		}
		require.Len(t, calls, reads-2) // without those of several days
		require.Len(t, keys, len(m.Entities))
		i := slices.IndexFunc(calls, func(c gen.Call) bool { return c.Pattern.Name == "log of an hour" })
		require.Equal(t, []gen.Arg{{Text: "2026-01-05T10:00:00Z"}}, calls[i].Args(calls[i].Pattern))
	}
	_, _, err := gen.Calls(m, "cobol")
	require.Error(t, err)
}

func at(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return at
}

func day(d string) time.Time { return at("2026-" + d + "T00:00:00Z") }

// patterns maps each pattern of the model to a call of its generated function with the pattern's values.
var patterns = map[string]func() (any, error){
	"a customer's profile":                   call(func() (any, error) { return store.ACustomersProfile("7") }),
	"orders of a customer":                   call(func() (any, error) { return store.OrdersOfACustomer("7") }),
	"everything of a customer, newest first": call(func() (any, error) { return store.EverythingOfACustomerNewestFirst("CUSTOMER#7") }),
	"one order":                              call(func() (any, error) { return store.OneOrder("7", day("01-05"), 2) }),
	"orders of a day":                        call(func() (any, error) { return store.OrdersOfADay("7", day("01-05")) }),
	"orders of a month":                      call(func() (any, error) { return store.OrdersOfAMonth("7", "2026-01") }),
	"orders of a whole month":                call(func() (any, error) { return store.OrdersOfAWholeMonth("7", day("01-17")) }),
	"orders of some years":                   call(func() (any, error) { return store.OrdersOfSomeYears("7", at("2025-06-01T00:00:00Z"), day("06-01")) }),
	"log of an hour":                         call(func() (any, error) { return store.LogOfAnHour(at("2026-01-05T10:31:00Z")) }),
	"orders between days":                    call(func() (any, error) { return store.OrdersBetweenDays("7", day("01-05"), day("01-31")) }),
	"orders before a day":                    call(func() (any, error) { return store.OrdersBeforeADay("7", day("01-31")) }),
	"orders until a day":                     call(func() (any, error) { return store.OrdersUntilADay("7", day("01-31")) }),
	"orders after a day":                     call(func() (any, error) { return store.OrdersAfterADay("7", day("01-05")) }),
	"orders since a day":                     call(func() (any, error) { return store.OrdersSinceADay("7", day("01-31")) }),
	"first orders of a day":                  call(func() (any, error) { return store.FirstOrdersOfADay("7", day("01-05"), 2) }),
	"new orders of a region":                 call(func() (any, error) { return store.NewOrdersOfARegion("NEW", "eu") }),
	"large orders of a region":               call(func() (any, error) { return store.LargeOrdersOfARegion("NEW", "eu", "9") }),
	"orders of a region by total and day": call(func() (any, error) {
		return store.OrdersOfARegionByTotalAndDay("NEW", "eu", "12.5", day("01-01"), day("01-31"))
	}),
	"open orders":                 call(func() (any, error) { return store.OpenOrders(1) }),
	"open orders of all shards":   call(func() (any, error) { return store.OpenOrdersOfAllShards(1, day("02-01")) }),
	"open orders due soon":        call(func() (any, error) { return store.OpenOrdersDueSoon(1, day("02-15")) }),
	"open orders due until a day": call(func() (any, error) { return store.OpenOrdersDueUntilADay(1, day("02-01")) }),
	"open orders due after a day": call(func() (any, error) { return store.OpenOrdersDueAfterADay(1, day("02-01")) }),
	"readings of two days":        call(func() (any, error) { return store.ReadingsOfTwoDays(1, day("01-04"), day("01-05")) }),
	"log of a whole day":          call(func() (any, error) { return store.LogOfAWholeDay(day("01-05")) }),
	"readings of a device":        call(func() (any, error) { return store.ReadingsOfADevice(1) }),
	"late readings of a device":   call(func() (any, error) { return store.LateReadingsOfADevice(1, at("2026-01-05T10:00:00Z")) }),
	"a blob":                      call(func() (any, error) { return store.ABlob("00ff") }),
	"log of a day":                call(func() (any, error) { return store.LogOfADay("2026-01-05") }),
	"all orders that are paid":    call(func() (any, error) { return store.AllOrdersThatArePaid(), nil }),
	"new orders from a total":     call(func() (any, error) { return store.NewOrdersFromATotal("7", "10") }),
	"orders with a status":        call(func() (any, error) { return store.OrdersWithAStatus("PAID") }),
	"raw":                         call(func() (any, error) { return store.Raw("CUSTOMER#70") }),
}

func call(f func() (any, error)) func() (any, error) { return f }

// TestPatterns holds that the requests of generated functions return the same items as the compiled patterns.
func TestPatterns(t *testing.T) {
	m := load(t)
	w, err := dataset.Build(t.Context(), m, dataset.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	client := sdk.Client(w.DB)
	for _, p := range m.Patterns {
		t.Run(p.Name, func(t *testing.T) {
			if p.IsWrite() {
				return // the pattern has no function
			}
			f, ok := patterns[p.Name]
			missing := slices.ContainsFunc(gen.Missing(m), func(s string) bool { return strings.HasPrefix(s, p.Name+" has no") })
			require.Equal(t, missing, !ok)
			if !ok {
				return
			}
			if parts, err := compile.Split(p); err == nil {
				p = parts[min(1, len(parts)-1)] // of several shards, the one that has items
			}
			in, err := f()
			require.NoError(t, err)
			got, err := send(t.Context(), client, in)
			require.NoError(t, err)
			request, err := compile.Pattern(p)
			require.NoError(t, err)
			out, _, err := explain.InProcess(w.DB).Do(t.Context(), request)
			require.NoError(t, err)
			var want struct {
				Items []map[string]any
				Item  map[string]any
			}
			require.NoError(t, json.Unmarshal(wire.AppendJSON(nil, out), &want))
			if want.Item != nil {
				want.Items = append(want.Items, want.Item)
			}
			require.NotEmpty(t, want.Items, "the pattern finds nothing, so nothing is compared")
			a, err := json.Marshal(got)
			require.NoError(t, err)
			b, err := json.Marshal(want.Items)
			require.NoError(t, err)
			require.JSONEq(t, string(b), string(a))
		})
	}
}

// send sends a request and returns its items in DynamoDB JSON.
func send(ctx context.Context, client *dynamodb.Client, in any) ([]map[string]any, error) {
	var items []map[string]types.AttributeValue
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		out, err := client.GetItem(ctx, in)
		if err != nil {
			return nil, err
		}
		items = append(items, out.Item)
	case *dynamodb.QueryInput:
		out, err := client.Query(ctx, in)
		if err != nil {
			return nil, err
		}
		items = out.Items
	case *dynamodb.ScanInput:
		out, err := client.Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		items = out.Items
	}
	all := []map[string]any{}
	for _, item := range items {
		one := map[string]any{}
		for name, v := range item {
			switch v := v.(type) {
			case *types.AttributeValueMemberS:
				one[name] = map[string]any{"S": v.Value}
			case *types.AttributeValueMemberN:
				one[name] = map[string]any{"N": v.Value}
			case *types.AttributeValueMemberB:
				one[name] = map[string]any{"B": v.Value}
			default:
				return nil, fmt.Errorf("%s is a %T", name, v)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// TestKeys writes items with generated keys, and parses the keys.
func TestKeys(t *testing.T) {
	w, err := dataset.Build(t.Context(), load(t), dataset.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	client := sdk.Client(w.DB)

	order := store.OrderKey{Customer: "8", Placed: day("03-01"), OrderID: 42, State: "NEW", Region: "eu", Total: "1.5", Shard: 1, Due: day("04-01")}
	item, err := order.Attributes()
	require.NoError(t, err)
	require.Equal(t, s("ORDER#2026-03-01#999957"), item[store.AttributeSK])
	require.Equal(t, s("7973-95-98T99:99:99Z#8"), item[store.AttributeOPENSK])
	_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(store.TableStore), Item: item})
	require.NoError(t, err)
	key, err := order.Key()
	require.NoError(t, err)
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(store.TableStore), Key: key})
	require.NoError(t, err)
	require.Equal(t, item, out.Item)

	// The index is sparse: the item must lack a key attribute of it.
	for name, change := range map[string]func(*store.OrderKey){
		"state": func(k *store.OrderKey) { k.State = "PAID" },
		"shard": func(k *store.OrderKey) { k.Shard = 2 },
	} {
		paid := order
		change(&paid)
		item, err = paid.Attributes()
		require.NoError(t, err)
		require.NotContains(t, item, store.AttributeOPENPK, name)
	}
	small := store.OrderKey{Customer: "8", Placed: day("03-01"), OrderID: 9, Region: "eu", Total: "9.5", Due: day("02-01")}
	for name, change := range map[string]func(*store.OrderKey){
		"":      func(*store.OrderKey) {},
		"total": func(k *store.OrderKey) { k.Total = "10" },
		"order": func(k *store.OrderKey) { k.OrderID = 10 },
		"due":   func(k *store.OrderKey) { k.Due = day("01-31") },
		"none":  func(k *store.OrderKey) { k.Region = "" },
	} {
		other := small
		change(&other)
		item, err = other.Attributes()
		require.NoError(t, err)
		require.Equal(t, name == "", item[store.AttributeSMALL] != nil, name)
	}
	item, err = store.OrderKey{Customer: "8", Placed: day("03-01")}.Attributes()
	require.NoError(t, err)
	require.Len(t, item, 3) // PK, SK and placed.on
	_, err = store.OrderKey{Customer: "8#9", Placed: day("03-01")}.Attributes()
	require.NoError(t, err) // a literal follows the customer only in OPENSK, which this item lacks
	_, err = store.OrderKey{Customer: "", Placed: day("03-01")}.Key()
	require.Error(t, err)
	_, err = store.OrderKey{Customer: "8"}.Key()
	require.ErrorContains(t, err, "the time is zero")
	_, err = store.OrdersBetweenDays("7", day("01-05"), time.Time{})
	require.ErrorContains(t, err, "the time is zero")
	_, err = store.OpenOrdersDueUntilADay(1, time.Time{})
	require.ErrorContains(t, err, "the time is zero")
	_, err = store.ReadingsOfTwoDays(1, time.Time{}, day("01-05"))
	require.ErrorContains(t, err, "the time is zero")
}

// TestMissing compares the reasons why patterns have no function with a list.
func TestMissing(t *testing.T) {
	require.Equal(t, []string{
		"log of some days has no function: it is a request for each period of a range of times: write a pattern for one.",
		"log of a month, newest first has no function: it is a request for each period of a range of times: write a pattern for one.",
		"orders of a total has no function: PK, the partition key, is CUSTOMER#{customer}, but the pattern does not give customer.",
		"refused has no function: PK is the partition key, which allows only =, not begins_with.",
	}, gen.Missing(load(t)))
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// TestGoOfModels compiles the code for the example models and for a model with
// difficult names, as packages of this module.
func TestGoOfModels(t *testing.T) {
	proptest.NeedLong(t) // it runs the compiler
	files, err := filepath.Glob("../../../design/examples/*/model.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	root, err := filepath.Abs("..") // of this module
	require.NoError(t, err)
	overlay := map[string]string{}
	args := []string{"build", "-overlay=" + filepath.Join(t.TempDir(), "overlay.json")}
	for i, file := range append(files, "testdata/names.yaml") {
		m, err := modelfile.Load(file)
		if err != nil && i < len(files) {
			t.Logf("left out: %v", err)
			continue
		}
		require.NoError(t, err)
		code, err := gen.Go(m)
		require.NoError(t, err, file)
		out := filepath.Join(t.TempDir(), "generated.go")
		require.NoError(t, os.WriteFile(out, code, 0o600))
		pkg := fmt.Sprintf("gen/testdata/generated%d", i)
		overlay[filepath.Join(root, pkg, "generated.go")] = out
		args = append(args, "./"+pkg)
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(strings.TrimPrefix(args[1], "-overlay="), data, 0o600))
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestExpression writes a pattern as code, and holds that a pattern of several requests is refused.
func TestExpression(t *testing.T) {
	m := load(t)
	text, err := gen.Expression(m.Pattern("orders of a month"), "python")
	require.NoError(t, err)
	require.Contains(t, text, `KeyConditionExpression="PK = :PK AND begins_with(SK, :SK)"`)
	require.Contains(t, text, `ProjectionExpression="note, #total"`)
	_, err = gen.Expression(m.Pattern("orders of a total"), "go")
	require.Error(t, err)
}

// TestNames holds that languages which these tests do not compile get printable code, whatever the names in the
// model. scripts/check-gen.sh compiles it.
func TestNames(t *testing.T) {
	source, err := os.ReadFile("testdata/names.yaml")
	require.NoError(t, err)
	const hidden = `
  - name: "a\0b\e[31m \u202Erecord \u2028 */ \"\"\" '"
    about: "x\0"
    get: {entity: table empty, where: {id: ONE}}
`
	m, err := modelfile.Parse("names.yaml", append(source, hidden...))
	require.NoError(t, err)
	for name, write := range map[string]func(*model.Model) ([]byte, error){
		"python": gen.Python, "typescript": gen.TypeScript, "go": gen.Go,
	} {
		code, err := write(m)
		require.NoError(t, err)
		require.True(t, utf8.Valid(code), name)
		require.NotContains(t, string(code), "\uFFFD", name)
		require.Contains(t, string(code), "値", name)
		require.Equal(t, string(code), text.VisibleLines(string(code)), name)
	}
}
