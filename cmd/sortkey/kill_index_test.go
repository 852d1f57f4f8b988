package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// later is the index that TestKillIndex creates and deletes. Each new index has another definition than the one
// before, so the test would notice rows that an earlier index left.
const later = "Later"

type definition struct {
	keys       []types.AttributeDefinition // partition key, sort key
	projection types.Projection
	keep       []string // attributes in the rows, besides the key of the table; nil for all
}

var definitions = []definition{
	{[]types.AttributeDefinition{attribute("note", "S")}, types.Projection{ProjectionType: types.ProjectionTypeAll}, nil},
	{[]types.AttributeDefinition{attribute("group", "S"), attribute("rank", "N")},
		types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"note"}}, []string{"group", "rank", "note"}},
	{[]types.AttributeDefinition{attribute("when", "N")}, types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}, []string{"when"}},
}

var deleteLater = []types.GlobalSecondaryIndexUpdate{{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String(later)}}}

// none stands for the number of the definition if there is no index.
const none = -1

// rows returns the rows that the index should have for the items of its table.
func (d *definition) rows(table map[string]item) map[string]item {
	rows := map[string]item{}
	for at, it := range table {
		switch {
		case slices.ContainsFunc(d.keys, func(key types.AttributeDefinition) bool { return it[*key.AttributeName] == nil }):
		case d.keep == nil:
			rows[at] = it
		default:
			row := item{"PK": it["PK"], "SK": it["SK"]}
			for _, name := range d.keep {
				if it[name] != nil {
					row[name] = it[name]
				}
			}
			rows[at] = row
		}
	}
	return rows
}

// An alterer creates and deletes the index until the server dies.
type alterer struct {
	have, to         int // numbers of the definitions before and after the request in progress
	last             int // definition created
	created, deleted int
}

func (a *alterer) run(ctx context.Context, db *dynamodb.Client) error {
	for {
		in := &dynamodb.UpdateTableInput{TableName: aws.String(indexed), GlobalSecondaryIndexUpdates: deleteLater}
		a.to = none
		if a.have == none {
			a.last = (a.last + 1) % len(definitions)
			a.to = a.last
			d := &definitions[a.to]
			action := &types.CreateGlobalSecondaryIndexAction{IndexName: aws.String(later), Projection: &d.projection}
			for i, key := range d.keys {
				action.KeySchema = append(action.KeySchema, types.KeySchemaElement{AttributeName: key.AttributeName, KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
			}
			in.AttributeDefinitions = d.keys
			in.GlobalSecondaryIndexUpdates = []types.GlobalSecondaryIndexUpdate{{Create: action}}
		}
		_, err := db.UpdateTable(ctx, in)
		if err != nil {
			return err
		}
		if a.have = a.to; a.have == none {
			a.deleted++
		} else {
			a.created++
		}
	}
}

// settle waits until the table and its indexes are active, and then sets a.have and a.to to the definition that the
// index has.
func (a *alterer) settle(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	var index *types.GlobalSecondaryIndexDescription
	eventually(t, "the table and its indexes are active", func() bool {
		out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(indexed)})
		require.NoError(t, err)
		index = nil
		active := out.Table.TableStatus == types.TableStatusActive
		for _, ix := range out.Table.GlobalSecondaryIndexes {
			active = active && ix.IndexStatus == types.IndexStatusActive
			if *ix.IndexName == later {
				index = &ix
			}
		}
		return active
	})
	found := none
	if index != nil {
		for i := range definitions {
			if *index.KeySchema[0].AttributeName == *definitions[i].keys[0].AttributeName {
				found = i
			}
		}
	}
	if found != a.have && found != a.to {
		t.Fatalf("the index has definition %d, want %d or %d", found, a.have, a.to)
	}
	a.have, a.to = found, found
}

// fill writes items to the table Indexed. It returns a writer that has them as its records.
func fill(t *testing.T, db *dynamodb.Client, client, n int) *writer {
	t.Helper()
	w := newWriter(client, 0)
	var requests []types.WriteRequest
	for i := range n {
		k := key{indexed, client, i}
		w.items[k] = i + 1
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: k.item(i + 1)}})
		if len(requests) == 25 || i == n-1 {
			out, err := db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{indexed: requests}})
			require.NoError(t, err)
			require.Empty(t, out.UnprocessedItems)
			requests = nil
		}
	}
	return w
}

