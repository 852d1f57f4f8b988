package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// These tests run several servers on one database. Each is only the tables of a server, without HTTP.

// A server is one of them.
type node struct {
	*life.DB
	store *postgres.Store
}

// serverLease is the duration of leases in these tests.
const serverLease = 2 * time.Second

func serve(t testing.TB, url string) *node {
	t.Helper()
	st, err := postgres.Open(t.Context(), url, postgres.WithLease(postgres.Options{Timeout: 20 * time.Second}, serverLease))
	require.NoError(t, err)
	db, err := life.Open(t.Context(), st)
	require.NoError(t, err)
	s := &node{db, st}
	t.Cleanup(func() { s.close(t) })
	return s
}

func (s *node) close(t testing.TB) {
	t.Helper()
	require.NoError(t, s.Close(context.Background()))
	require.NoError(t, s.store.Close())
}

func three(t testing.TB) []*node {
	t.Helper()
	pgtest.Shared(t)
	url := database(t)
	return []*node{serve(t, url), serve(t, url), serve(t, url)}
}

func definition(name string) *table.Definition {
	return &table.Definition{
		Name: name, Attributes: []keycond.Attribute{{Name: "p", Kind: attr.String}, {Name: "s", Kind: attr.Number}},
		Key: []table.KeyElement{{Name: "p", Hash: true}, {Name: "s"}},
	}
}

// addIndex is a change that adds an index of the attribute g.
func addIndex(def *table.Definition) error {
	def.Attributes = append(def.Attributes, keycond.Attribute{Name: "g", Kind: attr.String})
	def.Global = append(def.Global, table.IndexDefinition{
		Name: "G", Key: []table.KeyElement{{Name: "g", Hash: true}}, Projection: table.Projection{Type: table.ProjectAll},
	})
	return nil
}

func dropIndex(def *table.Definition) error {
	def.Attributes, def.Global = def.Attributes[:2], nil
	return nil
}

func number(n int) attr.Value {
	v, err := attr.NewNumber(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}
	return v
}

func keyed(p string, s int) attr.Item {
	var b attr.Builder
	b.Add("p", attr.NewString(p))
	b.Add("s", number(s))
	return b.Item()
}

func itemOf(p string, s int, g string) attr.Item {
	var b attr.Builder
	b.Add("p", attr.NewString(p))
	b.Add("s", number(s))
	if g != "" {
		b.Add("g", attr.NewString(g))
	}
	return b.Item()
}

func (s *node) write(ctx context.Context, name string, fn func(*table.Tx, *table.Table) error) error {
	return s.Update(ctx, func(tx *table.Tx) error {
		t, err := tx.Table(name)
		if err != nil {
			return err
		}
		return fn(tx, t)
	})
}

func (s *node) put(ctx context.Context, name string, it attr.Item) error {
	return s.write(ctx, name, func(tx *table.Tx, t *table.Table) error {
		_, err := tx.Put(t, it, nil)
		return err
	})
}

// items returns the items of a table or an index by their keys in the table.
func (s *node) items(ctx context.Context, name, index string) (map[string]string, error) {
	found := map[string]string{}
	err := s.View(ctx, func(v *table.View) error {
		clear(found)
		t, err := v.Table(name)
		if err != nil {
			return err
		}
		q := table.Scan{Read: table.Read{Table: t}}
		if index != "" {
			if q.Index, err = v.Index(t, index); err != nil {
				return err
			}
		}
		for {
			page, err := v.Scan(&q, func(it attr.Item) error {
				found[it.Get("p").String()+"/"+it.Get("s").String()] = string(it)
				return nil
			})
			if err != nil || page.Last == nil {
				return err
			}
			q.Start = page.Last
		}
	})
	return found, err
}

// rounds returns a fifth of n, or less in short tests. SORTKEY_CHECKS=5 is all.
func rounds(n int) int { return proptest.Cases(n / 5) }

