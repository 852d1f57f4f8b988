package browser_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/cdproto/cdp"
	cdpinput "github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/console"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/web"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/sortkeytest"
)

// A consoleTab is a tab of a browser with the console of a database.
type consoleTab struct {
	*testing.T
	db   *sortkeytest.DB
	base string
	tab  context.Context
	rec  record
}

// openConsole serves the pages of a database as sortkey serve --console does, and opens them in a new tab.
func openConsole(t *testing.T, ctx context.Context, designs ...*model.Model) *consoleTab {
	t.Helper()
	db := sortkeytest.New(t)
	recorder := console.NewRecorder()
	t.Cleanup(db.DB.Observe(recorder))
	site, err := web.Listen(0)
	require.NoError(t, err)
	s := console.New(console.Options{
		Target: explain.InProcess(db.DB), Name: "a test", Requests: recorder, DB: db.DB,
		Models: designs,
	})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	serving, cancel := context.WithCancel(event.Quiet(t.Context()))
	ended := make(chan error)
	go func() { ended <- site.Serve(serving, s.Handler()) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})

	tab, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	c := &consoleTab{T: t, db: db, base: site.Address("/"), tab: tab}
	require.NoError(t, chromedp.Listen(tab, c.rec.listen))
	require.NoError(t, chromedp.Do(tab, look(1400, "light"), chromedp.Navigate(site.URL())))
	return c
}

// shop makes a table of customers and their orders.
func (c *consoleTab) shop() {
	c.db.Table("Shop", "PK / SK", sortkeytest.Global("ByDay", "day / SK"))
	for i := range 60 {
		c.db.Put("Shop", map[string]any{
			"PK": fmt.Sprintf("CUSTOMER#c%d", i%4), "SK": fmt.Sprintf("ORDER#%04d", i), "total": i,
			"day": fmt.Sprintf("2026-01-%02d", 1+i%5),
		})
	}
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Ada"})
}

func (c *consoleTab) do(actions ...chromedp.Action[chromedp.Void]) {
	c.Helper()
	require.NoError(c, chromedp.Do(c.tab, actions...))
}

// visit opens a page of the console.
func (c *consoleTab) visit(page string) {
	c.Helper()
	c.do(chromedp.Navigate(c.base + page))
}

// follow clicks the link with a text.
func (c *consoleTab) follow(text string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`[...document.querySelectorAll('main a')].find(a => a.textContent.includes(%q)).click()`, text)))
}

// press presses keys as a person does. If the page handles a key itself, the key enters no character.
func (c *consoleTab) press(keys string, modifiers ...int64) {
	c.Helper()
	c.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			all := kb.Encode(r)
			down, up := *all[0], *all[len(all)-1]
			if len(all) == 3 {
				down.Text, down.UnmodifiedText = all[1].Text, all[1].UnmodifiedText
			}
			for _, m := range modifiers {
				down.Modifiers |= m
			}
			for _, event := range []cdpinput.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, t, cdpinput.DispatchKeyEvent, event); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

func (c *consoleTab) until(expression string) {
	c.Helper()
	until(c.T, c.tab, expression)
}

// edit replaces a part of the item's text in the box.
func (c *consoleTab) edit(old, new string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const e = document.getElementById('item'); e.value = e.value.replace(%q, %q); e.dispatchEvent(new Event('input')); })()`, old, new)))
}

// put presses the button that puts the item, and presses it again if the first press only showed the differences.
func (c *consoleTab) put() {
	c.Helper()
	c.do(chromedp.Click("#put"))
	c.until(`document.getElementById('said') === null || !['', '…'].includes(document.getElementById('said').textContent)`)
	if evaluate[bool](c.T, c.tab, `document.getElementById('said').textContent.includes('put again')`) {
		c.do(chromedp.Click("#put"))
	}
}

// fill puts a text into a field at once, as pasting does.
func (c *consoleTab) fill(id, text string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event('input')); })()`, id, text)))
}

// looks tests that a page fits into narrow and wide windows in both colour schemes, and that axe-core finds no
// problem in it.
func (c *consoleTab) looks(name, ready string) {
	c.Helper()
	for _, width := range []int{420, 1400} {
		for _, scheme := range []string{"light", "dark"} {
			c.do(look(width, scheme))
			c.until(ready)
			what := fmt.Sprintf("%s at %d, %s", name, width, scheme)
			accessible(c.T, c.tab, what)
			got := evaluate[measured](c.T, c.tab, measure)
			require.Empty(c, got.Wide, what)
			require.LessOrEqual(c, got.ScrollWidth, width, what)
			picture(c.T, c.tab, fmt.Sprintf("console-%s-%d-%s.png", name, width, scheme))
		}
	}
	c.do(look(1400, "light"))
}

