package console_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/sortkeytest"
)

// between is a target that calls fn before each write, after the console has read the item.
type between struct {
	explain.Target
	fn func()
}

func (b between) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	switch in.(type) {
	case *wire.PutItemInput, *wire.UpdateItemInput, *wire.DeleteItemInput:
		b.fn()
	}
	return b.Target.Do(ctx, in)
}

// TestNothingLost changes and deletes an item while somebody else changes it, between the read and the write of the
// console.
func TestNothingLost(t *testing.T) {
	t.Parallel()
	wide := func(n int) map[string]any {
		it := map[string]any{"PK": "x"}
		for i := range n {
			it[fmt.Sprintf("a%03d", i)] = 0
		}
		return it
	}
	for _, tt := range []struct {
		name       string
		attributes int
		path       string
		old, new   string // of the text
		theirs     string // attribute that somebody else sets
		local      bool   // the console has the database in its process
		status     int
		want       []string // attributes of the item afterwards
	}{
		{"an added attribute", 3, "put", `"a000": 0`, `"a000": 7`, "added", false, 200, []string{"a000: 7", "added: 1"}},
		{"the last of many", 100, "put", `"a000": 0`, `"a000": 7`, "a099", false, 200, []string{"a000: 7", "a099: 1"}},
		{"the same", 100, "put", `"a099": 0`, `"a099": 7`, "a099", false, 409, []string{"a099: 1"}},
		{"one that both add", 3, "put", `"a000"`, `"added": 5, "a000"`, "added", false, 409, []string{"added: 1"}},
		{"one that is removed", 3, "put", `"a000": 0,`, ``, "a001", false, 200, []string{`"x"  {a001: 1, a002: 0}`}},
		{"a text as it was", 3, "put", `"a000"`, `"a000"`, "added", false, 200, []string{"added: 1"}},
		{"too many", 200, "put", `: 0`, `: 1`, "added", false, 400, []string{"a000: 0"}},
		{"too many", 200, "put", `: 0`, `: 2`, "added", true, 200, []string{"a000: 2", "added: 1"}},
		{"a delete", 140, "delete", "", "", "a139", false, 409, []string{"a139: 1"}},
		{"a delete", 140, "delete", "", "", "added", true, 200, []string{`"x"  {added: 1}`}},
	} {
		t.Run(fmt.Sprintf("%s local=%v", tt.name, tt.local), func(t *testing.T) {
			t.Parallel()
			db := sortkeytest.New(t)
			db.Table("Tab", "PK")
			db.Put("Tab", wide(tt.attributes))
			var o console.Options
			var others sync.WaitGroup
			set := func() {
				_, err := db.Client.UpdateItem(context.WithoutCancel(t.Context()), &dynamodb.UpdateItemInput{
					TableName: new("Tab"), Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "x"}},
					UpdateExpression:          new("SET " + tt.theirs + " = :one"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
				})
				require.NoError(t, err)
			}
			o.Target = between{explain.InProcess(db.DB), set}
			if tt.local {
				o.DB, o.Target = db.DB, between{explain.InProcess(db.DB), func() {
					others.Go(set)
					time.Sleep(20 * time.Millisecond) // time for set to come first, if nothing prevents it
				}}
			}

			server := httptest.NewServer(console.New(o).Handler())
			t.Cleanup(server.Close)
			c := &client{t, db, server.URL}
			where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"x"}}`))
			page := c.page("item" + where)
			is := html.UnescapeString(textarea.FindStringSubmatch(page)[1])
			body, err := json.Marshal(map[string]any{
				"Sum": sums.FindStringSubmatch(page)[1], "Is": strings.ReplaceAll(is, tt.old, tt.new),
			})
			require.NoError(t, err)
			var status int
			var text string
			if tt.path == "put" {
				status, text = c.do(http.MethodPost, "put"+where, string(body))
			} else {
				row := bulkRow{base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"x"}}`)), sums.FindStringSubmatch(page)[1]}
				is, out, said := c.bulk("name=Tab", []bulkRow{row})
				if status, text = is, said; len(out.Refused) > 0 {
					status = http.StatusConflict
				}
			}
			others.Wait()
			require.Equal(t, tt.status, status, text)
			for _, want := range tt.want {
				require.Contains(t, db.Dump("Tab"), want)
			}
		})
	}
}
