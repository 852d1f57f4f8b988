package sortkeytest

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
)

// A DB is the database of one test. It is safe for concurrent use.
type DB struct {
	*sortkey.DB
	// Client is [sdk.Client]: requests take the whole way except for the
	// socket.
	Client *dynamodb.Client
	// Direct is [sdk.Direct]: the same answers without JSON, several times
	// faster.
	Direct *dynamodb.Client
	// Clock is the clock of the database.
	Clock *Clock

	t     testing.TB
	delay time.Duration // of tables
}

// New opens a database in memory that is closed when t ends. Each of optFns may
// change the options of the database before it opens.
func New(t testing.TB, optFns ...func(*sortkey.Options)) *DB {
	t.Helper()
	var opts sortkey.Options
	for _, fn := range optFns {
		fn(&opts)
	}
	if s := &opts.StaleReads; s.Window > 0 && !s.Oldest && s.Seed == 0 {
		s.Seed = rand.Uint64()
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("sortkeytest: stale reads were chosen with StaleReads.Seed = %d", s.Seed)
			}
		})
	}
	clock := &Clock{base: opts.Clock}
	opts.Clock = clock.Now
	db, err := sortkey.Open(opts)
	if err != nil {
		t.Fatalf("sortkeytest: %v", err)
	}
	return of(t, db, clock, opts.TableDelay)
}

// Fork returns a copy of the database as it is now, for a subtest or the same
// test. Its time does not depend on the size. Neither sees later writes to the
// other, and each has its own clock. The copy is closed when t ends.
func (db *DB) Fork(t testing.TB) *DB {
	t.Helper()
	clock := db.Clock.fork()
	fork, err := db.DB.Fork(func(o *sortkey.Options) { o.Clock = clock.Now })
	if err != nil {
		t.Fatalf("sortkeytest: %v", err)
	}
	return of(t, fork, clock, db.delay)
}

// HoldIndexes makes reads of indexes see the rows as they are now, until Settle: see
// [sortkey.DB.HoldIndexes].
func (db *DB) HoldIndexes() {
	db.t.Helper()
	if err := db.DB.HoldIndexes(); err != nil {
		db.t.Fatalf("sortkeytest: %v", err)
	}
}

func of(t testing.TB, db *sortkey.DB, clock *Clock, delay time.Duration) *DB {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("sortkeytest: close: %v", err)
		}
	})
	clock.moved = func() {
		if _, err := db.Sweep(context.Background()); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Errorf("sortkeytest: sweep: %v", err)
		}
	}
	return &DB{DB: db, Client: sdk.Client(db), Direct: sdk.Direct(db), Clock: clock, t: t, delay: delay}
}
