package item_test

import (
	"testing"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
)

// order is a typical item: every kind.
const order = `{"PK":{"S":"CUSTOMER#01J8Z3QK5T"},"SK":{"S":"ORDER#2024-09-17T08:15:30.25Z"},"active":{"BOOL":true},` +
	`"avatar":{"B":"iVBORw0KGgoAAAANSUhEUgAAAAE="},"codes":{"NS":["3","14","159","2653"]},"deleted":{"NULL":true},` +
	`"hashes":{"BS":["AAECAw==","BAUGBw=="]},"lines":{"L":[{"M":{"price":{"N":"1234.56"},"sku":{"S":"A-100"}}},` +
	`{"M":{"price":{"N":"0.99"},"sku":{"S":"B-7"}}}]},"name":{"S":"Zoë \"Zo\" Müller-Lüdin"},"paid":{"BOOL":false},` +
	`"tags":{"SS":["gift","priority"]},"total":{"N":"2481"},"ship":{"M":{"city":{"S":"Zürich"}}}}`

// FuzzJSONLen compares the length with that of the text.
func FuzzJSONLen(f *testing.F) {
	for _, in := range []string{
		`{}`, order,
		`{"a":{"L":[]},"b":{"M":{}},"c":{"S":""},"d":{"B":""},"e":{"L":[{"L":[]},{"S":""}]}}`,
		`{"n":{"L":[{"N":"0"},{"N":"-1"},{"N":"1E125"},{"N":"-9.9E125"},{"N":"1E-130"},` +
			`{"N":"0.5"},{"N":"-10.25"},{"N":"100"}]}}`,
		`{"s":{"S":"\u0000\u0001\b\f\n\r\t\u001f\u007f\"\\/<>&'\u2028\u2029é𝄞\ufffd"},` +
			`"\u0001\n":{"SS":["\t","\u0002"]}}`,
		`{"n":{"NS":["1E-130","-1E125","12345678901234567890123456789012345678"]}}`,
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		it, err := attr.ParseItem(in)
		if err != nil {
			return
		}
		if got, want := item.JSONLen(it), len(it.AppendJSON(nil)); got != want {
			t.Errorf("JSONLen(%s) = %d, want %d", it, got, want)
		}
	})
}

// TestJSONLenOfOtherBytes checks text that is not UTF-8, which JSON cannot hold.
func TestJSONLenOfOtherBytes(t *testing.T) {
	for _, text := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9d\x84", "é\x80é"} {
		var b attr.Builder
		b.Add("s", attr.NewString(text))
		it := b.Item()
		if got, want := item.JSONLen(it), len(it.AppendJSON(nil)); got != want {
			t.Errorf("JSONLen(%q) = %d, want %d", text, got, want)
		}
	}
}
