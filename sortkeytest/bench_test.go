package sortkeytest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sortkey/sortkey/sortkeytest"
)

// BenchmarkDiff measures a Diff of one changed item and a Dump of all of them.
func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		db := sortkeytest.New(b)
		db.Table("Orders", "customer / placed:N")
		for i := range n {
			db.Put("Orders", Order{Customer: fmt.Sprint(i / 10), Placed: i % 10, Status: "new", Total: i})
		}
		before := db.Fork(b)
		db.Put("Orders", Order{Customer: "7", Placed: 2, Shipped: true})
		b.Run(fmt.Sprintf("Diff/items=%d", n), func(b *testing.B) {
			for b.Loop() {
				if got := db.Diff(before); strings.Count(got, "\n") != 2 {
					b.Fatal(got)
				}
			}
		})
		b.Run(fmt.Sprintf("Dump/items=%d", n), func(b *testing.B) {
			for b.Loop() {
				if got := db.Dump(); strings.Count(got, "\n") != n+1 {
					b.Fatal("lines are missing")
				}
			}
		})
	}
}
