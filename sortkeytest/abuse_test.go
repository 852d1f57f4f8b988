package sortkeytest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A use is a use of a database that may be wrong. It uses all that it is given.
type use func(t testing.TB, db *sortkeytest.DB)

// uses has every exported method and function, by name. Some fail whenever they are called.
func uses(dir string) map[string]use {
	source := func(t testing.TB, db *sortkeytest.DB, handler any) {
		db.EventSource("Events", handler, func(s *sortkeytest.EventSource) { s.MaximumRetryAttempts = 1 }).Deliver()
	}
	return map[string]use{
		"DB.Changes": func(_ testing.TB, db *sortkeytest.DB) {
			for range db.Changes("Events") {
			}
			for range db.Changes("None") {
			}
		},
		"DB.Close":  func(t testing.TB, db *sortkeytest.DB) { _ = db.Fork(t).Close() },
		"DB.Config": func(_ testing.TB, db *sortkeytest.DB) { db.Config() },
		"DB.CreateTable": func(_ testing.TB, db *sortkeytest.DB) {
			db.CreateTable(nil)
			db.CreateTable(&dynamodb.CreateTableInput{})
		},
		"DB.Diff": func(t testing.TB, db *sortkeytest.DB) {
			db.Diff(nil)
			db.Diff(db)
			db.Diff(db.Fork(t))
		},
		"DB.Dump": func(_ testing.TB, db *sortkeytest.DB) {
			db.Dump()
			db.Dump("Events", "None")
		},
		"DB.Env": func(_ testing.TB, db *sortkeytest.DB) { db.Env() },
		"DB.EventSource": func(t testing.TB, db *sortkeytest.DB) {
			source(t, db, func(event) {})
			source(t, db, func(event) error { return fmt.Errorf("no") })
			source(t, db, func(event) { panic("no") })
			source(t, db, nil)
			db.EventSource("Events", func() {}, nil).Deliver()
			db.EventSource("None", func() {}).Deliver()
		},
		"DB.Fail": func(_ testing.TB, db *sortkeytest.DB) {
			for _, f := range []sortkey.Fault{
				{}, {Operation: "Scam", Code: "InternalServerError"}, {Operation: "ListBackups", Reset: true},
			} {
				failure := db.Fail(f)
				_, _ = failure.Count(), failure.String()
				failure.Lift()
			}
		},
		"DB.Forbid": func(_ testing.TB, db *sortkeytest.DB) { db.Forbid("Nothing") },
		"DB.Fork": func(t testing.TB, db *sortkeytest.DB) {
			db.Fork(nil).Dump()
			db.Fork(t).Put("None", id("a"))
			db.Fork(t).Put("Events", id("b"))
		},
		"DB.Golden":      func(_ testing.TB, db *sortkeytest.DB) { db.Golden(filepath.Join(dir, "none.txt")) },
		"DB.HoldIndexes": func(_ testing.TB, db *sortkeytest.DB) { db.HoldIndexes() },
		"DB.Put": func(_ testing.TB, db *sortkeytest.DB) {
			db.Put("Events", id("a"), (*Order)(nil))
			db.Put("Events", nil)
			db.Put("None", id("a"))
		},
		"DB.PutFile": func(_ testing.TB, db *sortkeytest.DB) { db.PutFile("Events", dir) },
		"DB.PutJSON": func(_ testing.TB, db *sortkeytest.DB) { db.PutJSON("Events", []byte("[")) },
		"DB.Record": func(_ testing.TB, db *sortkeytest.DB) {
			r := db.Record()
			r.Stop()
			r.Stop()
		},
		"DB.Setenv":  func(_ testing.TB, db *sortkeytest.DB) { db.Setenv(nil) },
		"DB.Streams": func(_ testing.TB, db *sortkeytest.DB) { db.Streams() },
		"DB.Table": func(_ testing.TB, db *sortkeytest.DB) {
			db.Table("Events", "id")
			db.Table("", "")
		},
		"DB.URL": func(_ testing.TB, db *sortkeytest.DB) { db.URL() },
		"DB.With": func(t testing.TB, db *sortkeytest.DB) {
			db.With(t).Put("None", id("a"))
			db.With(nil).Put("None", id("a"))
		},
		"Clock.Advance":    func(_ testing.TB, db *sortkeytest.DB) { db.Clock.Advance(time.Second) },
		"Clock.Now":        func(_ testing.TB, db *sortkeytest.DB) { db.Clock.Now() },
		"Clock.Set":        func(t testing.TB, db *sortkeytest.DB) { db.Fork(t).Clock.Set(time.Time{}) },
		"Recording.AtMost": func(_ testing.TB, db *sortkeytest.DB) { db.Record().AtMost(-1) },
		"Recording.Calls":  func(_ testing.TB, db *sortkeytest.DB) { db.Record().Calls() },
		"Recording.Count":  func(_ testing.TB, db *sortkeytest.DB) { db.Record().Count("Nothing") },
		"Recording.Never":  func(_ testing.TB, db *sortkeytest.DB) { db.Record().Never("Nothing") },
		"Recording.Only":   func(_ testing.TB, db *sortkeytest.DB) { db.Record().Only() },
		"Recording.Stop":   func(_ testing.TB, db *sortkeytest.DB) { db.Record().Stop() },
		"Recording.String": func(_ testing.TB, db *sortkeytest.DB) { _ = db.Record().String() },
		"EventSource.Deliver": func(_ testing.TB, db *sortkeytest.DB) {
			var again *sortkeytest.EventSource
			again.Deliver()
			again = db.EventSource("Events", func() { again.Deliver() })
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(again.Deliver)
			}
			wg.Wait()
		},
		"Get": func(_ testing.TB, db *sortkeytest.DB) {
			sortkeytest.Get[Order](db, "Events")
			sortkeytest.Get[int](db, "Events", "a")
		},
		"Items": func(_ testing.TB, db *sortkeytest.DB) { sortkeytest.Items[int](db, "Events") },
		"Query": func(_ testing.TB, db *sortkeytest.DB) {
			sortkeytest.Query[Order](db, "Events/None", nil)
			sortkeytest.Query[Order](db, "Events", make(chan int))
		},
		"New": func(t testing.TB, _ *sortkeytest.DB) {
			sortkeytest.New(t, nil).Put("None", id("a"))
			sortkeytest.New(t).Put("None", id("a"))
		},
		"Shared": func(t testing.TB, _ *sortkeytest.DB) {
			for _, fill := range []func(*sortkeytest.DB){
				nil, func(*sortkeytest.DB) {}, func(*sortkeytest.DB) { panic("no") },
				func(db *sortkeytest.DB) { db.Put("None", id("a")) },
			} {
				sortkeytest.Shared(fill)(t).Put("None", id("a"))
			}
		},
		"a table that comes and goes": func(t testing.TB, db *sortkeytest.DB) {
			db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{
				TableName: aws.String("Coming"),
			}) //nolint:errcheck // it may be gone
			db.Table("Coming", "id")
		},
	}
}

