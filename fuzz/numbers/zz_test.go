package numbers_test

import (
	"fmt"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	from, _ := strconv.Atoi(os.Getenv("ZF"))
	n, _ := strconv.Atoi(os.Getenv("ZN"))
	bad := 0
	for i := from; i < from+n; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		b := make([]byte, 2000)
		for k := range b {
			b[k] = byte(r.Uint32())
		}
		rep := proptest.Play(t, b, holdNumbers)
		if rep != "" {
			bad++
			var out []string
			for _, l := range strings.Split(rep, "\n") {
				if strings.Contains(l, "Trace") || strings.Contains(l, ".go:") {
					continue
				}
				out = append(out, strings.TrimSpace(l))
			}
			fmt.Println("==", i, strings.Join(out, "\n"))
		}
	}
	fmt.Println("bad", bad, "of", n)
}
