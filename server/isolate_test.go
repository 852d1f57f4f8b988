package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/server"
	"github.com/sortkey/sortkey/sortkeytest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// serveIsolated serves a database with the table Orders. It returns a function that makes a client with an access
// key.
func serveIsolated(
	t *testing.T, limit int, secrets map[string]string,
) (*sortkeytest.DB, func(key, secret string) *dynamodb.Client) {
	t.Helper()
	db := sortkeytest.New(t)
	db.Table("Orders", "id")
	url := listen(t, db.DB, server.Options{Isolate: limit, Credentials: secrets})
	return db, func(key, secret string) *dynamodb.Client {
		var who aws.CredentialsProvider = aws.AnonymousCredentials{}
		if key != "" {
			who = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret}, nil
			})
		}
		return dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: &url, Credentials: who, RetryMaxAttempts: 1,
		})
	}
}

// listen serves a database until the test ends, and returns its address.
func listen(t *testing.T, db *sortkey.DB, opts server.Options) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	opts.ShutdownTimeout = -1
	done := make(chan error)
	go func() { done <- server.New(db, opts).Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return "http://" + ln.Addr().String()
}

func count(t testing.TB, c *dynamodb.Client) int32 {
	t.Helper()
	out, err := c.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("Orders")})
	require.NoError(t, err)
	return out.Count
}

func put(t testing.TB, c *dynamodb.Client, id string) error {
	t.Helper()
	_, err := c.PutItem(t.Context(), &dynamodb.PutItemInput{
		TableName: aws.String("Orders"),
		Item:      map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
	})
	return err
}

func TestIsolate(t *testing.T) {
	db, client := serveIsolated(t, 20, nil)
	db.Put("Orders", map[string]any{"id": "first"})
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			c := client(string(rune('a'+i)), "any")
			if err := put(t, c, "own"); err != nil {
				t.Error(err)
			}
			if n := count(t, c); n != 2 {
				t.Errorf("key %d sees %d items, want 2", i, n)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, count(t, sdk.Client(db.DB)))
	require.NoError(t, put(t, client("", ""), "unsigned"))
	require.EqualValues(t, 2, count(t, sdk.Client(db.DB)), "a request without an access key")
	require.EqualValues(t, 2, count(t, client("a", "other")), "the same key again")
}

func TestIsolateLimit(t *testing.T) {
	db, client := serveIsolated(t, 2, nil)
	db.Clock.Set(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	require.NoError(t, put(t, client("a", "x"), "1"))
	db.Clock.Advance(30 * time.Second)
	require.NoError(t, put(t, client("b", "x"), "1"))
	const refused = "LimitExceededException: the server keeps at most 2 databases"
	require.ErrorContains(t, put(t, client("c", "x"), "1"), refused)
	db.Clock.Advance(30 * time.Second)
	require.NoError(t, put(t, client("c", "x"), "1"), "takes the place of a")
	require.EqualValues(t, 1, count(t, client("b", "x")))
	require.ErrorContains(t, put(t, client("a", "x"), "1"), refused)
}

// TestIsolateChecksSignatures tests that a key gets a database only after its signature has been checked.
func TestIsolateChecksSignatures(t *testing.T) {
	_, client := serveIsolated(t, 1, map[string]string{"a": "secret", "b": "secret"})
	list := func(key, secret string) error {
		_, err := client(key, secret).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		return err
	}
	require.ErrorContains(t, list("a", "wrong"), "InvalidSignatureException")
	require.ErrorContains(t, list("nobody", "secret"), "UnrecognizedClientException")
	require.NoError(t, list("b", "secret"), "none of these has taken the only place")
	require.ErrorContains(t, list("a", "secret"), "LimitExceededException")
}

func TestIsolateEnds(t *testing.T) {
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.New(db, server.Options{Isolate: 1}).Serve(ctx, ln) }()
	url := "http://" + ln.Addr().String()
	c := dynamodb.New(dynamodb.Options{Region: "us-east-1",
		BaseEndpoint: &url, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "k", SecretAccessKey: "s"}, nil
		})})
	_, err = c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, db.Close())
}

// A forkable is a store whose Fork waits for the channel, and whose forks fail to close.
type forkable struct {
	store.Forker
	fork chan struct{} // each Fork receives one value first
}

func (s *forkable) Fork() (store.Store, error) {
	<-s.fork
	st, err := s.Forker.Fork()
	return &failing{Store: st}, err
}

// TestIsolateDoesNotBlock creates the database of one key, which takes long, while another key uses its own database.
// Then it evicts a database whose Close fails. Neither may disturb the other keys.
func TestIsolateDoesNotBlock(t *testing.T) {
	st := &forkable{Forker: memory.Open(), fork: make(chan struct{}, 1)}
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.Store = st })
	url := listen(t, db.DB, server.Options{Isolate: 2})
	list := func(key string) error {
		c := dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: &url, RetryMaxAttempts: 1, Credentials: accessKey(key),
		})
		_, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
		return err
	}
	st.fork <- struct{}{}
	require.NoError(t, list("a"))

	done := make(chan error, 2)
	for range 2 { // both get the same new database
		go func() { done <- list("b") }()
	}
	require.NoError(t, list("a"))
	st.fork <- struct{}{}
	require.NoError(t, <-done)
	require.NoError(t, <-done)

	db.Clock.Advance(time.Hour)
	st.fork <- struct{}{}
	require.NoError(t, list("c"), "takes the place of one that does not close")
}

