package sortkeytest_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestMessages checks that messages name the table, the item and the attribute, without
// the text that the SDK puts around an error.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		fn         func(*sortkeytest.DB)
	}{
		{"Put", "sortkeytest: table Orders: item 0: PutItem: ValidationException: " +
			"One or more parameter values were invalid: Missing the key placed in the item",
			func(db *sortkeytest.DB) { db.Put("Orders", map[string]any{"customer": "7"}) }},
		{"CreateTable", "sortkeytest: table Orders: ResourceInUseException: Table already exists: Orders",
			func(db *sortkeytest.DB) { db.Table("Orders", "id") }},
		{"no such table", "sortkeytest: table Order: ResourceNotFoundException: Requested resource not found: Table: " +
			"Order not found: did you mean Orders?",
			func(db *sortkeytest.DB) { sortkeytest.Items[Order](db, "Order") }},
		{"no such index", "sortkeytest: table Orders has no index ByState: did you mean ByStatus?",
			func(db *sortkeytest.DB) { sortkeytest.Query[Order](db, "Orders/ByState", "new") }},
		{"PutJSON", "sortkeytest: table Orders: line 3: ValidationException: " +
			"One or more parameter values were invalid: Missing the key placed in the item in " +
			"{\"customer\":{\"S\":\"7\"}}",
			func(db *sortkeytest.DB) {
				db.PutJSON("Orders",
					[]byte("{\"customer\": {\"S\": \"7\"}, \"placed\": {\"N\": "+
						"\"1\"}}\n\n{\"customer\": {\"S\": \"7\"}}\n"))
			}},
		{"plain JSON", `sortkeytest: table Orders: line 1: attribute customer is "7", which is not DynamoDB JSON ` +
			`such as {"S": "x"}: for plain JSON, decode it and use db.Put`,
			func(db *sortkeytest.DB) { db.PutJSON("Orders", []byte(`{"customer": "7", "placed": 1}`)) }},
		{"item of a list",
			`sortkeytest: table Orders: line 1: item 1: attribute placed is {}, which is not DynamoDB JSON`,
			func(db *sortkeytest.DB) {
				db.PutJSON("Orders",
					[]byte(`{"Items": [{"customer": {"S": "7"}, "placed": {"N": "1"}}, `+
						`{"customer": {"S": "7"}, "placed": {}}]}`))
			}},
		{"malformed", "sortkeytest: table Orders: line 2: unexpected EOF",
			func(db *sortkeytest.DB) { db.PutJSON("Orders", []byte("\n{\"customer\":")) }},
		{"repeated member", `sortkeytest: table Orders: line 2: duplicate object member name "customer" at offset 25`,
			func(db *sortkeytest.DB) {
				db.PutJSON("Orders", []byte("{\"customer\": {\"S\": \"7\"},\n\"customer\": {\"S\": \"8\"}}"))
			}},
		{"decoding", `sortkeytest: table Orders: cannot decode attribute total of item "7" / 2 into a struct { Total ` +
			`bool "dynamodbav:\"total\"" }: unmarshal failed`,
			func(db *sortkeytest.DB) {
				db.Put("Orders", Order{Customer: "7", Placed: 2, Total: 3})
				sortkeytest.Get[struct {
					Total bool `dynamodbav:"total"`
				}](db, "Orders", "7", 2)
			}},
		{"not an item", "table Orders: item 1 has no attributes: it has type int, want a struct or a map",
			func(db *sortkeytest.DB) { db.Put("Orders", order{Customer: "7"}, 5) }},
		{"nil", "table Orders: item 0 has no attributes: it has type <nil>, want a struct or a map",
			func(db *sortkeytest.DB) { db.Put("Orders", nil) }},
		{"JSON of a number", "cannot unmarshal", func(db *sortkeytest.DB) { db.PutJSON("Orders", []byte(`7`)) }},
		{"no file", "no such file", func(db *sortkeytest.DB) { db.PutFile("Orders", "testdata/none.json") }},
		{"key without a name", `sortkeytest: table Tab: "" is not a key`,
			func(db *sortkeytest.DB) { db.Table("Tab", "") }},
		{"two sort keys", `"a / b / c" is not a key`, func(db *sortkeytest.DB) { db.Table("Tab", "a / b / c") }},
		{"key with an unknown type", `"a:X" is not a key`, func(db *sortkeytest.DB) { db.Table("Tab", "a:X") }},
		{"a closed database", "the database of TestMessages/a_closed_database was closed at ",
			func(db *sortkeytest.DB) {
				require.NoError(t, db.Close())
				db.Put("Orders", order{Customer: "7"})
			}},

		{"Get without a key value", "Get from Orders has 1 key value, want values for customer and placed",
			func(db *sortkeytest.DB) { sortkeytest.Get[order](db, "Orders", "7") }},
		{"Query with too many", "Query of Orders has 3 key values, want at most values for customer and placed",
			func(db *sortkeytest.DB) { sortkeytest.Query[order](db, "Orders", "7", 1, 2) }},
		{"Query without any", "Query of Orders has 0 key values, want values for customer",
			func(db *sortkeytest.DB) { sortkeytest.Query[order](db, "Orders") }},
		{"Query of an index", "Query of Orders/ByStatus has 1 key value, want values for status and customer",
			func(db *sortkeytest.DB) { sortkeytest.Query[order](db, "Orders/ByStatus", "x") }},
		{"Nth", "Nth of the fault is [0], want the numbers of the calls that fail, from 1",
			func(db *sortkeytest.DB) { db.Fail(sortkeytest.Fault{Nth: []int{0}, Hang: true}) }},
		{"type of a key", `sortkeytest: Query of Orders: the value 2 for placed has type string, want a number, as ` +
			`the key is "customer / placed:N"`,
			func(db *sortkeytest.DB) { sortkeytest.Query[Order](db, "Orders", "7", "2") }},
		{"code of a fault", `sortkeytest: the Code of the fault is "ThrotlingException", which is not an exception ` +
			`of GetItem: did you mean ThrottlingException?`,
			func(db *sortkeytest.DB) { db.Fail(sortkeytest.Fault{Operation: "GetItem", Code: "ThrotlingException"}) }},
		{"code of another operation", `which is not an exception of GetItem: `,
			func(db *sortkeytest.DB) {
				db.Fail(sortkeytest.Fault{Operation: "GetItem", Code: "ConditionalCheckFailedException"})
			}},
		{"code of no operation", `which is not an exception of any operation: `,
			func(db *sortkeytest.DB) { db.Fail(sortkeytest.Fault{Code: "TeapotException"}) }},
		{"reason", `sortkeytest: the Reasons of the fault have "TransactionConflictException", ` +
			`which is not a cancellation reason: `,
			func(db *sortkeytest.DB) {
				db.Fail(sortkeytest.Fault{Reasons: []string{"", "TransactionConflictException"}})
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, failure(t, func(tb testing.TB) { tt.fn(orders(tb)) }), tt.want)
		})
	}
}

