package sortkey_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/facetest"
)

// TestMain lets all tests of the store in Go run with memory that operations overwrite when
// they end, see [sortkey.Poison]. Benchmarks run without.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		sortkey.Poison()
	}
	os.Exit(m.Run())
}

// TestPoison holds that what TestMain sets overwrites what it should.
func TestPoison(t *testing.T) {
	bytes, names, tables := sortkey.Spoilt()
	require.NotContains(t, string(bytes), "key")
	require.NotContains(t, string(bytes), "value")
	require.NotContains(t, names, "size")
	require.NotContains(t, tables, "Items")
	require.Contains(t, strings.Join(tables, " "), "spoilt")
}

// A keeper keeps all events, with their texts as they were when they ended.
type keeper struct {
	mu     sync.Mutex
	events []*sortkey.Event
	texts  []string
}

func (k *keeper) Begin(context.Context, *sortkey.Event) {}

func (k *keeper) End(_ context.Context, e *sortkey.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events, k.texts = append(k.events, e), append(k.texts, textOf(e))
}

func textOf(e *sortkey.Event) string {
	return fmt.Sprint(e.Operation, e.Tables, e.Units, e.Examined, e.Returned, e.Error, e.Message, e.Traces())
}

// check compares the events with what they were, after much else has happened.
func (k *keeper) check(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, e := range k.events {
		require.Equal(t, k.texts[i], textOf(e))
	}
}

// TestBehaviourOfPools runs the scripts of the operations through the store in Go, with all
// that looks at inputs: an observer that keeps its events, faults that match keys and stale
// reads.
func TestBehaviourOfPools(t *testing.T) {
	var k keeper
	facetest.Run(t, "sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		opts.Observer = &k
		db := open(t, opts)
		db.Fail(sortkey.Fault{Key: "no such key*", Code: "InternalServerError"})
		return db
	})
	require.Greater(t, len(k.events), 1000)
	k.check(t)
}

// A Row is the item of TestPools. Everything in it says who wrote it.
type Row struct {
	Owner string   `dynamodbav:"owner"`
	N     int      `dynamodbav:"n"`
	Size  string   `dynamodbav:"size"` // a reserved word: its expressions have names
	Count int      `dynamodbav:"count"`
	Bytes []byte   `dynamodbav:"bytes"`
	List  []string `dynamodbav:"list"`
	Mood  mood     `dynamodbav:"mood"`
}

// A mood panics when an item with a bad one is decoded.
type mood string

var errBadMood = errors.New("bad mood")

func (m *mood) UnmarshalAttr(v attr.Value) error {
	if *m = mood(v.Raw()); *m == "bad" {
		panic(errBadMood)
	}
	return nil
}

func (m mood) MarshalAttr() (attr.Value, error) { return attr.NewString(string(m)), nil }

// An echo writes an item about each change of Rows from within the callback.
type echo struct {
	keeper
	db *sortkey.DB
}

func (o *echo) End(ctx context.Context, e *sortkey.Event) {
	o.keeper.End(ctx, e)
	if len(e.Tables) == 1 && e.Tables[0] == "Rows" && e.Operation != "CreateTable" &&
		ctx.Value(inTransaction{}) == nil {
		log := sortkey.Table[map[string]string](o.db, "Log")
		_ = log.Put(context.WithoutCancel(ctx), map[string]string{"what": e.Operation, "name": "x"},
			sortkey.If("what <> :w OR name = :x", e.Operation, "x"))
	}
}

type inTransaction struct{}

// TestPools runs all operations at the same time and inside each other, with loops that are
// left, panics and calls that fail: what one uses must not reach another.
func TestPools(t *testing.T) {
	observer := new(echo)
	db := open(t, sortkey.Options{Observer: observer})
	observer.db = db
	ctx := t.Context()
	require.NoError(t, db.CreateTable(ctx, "Log", "what"))
	require.NoError(t, db.CreateTable(ctx, "Rows", "owner / n:N", sortkey.Global("BySize", "size / n:N")))
	db.Fail(sortkey.Fault{Operation: "PutItem", Key: "lost*", LoseAnswer: true})
	db.Fail(sortkey.Fault{Operation: "GetItem", Key: "slow*", Delay: time.Millisecond})

	const rounds = 6
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			w := &poolWorker{T: t, db: db, rows: sortkey.Table[Row](db, "Rows"), owner: fmt.Sprintf("owner-%d", worker)}
			for round := range rounds {
				w.round(ctx, round)
				if t.Failed() {
					return
				}
			}
		})
	}
	group.Wait()
	observer.check(t)
}

// A poolWorker works on the items of one owner. Its checks use Errorf, as it has a goroutine
// of its own.
type poolWorker struct {
	*testing.T
	db    *sortkey.DB
	rows  *sortkey.TableOf[Row]
	owner string
}

func (w *poolWorker) row(n int) Row {
	size := fmt.Sprintf("%s-size-%d", w.owner, n%3)
	return Row{w.owner, n, size, n, []byte(w.owner), []string{w.owner, size}, mood(w.owner)}
}

func (w *poolWorker) check(what string, got Row, err error, want Row) {
	w.Helper()
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("%s: got %v, %v, want %v", what, got, err, want)
	}
}

