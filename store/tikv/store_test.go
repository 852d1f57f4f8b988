package tikv_test

import (
	"os"
	"testing"

	"github.com/pingcap/log"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("SORTKEY_CLIENT_LOG") == "" {
		log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{})
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/pingcap/goleveldb/leveldb.(*DB).mpoolDrain")) // of the mock
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return newCluster(t).open(t) })
}
