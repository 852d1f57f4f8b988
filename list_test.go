package sortkey_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// A parcel is an item with pointers to memory of its own.
type parcel struct {
	P     string            `dynamodbav:"p"`
	S     int               `dynamodbav:"s"`
	Text  string            `dynamodbav:"text,omitempty"`
	Bytes []byte            `dynamodbav:"bytes,omitempty"`
	List  []string          `dynamodbav:"list,omitempty"`
	Map   map[string]string `dynamodbav:"map,omitempty"`
	Next  *parcel           `dynamodbav:"next,omitempty"`
}

// newParcel returns a parcel that lacks some of its parts. If decoding left parts of an earlier item in the same
// memory, the test would see them.
func newParcel(p string, s int) parcel {
	text := fmt.Sprint(p, " ", s)
	it := parcel{P: p, S: s}
	if s%2 == 0 {
		it.Text, it.Bytes = strings.Repeat(text, s%7), []byte(text)
	}
	if s%3 == 0 {
		it.List, it.Map = []string{text, text}, map[string]string{"a": text}
	}
	if s%5 == 0 {
		it.Next = &parcel{P: text, S: -s}
	}
	return it
}

// TestListsAreTheCallers tests that the items of loops and pages do not change when later operations reuse the memory
// that they were read into: loops inside loops, loops that end early, pages and other goroutines.
func TestListsAreTheCallers(t *testing.T) {
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Parcels", "p / s:N"))
	parcels := sortkey.Table[parcel](db, "Parcels")
	partitions := []string{"a", "b", "c"}
	const rows = 300 // more than the first page of a loop
	for _, p := range partitions {
		for s := range rows {
			require.NoError(t, parcels.Put(ctx, newParcel(p, s)))
		}
	}

	check := func(items []parcel) error {
		for _, it := range items {
			if want := newParcel(it.P, it.S); fmt.Sprint(flat(it)) != fmt.Sprint(flat(want)) {
				return fmt.Errorf("%v, want %v", flat(it), flat(want))
			}
		}
		return nil
	}
	read := func(most int) (kept []parcel, err error) {
		for outer, err := range parcels.Query(ctx, "a") {
			if err != nil {
				return nil, err
			}
			kept = append(kept, outer)
			if len(kept) > most {
				break
			}
			for inner, err := range parcels.Query(ctx, "b", sortkey.Compare(">=", outer.S)) {
				if err != nil {
					return nil, err
				}
				if kept = append(kept, inner); inner.S%4 == 0 {
					break
				}
			}
			page, err := parcels.QueryPage(ctx, "c", sortkey.Limit(1+outer.S%11))
			if err != nil {
				return nil, err
			}
			kept = append(kept, page.Items...)
			clear(page.Items) // the caller may overwrite its page
		}
		return kept, check(kept)
	}

	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range proptest.Cases(20) {
				kept, err := read(20 + 900*i)
				if err != nil || len(kept) < 20 {
					t.Error(len(kept), err)
				}
			}
		})
	}
	wg.Wait()

	err := db.Update(ctx, func(ctx context.Context) error {
		var kept []parcel
		for it, err := range parcels.Query(ctx, "a") {
			if err != nil {
				return err
			}
			kept = append(kept, it)
			if err := parcels.Put(ctx, newParcel("d", it.S)); err != nil {
				return err
			}
			other, err := sortkey.Collect(parcels.Query(ctx, "d", sortkey.Descending, sortkey.Limit(3)))
			if err != nil {
				return err
			}
			kept = append(kept, other...)
		}
		return check(kept)
	})
	require.NoError(t, err)
}

// flat returns the fields of a parcel, with the values that its pointers point to.
func flat(it parcel) []any {
	next := it.Next
	it.Next = nil
	if next == nil {
		return []any{it}
	}
	return []any{it, *next}
}

// A tracked value remembers the address that it was decoded at.
type tracked struct{ text string }

var trackedAt []*tracked

func (v *tracked) UnmarshalAttr(value attr.Value) error {
	v.text = string(value.Raw())
	trackedAt = append(trackedAt, v)
	return nil
}

// TestListsOfMethods tests that memory that a method of the user has seen is never reused.
func TestListsOfMethods(t *testing.T) {
	type row struct {
		P string  `dynamodbav:"p"`
		S int     `dynamodbav:"s"`
		V tracked `dynamodbav:"v"`
	}
	db, ctx := open(t, sortkey.Options{}), t.Context()
	require.NoError(t, db.CreateTable(ctx, "Rows", "p / s:N"))
	items := sortkey.Table[attr.Item](db, "Rows")
	for s := range 6 {
		it, err := attr.MarshalItem(map[string]any{"p": "a", "s": s, "v": fmt.Sprint("value ", s)})
		require.NoError(t, err)
		require.NoError(t, items.Put(ctx, it))
	}

	rows := sortkey.Table[row](db, "Rows")
	for range 3 {
		trackedAt = nil
		list, err := sortkey.Collect(rows.Query(ctx, "a", sortkey.Compare("<", 3)))
		require.NoError(t, err)
		require.Len(t, list, 3)
		_, err = sortkey.Collect(rows.Query(ctx, "a", sortkey.Compare(">=", 3)))
		require.NoError(t, err)
		_, err = rows.QueryPage(ctx, "a", sortkey.Compare(">=", 3))
		require.NoError(t, err)
		for i, v := range trackedAt[:3] {
			require.Equal(t, fmt.Sprint("value ", i), v.text)
		}
	}
}