// scan is code under test.
func scan(t *testing.T, db *sortkeytest.DB) {
	t.Helper()
	_, err := db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Orders")})
	require.NoError(t, err)
}

// TestPlaces tests that messages about forbidden calls and faults name the line that set them.
func TestPlaces(t *testing.T) {
	cleanups := &failed{TB: t}
	m := &messages{TB: cleanups}
	db := sortkeytest.New(m)
	db.Table("Orders", "id")
	calls := db.Record()
	db.Forbid("Scan")
	db.Fail(sortkeytest.Fault{Operation: "Query", Code: "ThrottlingException"})
	db.Fail(sortkeytest.Fault{Operation: "Scan", Delay: 1, Times: 3})
	db.Fail(sortkeytest.Fault{Operation: "Scan", Delay: 1, Nth: []int{2, 4}})
	scan(t, db)
	calls.Never("Scan")
	calls.Only("Other")
	require.Equal(t, 1, calls.Count("Scan", "Query"))
	require.Equal(t, 1, calls.Count())
	require.Zero(t, calls.Count("Query"))
	for i := len(cleanups.cleanups) - 1; i > 0; i-- {
		cleanups.cleanups[i]()
	}
	const line = `messages_test\.go:\d+`
	wants := []string{
		"^sortkeytest: Scan is forbidden by the call of Forbid at " + line + ", but was called: Scan Orders",
		"^sortkeytest: Scan was called: Scan Orders",
		"^sortkeytest: table Orders was used: Scan Orders",
		"^sortkeytest: no call met the fault set at " + line + " for Scan, calls 2 4; ",
		"^sortkeytest: 1 call met the fault set at " + line + " for Scan, want 3",
		"^sortkeytest: no call met the fault set at " + line + " for Query; the calls were 1 × Scan Orders",
	}
	require.Len(t, m.texts, len(wants))
	for i, want := range wants {
		require.Regexp(t, regexp.MustCompile(want), m.texts[i])
	}
}

// TestWrongHang hangs without a deadline in a bubble, which ends the program with "all goroutines in bubble are
// blocked". Another test runs it.
func TestWrongHang(t *testing.T) {
	if os.Getenv("SORTKEY_WRONG") != "hang" {
		t.Skip("TestHangInBubble runs it")
	}
	synctest.Test(t, func(t *testing.T) {
		db := sortkeytest.New(t)
		db.Table("Orders", "id")
		db.Fail(sortkeytest.Fault{Operation: "Scan", Hang: true})
		_, _ = db.Client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String("Orders")})
	})
}

func TestHangInBubble(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWrongHang")
	cmd.Env = append(os.Environ(), "SORTKEY_WRONG=hang")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Regexp(t, `sortkeytest: Scan hangs with a context that never ends`, string(out))
}

// TestSetenv tests Setenv with code that reads its configuration from the environment.
func TestSetenv(t *testing.T) {
	t.Setenv("AWS_PROFILE", "none")
	t.Setenv("AWS_CA_BUNDLE", "none.pem")
	db := sortkeytest.New(t)
	t.Run("a test", func(t *testing.T) {
		db.Setenv(t)
		require.Equal(t, db.URL(), os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
		require.Equal(t, "us-east-1", os.Getenv("AWS_REGION"))
		require.Empty(t, os.Getenv("AWS_PROFILE")+os.Getenv("AWS_CA_BUNDLE"))
	})
	require.Empty(t, os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
	require.Equal(t, "none", os.Getenv("AWS_PROFILE"))
}
