package memory_test

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func Example() {
	const orders store.Space = 1
	ctx, s := context.Background(), memory.Open()
	defer s.Close()

	err := s.Update(ctx, func(w store.Writer) error {
		for _, date := range []string{"2026-03-01", "2026-01-15", "2025-12-24", "2026-02-02"} {
			if err := w.Put(orders, []byte("customer#42"), []byte(date), []byte("an order")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}

	year := []byte("2026-") // every sort position with this prefix, newest first
	in2026 := store.Range{Lo: year, Hi: store.AppendUpper(nil, year)}
	err = s.View(ctx, func(r store.Reader) error {
		for row, err := range r.Query(orders, []byte("customer#42"), in2026, true) {
			if err != nil {
				return err
			}
			fmt.Printf("%s: %s\n", row.Sort, row.Value)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 2026-03-01: an order
	// 2026-02-02: an order
	// 2026-01-15: an order
}

func ExampleOpen_fork() {
	ctx, s := context.Background(), memory.Open()
	_ = s.Update(ctx, func(w store.Writer) error {
		return w.Put(1, []byte("p"), []byte("k"), []byte("shared"))
	})

	fork, err := s.Fork() // takes no longer for a million rows
	if err != nil {
		panic(err)
	}
	_ = fork.Update(ctx, func(w store.Writer) error { return w.Clear(1) })

	count := func(s store.Store) (n int) {
		_ = s.View(ctx, func(r store.Reader) error {
			for range r.Scan(1, store.Everything()) {
				n++
			}
			return nil
		})
		return n
	}
	fmt.Println(count(s), count(fork))
	// Output: 1 0
}
