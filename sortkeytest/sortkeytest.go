package sortkeytest

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sdk"
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
	// Clock is the clock of the database. Forks share it.
	Clock *Clock

	t testing.TB
}

// New opens a database in memory that is closed when t ends. Each of optFns may
// change the options of the database before it opens.
func New(t testing.TB, optFns ...func(*sortkey.Options)) *DB {
	t.Helper()
	clock := new(Clock)
	opts := sortkey.Options{Clock: clock.Now}
	for _, fn := range optFns {
		fn(&opts)
	}
	db, err := sortkey.Open(opts)
	if err != nil {
		t.Fatalf("sortkeytest: %v", err)
	}
	return of(t, db, clock)
}

// Fork returns a copy of the database as it is now, for a subtest or the same
// test. Its time does not depend on the size. Neither sees later writes to the
// other. The copy is closed when t ends.
func (db *DB) Fork(t testing.TB) *DB {
	t.Helper()
	fork, err := db.DB.Fork()
	if err != nil {
		t.Fatalf("sortkeytest: %v", err)
	}
	return of(t, fork, db.Clock)
}

func of(t testing.TB, db *sortkey.DB, clock *Clock) *DB {
	t.Helper()
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("sortkeytest: close: %v", err)
		}
	})
	return &DB{DB: db, Client: sdk.Client(db), Direct: sdk.Direct(db), Clock: clock, t: t}
}