// clean tests that the pages sent requests only to the console, and that they logged no errors except those allowed.
func (c *consoleTab) clean(allowed ...string) {
	c.Helper()
	c.rec.mu.Lock()
	defer c.rec.mu.Unlock()
	for _, u := range c.rec.requests {
		require.True(c, strings.HasPrefix(u, c.base), "the page asks for %s", u)
	}
	for _, p := range c.rec.problems {
		ok := false
		for _, one := range allowed {
			ok = ok || strings.Contains(p, one)
		}
		require.True(c, ok, p)
	}
}

// TestConsole uses the console only through its pages. Each subtest is about one topic.
func TestConsole(t *testing.T) {
	ctx := browser(t)
	for name, topic := range map[string]func(*consoleTab){
		"create": consoleCreate, "grid": consoleGrid, "query": consoleQuery, "request": consoleRequest, "edit": consoleEdit,
		"branches": consoleBranches,
		"requests": consoleRequests, "keyboard": consoleKeyboard,
		"names": consoleNames, "form": consoleForm, "undo": consoleUndo,
	} {
		t.Run(name, func(t *testing.T) { topic(openConsole(t, ctx)) })
	}
}

// consoleQuery goes from the tables to a partition, and to the slice of a query.
func consoleQuery(c *consoleTab) {
	c.shop()
	c.visit("")
	c.looks("tables", `document.querySelector('main a') !== null`)
	c.follow("Shop")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 61`)
	c.follow("CUSTOMER#c1")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 16`)
	c.until(`document.querySelector('#answer .bracket') !== null`)
	c.do(chromedp.SendKeys("#query-sort", ">= ORDER#0030"))
	c.until(`document.getElementById('answer').textContent.includes('8 rows, 8 returned')`)
	slice := evaluate[string](c.T, c.tab, `document.querySelector('#answer .slice-box').innerText`)
	require.Contains(c, slice, `CUSTOMER#c1`)
	require.Contains(c, slice, `from "ORDER#0030"`)
	c.looks("collection", `document.querySelector('#answer .bracket') !== null`)
	c.clean()
}

// consoleNames opens pages of a table whose name, index and attributes have the longest names that the service
// allows.
func consoleNames(c *consoleTab) {
	const ready = `document.querySelector('main h1') !== null`
	table, index, attribute := strings.Repeat("T", 255), strings.Repeat("I", 255), strings.Repeat("a", 255)
	c.db.Table(table, "PK / SK", sortkeytest.Global(index, attribute+" / SK"))
	c.visit("")
	c.looks("names", ready)
	c.visit("table?name=" + table)
	c.looks("names-table", ready)
	c.visit("table?name=" + table + "&index=" + index)
	c.looks("names-index", ready)
	require.Greater(c, evaluate[int](c.T, c.tab, `document.getElementById('key-partition').offsetWidth`), 100)
	c.clean()
}

// orders makes a table of people, orders of many attributes, and values of all kinds.
func (c *consoleTab) orders() {
	c.db.Table("Orders", "PK / SK", sortkeytest.Global("ByState", "state / SK"))
	for i := range 150 {
		it := map[string]any{
			"PK": fmt.Sprintf("CUSTOMER#%04d", i/7), "SK": fmt.Sprintf("ORDER#%06d", i), "total": 19.5 * float64(i%13), "state": "new",
			"paid": i%3 == 0, "items": []any{map[string]any{"sku": fmt.Sprint("SKU-", i), "count": i % 4}}, "placed": "2026-01-02T03:04:05Z",
			"address": map[string]any{"street": "Karl Johans gate 1", "city": "Oslo", "code": "0154"}, "tags": []string{"a", "b"},
		}
		if i%7 == 0 {
			it = map[string]any{"PK": it["PK"], "SK": "PROFILE#", "name": "Ada Lovelace", "photo": []byte("0123456789"), "about": strings.Repeat("Likes numbers. ", 30)}
		}
		if i == 8 {
			for k := range 30 {
				it[fmt.Sprint("extra", k)] = k
			}
		}
		c.db.Put("Orders", it)
	}
}

