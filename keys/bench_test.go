package keys_test

import (
	"testing"

	"github.com/sortkey/sortkey/keys"
)

func BenchmarkTemplate(b *testing.B) {
	tmpl := keys.MustParse("CUSTOMER#{customer}#{status:enum(NEW,PAID,SHIPPED)}#{placed:date}#{number:int(8):desc}")
	values := map[string]string{"customer": "42", "status": "PAID", "placed": "2026-01-05", "number": "7"}
	key, err := tmpl.Build(values)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = tmpl.Build(values)
		}
	})
	b.Run("match", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tmpl.Match(key)
		}
	})
}
