package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestSnapshots takes, restores and drops snapshots: of changed items, of a table that is gone, of one that
// is new, and of one that has another key now.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.fill()
	c.db.Table("Gone", "PK")
	_, err := c.db.Client.UpdateTimeToLive(t.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName: new("Gone"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: new("expires"), Enabled: new(true)},
	})
	require.NoError(t, err)
	c.db.Table("Other", "PK")
	for i := range 60 {
		c.db.Put("Gone", map[string]any{"PK": fmt.Sprint(i)})
		c.db.Put("Other", map[string]any{"PK": fmt.Sprint(i), "SK": "x"})
	}
	before := c.db.Dump()
	status, said := c.do("POST", "snapshots?name="+url.QueryEscape("before <b>lunch"), "")
	require.Equal(t, http.StatusOK, status, said)
	require.Contains(t, c.page("branches"), "before &lt;b&gt;lunch")
	require.Contains(t, c.page("branches"), "0 items changed since")

	for i := range 40 { // more than a batch
		c.db.Put("Shop", map[string]any{"PK": "new", "SK": fmt.Sprint(i)})
	}
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Eve"})
	for _, name := range []string{"Gone", "Other"} {
		_, err := c.db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(name)})
		require.NoError(t, err)
	}
	c.db.Table("Other", "PK / SK")
	c.db.Table("New", "PK")
	c.db.Put("New", map[string]any{"PK": "x"})
	after := c.db.Dump()
	page := c.page("branches")
	require.Contains(t, page, "Gone: the table is gone")
	require.Contains(t, page, "New: the table is new")
	require.Contains(t, page, "Other: the table has another key")

	status, said = c.do("POST", "snapshots/1/restore", "")
	require.Equal(t, http.StatusOK, status, said)
	require.Equal(t, before, c.db.Dump())
	require.Contains(t, c.page("branches"), "0 items changed since")
	ttl, err := c.db.Client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: new("Gone")})
	require.NoError(t, err)
	require.Equal(t, "expires", *ttl.TimeToLiveDescription.AttributeName)

	// A restore can be undone.
	require.Contains(t, c.page("branches"), "before the last restore")
	status, said = c.do("POST", "snapshots/2/restore", "")
	require.Equal(t, http.StatusOK, status, said)
	require.Equal(t, after, c.db.Dump())
	require.Equal(t, 2, strings.Count(c.page("branches"), `data-sure="Restore it"`), "one is of before the last restore")

	status, said = c.do("POST", "snapshots/1/drop", "")
	require.Equal(t, http.StatusOK, status, said)
	for _, path := range []string{"snapshots/1/drop", "snapshots/1/restore", "snapshots/x/restore", "snapshots", "snapshots?name=%20", "snapshots?name=a%E2%80%AEb", "snapshots?name=" + strings.Repeat("x", 61)} {
		status, said = c.do("POST", path, "")
		require.Equal(t, http.StatusBadRequest, status, path)
		require.Contains(t, said, "snapshot")
	}
	for i := range 8 {
		status, _ = c.do("POST", fmt.Sprintf("snapshots?name=s%d", i), "")
		require.Equal(t, http.StatusOK, status)
	}
	_, said = c.do("POST", "snapshots?name=s8", "")
	require.Contains(t, said, "drop one")
	_, said = c.do("POST", "snapshots?name=s7", "")
	require.Contains(t, said, "already")
}

// TestSnapshotsAtOnce takes, reads, restores and drops snapshots at the same time, while a program writes.
func TestSnapshotsAtOnce(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Shop", "PK", sortkeytest.Global("ByN", "n:N"))
	done := make(chan bool)
	go func() {
		defer close(done)
		for i := range 300 {
			c.db.Put("Shop", map[string]any{"PK": fmt.Sprint(i % 50), "n": i})
		}
	}()
	ended := make(chan bool)
	for g := range 4 {
		go func() {
			defer func() { ended <- true }()
			for i := range 8 {
				c.do("POST", fmt.Sprintf("snapshots?name=s%d-%d", g, i), "")
				for _, path := range []string{"restore", "drop"} {
					status, said := c.do("POST", fmt.Sprintf("snapshots/%d/%s", 1+(g+i*3)%20, path), "")
					if status >= http.StatusInternalServerError {
						t.Errorf("%s: %s", path, said)
					}
				}
				c.do("GET", "branches", "")
			}
		}()
	}
	for range 4 {
		<-ended
	}
	<-done
}