// consoleGrid sorts, searches and filters the items of a table, arranges its columns, and goes to the next page and
// back.
func consoleGrid(c *consoleTab) {
	c.orders()
	c.visit("table?name=Orders")
	const rows = `document.querySelectorAll('#grid tbody tr').length === 100`
	c.until(rows)
	c.looks("grid", rows)
	column := func(name string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('#grid tbody tr')].map(tr => tr.cells[[...document.querySelectorAll("#grid th")].find(th => th.dataset.column === %q).cellIndex].textContent)`, name)
	}
	press := func(name string) {
		c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector('#grid th[data-column=%s] button').click()`, name)))
	}
	read := evaluate[[]string](c.T, c.tab, column("total"))
	press("total")
	up := evaluate[[]string](c.T, c.tab, column("total"))
	require.Equal(c, []string{"0", "19.5"}, []string{up[0], slices.Compact(slices.Clone(up))[1]})
	require.Empty(c, up[99], "rows without a value are last")
	require.Contains(c, evaluate[string](c.T, c.tab, `document.getElementById('order').textContent`), "only these rows")
	press("total")
	require.Equal(c, "234", evaluate[[]string](c.T, c.tab, column("total"))[0])
	press("total")
	require.Equal(c, read, evaluate[[]string](c.T, c.tab, column("total")))

	c.fill("find", "ada lovelace")
	c.until(`document.getElementById('found').textContent.includes(' of 100 rows')`)
	c.fill("find", "")

	c.do(chromedp.Click("#columns summary"))
	c.looks("columns", `document.getElementById('columns').open`)
	c.do(chromedp.Click(`#columns li[data-column=paid] input`))
	c.do(chromedp.Reload())
	c.until(rows)
	titles := evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#grid th:not(.off)')].map(th => th.dataset.column)`)
	require.NotContains(c, titles, "paid")
	c.do(chromedp.Evaluate[chromedp.Void](`document.getElementById('columns-reset').click()`))
	require.Contains(c, evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#grid th:not(.off)')].map(th => th.dataset.column)`), "paid")

	first := evaluate[[]string](c.T, c.tab, column("SK"))
	c.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	c.press("n")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 50`)
	c.press("p")
	c.until(rows)
	require.Equal(c, first, evaluate[[]string](c.T, c.tab, column("SK")))

	c.do(chromedp.SendKeys("#filter-rows", "total > 200\r"))
	c.until(`document.getElementById('find-cost') !== null && document.getElementById('find-cost').textContent.includes('applied to 150 rows')`)
	c.looks("filtered", `document.getElementById('grid') !== null`)
	c.do(chromedp.SendKeys("#filter-rows", " >\r"))
	c.until(`document.querySelector('[role=alert]') !== null`)
	c.looks("filter-refused", `document.querySelector('[role=alert]') !== null`)

	c.visit("collection?name=Orders&partition=CUSTOMER%230001")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 7`)
	c.press(kb.ArrowDown)
	c.press(kb.ArrowDown)
	require.Equal(c, "ORDER#000009", evaluate[string](c.T, c.tab, `document.activeElement.textContent`))
	c.follow("next partition")
	c.until(`location.pathname === '/table' && document.getElementById('grid') !== null`)
	c.follow("previous rows")
	c.until(`location.pathname === '/collection' && location.search.includes('0001') && document.getElementById('grid') !== null`)
	c.press(kb.ArrowDown)
	c.press("\r")
	c.until(`location.pathname === '/item' && document.querySelector('main h1').textContent === 'CUSTOMER#0001, ORDER#000008'`)
	c.db.Table("Odd", "id")
	c.db.PutJSON("Odd", []byte(`{"id": {"S": "a"}, "constructor": {"N": "1"}, "__proto__": {"N": "2"}, "toString": {"N": "3"}, " bytes": {"N": "4"}}`))
	c.visit("table?name=Odd")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 1`)
	require.Equal(c, []string{"id", "+bytes", "__proto__", "constructor", "toString", " bytes"},
		evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#grid th:not(.off)')].map(th => th.dataset.column)`))
	c.db.Table("Empty", "id")
	c.visit("table?name=Empty")
	c.looks("empty", `document.querySelector('.empty') !== null`)
	c.clean()
}

