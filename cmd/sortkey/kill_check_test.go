package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/cmdtest"
)

func equal(a, b item) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

// scan returns all items of a table or index.
func scan(t *testing.T, db *dynamodb.Client, table, index string) (all []item) {
	t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(500)}
	if index != "" {
		in.IndexName = &index
	}
	for pages := dynamodb.NewScanPaginator(db, in); pages.HasMorePages(); {
		out, err := pages.NextPage(context.Background())
		require.NoError(t, err, "scan of %s %s", table, index)
		all = append(all, out.Items...)
	}
	return all
}

func address(it item) string { return textOf(it["PK"]) + ", " + textOf(it["SK"]) }

func byAddress(t *testing.T, what string, all []item) map[string]item {
	t.Helper()
	m := map[string]item{}
	for _, it := range all {
		if _, twice := m[address(it)]; twice {
			t.Fatalf("%s has %s twice", what, address(it))
		}
		m[address(it)] = it
	}
	return m
}

// checkWriters compares the database with the writers' records, and finds out what became of their requests in
// progress. It returns the number of these requests, which got no response, and how many of them were applied.
func checkWriters(t *testing.T, db *dynamodb.Client, writers []*writer) (unanswered, done int) {
	t.Helper()
	checkCounts(t, db)
	return checkItems(t, db, writers)
}

// checkItems is like checkWriters, but does not check the counts of items.
func checkItems(t *testing.T, db *dynamodb.Client, writers []*writer) (unanswered, done int) {
	t.Helper()
	found := map[string]map[string]item{}
	for _, table := range []string{plain, indexed, bank} {
		found[table] = byAddress(t, table, scan(t, db, table, ""))
		if table != plain {
			checkStream(t, db, table, found[table])
		}
	}
	hits := number(found[bank]["counter, "]["hits"])
	least, most := 0, 0
	for _, w := range writers {
		if w.pending != nil || w.transfer != nil {
			unanswered++
			if w.resolve(t, found) {
				done++
			}
		}
		least += w.added
		if w.adding {
			most++
		}
	}
	if hits < least || hits > least+most {
		t.Fatalf("the counter is %d, want between %d and %d", hits, least, least+most)
	}
	for _, w := range writers { // which writer's addition was applied is unknown and does not matter
		if w.adding {
			unanswered++
			if hits > least {
				done++
				least++
				w.added++
			}
			w.adding = false
		}
	}
	items := 0
	for _, w := range writers {
		for k, n := range w.items {
			if got := found[k.table][address(k.attributes())]; !equal(got, k.item(n)) {
				t.Fatalf("%v: acknowledged as number %d, got %v", k, n, got)
			}
			if n != 0 {
				items++
			}
		}
	}
	require.Equal(t, items, len(found[plain])+len(found[indexed]), "items that nobody wrote")
	checkBank(t, found[bank], writers)
	checkIndexes(t, db, found[indexed])
	return unanswered, done
}

func checkCounts(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	for _, table := range []string{plain, indexed, bank} {
		checkCount(t, db, table, len(scan(t, db, table, "")))
	}
}

// checkCount waits until a table reports n items, because a server counts the items again after a crash.
func checkCount(t *testing.T, db *dynamodb.Client, table string, n int) {
	t.Helper()
	counted := int64(-1)
	for deadline := time.Now().Add(cmdtest.Timeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		out, err := db.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: &table})
		require.NoError(t, err)
		if counted = *out.Table.ItemCount; counted == int64(n) {
			return
		}
	}
	t.Fatalf("%s reports %d items, want %d", table, counted, n)
}

