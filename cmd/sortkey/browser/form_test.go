package browser_test

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// field returns an expression for a control of the field with a name.
func fieldOf(name, control string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('#field-list li')].find(li => li.querySelector('.field-name').value === %q).querySelector(%q)`, name, control)
}

// choose chooses a type or a value.
func (c *consoleTab) choose(element, value string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		`(e => { e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})); })(%s)`, value, element)))
}

// consoleForm edits an item in the form, beside both kinds of JSON, and takes the change back.
func consoleForm(c *consoleTab) {
	c.db.Table("Shop", "PK / SK")
	c.db.PutJSON("Shop", []byte(`{"PK": {"S": "a"}, "SK": {"S": "b"}, "name": {"S": "Ada"}, "code": {"S": "007"}, "born": {"N": "1815"}, "photo": {"B": "AP8="},
		"tags": {"SS": ["x", "y"]}, "paid": {"BOOL": true}, "gone": {"NULL": true}, "address": {"M": {"city": {"S": "Oslo"}, "lines": {"L": [{"N": "1"}]}}},
		"odd": {"M": {"set": {"NS": ["1"]}}}, "cr": {"S": "a\r\nb"}, "a\u202eb": {"N": "12345678901234567890123456789012345678"}}`))
	before := c.db.Dump("Shop")
	item := "item?name=Shop&key=" + base64.RawURLEncoding.EncodeToString([]byte(`{"PK":{"S":"a"},"SK":{"S":"b"}}`))
	const shown = `document.querySelectorAll('#field-list li').length === 13 && document.getElementById('item').hidden`
	c.visit(item)
	c.until(`document.getElementById('item') !== null`)
	c.do(chromedp.Click("#as-fields"))
	c.until(shown)
	c.looks("form", shown)
	c.do(chromedp.Click("#put"))
	c.until(`document.getElementById('preview').textContent.includes('Nothing changes')`)

	c.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`))
	c.press("e") // to the first value that is not of the key
	require.Equal(c, "value of address", evaluate[string](c.T, c.tab, `document.activeElement.getAttribute('aria-label')`))
	for _, kind := range []string{"NULL", "M", "S"} {
		c.choose(fieldOf("name", ".field-type"), kind)
	}
	require.Equal(c, "Ada", evaluate[string](c.T, c.tab, fieldOf("name", ".field-value")+`.value`), "a type is chosen and taken back")
	c.choose(fieldOf("name", ".field-value"), "Grace")
	c.choose(fieldOf("code", ".field-type"), "N")
	c.choose(fieldOf("paid", ".field-value"), "false")
	c.choose(fieldOf("tags", ".field-value"), `["x", "z"]`)
	c.until(`document.getElementById('preview').textContent.includes('7 (N)')`)
	require.Contains(c, evaluate[string](c.T, c.tab, `document.getElementById('preview').textContent`), `"007" (S)`)
	c.choose(fieldOf("born", ".field-value"), "18x")
	c.until(`document.getElementById('preview').textContent.includes('born: "18x" is not a number')`)
	c.looks("form-refused", shown)
	c.do(chromedp.Click("#as-plain")) // a form that cannot be read stays
	c.until(`document.getElementById('said').textContent.includes('18x') && document.getElementById('as-fields').checked`)
	c.choose(fieldOf("born", ".field-value"), "1816")
	c.do(chromedp.Evaluate[chromedp.Void](fieldOf("gone", "button") + `.click()`))
	c.do(chromedp.Click("#field-add"))
	c.press("age")
	c.choose(fieldOf("age", ".field-type"), "N")
	c.choose(fieldOf("age", ".field-value"), "12345678901234567890123456789012345678")
	c.do(chromedp.Click("#typed")) // the three are views of one state
	c.until(`!document.getElementById('item').hidden && document.getElementById('item').value.includes('"12345678901234567890123456789012345678"')`)
	c.edit(`"Grace"`, `"Hopper"`)
	c.do(chromedp.Click("#as-fields"))
	c.until(shown)
	require.Equal(c, "Hopper", evaluate[string](c.T, c.tab, fieldOf("name", ".field-value")+`.value`))
	c.put()
	c.until(`document.readyState === 'complete' && document.querySelector('#undo') !== null && ` + shown)
	after := c.db.Dump("Shop")
	for _, want := range []string{"age: 12345678901234567890123456789012345678", "born: 1816", "code: 7", `cr: "a\r\nb"`, `name: "Hopper"`, "paid: false", `tags: <"x", "z">`, "photo: 0x00ff"} {
		require.Contains(c, after, want)
	}
	require.NotContains(c, after, "gone")

	c.do(chromedp.Click("#undo summary"))
	c.looks("item-undo", `document.getElementById('undo').open`)
	c.do(chromedp.Click("#undo button"))
	c.until(`document.getElementById('undo-said').textContent.includes('1 item undone')`)
	require.Equal(c, before, c.db.Dump("Shop"))

	c.visit(item)
	c.until(shown) // the browser keeps the view
	c.choose(fieldOf("name", ".field-value"), "Eve")
	c.do(chromedp.Evaluate[chromedp.Void](`document.getElementById('as-fields').focus()`))
	c.press("\t")
	c.until(`document.getElementById('preview').textContent.includes('Eve')`)
	c.do(chromedp.Click("#put-on-branch"))
	c.until(`location.pathname === '/branch/1/item' && ` + shown)
	require.Equal(c, "Eve", evaluate[string](c.T, c.tab, fieldOf("name", ".field-value")+`.value`))
	require.Equal(c, before, c.db.Dump("Shop"))

	c.visit(item) // a branch in which nothing was written goes
	c.until(shown)
	c.db.PutJSON("Shop", []byte(`{"PK": {"S": "a"}, "SK": {"S": "b"}, "name": {"S": "theirs"}}`))
	c.choose(fieldOf("name", ".field-value"), "Mallory")
	c.until(`document.getElementById('preview').textContent.includes('Mallory')`)
	c.do(chromedp.Click("#put-on-branch"))
	c.until(`document.getElementById('said').textContent.includes('somebody has changed the item')`)
	c.until(`fetch('branches').then(r => r.text()).then(text => text.includes('id="branch-1"') && !text.includes('id="branch-2"'))`)
	c.clean("400", "409")
}

// consoleUndo deletes rows and takes that back after somebody else has put one, and deletes rows on a branch.
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