// TestServersIndex writes on two servers while a third creates and deletes an index. The index must not miss a write,
// and no row may remain in an index that was deleted.
func TestServersIndex(t *testing.T) {
	proptest.NeedLong(t)
	all := three(t)
	ctx := t.Context()
	_, err := all[0].Create(ctx, definition("t"))
	require.NoError(t, err)
	var stop atomic.Bool
	var running sync.WaitGroup
	var writes atomic.Int64
	for i, s := range all[1:] {
		for w := range 3 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(w)))
			running.Go(func() {
				for !stop.Load() {
					p, n := fmt.Sprint("p", rng.IntN(5)), rng.IntN(40)
					var err error
					if rng.IntN(4) == 0 {
						err = s.write(ctx, "t", func(tx *table.Tx, t *table.Table) error {
							_, err := tx.Delete(t, keyed(p, n), nil)
							return err
						})
					} else {
						err = s.put(ctx, "t", itemOf(p, n, fmt.Sprint("g", rng.IntN(3))))
					}
					if err != nil {
						t.Error(err)
						return
					}
					writes.Add(1)
				}
			})
		}
	}
	changes := rounds(20)
	for range changes {
		tb, err := all[0].Alter(ctx, "t", addIndex)
		if err != nil {
			t.Error(err)
			break
		}
		checkIndex(t, all[0])
		space := tb.Definition().Global[0].Space
		if _, err := all[0].Alter(ctx, "t", dropIndex); err != nil {
			t.Error(err)
			break
		}
		require.Zero(t, rowsOf(t, all[0], space), "rows of a deleted index")
	}
	_, err = all[0].Alter(ctx, "t", addIndex)
	stop.Store(true)
	running.Wait()
	require.NoError(t, err)
	for _, s := range all {
		checkIndex(t, s)
	}
	stats := all[0].store.Stats()
	t.Logf("%d indexes built and deleted beside %d writes on two other servers; the first: %+v", changes, writes.Load(), stats)
}

// checkIndex compares the index G with the table in one view.
func checkIndex(t testing.TB, s *node) {
	t.Helper()
	rows := map[bool]map[string]string{}
	require.NoError(t, s.View(t.Context(), func(v *table.View) error {
		tb, err := v.Table("t")
		if err != nil {
			return err
		}
		ix, err := v.Index(tb, "G")
		if err != nil {
			return err
		}
		for _, q := range []table.Scan{{Read: table.Read{Table: tb}}, {Read: table.Read{Table: tb, Index: ix}}} {
			found := map[string]string{}
			if _, err := v.Scan(&q, func(it attr.Item) error {
				if it.Get("g").Kind() == attr.String {
					found[it.Get("p").String()+"/"+it.Get("s").String()] = string(it)
				}
				return nil
			}); err != nil {
				return err
			}
			rows[q.Index != nil] = found
		}
		return nil
	}))
	require.Equal(t, rows[false], rows[true])
}

// rowsOf returns the number of rows of a space.
func rowsOf(t testing.TB, s *node, space store.Space) (n int) {
	t.Helper()
	require.NoError(t, s.store.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Scan(space, store.Everything()) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}))
	return n
}