// consoleCreate makes the first items of a table.
func consoleCreate(c *consoleTab) {
	c.db.Table("Shop", "PK / SK", sortkeytest.Global("ByDay", "day / number:N"))
	c.visit("table?name=Shop")
	c.follow("ByDay")
	c.until(`document.querySelector('main h1').textContent === 'Shop by ByDay'`)
	c.follow("New item")
	c.until(`location.pathname === '/item' && document.getElementById('item') !== null`)
	c.edit(`"SK"`, `"number": 7, "day": "2026-01-01", "SK"`)
	c.until(`document.getElementById('preview').textContent.includes('a new row, "2026-01-01", 7')`)
	c.looks("new-item", `document.getElementById('item') !== null`)
	c.put()
	c.until(`document.getElementById('said').textContent.includes('empty string')`)
	c.fill("item", `{"PK": "CUSTOMER#c1", "SK": "ORDER#0001", "number": 7, "day": "2026-01-01"}`)
	c.put()
	c.until(`document.querySelector('main h1').textContent === 'CUSTOMER#c1, ORDER#0001'`)
	require.Contains(c, c.db.Dump("Shop"), "ORDER#0001")

	c.visit("item?name=Shop") // again with the same key
	c.fill("item", `{"PK": "CUSTOMER#c1", "SK": "ORDER#0001"}`)
	c.put()
	c.until(`document.getElementById('said').textContent.includes('there is an item with this key already')`)
	require.Contains(c, c.db.Dump("Shop"), "2026-01-01")
	c.clean("400", "409")
}

// consoleRequest sends whole requests: a SELECT, and a request that the service rejects. It follows the suggestion
// for the rejected request.
func consoleRequest(c *consoleTab) {
	c.shop()
	c.visit("table?name=Shop")
	c.do(chromedp.SendKeys("#query-request", "SELECT * FROM Shop WHERE PK = 'CUSTOMER#c1' AND begins_with(SK, 'ORDER#001')"))
	c.until(`document.querySelector('#answer .bracket') !== null && document.getElementById('answer').textContent.includes('2 rows, 2 returned')`)
	require.True(c, evaluate[bool](c.T, c.tab, `document.getElementById('query-partition').disabled`))
	c.looks("select", `document.querySelector('#answer .bracket') !== null`)

	c.fill("query-request", `{"TableName": "Shop", "KeyConditionExpression": "PK = :p AND contains(SK, :s)",
		"ExpressionAttributeValues": {":p": {"S": "CUSTOMER#c1"}, ":s": {"S": "ORDER"}}}`)
	c.until(`document.getElementById('refused') !== null`)
	require.Contains(c, evaluate[string](c.T, c.tab, `document.getElementById('refused').textContent`), "Rule: ")
	c.looks("refused", `document.getElementById('refused') !== null`)
	c.fill("query-request", "")
	c.until(`!document.getElementById('query-partition').disabled && document.getElementById('answer').textContent === ''`)
	c.clean("400") // the page sends the incomplete statement while it is typed
}

// consoleEdit changes an item on the page, and also after another program has changed the item.
func consoleEdit(c *consoleTab) {
	c.shop()
	c.visit("collection?name=Shop&partition=CUSTOMER%23c1")
	c.follow("PROFILE#")
	c.until(`document.getElementById('item') !== null && document.getElementById('item').value.includes('Ada')`)
	c.edit("Ada", "Grace")
	c.until(`document.getElementById('preview').textContent.includes('1 write unit ')`)
	c.looks("item", `document.getElementById('item') !== null`)
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "PROFILE#", "name": "Eve"})
	c.put()
	c.until(`document.getElementById('said').textContent.includes('changed the item meanwhile')`)
	require.Contains(c, c.db.Dump("Shop"), "Eve")
	c.do(chromedp.Reload())
	c.until(`document.getElementById('item') !== null && document.getElementById('item').value.includes('Eve')`)
	c.edit("Eve", "Grace")
	c.do(chromedp.Click("#put")) // before the page shows the differences
	c.until(`document.getElementById('said').textContent.includes('put again')`)
	require.Contains(c, c.db.Dump("Shop"), "Eve")
	c.looks("difference", `document.querySelector('#preview ins') !== null`)
	c.do(chromedp.Click("#put"))
	c.until(`document.getElementById('item') !== null && document.getElementById('item').defaultValue.includes('Grace')`)
	require.Contains(c, c.db.Dump("Shop"), "Grace")

	c.follow("as DynamoDB JSON")
	c.until(`document.getElementById('item').value.includes('"S": "Grace"')`)
	c.edit(`"S": "Grace"`, `"SS": ["Grace", "Ada"]`)
	c.put()
	c.until(`document.getElementById('item') !== null && document.getElementById('item').defaultValue.includes('["Ada","Grace"]'.slice(1, 5)) && document.getElementById('item').value.includes('SS')`)
	c.clean("400", "409") // the browser logs these statuses of rejected requests
}

