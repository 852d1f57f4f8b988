package sortkey_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
)

// A Reading is an item of the benchmarks: five attributes, about 200 bytes.
type Reading struct {
	Sensor string `dynamodbav:"sensor"`
	At     int    `dynamodbav:"at"`
	Place  string `dynamodbav:"place"`
	Value  int    `dynamodbav:"value"`
	Note   string `dynamodbav:"note"`
}

func reading(i int) Reading {
	return Reading{
		Sensor: fmt.Sprintf("sensor-%03d", i%100), At: i / 100, Place: fmt.Sprintf("hall-%d", i%7), Value: i,
		Note: fmt.Sprintf("%0150d", i),
	}
}

// BenchmarkEmbedded measures the operations of the Go API.
func BenchmarkEmbedded(b *testing.B) {
	const items = 100_000
	db, err := sortkey.Open(sortkey.Options{})
	require.NoError(b, err)
	defer db.Close()
	ctx := context.Background()
	require.NoError(b, db.CreateTable(ctx, "Readings", "sensor / at:N", sortkey.Global("ByPlace", "place / value:N")))
	t := sortkey.Table[Reading](db, "Readings")
	for i := range items {
		require.NoError(b, t.Put(ctx, reading(i)))
	}
	count := func(b *testing.B, want int, partition any, opts ...sortkey.QueryOption) {
		n := 0
		for _, err := range t.Query(ctx, partition, opts...) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("%d rows, want %d", n, want)
		}
	}

	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % items
			if _, err := t.Get(ctx, fmt.Sprintf("sensor-%03d", i%100), i/100); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Query10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			count(b, 10, "sensor-007", sortkey.Between(100, 109))
		}
	})
	b.Run("Page10", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := t.QueryPage(ctx, "sensor-007", sortkey.Between(100, 109))
			if err != nil || len(page.Items) != 10 {
				b.Fatal(len(page.Items), err)
			}
		}
	})
	b.Run("Put", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % items
			if err := t.Put(ctx, reading(i)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