// TestUses has a use of each exported method.
func TestUses(t *testing.T) {
	list := uses(t.TempDir())
	for name, of := range map[string]reflect.Type{
		"DB": reflect.TypeFor[*sortkeytest.DB](), "Clock": reflect.TypeFor[*sortkeytest.Clock](),
		"Recording":   reflect.TypeFor[*sortkeytest.Recording](),
		"EventSource": reflect.TypeFor[*sortkeytest.EventSource](),
	} {
		for m := range of.Methods() {
			require.Contains(t, list, name+"."+m.Name)
		}
	}
}

// TestAbuse uses databases in wrong ways, in a process of its own, which must go on to its end.
// With the race detector it finds what uses at the same time do not keep from each other.
func TestAbuse(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWrongUse", "-test.v")
	cmd.Env = append(os.Environ(), "SORTKEY_WRONG=abuse")
	out, err := cmd.CombinedOutput()
	text := string(out)
	require.Error(t, err)
	for _, bad := range []string{"\npanic:", "fatal error", "DATA RACE", "deadlock", "goroutine 1 ["} {
		require.NotContains(t, text, bad)
	}
	// All tests have run to their ends.
	for _, name := range []string{"Goroutines", "Beside", "Bubble", "Filled", "Late", "Last"} {
		require.Regexp(t, `(?m)^--- (FAIL|PASS): TestWrongUse`+name+` `, text)
	}
	require.Contains(t, text, "--- PASS: TestWrongUseLast")
}

// eventful returns a database with a stream.
func eventful(t testing.TB) *sortkeytest.DB {
	db := streamed(t)
	putEach(db, "abc")
	return db
}

// abused skips a test that only TestAbuse runs.
func abused(t *testing.T) {
	if os.Getenv("SORTKEY_WRONG") != "abuse" {
		t.Skip("TestAbuse runs it")
	}
}

// In a goroutine of the test, each use returns or ends the goroutine.
func TestWrongUseGoroutines(t *testing.T) {
	abused(t)
	for name, use := range uses(t.TempDir()) {
		t.Run(name, func(t *testing.T) {
			db := eventful(t)
			var wg sync.WaitGroup
			wg.Go(func() { use(t, db) })
			wg.Wait()
		})
	}
}

// Every use beside every other, with the same database.
func TestWrongUseBeside(t *testing.T) {
	abused(t)
	db := eventful(t)
	var wg sync.WaitGroup
	for range 2 {
		for _, use := range uses(t.TempDir()) {
			wg.Go(func() {
				for range 3 {
					use(t, db)
				}
			})
		}
	}
	wg.Wait()
}

func TestWrongUseBubble(t *testing.T) {
	abused(t)
	for name, use := range uses(t.TempDir()) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := eventful(t)
				var wg sync.WaitGroup
				wg.Go(func() { use(t, db) })
				wg.Wait()
			})
		})
	}
}

// In a function that fills a shared database, and with that database later.
func TestWrongUseFilled(t *testing.T) {
	abused(t)
	for name, use := range uses(t.TempDir()) {
		var kept *sortkeytest.DB
		shared := sortkeytest.Shared(func(db *sortkeytest.DB) {
			kept = db
			db.CreateTable(&dynamodb.CreateTableInput{
				TableName: aws.String("Events"),
				AttributeDefinitions: []types.AttributeDefinition{
					{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS},
				},
				KeySchema: []types.KeySchemaElement{
					{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash},
				},
				StreamSpecification: &types.StreamSpecification{
					StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewImage,
				},
			})
			use(t, db)
		})
		for range 2 {
			t.Run(name, func(t *testing.T) { shared(t) })
			t.Run(name, func(t *testing.T) { use(t, kept) })
		}
	}
}

// After the end of the test, with its database and with itself.
func TestWrongUseLate(t *testing.T) {
	abused(t)
	for name, use := range uses(t.TempDir()) {
		var db *sortkeytest.DB
		var of testing.TB
		t.Run(name, func(t *testing.T) { db, of = eventful(t), t })
		var wg sync.WaitGroup
		wg.Go(func() { use(of, db) })
		wg.Wait()
	}
	late = func() {
		for _, use := range uses(os.TempDir()) {
			use(t, ended)
		}
	}
	ended = eventful(t)
}

var late func()

func TestWrongUseLast(t *testing.T) {
	abused(t)
	done := make(chan bool)
	go func() { // a test that ends with another's would fail
		defer close(done)
		late()
	}()
	<-done
}
