package tikv_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/testutils"
	client "github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	pd "github.com/tikv/pd/client"

	"github.com/sortkey/sortkey/store/tikv"
)

// A cluster is the client's own mock of three stores and one region, which tests
// split and move.
type cluster struct {
	*testutils.MockCluster
	rpc     *testutils.MockClient
	pd      pd.Client
	stores  []uint64
	peers   []uint64
	region  uint64
	request atomic.Pointer[requestHook]
	count   [4096]atomic.Int64 // requests by type
}

// A requestHook sees each request; send passes it on.
type requestHook func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error)

func newCluster(t testing.TB) *cluster {
	t.Helper()
	rpc, mock, pdClient, err := testutils.NewMockTiKV("", nil)
	require.NoError(t, err)
	c := &cluster{MockCluster: mock, rpc: rpc, pd: pdClient}
	c.stores, c.peers, c.region, _ = testutils.BootstrapWithMultiStores(mock, 3)
	return c
}

// open opens a store in the cluster, which the test closes. Closing a store closes
// the mock with it.
func (c *cluster) open(t testing.TB) *tikv.Store {
	t.Helper()
	s, err := c.tryOpen(t.Context(), tikv.Options{Timeout: 20 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (c *cluster) tryOpen(ctx context.Context, opts tikv.Options) (*tikv.Store, error) {
	kv, err := client.NewTestTiKVStore(c.rpc, c.pd, func(inner client.Client) client.Client { return &hooked{inner, c} }, nil, 0)
	if err != nil {
		return nil, err
	}
	return tikv.OpenClient(ctx, kv, opts)
}

// hooked is the client of one store.
type hooked struct {
	client.Client
	cluster *cluster
}

func (h *hooked) SendRequest(ctx context.Context, addr string, request *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	h.cluster.count[request.Type].Add(1)
	send := func() (*tikvrpc.Response, error) { return h.Client.SendRequest(ctx, addr, request, timeout) }
	if hook := h.cluster.request.Load(); hook != nil {
		return (*hook)(request, send)
	}
	return send()
}
