package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/keys"
	"github.com/sortkey/sortkey/store/memory"
)

// send sends a request to a shop and returns the answer.
func send(shop http.Handler, ctx context.Context, method, path, etag, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if etag != "" {
		r.Header.Set("If-Match", etag)
	}
	w := httptest.NewRecorder()
	shop.ServeHTTP(w, r)
	return w
}

func newShop(t *testing.T) (*Shop, *sortkey.DB) {
	log.SetOutput(io.Discard)
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = NewShop(t.Context(), db)
	require.NoError(t, err)
	shop, err := NewShop(t.Context(), db) // a second time, as when the program starts again
	require.NoError(t, err)
	return shop, db
}

const first = `{"customer": "ann", "number": 1, "status": "NEW", "city": "Oslo", "placed": "2026-01-05T10:00:00.500000000Z", "total": 7}`

func TestStatuses(t *testing.T) {
	shop, db := newShop(t)
	ctx := t.Context()
	created := send(shop, ctx, "POST", "/orders", "", first)
	require.Equal(t, 200, created.Code, created.Body)
	require.Equal(t, `"1"`, created.Header().Get("ETag"))
	page := send(shop, ctx, "GET", "/orders?customer=ann&limit=1", "", "")
	require.Equal(t, 200, page.Code)
	ended, end := context.WithCancel(ctx)
	end()
	odd := map[string]any{"customer": "odd", "number": 1, "total": "much"}
	require.NoError(t, sortkey.Table[map[string]any](db, "Orders").Put(ctx, odd))
	var listed listing
	require.NoError(t, json.Unmarshal(page.Body.Bytes(), &listed))
	require.NotEmpty(t, listed.Cursor)

	for _, tt := range []struct {
		status                   int
		method, path, etag, body string
		ctx                      context.Context
	}{
		{200, "GET", "/orders/ann/1", "", "", ctx},
		{404, "GET", "/orders/ann/2", "", "", ctx},
		{404, "GET", "/nothing", "", "", ctx},
		{405, "PATCH", "/orders", "", "", ctx},
		{400, "GET", "/orders/ann/first", "", "", ctx},
		{499, "GET", "/orders/ann/1", "", "", ended},
		{499, "GET", "/orders?customer=ann", "", "", ended},
		{500, "GET", "/orders/odd/1", "", "", ctx},

		{412, "POST", "/orders", "", first, ctx},
		{400, "POST", "/orders", "", "{", ctx},
		{400, "POST", "/orders", "", `{"customer": 7}`, ctx},
		{400, "POST", "/orders", "", `{"colour": "red"}`, ctx},
		{400, "POST", "/orders", "", strings.Replace(first, ".500000000Z", ".5Z", 1), ctx},
		{400, "POST", "/orders", "", strings.Replace(first, "ann", "", 1), ctx},
		{400, "POST", "/orders", "", strings.Replace(first, "Oslo", "", 1), ctx}, // city is the key of an index
		{400, "POST", "/orders", "", strings.Replace(first, "ann", strings.Repeat("a", 2049), 1), ctx},
		{413, "POST", "/orders", "", `{"customer": "` + strings.Repeat("x", 1<<20) + `"}`, ctx},

		{428, "PUT", "/orders/ann/1", "", first, ctx},
		{400, "PUT", "/orders/ann/1", "W/x", first, ctx},
		{412, "PUT", "/orders/ann/1", `"2"`, first, ctx},
		{412, "PUT", "/orders/ann/2", `"1"`, first, ctx},
		{499, "PUT", "/orders/ann/1", `"1"`, first, ended},
		{200, "PUT", "/orders/ann/1", `"1"`, strings.Replace(first, "NEW", "PAID", 1), ctx},
		{412, "PUT", "/orders/ann/1", `"1"`, first, ctx},

		{200, "GET", "/orders?customer=ann", "", "", ctx},
		{200, "GET", "/orders?status=PAID", "", "", ctx},
		{200, "GET", "/orders?carrier=none", "", "", ctx},
		{400, "GET", "/orders", "", "", ctx},
		{400, "GET", "/orders?customer=ann&city=Oslo", "", "", ctx},
		{400, "GET", "/orders?customer=ann&limit=many", "", "", ctx},
		{400, "GET", "/orders?customer=ann&limit=0", "", "", ctx},
		{400, "GET", "/orders?customer=ann&limit=-1", "", "", ctx},
		{400, "GET", "/orders?customer=ann&limit=1000", "", "", ctx},
		{400, "GET", "/orders?customer=ann&cursor=x", "", "", ctx},
		{400, "GET", "/orders?customer=ben&cursor=" + listed.Cursor, "", "", ctx},
		{400, "GET", "/orders?city=Oslo&cursor=" + listed.Cursor, "", "", ctx},
		{200, "GET", "/orders?customer=ann&cursor=" + listed.Cursor, "", "", ctx},

		{412, "DELETE", "/orders/ann/1", `"1"`, "", ctx},
		{204, "DELETE", "/orders/ann/1", `"2"`, "", ctx},
		{412, "DELETE", "/orders/ann/1", `"2"`, "", ctx},
	} {
		w := send(shop, tt.ctx, tt.method, tt.path, tt.etag, tt.body)
		require.Equal(t, tt.status, w.Code, "%s %.60s %s: %s", tt.method, tt.path, tt.etag, w.Body)
		if tt.status >= 500 {
			require.Equal(t, http.StatusText(tt.status), strings.TrimSpace(w.Body.String()), "causes are not for clients")
		}
	}

	require.NoError(t, db.DeleteTable(ctx, "Orders"))
	require.Equal(t, 404, send(shop, ctx, "GET", "/orders/ann/1", "", "").Code)
	require.NoError(t, db.Close())
	w := send(shop, ctx, "GET", "/orders/ann/1", "", "")
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
}

