package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/sortkey/sortkey/bench/measure"
)

// firstCommand measures the first command of the README as someone meets it who has the modules
// but has never built them. Go's own packages are built, too.
func (t *targets) firstCommand(ctx context.Context) ([]Target, error) {
	const name = "go run ./cmd/sortkey/demo, empty build cache"
	var took, processor time.Duration
	rows := func() []Target {
		return []Target{
			atMost(name+": time", 60e9, float64(took), measure.Duration, "one run"),
			atMost(
				name+": processor time", 90e9, float64(processor), measure.Duration, "the same run, compilers included",
			),
		}
	}
	if t.sources == "" {
		skipped := rows()
		for i := range skipped {
			skipped[i] = skipped[i].skip("no sources given: --sources")
		}
		return skipped, nil
	}
	cache, err := os.MkdirTemp(t.Dir, "sortkey-build-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(cache) }()

	if _, _, err := t.goCommand(ctx, cache, "list", "-deps", "./cmd/sortkey/demo"); err != nil { // downloads modules
		return nil, err
	}
	if took, processor, err = t.goCommand(ctx, cache, "run", "./cmd/sortkey/demo"); err != nil {
		return nil, err
	}
	return rows(), nil
}

// goCommand runs the go command in the folder of the sources. It returns how long that took, and the processor
// time of it and of all that it started and waited for.
func (t *targets) goCommand(
	ctx context.Context, cache string, args ...string,
) (took, processor time.Duration, err error) {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // no shell
	cmd.Dir, cmd.Env = t.sources, append(os.Environ(), "GOCACHE="+cache)
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s in %s: %w\n%s", cmd, t.sources, err, out)
	}
	return time.Since(begin), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
