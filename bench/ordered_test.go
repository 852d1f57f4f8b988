package bench_test

import (
	"flag"
	"os"
	"os/exec"
	"sync"
	"testing"
)

var ordered sync.Once

// BenchmarkOrdered runs the benchmark of that name in bench/embedded once. bench/embedded is a module of its own,
// because it requires the stores that it compares: google/btree, tidwall/btree, Pebble, Badger and bbolt. The results
// are the lines that it prints. It gets -benchtime and -count, and takes some minutes on an idle machine.
func BenchmarkOrdered(b *testing.B) {
	ordered.Do(func() {
		args := []string{"test", "-run", "^$", "-bench", "Ordered", "-timeout", "60m", "."}
		for _, name := range []string{"benchtime", "count"} {
			args = append(args, "-"+name, flag.Lookup("test."+name).Value.String())
		}
		cmd := exec.CommandContext(b.Context(), "go", args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = "embedded", os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	})
}
