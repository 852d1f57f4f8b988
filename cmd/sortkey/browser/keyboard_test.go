package browser_test

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// ctrl is the modifier for Ctrl.
const ctrl = 2

// tabTo presses Tab until an expression is true. In the expression, e is the element with the focus.
func (c *consoleTab) tabTo(expression string) {
	c.Helper()
	for range 200 {
		c.press("\t")
		if evaluate[bool](c.T, c.tab, `(e => `+expression+`)(document.activeElement)`) {
			return
		}
	}
	require.Fail(c, "Tab does not reach it", expression)
}

// offered waits until the key box offers a key first, and logs how long that took.
func (c *consoleTab) offered(first string) {
	c.Helper()
	began := time.Now()
	c.until(fmt.Sprintf(`document.querySelector('#key-list li') !== null && document.querySelector('#key-list li').textContent.startsWith(%q)`, first))
	c.Logf("%s is offered after %d ms: %s", first, time.Since(began).Milliseconds(),
		evaluate[string](c.T, c.tab, `document.getElementById('key-note').textContent`))
}

// painted logs how large a page is, and how long the browser took to paint it.
func (c *consoleTab) painted(page string) {
	c.Helper()
	c.until(`performance.getEntriesByName('first-contentful-paint').length === 1`)
	got := evaluate[struct{ Answer, Paint, Bytes float64 }](c.T, c.tab, `(() => {
		const n = performance.getEntriesByType('navigation')[0], p = performance.getEntriesByName('first-contentful-paint')[0];
		return { Answer: n.responseStart - n.requestStart, Paint: p.startTime - n.requestStart, Bytes: n.decodedBodySize };
	})()`)
	c.Logf("%s: %.0f bytes, answer after %.0f ms, painted after %.0f ms", page, got.Bytes, got.Answer, got.Paint)
	require.Less(c, got.Bytes, float64(2<<20))
}

// TestConsoleByKeyboard uses only the keyboard: it finds an item by typing, edits it, deletes three items at once,
// undoes that, and opens the slowest shape of the requests. The table has ITEMS items: half of them in one partition,
// the others in partitions of ten.
func TestConsoleByKeyboard(t *testing.T) {
	items, err := strconv.Atoi(cmp.Or(os.Getenv("ITEMS"), "20000"))
	require.NoError(t, err)
	c := openConsole(t, browser(t))
	c.db.Table("Orders", "PK / SK")
	var lines []byte
	for i := range items {
		partition := "CUSTOMER#all"
		if i%2 == 1 {
			partition = fmt.Sprintf("CUSTOMER#%06d", i/20)
		}
		lines = fmt.Appendf(lines, `{"PK":{"S":"%s"},"SK":{"S":"ORDER#%07d"},"total":{"N":"%d"},"state":{"S":"new"}}`, partition, i, i)
		if len(lines) > 1<<20 || i == items-1 {
			c.db.PutJSON("Orders", lines)
			lines = lines[:0]
		}
	}

	c.visit("")
	c.tabTo(`e.textContent === 'Orders' && e.closest('main') !== null`)
	c.press("\r")
	c.until(`document.querySelectorAll('#grid tbody tr').length === 100`)
	c.painted("table")

	// Go to the item in the middle of the large partition.
	middle := fmt.Sprintf("ORDER#%07d", items/2)
	c.press("/CUSTOMER#a")
	c.offered("CUSTOMER#all")
	c.press(kb.ArrowDown + "\r")
	c.offered("ORDER#0000000")
	c.press(middle)
	c.offered(middle)
	c.looks("million", `!document.getElementById('keys-found').hidden`)
	c.press(kb.ArrowDown + "\r")
	c.until(`location.pathname === '/item' && document.querySelector('main h1').textContent === 'CUSTOMER#all, ` + middle + `'`)
	c.painted("item")

	// Edit its state, which is on the third line.
	c.press("e")
	c.press(kb.Home, ctrl)
	c.press(kb.ArrowDown + kb.ArrowDown + kb.ArrowDown + kb.End + kb.ArrowLeft + kb.ArrowLeft + "er")
	c.until(`document.querySelector('#preview ins') !== null && document.querySelector('#preview ins').textContent === '"newer"'`)
	c.press("\r", ctrl)
	c.until(`document.readyState === 'complete' && document.getElementById('item') !== null && document.getElementById('item').defaultValue.includes('newer')`)

	// The three rows from it on.
	c.press("/\r")
	c.offered("ORDER#0000000")
	c.press(middle[:len(middle)-1] + "\r")
	c.until(`location.pathname === '/collection' && document.querySelectorAll('#grid tbody tr').length === 5`)
	c.painted("rows that begin with a text")
	for range 3 {
		c.press(kb.ArrowDown + "x")
	}
	c.press("b\r\r")
	c.until(`document.getElementById('bulk-done').textContent.startsWith('3 rows deleted, 3 write units')`)
	c.tabTo(`e.dataset.undo !== undefined && e.closest('#bulk-done') !== null`)
	c.press("\r")
	c.until(`document.getElementById('undo-said').textContent.startsWith('3 items undone')`)
	_, err = c.db.Client.Scan(c.Context(), &dynamodb.ScanInput{TableName: new("Orders"), Limit: new(int32(1000))})
	require.NoError(c, err)
	out, err := c.db.Client.Query(c.Context(), &dynamodb.QueryInput{
		TableName: new("Orders"), KeyConditionExpression: new("PK = :p AND begins_with(SK, :s)"), ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": &types.AttributeValueMemberS{Value: "CUSTOMER#all"}, ":s": &types.AttributeValueMemberS{Value: middle[:len(middle)-1]},
		},
	})
	require.NoError(c, err)
	require.Len(c, out.Items, 5)

	// See what a query reads, and follow the row before its slice to the item.
	c.tabTo(`e.id === 'query-sort'`)
	c.press(middle[:len(middle)-1] + "*")
	c.until(`document.querySelectorAll('#answer .read').length === 5 && document.querySelector('#answer').textContent.includes('newer')`)
	c.tabTo(`e.closest('#answer .outside') !== null`)
	before := evaluate[string](c.T, c.tab, `document.activeElement.textContent.slice(1, -1)`)
	require.Less(c, before, middle)
	c.press("\r")
	c.until(`location.pathname === '/item' && document.querySelector('h1').textContent.includes("` + before + `")`)

	// Open the slowest shape of the requests so far.
	c.tabTo(`e.textContent === 'Live requests'`)
	c.press("\r")
	c.until(`document.querySelectorAll('#shapes tbody tr').length === 2`)
	c.tabTo(`e.closest('#shapes') !== null && e.textContent === 'ms'`)
	c.press("\r")
	c.until(`document.querySelector('#shapes tbody th').textContent === 'Scan'`)
	c.clean()
}
