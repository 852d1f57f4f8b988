package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/sortkey/sortkey/server"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A stopped is a store that can be made to fail, as if its disk were full.
type stopped struct {
	store.Store
	err error
}

func (s *stopped) Health(ctx context.Context) error {
	if s.err != nil {
		return s.err
	}
	return capability.Health(ctx, s.Store)
}

// healthOf returns the status and the body of GET /healthz.
func healthOf(t *testing.T, db *sortkey.DB) (int, string) {
	t.Helper()
	res, err := server.New(db, server.Options{}).Client().Get("http://localhost/healthz")
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// TestHealth tests that GET /healthz reports a store that has failed.
func TestHealth(t *testing.T) {
	st := &stopped{Store: memory.Open()}
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	status, _ := healthOf(t, db)
	require.Equal(t, http.StatusOK, status)
	st.err = errors.New("no space left on device")
	status, body := healthOf(t, db)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "unhealthy: no space left on device\n", body)
	st.err = nil
	require.NoError(t, db.Close())
	status, _ = healthOf(t, db)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

// TestHealthWhileBusy tests that a server is healthy while a long Update keeps other writes waiting.
func TestHealthWhileBusy(t *testing.T) {
	st := memory.Open()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	require.NoError(t, st.Update(t.Context(), func(store.Writer) error {
		status, body := healthOf(t, db)
		require.Equal(t, http.StatusOK, status, body)
		return nil
	}))
}

// A failing is a store whose Close returns an error, and which refuses writes while it is broken.
type failing struct {
	store.Store
	broken bool
}

var (
	errWrite = errors.New("no space left on device")
	errClose = errors.New("cannot close")
)

func (s *failing) Update(ctx context.Context, fn func(store.Writer) error) error {
	if s.broken {
		return errWrite
	}
	return s.Store.Update(ctx, fn)
}

func (s *failing) Close() error { return errors.Join(s.Store.Close(), errClose) }

// TestCloseErrors tests that Close joins the error of the tables, which could not write their counters, and the error
// of the store.
func TestCloseErrors(t *testing.T) {
	st := &failing{Store: memory.Open()}
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	_, err = sdk.Client(db).CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Orders"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	require.NoError(t, err)
	st.broken = true
	err = db.Close()
	require.ErrorIs(t, err, errWrite)
	require.ErrorIs(t, err, errClose)
}