// TestPages reads all orders of each index in pages.
func TestPages(t *testing.T) {
	shop, _ := newShop(t)
	placed := time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)
	for i := range 50 {
		order := Order{
			Customer: fmt.Sprint("c", i%2), Number: i, Status: "NEW", City: fmt.Sprint("t", i%5), Carrier: "x",
			Placed: keys.TimestampOf(placed.Add(time.Duration(i) * 500 * time.Millisecond)), Total: i,
		}
		body, err := json.Marshal(order)
		require.NoError(t, err)
		require.Equal(t, 200, send(shop, t.Context(), "POST", "/orders", "", string(body)).Code)
	}
	for query, want := range map[string]int{"customer=c0": 25, "status=NEW": 50, "city=t1": 10, "carrier=x": 50, "city=none": 0} {
		var all []Order
		for cursor := ""; ; {
			w := send(shop, t.Context(), "GET", "/orders?limit=7&"+query+"&cursor="+url.QueryEscape(cursor), "", "")
			require.Equal(t, 200, w.Code, w.Body)
			var page listing
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &page))
			all = append(all, page.Orders...)
			if cursor = page.Cursor; cursor == "" {
				break
			}
		}
		require.Len(t, all, want, query)
		for i := 1; i < len(all); i++ {
			require.Greater(t, all[i-1].Number, all[i].Number, "the latest is first, half seconds too")
		}
	}
}

// TestLocking tests that of many concurrent changes of one version exactly one succeeds.
func TestLocking(t *testing.T) {
	shop, _ := newShop(t)
	require.Equal(t, 200, send(shop, t.Context(), "POST", "/orders", "", first).Code)
	for version := 1; version <= 5; version++ {
		var all sync.WaitGroup
		codes := make([]int, 8)
		for i := range codes {
			all.Go(func() {
				codes[i] = send(shop, t.Context(), "PUT", "/orders/ann/1", fmt.Sprintf("%q", fmt.Sprint(version)), first).Code
			})
		}
		all.Wait()
		made := 0
		for _, code := range codes {
			if code == 200 {
				made++
			} else {
				require.Equal(t, 412, code)
			}
		}
		require.Equal(t, 1, made)
	}
}

// TestNewShop tests that NewShop refuses a table with another key, and a closed store.
func TestNewShop(t *testing.T) {
	st := memory.Open()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	require.NoError(t, db.CreateTable(t.Context(), "Orders", "id"))
	_, err = NewShop(t.Context(), db)
	require.ErrorIs(t, err, sortkey.ErrTableExists)
	require.NoError(t, db.Close())
	_, err = NewShop(t.Context(), db)
	require.Equal(t, 503, sortkey.StatusOf(err))
	require.False(t, errors.Is(err, sortkey.ErrTableExists))
}