// TestKillIndex kills a server while one client creates and deletes an index and others write. It tests that the
// index is then in the state after the last acknowledged request or after the next one, and that its rows match the
// table's items.
func TestKillIndex(t *testing.T) {
	proptest.NeedLong(t)
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 2<<32))
	dir := filepath.Join(t.TempDir(), "db")
	p := serve(t, "--data", dir)
	create(t, p.client(t))
	active := []*writer{newWriter(0, seed), newWriter(1, seed)}
	all := append([]*writer{fill(t, p.client(t), 2, 2500)}, active...)
	a := &alterer{have: none, to: none}
	unfinished, interrupted := 0, 0
	for range kills {
		db := p.client(t, cmdtest.Once)
		var wait sync.WaitGroup
		wait.Go(func() {
			if e, ok := errors.AsType[smithy.APIError](a.run(context.Background(), db)); ok {
				t.Errorf("UpdateTable: %v", e)
			}
		})
		load(t, p, active, time.Duration(rng.Int64N(int64(200*time.Millisecond))))
		wait.Wait()
		if a.have != a.to {
			unfinished++
		}
		p = serve(t, "--data", dir)
		if rng.IntN(3) == 0 { // kill it again while it completes what it was doing before the crash
			time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
			p.Kill(t)
			p = serve(t, "--data", dir)
			interrupted++
		}
		db = p.client(t)
		a.settle(t, db)
		checkWriters(t, db, all)
		checkLater(t, db, a.have)
		if t.Failed() {
			return
		}
	}

	// Test that a deleted index leaves no rows.
	db := p.client(t)
	if a.have != none {
		_, err := db.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String(indexed), GlobalSecondaryIndexUpdates: deleteLater})
		require.NoError(t, err)
	}
	want := 0
	for _, source := range [][2]string{{plain}, {bank}, {indexed}, {indexed, "ByGroup"}, {indexed, "ByRank"}} {
		want += len(scan(t, db, source[0], source[1]))
	}
	for _, table := range []string{bank, indexed} { // a stream also has a row with its last sequence number
		want += checkStream(t, db, table, byAddress(t, table, scan(t, db, table, ""))) + 1
	}
	require.NoError(t, p.Cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.Wait(t), &p.Stderr)
	require.Equal(t, want, rowsOutsideCatalogue(t, dir), "rows that belong to no table or index")

	acked := 0
	for _, w := range active {
		acked += w.acked
	}
	t.Logf("%d kills, %d of them during a change of the index, and %d more during recovery; acknowledged: %d indexes created, %d deleted, %d writes, none lost; no row of a deleted index is left",
		kills, unfinished, interrupted, a.created, a.deleted, acked)
}

// checkLater compares the index with its table, if there is an index.
func checkLater(t *testing.T, db *dynamodb.Client, have int) {
	t.Helper()
	if have == none {
		return
	}
	want := checkLaterRows(t, db, have)
	out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(indexed)})
	require.NoError(t, err)
	for _, ix := range out.Table.GlobalSecondaryIndexes {
		if *ix.IndexName == later {
			require.EqualValues(t, want, *ix.ItemCount)
		}
	}
}

// checkLaterRows is like checkLater, but does not check the count in the description. It returns the number of rows.
func checkLaterRows(t *testing.T, db *dynamodb.Client, have int) int {
	t.Helper()
	if have == none {
		return 0
	}
	want := definitions[have].rows(byAddress(t, indexed, scan(t, db, indexed, "")))
	checkIndex(t, db, later, want)
	return len(want)
}

// rowsOutsideCatalogue counts the rows of all tables and indexes in a folder.
func rowsOutsideCatalogue(t *testing.T, dir string) (n int) {
	t.Helper()
	st, err := disk.Open(dir, disk.Options{ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, st.View(t.Context(), func(r store.Reader) error {
		for space := store.Space(1); space < 10_000; space++ { // none is used twice
			for _, err := range r.Scan(space, store.Everything()) {
				if err != nil {
					return err
				}
				n++
			}
		}
		return nil
	}))
	require.NoError(t, st.Close())
	return n
}
