package console_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sortkeytest"
)

var undos = regexp.MustCompile(`data-undo="(\d+)"[^>]*>Undo</button> <span[^>]*>[0-9:]+: ([^<]*)</span>`)

// undos returns the changes that a page offers to undo, the newest first.
func (c *client) undos(page string) (numbers []int, what []string) {
	c.Helper()
	for _, m := range undos.FindAllStringSubmatch(c.page(page), -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(c, err)
		numbers, what = append(numbers, n), append(what, m[2])
	}
	return numbers, what
}

type undone struct {
	Undone  int
	Refused []struct{ Key, Why string }
}

// undo takes a change back.
func (c *client) undo(path string, n int) (status int, out undone, text string) {
	c.Helper()
	resp, err := http.PostForm(c.url+"/"+path+"undo", url.Values{"n": {strconv.Itoa(n)}})
	require.NoError(c, err)
	text = c.read(resp)
	if resp.StatusCode == http.StatusOK {
		require.NoError(c, json.Unmarshal([]byte(text), &out))
	}
	return resp.StatusCode, out, text
}

// delete deletes rows of the table Tab, and returns the number of the change.
func (c *client) delete(rows []bulkRow) (undo int) {
	c.Helper()
	status, out, text := c.bulk("name=Tab", rows)
	require.Equal(c, http.StatusOK, status, text)
	return out.Undo
}

// TestUndo undoes changes of several items and of one item, also after others have changed some of the items, and
// also twice.
func TestUndo(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK:N")
	for i := range 60 {
		c.db.Put("Tab", map[string]any{"PK": "p", "SK": i, "n": fmt.Sprint(i)})
	}
	before := c.db.Dump("Tab")
	rows := rowsOf(t, c.page("collection?name=Tab&partition=p"))
	first, second := c.delete(rows[:30]), c.delete(rows[30:])
	numbers, what := c.undos("table?name=Tab")
	require.Equal(t, []int{second, first}, numbers)
	require.Equal(t, []string{"deleted 30 items", "deleted 30 items"}, what)

	// Somebody has put one of the items of the first change again.
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": 7, "n": "somebody's"})
	theirs := []struct{ Key, Why string }{{"p, 7", "somebody has changed it since"}}
	_, out, _ := c.undo("", first)
	require.Equal(t, undone{29, theirs}, out)
	_, out, _ = c.undo("", first)
	require.Equal(t, undone{0, theirs}, out)

	// Of the items of the second change, somebody has put one with another value, one with an additional attribute,
	// and one unchanged.
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": 40, "n": "somebody's"})
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": 41, "n": "41", "added": 1})
	c.db.Put("Tab", map[string]any{"PK": "p", "SK": 43, "n": "43"})
	_, out, _ = c.undo("", second)
	require.Equal(t, 28, out.Undone)
	require.Equal(t, []string{"p, 41", "p, 40"}, []string{out.Refused[0].Key, out.Refused[1].Key})
	after := c.db.Dump("Tab")
	for _, theirs := range []string{`added: 1`, `"p" / 40 {n: "somebody's"}`} {
		require.Contains(t, strings.ReplaceAll(after, "  ", " "), theirs)
	}
	require.Equal(t, strings.Count(before, "\n"), strings.Count(after, "\n"))

	// Undoing the items that were refused succeeds after undoing the later change.
	numbers, what = c.undos("table?name=Tab")
	require.Equal(t, []int{second, first}, numbers)
	require.Equal(t, []string{"deleted 2 items", "deleted 1 item"}, what)
	rows = rowsOf(t, c.page("collection?name=Tab&partition=p"))
	c.delete(append(rows[7:8], rows[40:42]...))
	for i, want := range []int{2, 1} {
		_, out, text := c.undo("", numbers[i])
		require.Equal(t, want, out.Undone, text)
		require.Empty(t, out.Refused)
	}
	require.Equal(t, before, c.db.Dump("Tab"))
	_, what = c.undos("table?name=Tab")
	require.Equal(t, []string{"deleted 3 items"}, what)
	status, _, text := c.undo("", first)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "there is nothing to undo: the change is undone already")
}