// TestServersBuilderDies stops a server at every moment of building an index, or of removing one. Another server must
// finish it.
func TestServersBuilderDies(t *testing.T) {
	proptest.NeedLong(t)
	url := database(t)
	ctx := t.Context()
	survivor := serve(t, url)
	_, err := survivor.Create(ctx, definition("t"))
	require.NoError(t, err)
	const items = 2500
	for i := range items / 100 {
		require.NoError(t, survivor.write(ctx, "t", func(tx *table.Tx, tb *table.Table) error {
			for j := range 100 {
				if _, err := tx.Put(tb, itemOf(fmt.Sprint("p", i), j, "g"), nil); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	resumed := 0
	moments := []int{1, 2, 14, 52, 1} // numbers of the commits of a change after which the server dies
	for round, commits := range moments {
		change := addIndex
		if round == len(moments)-1 {
			_, err := survivor.Alter(ctx, "t", addIndex)
			require.NoError(t, err)
			change = dropIndex
		}
		proxy, at := newStandin(t, url)
		st, err := postgres.Open(ctx, at, postgres.WithLease(postgres.Options{MaxConns: 4, Timeout: time.Second}, serverLease))
		require.NoError(t, err)
		dying, err := life.Open(ctx, st)
		require.NoError(t, err)
		require.NoError(t, (&node{dying, st}).put(ctx, "t", itemOf("dying", round, "g"))) // it has counters
		n, dead := 0, false
		proxy.on(func(statement string) action {
			if statement == "commit" {
				n++
			}
			if dead = dead || n > commits; dead {
				return cutBefore
			}
			return pass
		})
		_, err = dying.Alter(ctx, "t", change)
		require.Error(t, err)
		require.NoError(t, survivor.Refresh(ctx))
		tb, err := survivor.Describe(ctx, "t")
		require.NoError(t, err)
		if g := tb.Definition().Global; len(g) > 0 && g[0].Building {
			resumed++
		}
		require.Eventually(t, func() bool {
			require.NoError(t, survivor.Tend(ctx))
			require.NoError(t, survivor.Refresh(ctx))
			tb, err := survivor.Describe(ctx, "t")
			require.NoError(t, err)
			for _, ix := range tb.Definition().Global {
				if ix.Building {
					return false
				}
			}
			return true
		}, time.Minute, 50*time.Millisecond)
		if _, err := survivor.items(ctx, "t", "G"); err == nil {
			checkIndex(t, survivor)
			_, err = survivor.Alter(ctx, "t", dropIndex)
			require.NoError(t, err)
		}
		for space := range store.Space(3 * (round + 1)) {
			if space != 0 && space != tb.Definition().Space {
				require.Eventually(t, func() bool {
					require.NoError(t, survivor.Tend(ctx))
					return rowsOf(t, survivor, space) == 0
				}, time.Minute, 50*time.Millisecond, "space %d", space)
			}
		}
		proxy.on(nil)
		require.NoError(t, st.Close()) // do not close the tables, because the server has died
	}
	require.Positive(t, resumed)
	require.Eventually(t, func() bool {
		require.NoError(t, survivor.Tend(ctx))
		return wantCount(survivor, items+len(moments))
	}, time.Minute, 100*time.Millisecond)
	t.Logf("%d indexes completed by another server than the one that began them", resumed)
}

// wantCount reports whether DescribeTable would report the given number of items of the
// table t.
func wantCount(s *node, want int) bool {
	if s.Refresh(context.Background()) != nil {
		return false
	}
	tb, err := s.Describe(context.Background(), "t")
	if err != nil {
		return false
	}
	items, _ := tb.Items()
	return items == int64(want)
}

// TestServersSweep deletes expired items on three servers, one of which has the lease for background work. Each item
// must be deleted once.
func TestServersSweep(t *testing.T) {
	url := database(t)
	all := []*node{serve(t, url), serve(t, url), serve(t, url)}
	ctx := t.Context()
	def := definition("t")
	def.Expiry = "s"
	def.Stream = &table.Stream{View: "KEYS_ONLY", Created: time.Now().UTC().Truncate(time.Millisecond), Shards: 1}
	_, err := all[0].Create(ctx, def)
	require.NoError(t, err)
	now := time.Now()
	for i := range 40 {
		require.NoError(t, all[i%3].put(ctx, "t", itemOf(fmt.Sprint(i), int(now.Unix())-100+i, "")))
	}
	leaders := func(servers []*node) (list []*node) {
		for _, s := range servers {
			require.NoError(t, s.Tend(ctx))
			mine, err := s.MaySweep(ctx)
			require.NoError(t, err)
			if mine {
				list = append(list, s)
			}
		}
		return list
	}
	lead := leaders(all)
	require.Len(t, lead, 1)
	require.Equal(t, lead, leaders(all), "it goes on leading")
	var deleted atomic.Int64
	var running sync.WaitGroup
	for _, s := range all { // though one would do
		running.Go(func() {
			n, err := s.Sweep(ctx, now)
			if err != nil {
				t.Error(err)
			}
			deleted.Add(int64(n))
		})
	}
	running.Wait()
	require.EqualValues(t, 40, deleted.Load())
	records := recordsOf(t, all[1], "t")
	require.Len(t, records, 80, "one for each put and one for each expiry")
	lead[0].close(t)
	var rest []*node
	for _, s := range all {
		if s != lead[0] {
			rest = append(rest, s)
		}
	}
	require.Len(t, leaders(rest), 1, "another one takes over")
}

// recordsOf returns the records of the stream of a table with one shard, in order.
func recordsOf(t testing.TB, s *node, name string) (list []table.StreamRecord) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(v *table.View) error {
		list = nil
		streams, err := v.Streams(name)
		if err != nil {
			return err
		}
		shards, err := v.Shards(streams[0])
		if err != nil {
			return err
		}
		for _, sh := range shards {
			var last table.Sequence
			for more, from := true, table.Sequence(0); more; {
				var some []table.StreamRecord
				if some, from, more, err = v.Records(streams[0], sh.Shard, from, 1000); err != nil {
					return err
				}
				for _, r := range some {
					require.Greater(t, r.Sequence, last)
					last = r.Sequence
				}
				list = append(list, some...)
			}
		}
		return nil
	}))
	return list
}

// TestServersStream writes on three servers and replays the stream into a copy.
func TestServersStream(t *testing.T) {
	proptest.NeedLong(t)
	all := three(t)
	ctx := t.Context()
	_, err := all[0].Create(ctx, definition("t"))
	require.NoError(t, err)
	for i := range 20 { // before there is a stream
		require.NoError(t, all[i%3].put(ctx, "t", itemOf("p", i, "")))
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	var writes atomic.Int64
	for i, s := range all {
		for w := range 2 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(w)))
			running.Go(func() {
				for n := 0; !stop.Load(); n++ {
					k := rng.IntN(20)
					err := s.write(ctx, "t", func(tx *table.Tx, tb *table.Table) error {
						if rng.IntN(3) == 0 {
							_, err := tx.Delete(tb, keyed("p", k), nil)
							return err
						}
						_, err := tx.Put(tb, itemOf("p", k, fmt.Sprint(i, w, n)), nil)
						return err
					})
					if err != nil {
						t.Error(err)
						return
					}
					writes.Add(1)
				}
			})
		}
	}
	// A copy made after the stream was enabled, with the records after it, equals the table: a write that began
	// before the stream is in the copy.
	_, err = all[0].Alter(ctx, "t", func(def *table.Definition) error {
		def.Stream = &table.Stream{View: "NEW_IMAGE", Created: time.Now().UTC().Truncate(time.Millisecond), Shards: 1}
		return nil
	})
	require.NoError(t, err)
	replica, err := all[1].items(ctx, "t", "")
	require.NoError(t, err)
	want := writes.Load() + int64(rounds(1500))
	for writes.Load() < want && !t.Failed() {
		time.Sleep(10 * time.Millisecond)
	}
	stop.Store(true)
	running.Wait()
	records := recordsOf(t, all[2], "t")
	for _, r := range records {
		at := r.Keys.Get("p").String() + "/" + r.Keys.Get("s").String()
		if r.New == nil {
			delete(replica, at)
		} else {
			replica[at] = string(r.New)
		}
	}
	have, err := all[1].items(ctx, "t", "")
	require.NoError(t, err)
	require.Equal(t, have, replica)
	conflicts := int64(0)
	for _, s := range all {
		conflicts += s.store.Stats().Conflicts
	}
	t.Logf("%d records of %d writes on three servers; %d conflicts", len(records), writes.Load(), conflicts)
}

