package browser_test

import (
	"encoding/base64"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// consoleForm edits an item in both kinds of JSON, and undoes the change.
func consoleForm(c *consoleTab) {
	c.db.Table("Shop", "PK / SK")
	c.db.PutJSON("Shop", []byte(`{"PK": {"S": "a"}, "SK": {"S": "b"}, "name": {"S": "Ada"}, "tags": {"SS": ["x", "y"]}}`))
	before := c.db.Dump("Shop")
	item := "item?name=Shop&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"a"},"SK":{"S":"b"}}`))
	c.visit(item)
	c.until(`document.getElementById('form') !== null && document.querySelector('#form a') === null`) // an item with a set
	c.until(`document.getElementById('item').value.includes('"SS"')`)
	c.edit("Ada", "Grace")
	c.until(`document.getElementById('preview').textContent.includes('Grace')`)
	c.put()
	c.until(`document.getElementById('undo') !== null && document.getElementById('item').value.includes('"SS"')`)
	require.Contains(c, c.db.Dump("Shop"), "Grace")

	c.do(chromedp.Click("#undo summary"))
	c.looks("item-undo", `document.getElementById('undo').open`)
	c.do(chromedp.Click("#undo button"))
	c.until(`document.getElementById('undo-said').textContent.includes('1 item undone')`)
	require.Equal(c, before, c.db.Dump("Shop"))

	c.visit(item)
	c.until(`document.getElementById('item').value.includes('"SS"')`)
	c.edit("Ada", "Eve")
	c.until(`document.getElementById('preview').textContent.includes('Eve')`)
	c.do(chromedp.Click("#put-on-branch"))
	c.until(`location.pathname === '/branch/1/item' && document.getElementById('item').value.includes('Eve')`)
	require.Equal(c, before, c.db.Dump("Shop"))

	c.visit(item) // the page discards the branch if the write to it fails
	c.until(`document.getElementById('item').value.includes('"SS"')`)
	c.db.PutJSON("Shop", []byte(`{"PK": {"S": "a"}, "SK": {"S": "b"}, "name": {"S": "theirs"}}`))
	c.edit("Ada", "Mallory")
	c.until(`document.getElementById('preview').textContent.includes('Mallory')`)
	c.do(chromedp.Click("#put-on-branch"))
	c.until(`document.getElementById('said').textContent.includes('somebody has changed the item')`)
	c.until(`fetch('branches').then(r => r.text()).then(text => text.includes('id="branch-1"') && !text.includes('id="branch-2"'))`)
	c.clean("400", "409")
}

// consoleUndo deletes rows, undoes that after another program has put one of them, and deletes rows on a branch.
func consoleUndo(c *consoleTab) {
	c.shop()
	const page = "collection?name=Shop&partition=CUSTOMER%23c1"
	c.visit(page)
	const rows = `document.querySelectorAll('#grid tbody tr').length === 16`
	c.until(rows)
	c.do(chromedp.Click("#grid thead input"), chromedp.Click("#bulk-delete"), chromedp.Click("#bulk-delete"))
	c.until(`document.querySelector('#bulk-done [data-undo]') !== null`)
	c.db.Put("Shop", map[string]any{"PK": "CUSTOMER#c1", "SK": "ORDER#0005", "total": "<b>theirs"})
	c.looks("bulk-undo", `document.querySelector('#bulk-done [data-undo]') !== null`)
	c.do(chromedp.Click("#bulk-done [data-undo]"))
	c.until(`document.querySelector('#undo-said li') !== null`)
	require.Equal(c, "CUSTOMER#c1, ORDER#0005: somebody has changed it since", evaluate[string](c.T, c.tab, `document.querySelector('#undo-said li').textContent`))
	c.looks("undone", `document.querySelector('#undo-said li') !== null`)
	dump := c.db.Dump("Shop")
	require.Equal(c, 16, strings.Count(dump, `"CUSTOMER#c1" /`))
	require.Contains(c, dump, "theirs")

	c.visit(page)
	c.until(rows)
	c.do(chromedp.Click("#grid thead input"), chromedp.Click("#bulk-branch"), chromedp.Click("#bulk-delete"), chromedp.Click("#bulk-delete"))
	c.until(`document.querySelector('#bulk-done a') !== null`)
	require.Equal(c, dump, c.db.Dump("Shop"))
	c.looks("bulk-branch", `document.querySelector('#bulk-done a') !== null`)
	c.do(chromedp.Click("#bulk-done a"))
	c.until(`location.pathname === '/branch/1/collection' && document.querySelector('#undo') !== null && document.querySelector('#grid') === null`)
	c.do(chromedp.Click("#undo summary"))
	c.looks("undo", `document.getElementById('undo').open`)
	c.do(chromedp.Click("#undo button"))
	c.until(`document.getElementById('undo-said').textContent.includes('16 items undone')`)
	c.clean()
}