// consoleBranches changes an item in a branch, compares it with the database, and keeps the change.
func consoleBranches(c *consoleTab) {
	c.shop()
	const item = "item?name=Shop&key="
	key := base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"CUSTOMER#c1"},"SK":{"S":"PROFILE#"}}`))
	c.visit("branches")
	c.looks("no-branches", `document.querySelectorAll('.empty').length === 1`)
	c.do(chromedp.Click(`[data-post="branches"]`))
	c.until(`location.pathname === '/branch/1/' && document.querySelector('main a') !== null`)
	c.looks("branch", `document.querySelector('.where').textContent.includes('branch branch 1')`)
	c.visit("branch/1/" + item + key)
	c.until(`document.getElementById('item') !== null`)
	c.edit("Ada", "Hopper")
	c.put()
	c.until(`document.getElementById('item') !== null && document.getElementById('said').textContent === '' && document.getElementById('item').value.includes('Hopper')`)
	require.Contains(c, c.db.Dump("Shop"), "Ada")
	c.visit("branches")
	c.until(`document.querySelector('main').textContent.includes('"Ada" → "Hopper"')`)
	c.looks("branches", `document.querySelector('[data-post="branches/1/keep"]') !== null`)
	c.do(chromedp.Click(`[data-post="branches/1/keep"]`), chromedp.Click(`[data-post="branches/1/keep"]`)) // it asks once
	c.until(`document.querySelector('main').textContent.includes('There are no branches')`)
	require.Contains(c, c.db.Dump("Shop"), "Hopper")
	c.clean()
}

// consoleRequests watches the requests of a program, explains one of them, saves a recording, and makes an access
// pattern of a shape.
func consoleRequests(c *consoleTab) {
	c.shop()
	c.visit("requests")
	c.until(`document.getElementById('log') !== null`)
	c.looks("no-requests", `document.getElementById('no-requests').offsetHeight > 0`)
	s := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	for i := range 3 {
		_, err := c.db.Client.Scan(c.Context(), &dynamodb.ScanInput{TableName: new("Shop")})
		require.NoError(c, err)
		_, err = c.db.Client.Query(c.Context(), &dynamodb.QueryInput{
			TableName: new("Shop"), KeyConditionExpression: new("PK = :p AND SK > :s"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": s(fmt.Sprintf("CUSTOMER#c%d", i)), ":s": s("ORDER#0030")},
		})
		require.NoError(c, err)
		_, err = c.db.Client.PutItem(c.Context(), &dynamodb.PutItemInput{
			TableName: new("Shop"), Item: map[string]types.AttributeValue{"PK": s("CUSTOMER#c9"), "SK": s(fmt.Sprint(i))},
		})
		require.NoError(c, err)
	}
	c.until(`document.getElementById('no-requests').offsetHeight === 0`)
	c.until(`document.querySelectorAll('#log tr.mark-scan').length === 3 && document.querySelectorAll('#shapes tbody tr').length === 3`)
	require.Contains(c, evaluate[string](c.T, c.tab, `document.getElementById('log-shown').textContent`), "9 of 9 requests")
	marks := evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('.chip')].map(e => e.textContent)`)
	require.Equal(c, []string{"scan", "scan", "scan", "scan"}, marks)
	c.looks("requests", `document.querySelectorAll('#log tbody tr').length === 9`)
	shapes := func() []string {
		return evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#shapes tbody tr')].map(tr => tr.cells[0].textContent)`)
	}
	title := func(table, i string) {
		c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelectorAll('#%s th[scope=col] button')[%s].click()`, table, i)))
	}
	before := shapes()
	title("shapes", "5") // rows read, most first
	require.Equal(c, []string{"Scan", "Query", "PutItem"}, shapes())
	title("shapes", "5")
	require.Equal(c, []string{"PutItem", "Query", "Scan"}, shapes())
	title("shapes", "5")
	require.Equal(c, before, shapes(), "as it was")
	title("log", "1")
	require.Equal(c, []string{"PutItem", "Query", "Scan"}, slices.Compact(evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#log tbody tr')].map(tr => tr.cells[1].textContent)`)))
	title("log", "1")
	title("log", "1")
	require.Equal(c, "PutItem", evaluate[string](c.T, c.tab, `document.querySelector('#log tbody tr').cells[1].textContent`))
	require.Contains(c, evaluate[string](c.T, c.tab, `document.querySelector('#log tbody tr').textContent`), `PK = "CUSTOMER#c9", SK = "2"`)
	recording := evaluate[string](c.T, c.tab, `fetch(document.querySelector('a[download]').href).then(r => r.text())`)
	require.Equal(c, 9, strings.Count(recording, "\n"))
	require.Contains(c, recording, "PutItem {")

	// A click anywhere in a row opens its request.
	c.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#log tbody tr')].find(e => e.cells[1].textContent === 'Query').cells[4].click()`))
	c.until(`location.pathname === '/request' && document.querySelector('#answer .bracket') !== null`)
	require.Contains(c, evaluate[string](c.T, c.tab, `document.getElementById('query-request').value`), "KeyConditionExpression")
	code := evaluate[string](c.T, c.tab, `document.querySelector('#answer .requests').textContent`)
	for _, want := range []string{"aws dynamodb query", "client.Query(", "boto3", "QueryCommand"} {
		require.Contains(c, code, want)
	}
	c.looks("request", `document.querySelector('#answer .bracket') !== null`)

	dump := c.db.Dump("Shop")
	c.visit("requests")
	c.until(`document.querySelectorAll('#log tbody tr').length === 9`)
	c.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#log tbody tr')].find(e => e.cells[1].textContent === 'PutItem').querySelector('a').click()`))
	c.until(`location.pathname === '/request' && document.getElementById('note') !== null`)
	require.Contains(c, evaluate[string](c.T, c.tab, `document.querySelector('main').textContent`), "is not run again")
	c.looks("write", `document.getElementById('note') !== null`)
	require.Equal(c, dump, c.db.Dump("Shop"))

	c.clean()
}

