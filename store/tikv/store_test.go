package tikv_test

import (
	"flag"
	"os"
	"sync"
	"testing"

	"github.com/pingcap/failpoint"
	"github.com/pingcap/log"
	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/storetest"
	"github.com/sortkey/sortkey/store/tikv"
)

func TestMain(m *testing.M) {
	if os.Getenv("SORTKEY_CLIENT_LOG") == "" {
		log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{})
	}
	util.EnableFailpoints()
	// Clients must believe that stores whose answers are lost are up. Otherwise they would try to connect to the
	// stores, which a mock does not accept.
	if err := failpoint.Enable("tikvclient/injectLiveness", `return("reachable")`); err != nil {
		panic(err)
	}
	// Most of these tests wait while the client backs off, so let them wait at the same time.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/pingcap/goleveldb/leveldb.(*DB).mpoolDrain"), // of the mock
		// The client does not close connections to placement drivers that did not answer.
		goleak.IgnoreAnyFunction("google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run"),
		goleak.IgnoreAnyFunction("google.golang.org/grpc.(*addrConn).resetTransport"),
	)
}

func TestStore(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return newCluster(t).open(t) })
}

// TestStoreWhileRegionsMove splits regions at keys in use, and moves leaders, before some of the requests.
func TestStoreWhileRegionsMove(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		c := newCluster(t)
		s := c.open(t)
		var mu sync.Mutex
		n := 0
		c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			mu.Lock()
			n++
			move := n%7 == 0 && n < 700
			mu.Unlock()
			if key := keyOf(request); key != nil && move {
				c.move(key)
			}
			return send()
		})
		t.Cleanup(func() {
			if n > 1000 {
				require.NotZero(t, c.splits)
			}
		})
		return s
	})
}

// TestStoreWithLostStores stops a store, starts it again, and stops one for good.
func TestStoreWithLostStores(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		c := newCluster(t)
		s, err := c.tryOpen(t.Context(), tikv.Options{})
		require.NoError(t, err)
		var mu sync.Mutex
		var stopped uint64
		n := 0
		c.onRequest(func(_ *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
			mu.Lock()
			if n++; n%8 == 0 && n <= 24 {
				c.lose(&stopped)
			}
			mu.Unlock()
			return send()
		})
		return s
	})
}