// TestUndoItem undoes the puts and deletes of an item, from its page.
func TestUndoItem(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	where := "?name=Tab&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"x"}}`))
	send := func(path, was, is string) {
		t.Helper()
		at := where
		if was == "" {
			at = "?name=Tab"
		} else {
			was = sum(t, was)
		}
		body, err := json.Marshal(map[string]any{"Sum": was, "Is": is})
		require.NoError(t, err)
		status, text := c.do(http.MethodPost, path+at, string(body))
		require.Equal(t, http.StatusOK, status, text)
	}
	one, two := `{"id": {"S": "x"}, "n": {"N": "1"}}`, `{"id": {"S": "x"}, "tags": {"SS": ["a"]}}`
	send("put", "", one)
	send("put", one, two)
	send("put", two, two) // nothing to undo
	c.delete([]bulkRow{{base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"x"}}`)), sum(t, two)}})
	numbers, what := c.undos("item" + where)
	require.Equal(t, []string{"deleted 1 item", "put 1 item", "put 1 item"}, what)
	other := base64.RawURLEncoding.EncodeToString([]byte(`{"id":{"S":"y"}}`))
	none, _ := c.undos("item?name=Tab&key=" + other)
	require.Empty(t, none)
	for i, want := range []string{two, one, ""} {
		_, out, text := c.undo("", numbers[i])
		require.Equal(t, 1, out.Undone, text)
		if want == "" {
			require.Contains(t, c.page("item"+where), "there is no such item")
		} else {
			require.Equal(t, sum(t, want), sums.FindStringSubmatch(c.page("item" + where))[1])
		}
	}

	// A put of another key leaves the old item.
	send("put", "", one)
	send("put", one, strings.Replace(one, `"x"`, `"y"`, 1))
	numbers, _ = c.undos("item?name=Tab&key=" + other)
	require.Len(t, numbers, 1)
	c.undo("", numbers[0])
	require.Equal(t, 1, strings.Count(c.db.Dump("Tab"), "n: 1"))
	for _, n := range []int{0, -1, 1 << 40} {
		status, _, _ := c.undo("", n)
		require.Equal(t, http.StatusBadRequest, status)
	}
}

// TestUndoBounds tests that the console keeps only a bounded number of changes of a bounded size, and that it says
// when a change is too large.
func TestUndoBounds(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK:N")
	put := func(n int) {
		for i := range 3 {
			c.db.Put("Tab", map[string]any{"PK": "p", "SK": i, "n": n})
		}
	}
	for n := range 25 {
		put(n)
		c.delete(rowsOf(t, c.page("table?name=Tab")))
	}
	put(25)
	numbers, _ := c.undos("table?name=Tab")
	require.Len(t, numbers, 20)
	require.Equal(t, 25, numbers[0])
	_, out, _ := c.undo("", 24)
	require.Len(t, out.Refused, 3, "a later put comes first")

	large := strings.Repeat("x", 390_000)
	for i := range 90 {
		c.db.Put("Tab", map[string]any{"PK": "large", "SK": i, "s": large})
	}
	rows := rowsOf(t, c.page("collection?name=Tab&partition=large"))
	for len(rows) < 90 {
		rows = append(rows, rowsOf(t, c.page("collection?name=Tab&partition=large&sort=%3E%3D+"+fmt.Sprint(len(rows))))...)
	}
	require.Equal(t, -1, c.delete(rows))
	_, what := c.undos("table?name=Tab")
	require.Len(t, what, 20, "the smaller ones stay")
	require.NotContains(t, what, "deleted 90 items")
}

// TestUndoAtOnce lets several people undo one change concurrently, while another program changes its items. It tests
// that each item is either undone once or has what the program wrote.
func TestUndoAtOnce(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{true, false} {
		db := sortkeytest.New(t)
		db.Table("Tab", "PK / SK:N")
		o := console.Options{Target: explain.InProcess(db.DB)}
		if local {
			o.DB = db.DB
		}
		server := httptest.NewServer(console.New(o).Handler())
		t.Cleanup(server.Close)
		c := &client{t, db, server.URL}
		const n = 100
		for i := range n {
			db.Put("Tab", map[string]any{"PK": "p", "SK": i, "n": "was", "theirs": 0})
		}
		change := c.delete(rowsOf(t, c.page("collection?name=Tab&partition=p")))
		var all sync.WaitGroup
		var mu sync.Mutex
		done := 0
		for range 4 {
			all.Go(func() {
				resp, err := http.PostForm(server.URL+"/undo", url.Values{"n": {strconv.Itoa(change)}})
				if err != nil || resp.StatusCode != http.StatusOK { // somebody else undoes it
					return
				}
				var out undone
				_ = json.NewDecoder(resp.Body).Decode(&out)
				resp.Body.Close()
				mu.Lock()
				done += out.Undone
				mu.Unlock()
			})
		}
		all.Go(func() {
			for i := range n {
				db.Put("Tab", map[string]any{"PK": "p", "SK": i, "n": "theirs", "theirs": 1})
			}
		})
		all.Wait()
		left := 0
		if _, what := c.undos("table?name=Tab"); len(what) > 0 {
			_, err := fmt.Sscanf(what[0], "deleted %d item", &left)
			require.NoError(t, err)
		}
		require.Equal(t, n, done+left)
		require.Equal(t, n, strings.Count(db.Dump("Tab"), `n: "theirs"`), "what they wrote stays: it was first, or last")
	}
}

// TestUndoElsewhere undoes changes on a branch. It tests that undoing returns an error if the branch was closed or
// the table deleted meanwhile.
func TestUndoElsewhere(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "id")
	c.db.Put("Tab", map[string]any{"id": "x", "n": 1})
	rows := rowsOf(t, c.page("table?name=Tab"))
	_, at := c.do(http.MethodPost, "branches", "")
	there := &client{t, c.db, c.url + "/" + strings.TrimSuffix(at, "/")}
	change := there.delete(rows)
	require.Contains(t, c.db.Dump("Tab"), "n: 1")
	_, out, _ := there.undo("", change)
	require.Equal(t, 1, out.Undone)
	change = there.delete(rows)
	c.do(http.MethodPost, "branches/1/discard", "")
	status, _, text := there.undo("", change)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "no branch")

	change = c.delete(rows)
	c.db.PutJSON("Tab", []byte(`{"id": {"S": "x"}, "n": {"N": "3"}}`))
	_, out, _ = c.undo("", change)
	require.Len(t, out.Refused, 1)
}

// TestUndoAll makes random changes and undoes them, the last first. It tests that the items are then as they were.
func TestUndoAll(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.db.Table("Tab", "PK / SK")
	for i, v := range hostileKeys {
		c.db.PutJSON("Tab", fmt.Appendf(nil, `{"PK": {"S": %s}, "SK": {"S": "x"}, "deep": %s, "n": {"N": "%s"}, "s": {"SS": ["a", %s]}}`,
			quoted("S", v), deep(31), "12345678901234567890123456789012345678", quoted("S", "b"+hostileKeys[(i+1)%len(hostileKeys)])))
	}
	before := c.db.Dump("Tab")
	proptest.Check(t, 10, func(t *proptest.T) {
		for range t.Between(1, 6) {
			rows := rowsOf(c.T, c.page("table?name=Tab"))
			proptest.Shuffle(t, rows)
			rows = rows[:t.IntN(len(rows)+1)]
			if t.IntN(2) == 0 {
				c.delete(rows)
				continue
			}
			for _, row := range rows[:min(len(rows), 2)] { // replace the item by its key alone
				key, err := base64.RawURLEncoding.DecodeString(row.Key)
				require.NoError(t, err)
				body, err := json.Marshal(map[string]any{"Sum": row.Sum, "Is": string(key)})
				require.NoError(t, err)
				status, text := c.do(http.MethodPost, "put?name=Tab&key="+row.Key, string(body))
				require.Equal(t, http.StatusOK, status, text)
			}
		}
		changes, _ := c.undos("table?name=Tab")
		for _, n := range changes {
			_, out, text := c.undo("", n)
			require.Empty(t, out.Refused, text)
		}
		require.Equal(t, before, c.db.Dump("Tab"))
	})
}

// TestUndoLeft tests that an undo whose page was closed can be completed later: no part of the change is lost, and
// nothing is written twice.
func TestUndoLeft(t *testing.T) {
	t.Parallel()
	for _, local := range []bool{true, false} {
		db := sortkeytest.New(t)
		db.Table("Tab", "PK / SK:N")
		for i := range 20 {
			db.Put("Tab", map[string]any{"PK": "p", "SK": i, "n": "was"})
		}
		before := db.Dump("Tab")
		var leave func()
		writes := 0
		o := console.Options{Target: between{explain.InProcess(db.DB), func() {
			if writes++; leave != nil && writes%7 == 0 {
				leave()
				leave = nil
			}
		}}}
		if local {
			o.DB = db.DB
		}
		s := console.New(o)
		server := httptest.NewServer(s.Handler())
		t.Cleanup(server.Close)
		c := &client{t, db, server.URL}
		change := c.delete(rowsOf(t, c.page("table?name=Tab")))
		for range 3 { // somebody closes the page three times
			ctx, cancel := context.WithCancel(t.Context())
			leave = cancel
			body := strings.NewReader(url.Values{"n": {strconv.Itoa(change)}}.Encode())
			r := httptest.NewRequest(http.MethodPost, "/undo", body).WithContext(ctx)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			s.Handler().ServeHTTP(httptest.NewRecorder(), r)
			cancel()
		}
		_, out, _ := c.undo("", change)
		require.Empty(t, out.Refused)
		require.Equal(t, before, db.Dump("Tab"), "local=%v", local)
	}
}

// TestUndoTableAgain tests that a change cannot be undone in a table that was created again under the same name.
func TestUndoTableAgain(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"id", "id:N"} {
		c := start(t)
		c.db.Table("Tab", "id")
		c.db.Put("Tab", map[string]any{"id": "x", "n": 1})
		c.db.Put("Tab", map[string]any{"id": "y", "n": 1})
		rows := rowsOf(t, c.page("table?name=Tab"))
		deleted := c.delete(rows[:1])
		c.delete(rows[1:2])

		_, err := c.db.Client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: new("Tab")})
		require.NoError(t, err)
		status, _, text := c.undo("", deleted)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, text, "the change cannot be undone")
		c.db.Table("Tab", key)
		before := c.db.Dump("Tab")
		numbers, _ := c.undos("table?name=Tab")
		require.Len(t, numbers, 2)
		for _, n := range numbers {
			status, _, text = c.undo("", n)
			require.Equal(t, http.StatusBadRequest, status, text)
			require.Contains(t, text, "the change cannot be undone: table Tab was deleted and created again since")
		}
		require.Equal(t, before, c.db.Dump("Tab"))
	}
}

// deep returns a value with the given levels of nested lists and maps.
func deep(levels int) string {
	v := `{"B": "AP8="}`
	for i := range levels {
		if i%2 == 0 {
			v = `{"L": [` + v + `]}`
		} else {
			v = `{"M": {"S": ` + v + `}}`
		}
	}
	return v
}
