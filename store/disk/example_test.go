package disk_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

func Example() {
	const orders store.Space = 1
	ctx := context.Background()
	tmp, err := os.MkdirTemp("", "sortkey")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, "data")

	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = s.Update(ctx, func(w store.Writer) error {
		for _, date := range []string{"2026-03-01", "2026-01-15", "2025-12-24"} {
			if err := w.Put(orders, []byte("customer#42"), []byte(date), []byte("an order")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	s, err = disk.Open(dir, disk.Options{ReadOnly: true})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	year := []byte("2026-")
	err = s.View(ctx, func(r store.Reader) error {
		in2026 := store.Range{Lo: year, Hi: store.AppendUpper(nil, year)}
		for row, err := range r.Query(orders, []byte("customer#42"), in2026, true) {
			if err != nil {
				return err
			}
			fmt.Printf("%s: %s\n", row.Sort, row.Value)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2026-03-01: an order
	// 2026-01-15: an order
}
