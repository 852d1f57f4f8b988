package sortkeytest

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/seeded"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store"
)

// A DB is the database of one test. It is safe for concurrent use.
//
// The methods that set up or read tables and items are operations of the test, not of the code under test. So faults,
// throttling and delays of tables do not affect them, they see every change, and they are not recorded.
type DB struct {
	// DB is the database itself, for things that a test seldom needs: its handler and HTTP client, observers,
	// snapshots. If both types have a method of the same name, such as Fork, prefer the method of this type, as it
	// knows the test.
	DB *sortkey.DB
	// Client is the client for the code under test, from [sdk.Client]. If an option or an observer could notice the
	// difference, a call goes over the wire, but without a socket. Otherwise it goes a shorter way.
	Client *dynamodb.Client
	// Direct is a client from [sdk.Direct], for benchmarks. Its operations on items always go the shorter way, on
	// which middleware and some other options have no effect. If in doubt, use Client.
	Direct *dynamodb.Client
	// Clock is the clock of the database.
	Clock *Clock

	t     testing.TB
	life  *life
	seed  seed
	stale sortkey.StaleReads
	serve func() (url string, err error) // starts the server once
}

// A seed determines the ids that a database generates. New databases use the zero seed.
type seed [32]byte

// reader returns the source of randomness for ids.
func (s seed) reader() io.Reader { return seeded.NewReader(s) }

// fork returns the seed for the copy of a database that a test gets. The seed depends only on s and the name of the
// test, so the ids in the copy do not depend on the order of parallel tests. They differ from the ids of the
// original.
func (s seed) fork(test string) seed { return sha256.Sum256(append(s[:], test...)) }

// quiet is the context of the test's own operations, which faults and recordings ignore.
var quiet = event.Quiet(context.Background())

// New opens a database in memory and closes it when t ends. The optFns may change the options before the database
// opens. Unless they set Rand, ids are the same in every run, including the request ids, which errors contain.
func New(t testing.TB, optFns ...func(*sortkey.Options)) *DB {
	t.Helper()
	var first seed
	opts := sortkey.Options{Rand: first.reader()}
	for i, fn := range optFns {
		if fn == nil {
			t.Fatalf("sortkeytest: option %d of New is nil", i+1)
		}
		fn(&opts)
	}
	stale := &opts.Simulate.StaleReads
	if stale.Window > 0 && !stale.Oldest && stale.Seed == 0 {
		stale.Seed = rand.Uint64()
	}

	clock := &Clock{base: opts.Clock}
	opts.Clock = clock.Now
	opened, err := sortkey.Open(opts)
	if err != nil {
		t.Fatalf("sortkeytest: %v", err)
	}
	return newDB(t, &DB{DB: opened, Clock: clock, seed: first, stale: *stale})
}

// Fork returns a copy of the database as it is now, for a subtest or the same test. It takes the same time for a
// database of any size. Neither database sees later writes to the other, and each has its own clock. The copy is
// closed when t ends.
func (db *DB) Fork(t testing.TB) *DB {
	t.Helper()
	return db.fork(t)
}

// fork implements Fork; optFns change the options of the copy.
func (db *DB) fork(t testing.TB, optFns ...func(*sortkey.Options)) *DB {
	t.Helper()
	clock, next := db.Clock.fork(), db.seed.fork(t.Name())
	fork, err := db.DB.Fork(append([]func(*sortkey.Options){func(o *sortkey.Options) {
		o.Clock = clock.Now
		if _, ok := o.Rand.(*seeded.Reader); ok {
			o.Rand = next.reader()
		}
	}}, optFns...)...)
	if err != nil {
		t.Fatalf("sortkeytest: cannot fork: %s", db.reason(err))
	}
	return newDB(t, &DB{DB: fork, Clock: clock, seed: next, stale: db.stale})
}

// HoldIndexes makes reads of global and local indexes see the rows as they are now, until [DB.Settle]. So a test can
// read an index that lags behind its table. HoldIndexes does not affect consistent reads of local indexes, indexes
// that are created later, or forks. The store must be of package store/memory, which is the default.
func (db *DB) HoldIndexes() {
	db.t.Helper()
	db.must(engine.Of(db.DB).Tables.HoldIndexes(context.Background()), "")
}

// Settle makes all reads see the changes so far. It ends the effect of [DB.HoldIndexes], and [sortkey.StaleReads] no
// longer hide these changes.
func (db *DB) Settle() { engine.Of(db.DB).Tables.Settle() }

// With returns the same database for a subtest. If a method of the result fails, it fails the subtest. A subtest must
// not use its parent's database directly: a method that fails would call FailNow of the parent from the wrong
// goroutine, which can end the whole test program.
func (db *DB) With(t testing.TB) *DB {
	own := *db
	own.t = t
	return &own
}

// Close closes the database before its test ends, to test how code handles a closed database. At the end of the test,
// nothing is left to close.
func (db *DB) Close() error {
	db.life.stop("was closed")
	return db.DB.Close()
}

// newDB fills in the fields of db, and closes the database when t ends.
func newDB(t testing.TB, db *DB) *DB {
	t.Helper()
	of := &life{name: t.Name()}
	if s := db.stale; s.Window > 0 && !s.Oldest {
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("sortkeytest: stale reads were chosen with StaleReads.Seed = %d", s.Seed)
			}
		})
	}

	t.Cleanup(func() {
		of.stop("ended with its test")
		if err := db.DB.Close(); err != nil {
			t.Errorf("sortkeytest: close: %v", err)
		}
	})

	engine.Of(db.DB).Service.ExplainClosed(of.over)
	db.Clock.moved = func() {
		if _, err := db.DB.Sweep(context.Background()); err != nil && !errors.Is(err, store.ErrClosed) {
			db.t.Errorf("sortkeytest: sweep: %v", err)
		}
	}
	if inBubble() {
		engine.Of(db.DB).Service.Faults().Endless(func(operation string) {
			db.t.Logf("sortkeytest: %s hangs with a context that never ends: unless the database is closed, "+
				"all goroutines in the bubble will be blocked; give it a context with a deadline", operation)
		})
	}

	db.t, db.life = t, of
	db.Client, db.Direct, db.serve = sdk.Client(db.DB), sdk.Direct(db.DB), listen(t, db.DB)
	return db
}