func (w *poolWorker) round(ctx context.Context, round int) {
	const each = 20
	for n := range each {
		err := w.rows.Put(ctx, w.row(n), sortkey.If("attribute_not_exists(owner) OR size = :s", w.row(n).Size))
		if err != nil {
			w.Errorf("Put: %v", err)
		}
	}

	// Loops with other operations in them, of which one changes what is read.
	n := 0
	own := sortkey.Where("size <> :s AND bytes = :b", "none", []byte(w.owner))
	for row, err := range w.rows.Query(ctx, w.owner, own) {
		w.check("Query", row, err, w.row(n))
		again, err := w.rows.Get(ctx, w.owner, n, sortkey.Only("owner", "n", "size", "count", "bytes", "list", "mood"))
		w.check("Get in a loop", again, err, w.row(n))
		changed, err := w.rows.Update(ctx, sortkey.Key{w.owner, n}, "SET count = count + :n, size = :s", 100, row.Size)
		want := w.row(n)
		want.Count += 100
		w.check("Update in a loop", changed, err, want)
		for _, err := range w.rows.Index("BySize").Query(ctx, row.Size, sortkey.Compare(">=", n)) {
			if err != nil {
				w.Errorf("Query of an index: %v", err)
			}
			break
		}
		n++
	}
	if n != each {
		w.Errorf("%d rows, want %d", n, each)
	}

	w.panics(ctx)
	w.fails(ctx)
	w.transaction(ctx)

	var old Row
	err := w.rows.Delete(ctx, w.owner, round%each, sortkey.If("size = :s", w.row(round%each).Size), sortkey.Old(&old))
	want := w.row(round % each)
	want.Count += 100
	w.check("Old", old, err, want)
	page, err := w.rows.QueryPage(ctx, w.owner, sortkey.Between(3, 4), sortkey.Limit(1))
	if err != nil || !strings.Contains(page.Trace.String(), `owner = "`+w.owner+`", n from 3 up to 4: `) {
		w.Errorf("QueryPage: %v, %v", page, err)
	}
	for range w.rows.Scan(ctx, sortkey.Segment(round%2, 2), sortkey.Limit(5)) {
	}
	for n := range each {
		if err := w.rows.Delete(ctx, w.owner, n); err != nil {
			w.Errorf("Delete: %v", err)
		}
	}
}

// panics leaves operations by panics of the body of a loop and of a type's own decoder.
func (w *poolWorker) panics(ctx context.Context) {
	enough := errors.New("enough")
	recovered := func(want error, fn func()) {
		defer func() {
			if got := recover(); got != want {
				w.Errorf("recovered %v, want %v", got, want)
			}
		}()
		fn()
	}
	recovered(enough, func() {
		for range w.rows.Query(ctx, w.owner) {
			panic(enough)
		}
	})

	bad := w.row(1000)
	bad.Mood = "bad"
	if err := w.rows.Put(ctx, bad); err != nil {
		w.Errorf("Put: %v", err)
	}
	recovered(errBadMood, func() { _, _ = w.rows.Get(ctx, w.owner, 1000) })
	recovered(errBadMood, func() { _, _ = w.rows.QueryPage(ctx, w.owner, 1000) })
	recovered(errBadMood, func() { _, _ = w.rows.Update(ctx, sortkey.Key{w.owner, 1000}, "SET size = :s", "x") })
	if err := w.rows.Delete(ctx, w.owner, 1000); err != nil {
		w.Errorf("Delete: %v", err)
	}
}

// fails makes calls that are refused, lost and given up.
func (w *poolWorker) fails(ctx context.Context) {
	err := w.rows.Put(ctx, w.row(1), sortkey.If("size = :no AND count = :n", "other", 7))
	var refused *sortkey.Error
	var kept Row
	if !errors.As(err, &refused) {
		w.Errorf("Put: %v", err)
		return
	}
	err = attr.UnmarshalItem(refused.Item, &kept)
	want := w.row(1)
	want.Count += 100
	w.check("the item of an error", kept, err, want)

	lost := w.row(0)
	lost.Owner = "lost " + w.owner
	if err := w.rows.Put(ctx, lost); err == nil {
		w.Errorf("Put has an answer, which should have been lost")
	}
	got, err := w.rows.Get(ctx, lost.Owner, 0)
	w.check("a row whose answer was lost", got, err, lost)

	ended, end := context.WithCancel(ctx)
	time.AfterFunc(500*time.Microsecond, end)
	if _, err := w.rows.Get(ended, "slow "+w.owner, 1); err == nil {
		w.Errorf("Get of no row succeeded")
	}
}

// transaction runs operations in one transaction and compares them after it.
func (w *poolWorker) transaction(ctx context.Context) {
	var seen []Row
	err := w.db.Update(context.WithValue(ctx, inTransaction{}, true), func(ctx context.Context) error {
		seen = nil
		for n := range 5 {
			row, err := w.rows.Update(ctx, sortkey.Key{w.owner, 2000 + n}, "SET size = :s, mood = :m", w.owner, w.owner)
			if err != nil {
				return err
			}
			seen = append(seen, row)
		}
		for row, err := range w.rows.Query(ctx, w.owner, sortkey.Compare(">=", 2000)) {
			if err != nil {
				return err
			}
			seen = append(seen, row)
			if err := w.rows.Delete(ctx, w.owner, row.N); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(seen) != 10 {
		w.Errorf("Update: %v, %v", seen, err)
	}
	for i, row := range seen {
		w.check("a row of a transaction", row, nil, Row{
			Owner: w.owner, N: 2000 + i%5, Size: w.owner, Mood: mood(w.owner),
		})
	}
}
