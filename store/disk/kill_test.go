package disk_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
)

// writerEnv names the folder that a process started by TestKill writes to; copiesEnv
// names one for snapshots that the process makes at the same time.
const (
	writerEnv = "SORTKEY_TEST_WRITER"
	copiesEnv = "SORTKEY_TEST_COPIES"
	// childEnv is set in a process that runs one test.
	childEnv = "SORTKEY_TEST_CHILD"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		fmt.Fprintln(os.Stderr, write(dir))
		os.Exit(1)
	}
	table.DefaultLoadFrom = 1000 // load fewer items as sorted rows than programs do
	if os.Getenv(childEnv) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// inChild runs the current test in a process of its own, and then returns true. In that process it returns false. There
// the test may leave goroutines behind, those of an engine that the store has given up.
func inChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childEnv) != "" {
		return false
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^"+t.Name()+"$", "-test.timeout", "2m")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return true
}

const killWriters = 8

// Writer i makes the updates n = 1, 2, …: it puts rows for n into two spaces
// and sets its counter to n.
func writeNumber(s *disk.Store, i int, n uint64, size int) error {
	name, number := fmt.Appendf(nil, "writer %d", i), binary.BigEndian.AppendUint64(nil, n)
	return s.Update(context.Background(), func(w store.Writer) error {
		if err := w.Put(1, name, number, make([]byte, size)); err != nil {
			return err
		}
		if err := w.Put(0, name, nil, number); err != nil {
			return err
		}
		return w.Put(2, number, name, number)
	})
}

func counter(r store.Reader, i int) (uint64, error) {
	v, ok, err := r.Get(0, fmt.Appendf(nil, "writer %d", i), nil)
	if err != nil || !ok {
		return 0, err
	}
	return binary.BigEndian.Uint64(v), nil
}

