package tikv_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/testutils"
	client "github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util/codec"
	pd "github.com/tikv/pd/client"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

// A cluster is the client's own mock of three stores and one region, which tests
// split and move.
type cluster struct {
	*testutils.MockCluster
	rpc        *testutils.MockClient
	pd         pd.Client
	hook       atomic.Pointer[requestHook]
	timestamps atomic.Int64           // requests for one
	ask        atomic.Pointer[func()] // called before each timestamp

	mu                sync.Mutex
	rng               *rand.Rand
	requests          map[tikvrpc.CmdType]int
	splits            int
	physical, logical int64 // the last timestamp
}

// A requestHook handles each request. It calls send to pass the request on.
type requestHook func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error)

func newCluster(t testing.TB) *cluster {
	t.Helper()
	rpc, mock, pdClient, err := testutils.NewMockTiKV("", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rpc.Close()) })
	testutils.BootstrapWithMultiStores(mock, 3)
	return &cluster{MockCluster: mock, rpc: rpc, pd: pdClient, rng: rand.New(rand.NewPCG(1, 2)), requests: map[tikvrpc.CmdType]int{}}
}

// open opens a store in the cluster, which the test closes.
func (c *cluster) open(t testing.TB) *tikv.Store {
	t.Helper()
	s, err := c.tryOpen(t.Context(), tikv.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// tryOpen opens a store whose lease outlives the test, however slow the machine is.
func (c *cluster) tryOpen(ctx context.Context, opts tikv.Options) (*tikv.Store, error) {
	return c.tryLease(ctx, opts.WithLease(time.Hour))
}

// tryLease opens a store with the lease of its options. Tests of the lease run in a bubble of testing/synctest, so
// that their time does not depend on how busy the machine is.
func (c *cluster) tryLease(ctx context.Context, opts tikv.Options) (*tikv.Store, error) {
	kv, err := c.client(nil)
	if err != nil {
		return nil, err
	}
	return tikv.OpenClient(ctx, kv, opts)
}

// client returns a client of the cluster. Its requests fail after dead is set.
func (c *cluster) client(dead *atomic.Bool) (*client.KVStore, error) {
	return client.NewTestTiKVStore(c.rpc, c.pd,
		func(inner client.Client) client.Client { return &hooked{inner, c, dead} },
		func(inner pd.Client) pd.Client { return &clock{inner, c, dead} }, 0)
}

var errDead = errors.New("the connection is dead")

// hooked is a client that passes the requests of one store to a hook.
type hooked struct {
	client.Client
	cluster *cluster
	dead    *atomic.Bool
}

func (h *hooked) SendRequest(ctx context.Context, addr string, request *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	if h.dead != nil && h.dead.Load() {
		return nil, errDead
	}
	h.cluster.mu.Lock()
	h.cluster.requests[request.Type]++
	h.cluster.mu.Unlock()
	send := func() (*tikvrpc.Response, error) { return h.Client.SendRequest(ctx, addr, request, timeout) }
	if hook := h.cluster.hook.Load(); hook != nil {
		return (*hook)(request, send)
	}
	return send()
}

// Close does nothing, because other stores use the mock too.
func (h *hooked) Close() error { return nil }

// clock makes the timestamps of the cluster and counts them. Those of the mock would show the time outside the bubble
// of a test.
type clock struct {
	pd.Client
	cluster *cluster
	dead    *atomic.Bool
}

func (c *clock) GetTS(ctx context.Context) (physical, logical int64, err error) {
	c.cluster.timestamps.Add(1)
	if c.dead != nil && c.dead.Load() {
		return 0, 0, errDead
	}
	if ask := c.cluster.ask.Load(); ask != nil {
		(*ask)()
	}
	physical, logical = c.cluster.timestamp()
	return physical, logical, nil
}

// timestamp returns the next timestamp of the cluster, in the time of the test.
func (c *cluster) timestamp() (physical, logical int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now().UnixMilli(); now > c.physical {
		c.physical, c.logical = now, 0
	} else {
		c.logical++
	}
	return c.physical, c.logical
}

// take returns the numbers of requests and timestamps since the last take.
func (c *cluster) take() (requests map[tikvrpc.CmdType]int, timestamps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, c.requests = c.requests, map[tikvrpc.CmdType]int{}
	return requests, int(c.timestamps.Swap(0))
}

func (c *cluster) onRequest(hook requestHook) { c.hook.Store(&hook) }

// keyOf returns one of the keys of a request.
func keyOf(request *tikvrpc.Request) []byte {
	switch r := request.Req.(type) {
	case *kvrpcpb.GetRequest:
		return r.Key
	case *kvrpcpb.ScanRequest:
		return r.StartKey
	case *kvrpcpb.PrewriteRequest:
		return r.Mutations[0].Key
	case *kvrpcpb.PessimisticLockRequest:
		return r.Mutations[0].Key
	}
	return nil
}

// move splits the region of a key at that key, or gives the region another leader. Tests may stop stores that do not
// lead.
func (c *cluster) move(key []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	region, leader, _ := c.GetRegionByKey(codec.EncodeBytes(nil, key))
	if c.rng.IntN(2) == 0 && c.splits < 40 && len(key) > 0 && string(region.StartKey) != string(codec.EncodeBytes(nil, key)) {
		c.splits++
		peers := c.AllocIDs(len(region.Peers))
		c.Split(region.Id, c.AllocID(), key, peers, peers[c.rng.IntN(len(peers))])
		return
	}
	next := region.Peers[c.rng.IntN(len(region.Peers))]
	if next.Id != leader.Id {
		c.ChangeLeader(region.Id, next.Id)
	}
}

// lose stops a store and moves the leaders of its regions. If a store is stopped, it starts that again.
func (c *cluster) lose(stopped *uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *stopped != 0 {
		c.StartStore(*stopped)
		*stopped = 0
		return
	}
	all := c.GetAllStores()
	*stopped = all[c.rng.IntN(len(all))].Id
	c.StopStore(*stopped)
	for _, r := range c.GetAllRegions() {
		_, leader := c.GetRegion(r.Meta.Id)
		for i, p := range r.Meta.Peers {
			if p.Id == leader && p.StoreId == *stopped {
				c.ChangeLeader(r.Meta.Id, r.Meta.Peers[(i+1)%len(r.Meta.Peers)].Id)
			}
		}
	}
}

func put(t testing.TB, s store.Store, partition, sort, value string) {
	t.Helper()
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		return w.Put(1, []byte(partition), []byte(sort), []byte(value))
	}))
}

// get returns a value, or "-" when there is no row.
func get(t testing.TB, r store.Reader, partition, sort string) string {
	t.Helper()
	value, ok, err := r.Get(1, []byte(partition), []byte(sort))
	require.NoError(t, err)
	if !ok {
		return "-"
	}
	return string(value)
}

// rows returns the sort positions and values of a partition's range.
func rows(r store.Reader, partition string, rng store.Range, reverse bool) (found []string, err error) {
	for row, err := range r.Query(1, []byte(partition), rng, reverse) {
		if err != nil {
			return nil, err
		}
		found = append(found, string(row.Sort)+"="+string(row.Value))
	}
	return found, nil
}