// resolve finds out whether the request in progress was applied, and records that. A batch may have been applied in
// part, but each of its items only as a whole.
func (w *writer) resolve(t *testing.T, found map[string]map[string]item) (did bool) {
	t.Helper()
	var before, after []string
	see := func(what string, got, old, to item) {
		t.Helper()
		switch {
		case equal(old, to):
			if !equal(got, old) {
				t.Fatalf("%s: a request that must have no effect made it %v", what, got)
			}
		case equal(got, old):
			before = append(before, what)
		case equal(got, to):
			after = append(after, what)
		default:
			t.Fatalf("%s is in neither the old nor the new state: %v", what, got)
		}
	}
	for i, c := range w.pending {
		see(fmt.Sprint(c.key), found[c.key.table][address(c.key.attributes())], c.key.item(c.old), c.key.item(c.to))
		if !w.atomic {
			if got := found[c.key.table][address(c.key.attributes())]; equal(got, c.key.item(c.old)) {
				w.pending[i].to = c.old
			}
		}
	}
	if tr := w.transfer; tr != nil {
		see(tr.id, found[bank][tr.id+", "], nil, tr.receipt())
	}
	if w.atomic && before != nil && after != nil {
		t.Fatalf("half a transaction: applied %s, not applied %s", strings.Join(after, "; "), strings.Join(before, "; "))
	}
	adding := w.adding
	w.settle(!w.atomic && w.transfer == nil || after != nil)
	w.adding = adding
	return after != nil
}

// checkBank tests that the balances of the accounts match the receipts, so transfers are atomic, and that the
// receipts match the writers' records.
func checkBank(t *testing.T, found map[string]item, writers []*writer) {
	t.Helper()
	balance := make([]int, accounts)
	for i := range balance {
		balance[i] = deposit
	}
	receipts := 0
	for _, w := range writers {
		for id, tr := range w.transfers {
			if got := found[id+", "]; !equal(got, tr.receipt()) {
				t.Fatalf("%s: acknowledged, got %v", id, got)
			}
			balance[tr.from] -= tr.amount
			balance[tr.to] += tr.amount
			receipts++
		}
	}
	for i, want := range balance {
		if got := number(found[accountName(i)+", "]["balance"]); got != want {
			t.Fatalf("%s has %d, its receipts add up to %d", accountName(i), got, want)
		}
	}
	require.Len(t, found, receipts+accounts+1, "receipts that nobody wrote")
}

// checkIndex compares the rows of an index of the table Indexed with want.
func checkIndex(t *testing.T, db *dynamodb.Client, index string, want map[string]item) {
	t.Helper()
	got := byAddress(t, index, scan(t, db, indexed, index))
	for at, it := range want {
		if !equal(got[at], it) {
			t.Fatalf("index %s at %s has %v, want %v", index, at, got[at], it)
		}
	}
	require.Len(t, got, len(want), "rows of index %s that no item has", index)
}

// checkIndexes compares each index with the rows that follow from the table's items.
func checkIndexes(t *testing.T, db *dynamodb.Client, table map[string]item) {
	t.Helper()
	groups, ranks := map[string]item{}, map[string]item{}
	inGroup := map[string]int{}
	for at, it := range table {
		if it["group"] != nil {
			groups[at] = it
			inGroup[textOf(it["group"])]++
		}
		if it["rank"] != nil {
			ranks[at] = item{"PK": it["PK"], "SK": it["SK"], "rank": it["rank"], "note": it["note"]}
		}
	}
	checkIndex(t, db, "ByGroup", groups)
	checkIndex(t, db, "ByRank", ranks)
	for group, n := range inGroup { // also check the order
		last, rows := -1, 0
		for pages := dynamodb.NewQueryPaginator(db, &dynamodb.QueryInput{
			TableName: aws.String(indexed), IndexName: aws.String("ByGroup"), KeyConditionExpression: aws.String("#g = :g"),
			ExpressionAttributeNames: map[string]string{"#g": "group"}, ExpressionAttributeValues: item{":g": str(group)},
		}); pages.HasMorePages(); {
			out, err := pages.NextPage(context.Background())
			require.NoError(t, err)
			for _, it := range out.Items {
				if when := number(it["when"]); when < last {
					t.Fatalf("%s is not in order: %d after %d", group, when, last)
				} else {
					last = when
				}
				rows++
			}
		}
		require.Equal(t, n, rows, "rows of %s", group)
	}
}