// TestSnapshotsDefinitions holds that a restore brings indexes, time to live and tags back, and that it can
// be undone.
func TestSnapshotsDefinitions(t *testing.T) {
	t.Parallel()
	c := start(t)
	client, ctx := c.db.Client, t.Context()
	c.db.Table("Shop", "PK / SK", sortkeytest.Global("ByN", "n:N"), sortkeytest.Global("ByMail", "mail"))
	c.db.Table("Local", "PK / SK", sortkeytest.Local("ByDay", "day"))
	c.db.Table("Plain", "PK")
	arn := func(name string) *string {
		out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		require.NoError(t, err)
		return out.Table.TableArn
	}
	tag := func(name string, pairs ...string) {
		in := &dynamodb.TagResourceInput{ResourceArn: arn(name)}
		for i := 0; i < len(pairs); i += 2 {
			in.Tags = append(in.Tags, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
		}
		_, err := client.TagResource(ctx, in)
		require.NoError(t, err)
	}
	live := func(name, attribute string, on bool) {
		_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
			TableName:               &name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: &attribute, Enabled: &on},
		})
		require.NoError(t, err)
	}
	definitions := func() (all []string) {
		for _, name := range []string{"Local", "Plain", "Shop"} {
			out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
			require.NoError(t, err)
			for _, x := range out.Table.GlobalSecondaryIndexes {
				all = append(all, fmt.Sprint(name, " ", *x.IndexName, " ", *x.KeySchema[0].AttributeName))
			}
			for _, x := range out.Table.LocalSecondaryIndexes {
				all = append(all, fmt.Sprint(name, " ", *x.IndexName, " ", *x.KeySchema[1].AttributeName))
			}
			ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
			require.NoError(t, err)
			all = append(all, fmt.Sprint(name, " ", aws.ToString(ttl.TimeToLiveDescription.AttributeName)))
			tags, err := client.ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: arn(name)})
			require.NoError(t, err)
			for _, tag := range tags.Tags {
				all = append(all, name+" tag "+*tag.Key+"="+*tag.Value)
			}
		}
		slices.Sort(all)
		return all
	}
	tag("Shop", "team", "a", "stage", "test")
	tag("Local", "team", "b")
	live("Shop", "ends", true)
	live("Plain", "gone", true)
	c.db.Put("Shop", map[string]any{"PK": "1", "SK": "1", "n": 7})
	c.db.Put("Local", map[string]any{"PK": "1", "SK": "1", "day": "x"})
	before := definitions()
	status, said := c.do("POST", "snapshots?name=a", "")
	require.Equal(t, http.StatusOK, status, said)

	update := func(x types.GlobalSecondaryIndexUpdate) {
		_, err := client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: aws.String("Shop"), GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{x},
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("mail"), AttributeType: "S"}},
		})
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("Shop")})
			return err == nil && out.Table.TableStatus == "ACTIVE" && !slices.ContainsFunc(out.Table.GlobalSecondaryIndexes,
				func(x types.GlobalSecondaryIndexDescription) bool { return x.IndexStatus != "ACTIVE" })
		}, 10*time.Second, 10*time.Millisecond)
	}
	update(types.GlobalSecondaryIndexUpdate{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("ByN")}})
	c.db.Put("Shop", map[string]any{"PK": "1", "SK": "1", "n": "a text, which ByN would refuse"})
	update(types.GlobalSecondaryIndexUpdate{Create: &types.CreateGlobalSecondaryIndexAction{
		IndexName: aws.String("Extra"), Projection: &types.Projection{ProjectionType: "ALL"},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("mail"), KeyType: "HASH"}},
	}})
	tag("Shop", "team", "other", "new", "x")
	_, err := client.UntagResource(ctx, &dynamodb.UntagResourceInput{ResourceArn: arn("Shop"), TagKeys: []string{"stage"}})
	require.NoError(t, err)
	live("Shop", "ends", false)
	live("Plain", "gone", false)
	live("Plain", "later", true)
	_, err = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String("Local")})
	require.NoError(t, err)
	c.db.Table("Local", "PK / SK")
	after := definitions()
	require.NotEqual(t, before, after)

	status, said = c.do("POST", "snapshots/1/restore", "")
	require.Equal(t, http.StatusOK, status, said)
	require.Equal(t, before, definitions())
	require.Contains(t, c.page("branches"), "0 items changed since")
	status, said = c.do("POST", "snapshots/2/restore", "")
	require.Equal(t, http.StatusOK, status, said)
	require.Equal(t, after, definitions())
}