// write writes to the store in dir until the process is killed. It prints every
// acknowledged update to standard output.
func write(dir string) error {
	s, err := disk.Open(dir, disk.Options{MemTableBytes: 256 << 10})
	if err != nil {
		return err
	}
	start := make([]uint64, killWriters)
	err = s.View(context.Background(), func(r store.Reader) (err error) {
		for i := range start {
			if start[i], err = counter(r, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	errs := make(chan error)
	if to := os.Getenv(copiesEnv); to != "" {
		go func() { errs <- makeCopies(s, to) }()
	}
	for i, n := range start {
		go func() {
			for {
				n++
				if err := writeNumber(s, i, n, int(n*7919%1000)); err != nil {
					errs <- err
					return
				}
				if _, err := fmt.Printf("%d %d\n", i, n); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

// makeCopies forks the store and takes snapshots of it until the process is killed.
// It prints the number of each snapshot before and after it.
func makeCopies(s *disk.Store, to string) error {
	for n := 0; ; n++ {
		f, err := s.Fork()
		if err != nil {
			return err
		}
		if err := writeNumber(f.(*disk.Store), killWriters, uint64(n)+1, 10); err != nil {
			return err
		}
		if _, err := fmt.Printf("snapshot %d\n", n); err != nil {
			return err
		}
		if err := s.Snapshot(context.Background(), filepath.Join(to, strconv.Itoa(n))); err != nil {
			return err
		}
		if _, err := fmt.Printf("complete %d\n", n); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// startWriter starts a process that writes to the store in dir until it is killed, and returns its lines.
func startWriter(t *testing.T, dir string, env ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), writerEnv+"="+dir), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

// TestKill kills a writing process at random moments, again and again with the same folder. SORTKEY_CHECKS multiplies
// how often (scripts/crash.sh). Every write that the process acknowledged must be present and complete.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := proptest.Cases(10)
	rng := rand.New(rand.NewPCG(uint64(proptest.Seed()), 0))
	dir := t.TempDir()
	acked := make([]uint64, killWriters)
	checked, unacked := 0, uint64(0)
	for round := range rounds {
		before := append([]uint64(nil), acked...)
		cmd, lines := startWriter(t, dir)
		var wait sync.WaitGroup
		first := true
		for lines.Scan() { // the kill may cut off the last line
			var i int
			var n uint64
			if k, _ := fmt.Sscanf(lines.Text(), "%d %d", &i, &n); k != 2 || n != acked[i]+1 {
				if n <= acked[i] {
					continue // cut off
				}
				t.Fatalf("round %d: %q after %d", round, lines.Text(), acked[i])
			}
			acked[i] = n
			if first {
				first = false
				delay := time.Duration(rng.Int64N(int64(150 * time.Millisecond)))
				wait.Go(func() {
					time.Sleep(delay)
					_ = cmd.Process.Kill()
				})
			}
		}
		wait.Wait()
		require.False(t, first, "round %d: nothing was written", round)
		require.Error(t, cmd.Wait(), "it was killed")

		s := open(t, dir, disk.Options{})
		c, u := checkWriters(t, s, fmt.Sprintf("round %d", round), before, acked)
		checked, unacked = checked+c, unacked+u
		require.NoError(t, s.Close())
	}
	t.Logf("%s acknowledged writes checked over %d kills, none lost; %d more were there unacknowledged",
		strconv.Itoa(checked), rounds, unacked)
}

// checkWriters checks that the updates of all writers are complete, and that the acknowledged ones are present. It
// returns how many were acknowledged after before, and how many more are present. It sets acked to the ones that are
// present.
func checkWriters(t *testing.T, s *disk.Store, what string, before, acked []uint64) (checked int, unacked uint64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for i := range killWriters {
			last, err := counter(r, i)
			require.NoError(t, err)
			require.GreaterOrEqual(t, last, acked[i], "%s, writer %d", what, i)
			name, n := fmt.Appendf(nil, "writer %d", i), uint64(0)
			for row, err := range r.Query(1, name, store.Range{}, false) {
				require.NoError(t, err)
				n++
				require.Equal(t, n, binary.BigEndian.Uint64(row.Sort), "%s, writer %d", what, i)
			}
			require.Equal(t, last, n, "%s, writer %d: half an update", what, i)
			for n := before[i] + 1; n <= last; n++ {
				_, ok, err := r.Get(2, binary.BigEndian.AppendUint64(nil, n), name)
				require.NoError(t, err)
				require.True(t, ok, "%s, writer %d: half of update %d", what, i, n)
			}
			checked += int(acked[i] - before[i])
			unacked += last - acked[i]
			acked[i] = last
		}
		return nil
	}))
	return checked, unacked
}

// TestKillNewFolder kills processes in their first tenth of a second with a new folder: while they create it, and
// while they write its first updates. The folder must open afterwards and contain all acknowledged updates.
func TestKillNewFolder(t *testing.T) {
	t.Parallel()
	rounds := proptest.Cases(10)
	rng := rand.New(rand.NewPCG(uint64(proptest.Seed()), 1))
	checked := 0
	for round := range rounds {
		dir := filepath.Join(t.TempDir(), "db")
		cmd, lines := startWriter(t, dir)
		delay := time.Duration(rng.Int64N(int64(100 * time.Millisecond)))
		timer := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		acked := make([]uint64, killWriters)
		for lines.Scan() {
			var i int
			var n uint64
			if k, _ := fmt.Sscanf(lines.Text(), "%d %d", &i, &n); k == 2 && n == acked[i]+1 {
				acked[i] = n
			}
		}
		_ = cmd.Wait()
		timer.Stop()
		s := open(t, dir, disk.Options{})
		c, _ := checkWriters(t, s, fmt.Sprintf("round %d, killed after %v", round, delay), make([]uint64, killWriters), acked)
		checked += c
		require.NoError(t, s.Close())
	}
	t.Logf("%d acknowledged writes checked in %d new folders, none lost", checked, rounds)
}

// TestKillCopies kills a process that writes, forks and takes snapshots. The store must lose nothing, and must not
// have rows of a fork. Each snapshot must be absent, or refused, or one state of the store with all updates that were
// acknowledged before it. The folders of forks must be gone.
func TestKillCopies(t *testing.T) {
	t.Parallel()
	rounds := proptest.Cases(3)
	rng := rand.New(rand.NewPCG(uint64(proptest.Seed()), 2))
	dir := t.TempDir()
	acked := make([]uint64, killWriters)
	checked, complete, cut := 0, 0, 0
	for round := range rounds {
		before, to := slices.Clone(acked), t.TempDir()
		cmd, lines := startWriter(t, dir, copiesEnv+"="+to)
		var started [][]uint64 // updates acknowledged before each snapshot
		done := 0
		var timer *time.Timer
		for lines.Scan() {
			var i int
			var n uint64
			switch line := lines.Text(); {
			case line == fmt.Sprint("snapshot ", len(started)):
				started = append(started, slices.Clone(acked))
			case line == fmt.Sprint("complete ", done):
				done++
			default:
				if k, _ := fmt.Sscanf(line, "%d %d", &i, &n); k == 2 && n == acked[i]+1 {
					acked[i] = n
				}
			}
			if timer == nil {
				timer = time.AfterFunc(time.Duration(rng.Int64N(int64(150*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			}
		}
		require.NotNil(t, timer, "round %d: nothing was written", round)
		require.Error(t, cmd.Wait(), "it was killed")
		timer.Stop()

		what := fmt.Sprintf("round %d", round)
		s := open(t, dir, disk.Options{})
		c, _ := checkWriters(t, s, what, before, acked)
		checked += c
		require.Zero(t, writerOf(t, s, killWriters), "a write to a fork")
		_, err := os.Stat(filepath.Join(dir, "forks"))
		require.ErrorIs(t, err, os.ErrNotExist, what)
		require.NoError(t, s.Close())

		for n, least := range started {
			path, what := filepath.Join(to, strconv.Itoa(n)), fmt.Sprintf("%s, snapshot %d", what, n)
			if _, err := os.Stat(path); n >= done && errors.Is(err, os.ErrNotExist) {
				cut++
				continue
			}
			s, err := disk.Open(path, disk.Options{ReadOnly: true})
			if err != nil && n >= done {
				cut++
				continue
			}
			require.NoError(t, err, what)
			checkWriters(t, s, what, make([]uint64, killWriters), least)
			require.Zero(t, writerOf(t, s, killWriters), "%s: a write to a fork", what)
			require.NoError(t, s.Close())
			complete++
		}
		require.NoError(t, os.RemoveAll(to))
	}
	t.Logf("%d acknowledged writes checked over %d kills, none lost; %d snapshots made under load are whole, %d were cut off", checked, rounds, complete, cut)
}

// writerOf returns the counter of writer i.
func writerOf(t *testing.T, s *disk.Store, i int) (n uint64) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), func(r store.Reader) (err error) {
		n, err = counter(r, i)
		return err
	}))
	return n
}
