package sortkeytest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/sortkeytest"
)

// TestInsideHandler calls the database in a handler of a server of the code under test, with the context
// of its request: that it arrived at a loopback address says nothing about the call.
func TestInsideHandler(t *testing.T) {
	db := sortkeytest.New(t)
	db.Table("Shop", "PK")
	failed := make(chan error, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := db.Client.ListTables(r.Context(), &dynamodb.ListTablesInput{})
		failed <- err
		_, err = db.Client.Scan(r.Context(), &dynamodb.ScanInput{TableName: new("Shop")})
		failed <- err
	}))
	defer server.Close()
	resp, err := http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NoError(t, <-failed)
	require.NoError(t, <-failed)
}