// consoleKeyboard tests that the Tab key reaches everything, and that the focus is visible.
func consoleKeyboard(c *consoleTab) {
	c.shop()
	for page, wanted := range map[string][]string{
		"table?name=Shop": {"find", "filter-rows", "grid-scroll", "query-space", "query-partition", "query-sort", "query-filter", "query-limit", "query-descending", "query-request"},
		"branches":        {"New branch"},
		"requests":        {"request-filter", "pause"},
	} {
		c.visit(page)
		c.until(`document.querySelector('main h1') !== null`)
		seen := map[string]bool{}
		for range 60 {
			c.do(chromedp.KeyEvent("\t"))
			at := evaluate[string](c.T, c.tab, `(() => {
				const e = document.activeElement, s = getComputedStyle(e);
				if (e === document.body) { return ''; }
				return (s.outlineStyle === 'none' && s.boxShadow === 'none' ? 'unseen ' : '') + (e.id || e.textContent);
			})()`)
			require.NotContains(c, at, "unseen ", page)
			if seen[at] && at != "" {
				continue
			}
			seen[at] = true
		}
		for _, id := range wanted {
			require.True(c, seen[id], "%s: Tab does not reach %s: %v", page, id, seen)
		}
	}
	c.clean()
}

// hostileTexts are names and values that a page could mistake for markup, or that are invisible.
func hostileTexts() []string {
	return []string{
		`<img src=x onerror=alert(1)>`, `"><script>alert(1)</script>`, `'; alert(1) //`, `</textarea><b>`, `{{.}}`, "`${alert(1)}`",
		"\u202eright to left", "\u2066isolated\u2069", "\u0000\u0001\u0007\u007f\u0085", "a\nb\tc\r\n", "\U000e0041\U000e0042", "\ufeff\u200b\u200d",
		strings.Repeat("long", 100), strings.Repeat("\u202e", 50), "日本語\U0001f600",
	}
}

