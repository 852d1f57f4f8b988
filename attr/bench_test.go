package attr_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/item/token"
)

// order is a typical item: every kind, 553 bytes of JSON.
const order = `{"PK":{"S":"CUSTOMER#01J8Z3QK5T"},"SK":{"S":"ORDER#2024-09-17T08:15:30.25Z"},"active":{"BOOL":true},` +
	`"avatar":{"B":"iVBORw0KGgoAAAANSUhEUgAAAAE="},"codes":{"NS":["3","14","159","2653"]},"deleted":{"NULL":true},` +
	`"hashes":{"BS":["AAECAw==","BAUGBw=="]},"lines":{"L":[{"M":{"price":{"N":"1234.56"},` +
	`"qty":{"N":"2"},"sku":{"S":"A-100"}}},{"M":{"price":{"N":"0.99"},"qty":{"N":"12"},"sku":{"S":"B-7"}}}]},` +
	`"name":{"S":"Zoë \"Zo\" Müller-Lüdin"},"tags":{"SS":["gift","priority"]},"total":{"N":"2481"},` +
	`"ship":{"M":{"city":{"S":"Zürich"},"zip":{"S":"8001-1"}}}}`

func BenchmarkParseItem(b *testing.B) {
	in := []byte(order)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := attr.ParseItem(in); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUnmarshalItem reads with an existing reader, as a request does.
func BenchmarkUnmarshalItem(b *testing.B) {
	in := []byte(order)
	var tokens token.Reader
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		tokens.Reset(in)
		if _, err := doc.AppendItem(nil, &tokens, doc.AnySize); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	it := must(b, order)
	buf := make([]byte, 0, 1024)
	b.SetBytes(int64(len(order)))
	b.ReportAllocs()
	for b.Loop() {
		buf = it.AppendJSON(buf[:0])
	}
}

func BenchmarkGet(b *testing.B) {
	it := must(b, order)
	b.ReportAllocs()
	for b.Loop() {
		if it.Get("total").IsZero() {
			b.Fatal("no total")
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	it := must(b, order)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := item.Check(it); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	for _, text := range []string{"7", "1234.56", "-12345678901234567890.123456789012345678"} {
		raw, err := attr.AppendNumber(nil, text)
		if err != nil {
			b.Fatal(err)
		}
		var buf []byte
		b.Run("parse/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = attr.AppendNumber(buf[:0], text)
			}
		})
		b.Run("print/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buf = number.AppendText(buf[:0], raw)
			}
		})
	}
}

// BenchmarkEncode5 and BenchmarkDecode5 convert a struct of five attributes, with this
// package and with the AWS SDK's.
func BenchmarkEncode5(b *testing.B) {
	b.Run("attr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := attr.MarshalItem(&sample); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("attributevalue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := attributevalue.MarshalMap(&sample); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode5(b *testing.B) {
	it, err := attr.MarshalItem(&sample)
	if err != nil {
		b.Fatal(err)
	}
	m, err := attributevalue.MarshalMap(&sample)
	if err != nil {
		b.Fatal(err)
	}
	var dst row
	b.Run("attr", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := attr.UnmarshalItem(it, &dst); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("attributevalue", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst.Tags = nil // it would keep the memory of the slice
			if err := attributevalue.UnmarshalMap(m, &dst); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("attr/10 rows", func(b *testing.B) {
		rows := make([]row, 10)
		b.ReportAllocs()
		for b.Loop() {
			for i := range rows {
				if err := attr.UnmarshalItem(it, &rows[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
