package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/store/disk"
)

// inFolder opens the database in a folder, calls check with a client, and closes the database.
func inFolder(t *testing.T, dir string, check func(db *dynamodb.Client)) {
	t.Helper()
	st, err := disk.Open(dir, disk.Options{})
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	check(sdk.Direct(db))
	require.NoError(t, db.Close())
}

// names returns the names in a folder.
func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// checkOneState tests that a database is in one consistent state: the accounts match the receipts, and the indexes
// match their table.
func checkOneState(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	balances, sum := map[string]int{}, 0
	for i := range accounts {
		balances[accountName(i)] = deposit
	}
	found := byAddress(t, bank, scan(t, db, bank, ""))
	for _, it := range found {
		if it["amount"] != nil {
			balances[accountName(number(it["from"]))] -= number(it["amount"])
			balances[accountName(number(it["to"]))] += number(it["amount"])
		}
	}
	for name, want := range balances {
		got := number(found[name+", "]["balance"])
		require.Equal(t, want, got, "%s, by its receipts", name)
		sum += got
	}
	require.Equal(t, accounts*deposit, sum)
	for _, table := range []string{plain, indexed} {
		all := byAddress(t, table, scan(t, db, table, ""))
		for at, it := range all {
			var k key
			_, err := fmt.Sscanf(at, "client %d part %d, slot %d", &k.client, new(int), &k.slot)
			require.NoError(t, err, at)
			k.table = table
			if want := k.item(number(it["n"])); !equal(it, want) {
				t.Fatalf("%v has half a write: %v, want %v", k, it, want)
			}
		}
		if table == indexed {
			checkIndexes(t, db, all)
		}
	}
}

// randomDelay returns a time after which a command, which usually takes the time long, is likely to be at work.
func randomDelay(rng *rand.Rand, long time.Duration) time.Duration {
	const begin = 10 * time.Millisecond // it starts
	return begin + time.Duration(rng.Int64N(int64(long)))
}

// TestKillSnapshot kills the command that takes a snapshot, or the server that takes the snapshot for the command,
// while others write. It tests that the database loses nothing, and that the snapshot is either absent, or complete
// and consistent. After the next snapshot, nothing must remain of a killed one.
func TestKillSnapshot(t *testing.T) {
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3<<32))
	root, err := os.MkdirTemp("", "kill") // short enough for the path of a socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	data, backups := filepath.Join(root, "db"), filepath.Join(root, "backups")
	require.NoError(t, os.Mkdir(backups, 0o700))
	p := serve(t, "--data", data)
	create(t, p.client(t))
	all := []*writer{newWriter(0, seed), newWriter(1, seed), fill(t, p.client(t), 2, 500)}
	begun := time.Now()
	run(t, "snapshot", "--data", data, filepath.Join(backups, "first"))
	long := time.Since(begun)
	require.NoError(t, os.RemoveAll(filepath.Join(backups, "first")))

	commands, servers, offline, complete := 0, 0, 0, 0
	for i := range kills {
		target := filepath.Join(backups, fmt.Sprint("backup", i)+[]string{"", ".backup", ".backup.zst"}[rng.IntN(3)])
		delay := randomDelay(rng, long)
		what := rng.IntN(3)
		if i < 3 {
			what = i // at least one of each
		}
		switch what {
		case 0: // kill the command while a server under load takes the snapshot
			var wait sync.WaitGroup
			wait.Go(func() {
				c := start(t, "snapshot", "--data", data, target)
				c.KillAfter(t, delay)
			})
			load(t, p, all[:2], delay+20*time.Millisecond)
			wait.Wait()
			commands++
		case 1: // the server
			c := start(t, "snapshot", "--data", data, target)
			load(t, p, all[:2], delay)
			if err := c.Wait(t); err == nil {
				require.True(t, exists(target), "acknowledged")
			}
			servers++
		case 2: // the command, without a server
			p.Kill(t)
			c := start(t, "snapshot", "--data", data, target)
			if !c.KillAfter(t, delay) {
				require.NoError(t, c.Err, &c.Stderr)
				require.True(t, exists(target), "acknowledged")
			}
			offline++
		}
		p = serve(t, "--data", data)
		checkWriters(t, p.client(t), all)
		require.False(t, exists(filepath.Join(data, "forks")), "the folder of a copy remains")
		if exists(target) {
			complete++
			restored := filepath.Join(root, "restored")
			run(t, "restore", target, "--data", restored)
			inFolder(t, restored, func(db *dynamodb.Client) {
				checkOneState(t, db)
				if what == 2 { // nothing was written meanwhile
					checkWriters(t, db, all)
				}
			})
			require.NoError(t, os.RemoveAll(restored))
		}
		if t.Failed() {
			return
		}
	}
	last := filepath.Join(backups, "last.backup")
	run(t, "snapshot", "--data", data, last)
	for _, name := range names(t, backups) {
		require.False(t, strings.HasPrefix(name, "."), "%s remains of a snapshot that was killed", name)
	}
	acked := 0
	for _, w := range all {
		acked += w.acked
	}
	t.Logf("%d kills of a snapshot (%d of the command, %d of its server, %d offline): %d complete, the others absent; %d acknowledged writes, none lost; nothing left over",
		kills, commands, servers, offline, complete, acked)
}

// TestKillRestore kills a restore. It tests that the folder either has the whole snapshot, or is absent and the next
// restore succeeds.
func TestKillRestore(t *testing.T) {
	kills := proptest.Cases(2)
	seed := uint64(proptest.Seed())
	t.Logf("SORTKEY_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 4<<32))
	root := t.TempDir()
	snapshot, beside := filepath.Join(root, "snapshot"), filepath.Join(root, "beside")
	var after *writer
	inFolder(t, snapshot, func(db *dynamodb.Client) {
		create(t, db)
		after = fill(t, db, 500, 500)
	})
	run(t, "snapshot", "--data", snapshot, snapshot+".backup.zst")
	begun := time.Now()
	run(t, "restore", snapshot, "--data", filepath.Join(root, "first"))
	long := time.Since(begun)

	untouched, complete := 0, 0
	for range kills {
		target := filepath.Join(beside, "db")
		from := snapshot + []string{"", ".backup.zst"}[rng.IntN(2)]
		args := []string{"restore", from, "--data", target}
		p := start(t, args...)
		killed := p.KillAfter(t, randomDelay(rng, long))
		if !killed {
			require.NoError(t, p.Err, &p.Stderr)
		}
		if exists(target) {
			complete++
		} else {
			require.True(t, killed, "the folder is gone")
			untouched++
			run(t, args...)
		}
		inFolder(t, target, func(db *dynamodb.Client) { checkWriters(t, db, []*writer{after}) })
		require.Equal(t, []string{"db"}, names(t, beside), "left by a restore that was killed")
		require.NoError(t, os.RemoveAll(beside))
	}
	t.Logf("%d kills of a restore: %d folders as before, %d with the whole snapshot; the next restore succeeded",
		kills, untouched, complete)
}
