package sortkey_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// A stopped store refuses writes, as one does whose disk is full.
type stopped struct {
	store.Store
	err error
}

func (s *stopped) Update(ctx context.Context, fn func(store.Writer) error) error {
	if s.err != nil {
		return s.err
	}
	return s.Store.Update(ctx, fn)
}

// TestHealth checks that a server whose store refuses writes says so.
func TestHealth(t *testing.T) {
	st := &stopped{Store: memory.Open()}
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	get := func() (int, string) {
		res, err := db.HTTPClient().Get("http://localhost/healthz")
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	status, _ := get()
	require.Equal(t, http.StatusOK, status)
	st.err = errors.New("no space left on device")
	status, body := get()
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "unhealthy: no space left on device\n", body)
	st.err = store.ErrReadOnly
	status, _ = get()
	require.Equal(t, http.StatusOK, status)
}