// TestConsoleHostile shows tables whose attribute names, keys and values are markup, control characters and
// right-to-left text, and items of 400 KB. It tests that no markup runs, that no character is invisible, and that
// nothing extends beyond the window.
func TestConsoleHostile(t *testing.T) {
	c := openConsole(t, browser(t))
	c.db.Table("Hostile", "PK / SK")
	for i, text := range hostileTexts() {
		c.db.Put("Hostile", map[string]any{"PK": text, "SK": text, text + "x": text, "n": i})
	}
	c.db.Put("Hostile", map[string]any{"PK": "big", "SK": "text", "text": strings.Repeat("<b>\u202e", 66000)})
	many := map[string]any{"PK": "big", "SK": "many"}
	for i := range 3000 {
		many[fmt.Sprintf("<i>%04d\u202e", i)] = strings.Repeat("\u0007", 100)
	}
	c.db.Put("Hostile", many)
	c.do(chromedp.Evaluate[chromedp.Void](`window.alert = () => console.log('alert')`))

	c.visit("requests")
	for _, text := range hostileTexts() {
		_, _ = c.db.Client.Query(c.Context(), &dynamodb.QueryInput{
			TableName: new("Hostile"), KeyConditionExpression: new("PK = :p AND #n = :p"), ExpressionAttributeNames: map[string]string{"#n": text},
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: text}},
		})
		_, err := c.db.Client.GetItem(c.Context(), &dynamodb.GetItemInput{TableName: new("Hostile"), Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: text}, "SK": &types.AttributeValueMemberS{Value: text},
		}})
		require.NoError(c, err)
	}
	n := 2 * len(hostileTexts())
	c.until(fmt.Sprintf(`document.querySelectorAll('#log tbody tr').length === %d`, n))
	c.safe("hostile-requests", `document.getElementById('log') !== null`)
	for i := 1; i <= n; i += 5 {
		c.visit(fmt.Sprintf("request?n=%d", i))
		c.safe("", `document.getElementById('answer').textContent !== ''`)
	}

	c.visit("table?name=Hostile")
	c.until(fmt.Sprintf(`document.querySelectorAll('#grid tbody tr').length === %d`, len(hostileTexts())+2))
	c.safe("hostile-grid", `document.getElementById('grid') !== null`)
	c.do(chromedp.Evaluate[chromedp.Void](`document.getElementById('columns').open = true`))
	c.safe("hostile-columns", `document.getElementById('columns').open`)
	links := evaluate[[]string](c.T, c.tab, `[...new Set([...document.querySelectorAll('#grid a[href^="collection"]')].map(a => a.getAttribute('href')))]`)
	for i, link := range links {
		c.visit(link)
		c.until(`document.querySelector('#grid tbody tr') !== null`)
		name := ""
		if i%5 == 0 || strings.Contains(link, "big") {
			name = fmt.Sprintf("hostile-collection-%d", i)
		}
		c.safe(name, `document.querySelector('#answer .bracket') !== null`)
		items := evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('#grid a[href^="item"]')].map(a => a.getAttribute('href'))`)
		for k, item := range items {
			c.visit(item)
			c.until(`document.querySelector('#item, #note') !== null`) // one is too long for the page
			if name = ""; i == 0 || len(items) > 1 {
				name = fmt.Sprintf("hostile-item-%d-%d", i, k)
			}
			c.safe(name, `document.querySelector('#item, #note') !== null`)
		}
	}
	status, err := http.Get(c.base)
	require.NoError(c, err)
	require.NoError(c, status.Body.Close())
	require.Equal(c, http.StatusUnauthorized, status.StatusCode)
	c.visit("collection?name=Hostile&partition=" + url.QueryEscape(`"none`))
	blocked(t, c.tab)
	c.clean("400", "Content Security Policy")
}

// safe tests that a page contains no element that only data could have made, and no invisible character. If name is
// not "", it also checks the layout of the page.
func (c *consoleTab) safe(name, ready string) {
	c.Helper()
	c.until(ready)
	require.Empty(c, evaluate[[]string](c.T, c.tab, `[...document.querySelectorAll('img, script:not([src]), b, i, iframe, style, [onerror], [style]')].map(e => e.outerHTML.slice(0, 200))`))
	hidden := evaluate[[]string](c.T, c.tab, `(() => {
		const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) {
			const m = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u.exec(walk.currentNode.data);
			if (m) { found.push(m[0].codePointAt(0).toString(16) + ' in ' + walk.currentNode.parentElement.outerHTML.slice(0, 200)); }
		}
		return found;
	})()`)
	require.Empty(c, hidden)
	if name != "" {
		c.looks(name, ready)
	}
}