// TestServersToken sends each transaction to all servers at the same time, with one
// token.
func TestServersToken(t *testing.T) {
	all := three(t)
	ctx := t.Context()
	_, err := all[0].Create(ctx, definition("t"))
	require.NoError(t, err)
	n := rounds(200)
	for i := range n {
		var applied atomic.Int64
		var running sync.WaitGroup
		for j, s := range all {
			running.Go(func() {
				replayed := false
				err := s.write(ctx, "t", func(tx *table.Tx, tb *table.Table) error {
					var err error
					_, replayed, err = tx.Remember(fmt.Sprint("token", i), table.Token{Digest: []byte{1}, Time: time.Now()})
					if err != nil || replayed {
						return err
					}
					_, err = tx.Put(tb, itemOf("p", i, fmt.Sprint(j)), nil)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if !replayed {
					applied.Add(1)
				}
			})
		}
		running.Wait()
		require.EqualValues(t, 1, applied.Load())
	}
	found, err := all[2].items(ctx, "t", "")
	require.NoError(t, err)
	require.Len(t, found, n)
	t.Logf("%d tokens, each used on three servers at the same time", n)
}

// TestServersBackup makes backups and restores them on any of three servers, while one of them clears spaces that
// seem to belong to no table.
func TestServersBackup(t *testing.T) {
	all := three(t)
	ctx := t.Context()
	_, err := all[0].Create(ctx, definition("t"))
	require.NoError(t, err)
	for i := range 30 {
		require.NoError(t, all[i%3].put(ctx, "t", itemOf("p", i, "g")))
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	running.Go(func() {
		for !stop.Load() {
			if err := all[0].Tend(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	})
	n := rounds(50)
	for i := range n {
		b := &life.Backup{ID: life.TimeID(time.Now(), fmt.Sprintf("%08d", i)), Name: "b", Created: time.Now()}
		require.NoError(t, all[i%3].CreateBackup(ctx, "t", b))
		def := definition("restored")
		require.NoError(t, addIndex(def))
		if _, err = all[(i+1)%3].RestoreBackup(ctx, def, b.ID); err != nil {
			break
		}
		var found map[string]string
		for _, index := range []string{"", "G"} {
			if found, err = all[(i+2)%3].items(ctx, "restored", index); err != nil || len(found) != 30 {
				break
			}
		}
		if err != nil || len(found) != 30 {
			t.Errorf("%d items, want 30: %v", len(found), err)
			break
		}
		if _, err = all[i%3].Delete(ctx, "restored"); err != nil {
			break
		}
	}
	stop.Store(true)
	running.Wait()
	require.NoError(t, err)
	t.Logf("%d backups restored by another server and read by a third", n)
}
