package gen_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
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
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/gen"
	"github.com/sortkey/sortkey/internal/design/gen/testdata/store"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/sdk"
)

func load(t *testing.T) *model.Model {
	t.Helper()
	m, err := modelfile.Load("testdata/store/model.yaml")
	require.NoError(t, err)
	return m
}

func TestGo(t *testing.T) {
	got, err := gen.Go(load(t), "store")
	require.NoError(t, err)
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile("testdata/store/store.go", got, 0o600))
	}
	want, err := os.ReadFile("testdata/store/store.go")
	require.NoError(t, err)
	if string(got) != string(want) {
		t.Error("testdata/store/store.go is stale: run go test ./internal/design/gen -rewrite and review the difference")
	}
}

// TestLanguages compares the Python and the TypeScript of the model with what was reviewed.
// scripts/check-gen.sh runs it.
func TestLanguages(t *testing.T) {
	for name, write := range map[string]func(*model.Model) ([]byte, error){
		"store.py": gen.Python, "store.ts": gen.TypeScript,
	} {
		got, err := write(load(t))
		require.NoError(t, err)
		path := filepath.Join("testdata", name)
		if flag.Lookup("rewrite").Value.String() == "true" {
			require.NoError(t, os.WriteFile(path, got, 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		if string(got) != string(want) {
			t.Errorf("%s is stale: run go test ./internal/design/gen -rewrite and review the difference", path)
		}
	}
}

// TestCalls returns the calls of all functions, with the values of the patterns.
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
		require.Len(t, calls, reads)
		require.Len(t, keys, len(m.Entities))
		i := slices.IndexFunc(calls, func(c gen.Call) bool { return c.Pattern == "log of an hour" })
		require.Equal(t, []gen.Arg{{Text: "2026-01-05T10:00:00Z"}}, calls[i].Args)
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

// patterns are the functions of the model's patterns with the values of the
// patterns.
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
	"raw":                         call(func() (any, error) { return store.Raw(), nil }),
}

func call(f func() (any, error)) func() (any, error) { return f }

// TestPatterns sends the requests that the generated functions return and the
// compiled patterns, and compares the items.
func TestPatterns(t *testing.T) {
	m := load(t)
	w, err := world.Build(t.Context(), m, world.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	client := sdk.Client(w.DB)
	for _, p := range m.Patterns {
		t.Run(p.Name, func(t *testing.T) {
			if p.IsWrite() {
				t.Skip("TestWrites sends it")
			}
			if parts, _ := compile.Split(p); len(parts) > 1 {
				t.Skip("TestLists and TestSpans send its requests")
			}
			f, ok := patterns[p.Name]
			require.Equal(t, p.Expect.Error == "", ok)
			if !ok {
				return
			}
			in, err := f()
			require.NoError(t, err)
			got, err := send(t.Context(), client, in)
			require.NoError(t, err)
			request, err := compile.Pattern(m, p)
			require.NoError(t, err)
			out, _, err := explain.InProcess(w.DB).Do(t.Context(), request)
			require.NoError(t, err)
			var want struct {
				Items []map[string]any
				Item  map[string]any
			}
			require.NoError(t, json.Unmarshal(out.AppendJSON(nil), &want))
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

// send returns the items of a call in the form of the service.
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

// TestKeys writes items with generated keys and parses the keys.
func TestKeys(t *testing.T) {
	w, err := world.Build(t.Context(), load(t), world.Options{})
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
	back, err := store.ParseOrderKey(out.Item)
	require.NoError(t, err)
	require.Equal(t, order, back)

	// Sparse: the item lacks a key attribute of an index.
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
	item, err = store.OrderKey{Customer: "8", Placed: day("03-01")}.Attributes()
	require.NoError(t, err)
	require.Len(t, item, 3) // PK, SK and placed.on
	_, err = store.OrderKey{Customer: "8#9", Placed: day("03-01")}.Attributes()
	require.NoError(t, err) // only in OPENSK, which is absent, a literal follows the customer
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

	// Of several precisions of a value, the finest counts.
	log := store.LogKey{At: at("2026-01-05T10:00:00.5Z"), Type: "error"}
	key, err = log.Key()
	require.NoError(t, err)
	logBack, err := store.ParseLogKey(key)
	require.NoError(t, err)
	require.Equal(t, log, logBack)

	// Numbers are returned without the zeros of their templates.
	reading := store.ReadingKey{Device: 1, At: at("2026-01-05T10:00:00Z")}
	key, err = reading.Key()
	require.NoError(t, err)
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(store.TableReadings), Key: key})
	require.NoError(t, err)
	readingBack, err := store.ParseReadingKey(got.Item)
	require.NoError(t, err)
	require.Equal(t, reading, readingBack)

	_, err = store.ParseOrderKey(map[string]types.AttributeValue{"PK": s("CUSTOMER#7")})
	require.ErrorContains(t, err, "SK")
	_, err = store.ParseOrderKey(map[string]types.AttributeValue{"PK": s("CUSTOMER#7"), "SK": s("PROFILE")})
	require.Error(t, err)

	r, err := store.OrderSKBetweenOrderID(day("01-05"), 1, 9)
	require.NoError(t, err)
	require.Equal(t, keys.Range{Low: "ORDER#2026-01-05#999990", High: "ORDER#2026-01-05#999998"}, r)
	prefix, err := store.OrderSKPrefixPlaced(day("01-05"))
	require.NoError(t, err)
	require.Equal(t, "ORDER#2026-01-05#", prefix)
	require.Equal(t, "ORDER#", store.OrderSKPrefix)
}

// A onePager reads pages of one item.
type onePager struct {
	client *dynamodb.Client
	pages  int
}

func (p *onePager) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	p.pages++
	one := *in
	one.Limit = aws.Int32(1)
	return p.client.Query(ctx, &one, o...)
}

func (p *onePager) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	p.pages++
	one := *in
	one.Limit = aws.Int32(1)
	return p.client.Scan(ctx, &one, o...)
}

// TestPages reads the items of patterns from all pages. A pattern with a limit
// reads one page.
func TestPages(t *testing.T) {
	w, err := world.Build(t.Context(), load(t), world.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	pager := &onePager{client: sdk.Client(w.DB)}
	count := func(all iter.Seq2[map[string]types.AttributeValue, error], most int) (n int) {
		pager.pages = 0
		for item, err := range all {
			require.NoError(t, err)
			require.NotEmpty(t, item)
			if n++; n == most {
				break
			}
		}
		return n
	}
	all := store.OrdersOfACustomerItems(t.Context(), pager, "7")
	require.Equal(t, 4, count(all, 0))
	require.Equal(t, 5, pager.pages)
	require.Equal(t, 4, count(all, 0), "a second time")
	require.Equal(t, 2, count(all, 2))
	require.Equal(t, 2, pager.pages)
	require.Equal(t, 1, count(store.EverythingOfACustomerNewestFirstItems(t.Context(), pager, "CUSTOMER#7"), 0))
	require.Equal(t, 1, pager.pages)
	require.Equal(t, 1, count(store.AllOrdersThatArePaidItems(t.Context(), pager), 0))
	require.Greater(t, pager.pages, 5)
	require.Equal(t, 1, count(store.RawItems(t.Context(), pager), 1))
	for item, err := range store.OrdersBetweenDaysItems(t.Context(), pager, "7", day("01-05"), time.Time{}) {
		require.Nil(t, item)
		require.Error(t, err)
	}
}

// TestLists reads the items of a pattern that is a request for each of some values.
func TestLists(t *testing.T) {
	w, err := world.Build(t.Context(), load(t), world.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	var notes []types.AttributeValue
	for item, err := range store.OpenOrdersOfAllShardsItems(t.Context(), sdk.Client(w.DB), day("02-15")) {
		require.NoError(t, err)
		notes = append(notes, item["note"])
	}
	require.Equal(t, []types.AttributeValue{s("third"), s("fifth")}, notes)
	for _, err := range store.OpenOrdersOfAllShardsItems(t.Context(), sdk.Client(w.DB), time.Time{}) {
		require.Error(t, err)
	}
}

// TestSpans reads the items of patterns that are a request for each period of a range of times.
func TestSpans(t *testing.T) {
	w, err := world.Build(t.Context(), load(t), world.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	client := sdk.Client(w.DB)
	for _, tt := range []struct {
		name string
		all  iter.Seq2[map[string]types.AttributeValue, error]
		want string
	}{
		{"two days", store.LogOfSomeDaysItems(t.Context(), client, day("01-05"), day("01-06")), "5T10 5T11"},
		{"from a day", store.LogOfSomeDaysItems(t.Context(), client, at("2026-01-05T23:00:00Z"), at("2026-01-06T10:00:01Z")), "5T10 5T11 6T10"},
		{"one day", store.LogOfSomeDaysItems(t.Context(), client, day("01-06"), at("2026-01-06T12:00:00Z")), "6T10"},
		{"none", store.LogOfSomeDaysItems(t.Context(), client, day("01-07"), day("02-07")), ""},
		{"a month", store.LogOfAMonthNewestFirstItems(t.Context(), client, day("01-17")), "6T10 5T11 5T10"},
		{"no time", store.LogOfSomeDaysItems(t.Context(), client, time.Time{}, day("01-06")), "error"},
		{"no end", store.LogOfSomeDaysItems(t.Context(), client, day("01-06"), time.Time{}), "error"},
	} {
		var got []string
		for item, err := range tt.all {
			if err != nil {
				got = append(got, "error")
				continue
			}
			got = append(got, item["at"].(*types.AttributeValueMemberS).Value[len("2026-01-0"):len("2026-01-05T10")])
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWrites sends the requests of patterns that write, and compares the items with those of the model.
func TestWrites(t *testing.T) {
	m := load(t)
	w, err := world.Build(t.Context(), m, world.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Close()) }()
	client := sdk.Client(w.DB)
	order := store.OrderKey{
		Customer: "8", Placed: day("03-01"), OrderID: 42, State: "NEW", Region: "eu", Total: "12.5", Shard: 1, Due: day("04-01"),
	}
	values := map[string]string{
		"customer": "8", "placed": "2026-03-01", "orderId": "42", "state": "NEW", "region": "eu", "total": "12.5",
		"shard": "1", "due": "2026-04-01T00:00:00Z", "note": "first",
	}
	stored := func(k store.OrderKey) map[string]any {
		key, err := k.Key()
		require.NoError(t, err)
		items, err := send(t.Context(), client, &dynamodb.GetItemInput{TableName: aws.String(store.TableStore), Key: key})
		require.NoError(t, err)
		return items[0]
	}
	compare := func() {
		t.Helper()
		want, err := m.Entity("Order").Item(values)
		require.NoError(t, err)
		got, err := json.Marshal(stored(order))
		require.NoError(t, err)
		require.JSONEq(t, string(want.AppendJSON(nil)), string(got))
	}

	put, err := store.PutAnOrder(order, map[string]types.AttributeValue{"note": s("first"), "PK": s("keys win")})
	require.NoError(t, err)
	_, err = client.PutItem(t.Context(), put)
	require.NoError(t, err)
	compare()
	_, err = client.PutItem(t.Context(), put)
	require.ErrorAs(t, err, new(*types.ConditionalCheckFailedException))

	noted, err := store.NoteAnOrder(store.OrderKey{Customer: "8", Placed: day("03-01"), OrderID: 42}, "second")
	require.NoError(t, err)
	_, err = client.UpdateItem(t.Context(), noted)
	require.NoError(t, err)
	values["note"] = "second"
	compare()

	order.State, values["state"] = "PAID", "PAID"
	paid, err := store.PayAnOrder(order)
	require.NoError(t, err)
	_, err = client.UpdateItem(t.Context(), paid)
	require.NoError(t, err)
	require.NotContains(t, stored(order), store.AttributeOPENPK, "paid orders are not open")
	compare()
	_, err = client.UpdateItem(t.Context(), paid)
	require.ErrorAs(t, err, new(*types.ConditionalCheckFailedException))

	moved := order
	moved.OrderID = 43
	move, err := store.MoveAnOrder(store.CustomerKey{Customer: "7"}, order, moved, nil, store.CustomerKey{Customer: "70"}, day("01-01"))
	require.NoError(t, err)
	_, err = client.TransactWriteItems(t.Context(), move)
	require.NoError(t, err)
	require.Empty(t, stored(order))
	require.NotEmpty(t, stored(moved))

	remove, err := store.DeleteAnOrder(moved)
	require.NoError(t, err)
	_, err = client.DeleteItem(t.Context(), remove)
	require.ErrorAs(t, err, new(*types.ConditionalCheckFailedException))
	_, err = store.DeleteAnOrder(store.OrderKey{Customer: "8"})
	require.ErrorContains(t, err, "the time is zero")
}

// TestMissing says why patterns have no function.
func TestMissing(t *testing.T) {
	require.Equal(t, []string{
		"change a key has no function: it changes SK, a key of table Store, which an update cannot.",
		"orders of a total has no function: PK, the partition key, is CUSTOMER#{customer}, but the pattern does not give customer.",
		"refused has no function: it expects the error ValidationException.",
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
		code, err := gen.Go(m, "generated")
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

// TestMoves holds that the code says why a move has no function.
func TestMoves(t *testing.T) {
	m, err := modelfile.Parse("m.yaml", []byte(`{name: m, tables: {Tab: {partition: PK}},
entities: {Node: {attributes: {PK: "N#{node}", folder: "{folder}"}}},
patterns: [{name: move a node, move: {entity: Node, field: folder}}]}`))
	require.NoError(t, err)
	for _, write := range []func(*model.Model) ([]byte, error){
		func(m *model.Model) ([]byte, error) { return gen.Go(m, "generated") }, gen.Python, gen.TypeScript,
	} {
		code, err := write(m)
		require.NoError(t, err)
		require.Contains(t, string(code), "move a node has no function: a move is a write of every item that carries")
	}
}

func TestGoPackageName(t *testing.T) {
	for _, name := range []string{"", "a-b", "type", "_", "1a"} {
		if _, err := gen.Go(load(t), name); err == nil {
			t.Errorf("Go for package %q succeeds", name)
		}
	}
}

// TestExpression writes a pattern of a model, and refuses one that is not one
// request.
func TestExpression(t *testing.T) {
	m := load(t)
	text, err := gen.Expression(m, m.Pattern("orders of a month"), "python")
	require.NoError(t, err)
	require.Contains(t, text, `KeyConditionExpression="PK = :PK AND begins_with(SK, :SK)"`)
	require.Contains(t, text, `ProjectionExpression="note, #total"`)
	_, err = gen.Expression(m, m.Pattern("orders of a total"), "go")
	require.Error(t, err)
}

// TestNames holds that the code in languages that these tests do not compile is text, whatever the names in
// the model; scripts/check-gen.sh compiles it.
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
		"python": gen.Python, "typescript": gen.TypeScript,
		"go": func(m *model.Model) ([]byte, error) { return gen.Go(m, "generated") },
	} {
		code, err := write(m)
		require.NoError(t, err)
		require.True(t, utf8.Valid(code), name)
		require.NotContains(t, string(code), "\uFFFD", name)
		require.Contains(t, string(code), "値", name)
		require.Equal(t, string(code), text.VisibleLines(string(code)), name)
	}
}