func accessKey(key string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: key, SecretAccessKey: "any"}, nil
	})
}

// TestIsolateOptions exports a table of each of two access keys: each key must have buckets and options of its own.
func TestIsolateOptions(t *testing.T) {
	root := t.TempDir()
	var mu sync.Mutex
	var keys []string
	db := sortkeytest.New(t, func(o *sortkey.Options) { o.S3Root = root })
	db.Table("Orders", "id")
	url := listen(t, db.DB, server.Options{Isolate: 5, IsolateOptions: func(key string, _ *sortkey.Options) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, key)
	}})
	for key, folder := range map[string]string{"one": "one", "..": "%2E%2E", strings.Repeat("k", 300): ""} {
		if folder != "" {
			require.NoError(t, os.MkdirAll(filepath.Join(root, folder, "bucket"), 0o700))
		}
		c := dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: &url, RetryMaxAttempts: 1, Credentials: accessKey(key),
		})
		table, err := c.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Orders")})
		require.NoError(t, err)
		_, err = c.UpdateContinuousBackups(t.Context(), &dynamodb.UpdateContinuousBackupsInput{
			TableName: aws.String("Orders"),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: aws.Bool(true),
			},
		})
		require.NoError(t, err)
		_, err = c.ExportTableToPointInTime(t.Context(), &dynamodb.ExportTableToPointInTimeInput{
			TableArn: table.Table.TableArn, S3Bucket: aws.String("bucket"),
		})
		require.NoError(t, err)
		if folder == "" {
			continue // this key has no bucket, and the other buckets do not have its export
		}
		files, err := os.ReadDir(filepath.Join(root, folder, "bucket"))
		require.NoError(t, err)
		require.Len(t, files, 1)
	}
	require.Len(t, keys, 3)
}

// TestIsolateBy names databases by key and Region, and by path.
func TestIsolateBy(t *testing.T) {
	client := func(url, key, region string) *dynamodb.Client {
		return dynamodb.New(dynamodb.Options{
			Region: region, BaseEndpoint: &url, RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: key, SecretAccessKey: "any"}, nil
			}),
		})
	}
	db := sortkeytest.New(t)
	db.Table("Orders", "id")

	url := listen(t, db.DB, server.Options{Isolate: 5, IsolateBy: "key,region"})
	require.NoError(t, put(t, client(url, "a", "eu-west-1"), "1"))
	require.EqualValues(t, 1, count(t, client(url, "a", "eu-west-1")))
	require.EqualValues(t, 0, count(t, client(url, "a", "us-east-1")))
	out, err := client(url, "a", "eu-west-1").DescribeTable(t.Context(), &dynamodb.DescribeTableInput{
		TableName: aws.String("Orders"),
	})
	require.NoError(t, err)
	require.Equal(t, "arn:aws:dynamodb:eu-west-1:000000000000:table/Orders", *out.Table.TableArn)

	url = listen(t, db.DB, server.Options{Isolate: 5, IsolateBy: "path"})
	require.NoError(t, put(t, client(url+"/one", "a", "us-east-1"), "1"))
	require.EqualValues(t, 1, count(t, client(url+"/one", "b", "eu-west-1")))
	require.EqualValues(t, 0, count(t, client(url+"/two", "a", "us-east-1")))
	require.EqualValues(t, 0, count(t, client(url, "a", "us-east-1")))
}

// TestIsolateIncomplete tests that an incomplete signature is refused, and not answered from the database for
// requests without a signature.
func TestIsolateIncomplete(t *testing.T) {
	url := listen(t, sortkeytest.New(t).DB, server.Options{Isolate: 5})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20260102/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=00")
	out, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(out.Body)
	require.NoError(t, err)
	require.NoError(t, out.Body.Close())
	require.Contains(t, string(text), "IncompleteSignatureException")
	require.Contains(t, string(text), "existence of either a 'X-Amz-Date' or a 'Date' header")
}

// TestIsolateElsewhere tests that the log says which keys have tables.
func TestIsolateElsewhere(t *testing.T) {
	var seen []string
	db := sortkeytest.New(t, func(o *sortkey.Options) {
		o.Observer = observeErrors(func(message string) { seen = append(seen, message) })
	})
	url := listen(t, db.DB, server.Options{Isolate: 5})
	clientOf := func(key string) *dynamodb.Client {
		return dynamodb.New(dynamodb.Options{
			Region: "us-east-1", BaseEndpoint: &url, RetryMaxAttempts: 1,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: key, SecretAccessKey: "any"}, nil
			}),
		})
	}
	_, err := clientOf("a").CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: "HASH"}},
	})
	require.NoError(t, err)
	err = put(t, clientOf("b"), "1")
	require.ErrorContains(t, err, "ResourceNotFoundException")
	require.NotContains(t, err.Error(), `"a"`)
	require.Equal(t,
		[]string{`Requested resource not found (the database of "b" has no tables; these have some: "a")`}, seen)
}

type observeErrors func(message string)

func (observeErrors) Begin(context.Context, *sortkey.Event) {}

func (f observeErrors) End(_ context.Context, e *sortkey.Event) {
	if e.Error != "" {
		f(e.Message)
	}
}
